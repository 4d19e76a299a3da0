"""Inception-v3 pool features, 2,048 numbers per image, exactly as FID uses them.

The network, its weights and its way to resize are those of torch-fidelity, which follow the
original of FID to the bit where they can (Heusel et al., NeurIPS 2017; Pillutla et al., JMLR 2023,
section 7.7, and Sajjadi et al., NeurIPS 2018, section 4, use the same features). Every image is
brought to 299 × 299, proportions not kept. The network was trained to name the objects of
ImageNet: it sees textures and objects, poorly faces, drawings or anything that ImageNet lacks.
Of torch-fidelity the module of the network alone is imported, which needs no torchvision.

The weights are one file of 91 MB. It is looked for where ``CALIPERS_INCEPTION`` says, then where
torch-fidelity itself keeps it; else it is downloaded from where torch-fidelity would, unless
nothing may be downloaded. No code in it is run.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import Embedder, EncodedBatch, identity_line, model_signature
from calipers.embedders.models.tensors import pickled_tensors
from calipers.embedders.options import EmbedderOptions, choose_device
from calipers.embedders.states.pretrained import versions
from calipers.embedders.vision.images import ImageBatches, checked_images
from calipers.errors import InputError, MissingExtraError, first_line, require
from calipers.files import at_home

VARIABLE = "CALIPERS_INCEPTION"


def find_weights(address: str, torch: Any, *, offline: bool) -> Path:
    """Find the file of the weights, or download it.

    Parameters
    ----------
    address
        Where it is published; the name ends with the beginning of its SHA-256.
    torch
        The torch package, whose folder for downloads is used.
    offline
        Whether nothing may be downloaded.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be downloaded.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = at_home(named)
        if not path.is_file():
            raise InputError(f"{path}: no such file; {VARIABLE} must name the weights of Inception")
        return path
    path = Path(torch.hub.get_dir()) / "checkpoints" / address.rpartition("/")[2]
    if path.is_file():
        return path
    if offline:
        raise InputError(
            f"the weights of the embedder 'inception' are not here: looked for {path}, and "
            f"{VARIABLE} names no file; nothing may be downloaded, so bring {address} there"
        )
    _download(address, path, torch)
    return path


def read_weights(path: Path, torch: Any) -> tuple[io.BytesIO, str]:
    """Read the weights without unpickling anything but tensors.

    Returns
    -------
    tuple
        The tensors alone, as a file that torch can load, and the SHA-256 of the file.

    Raises
    ------
    InputError
        If the file cannot be read, or holds more than tensors.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    tensors = pickled_tensors(path, content)
    clean = io.BytesIO()
    torch.save(tensors, clean)
    clean.seek(0)
    return clean, hashlib.sha256(content).hexdigest()


def _download(address: str, path: Path, torch: Any) -> None:
    begins = path.stem.rpartition("-")[2]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(address, str(path), hash_prefix=begins, progress=False)
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"the weights of the embedder 'inception' cannot be downloaded from {address} "
            f"({error}); bring the file to {path}, or name it in {VARIABLE}"
        ) from error


TAKES = frozenset({"offline"})
WIDTH = 2048
LAYER = str(WIDTH)
BATCH = 32


def load(name: str, options: EmbedderOptions) -> Inception:
    """Load the embedder of FID."""
    return Inception(device=options.device, batch_size=options.batch_size, offline=options.offline)


class Inception(Embedder):
    """FID's Inception-v3, as in torch-fidelity.

    Parameters
    ----------
    device, batch_size
        As in :func:`calipers.embedders.load_embedder`. It always computes in float32.
    offline
        Whether nothing may be downloaded. The weights are then those that the environment
        variable ``CALIPERS_INCEPTION`` names, or that torch-fidelity has downloaded before.

    Raises
    ------
    MissingExtraError
        If torch or torch-fidelity is not installed.
    InputError
        If the weights are not here and cannot be downloaded, or are no weights of Inception.
    """

    name = "inception"
    views = ("image",)
    reads = frozenset({"images"})
    at_once = 64

    def __init__(
        self, *, device: str = "auto", batch_size: int | None = None, offline: bool = False
    ) -> None:
        torch = require("torch", extra="models", purpose="the embedder 'inception'")
        source = _fidelity()
        self._device = choose_device(device, torch)
        self._batches = ImageBatches(size=batch_size or BATCH, name=self.name)
        path = find_weights(source.URL_INCEPTION_V3, torch, offline=offline)
        weights, digest = read_weights(path, torch)
        try:
            network = source.FeatureExtractorInceptionV3(
                "inception-v3-compat", [LAYER], feature_extractor_weights_path=weights
            )
        except (RuntimeError, TypeError, AttributeError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
            raise InputError(f"{path}: these are not the weights of Inception: {reason}") from error
        self._network = network.eval().to(self._device)
        self.signature = model_signature(
            self.name, digest[:12], dtype="float32", device=self._device
        )
        self.view_signature = {"image": f"pool_{LAYER}"}
        pins = {"weights": digest, **versions("torch"), "torch_fidelity": _release()}
        self.identity = identity_line(self.signature | pins)

    def encode(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed images.

        Parameters
        ----------
        samples
            uint8 arrays of shape (height, width, 3), of any sizes.

        Returns
        -------
        EncodedBatch
            ``image``, float32 of shape (n, 2048).

        Raises
        ------
        InputError
            If an item is no image.
        """
        vectors = self._batches.run_bounded(checked_images(samples), self._forward)
        cut = np.zeros(len(vectors), dtype=np.bool_)
        return EncodedBatch({"image": vectors.reshape(-1, WIDTH)}, cut)

    def _forward(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        import torch

        channels_first = torch.from_numpy(images).permute(0, 3, 1, 2).to(self._device)
        with torch.inference_mode():
            (features,) = self._network(channels_first)
        vectors: NDArray[np.float32] = features.float().cpu().numpy()
        return vectors


PACKAGE = "torch_fidelity"


def _fidelity() -> Any:
    """Import torch-fidelity's module of the network without what the package itself imports.

    The package imports torchvision at its start. Its bare folder stands in its place while the
    module is imported, and is taken away again, so that ``import torch_fidelity`` stays whole.
    """
    module = f"{PACKAGE}.feature_extractor_inceptionv3"
    if PACKAGE in sys.modules and sys.modules[PACKAGE] is not None:
        return import_module(module)
    spec = None if PACKAGE in sys.modules else find_spec(PACKAGE)
    if spec is None or spec.submodule_search_locations is None:
        raise MissingExtraError(
            "the embedder 'inception' needs the package 'torch_fidelity', which is not installed. "
            "Install it with: pip install --no-deps torch-fidelity"
        )
    bare = ModuleType(PACKAGE)
    bare.__path__ = list(spec.submodule_search_locations)
    sys.modules[PACKAGE] = bare
    try:
        return import_module(module)
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            f"the embedder 'inception' cannot use torch-fidelity {_release()}: {first_line(error)}"
        ) from error
    finally:
        for name in [*filter(lambda name: name.partition(".")[0] == PACKAGE, sys.modules)]:
            del sys.modules[name]


def _release() -> str:
    """The version of torch-fidelity."""
    try:
        return version("torch-fidelity")
    except PackageNotFoundError:
        return "unknown"
