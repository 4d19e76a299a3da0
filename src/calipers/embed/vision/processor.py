"""What a vision model wants done to an image first: resized, cropped, scaled, normalised.

The image processor of transformers that comes with the model does it, always the one that works
with Pillow, so that vectors do not depend on whether torchvision is installed. Images pass one by
one: some processors pad the images of a batch to the largest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.models.sentence_transformer_files import read_json
from calipers.embed.states.pretrained import quiet, unreadable
from calipers.embed.vision.image_checks import Image, checked_images, size_words
from calipers.errors import InputError, require

Pixels = NDArray[np.float32]

OWN_FILE, SHARED_FILE = "preprocessor_config.json", "processor_config.json"


class ImageProcessor:
    """A model's own preparation of images.

    Parameters
    ----------
    folder
        The model's files.
    trust_remote_code
        Whether code of the folder may be run.

    Raises
    ------
    InputError
        If the folder does not say how images are prepared, or transformers cannot read it.
    MissingExtraError
        If transformers is not installed.
    """

    def __init__(self, folder: Path, *, trust_remote_code: bool = False) -> None:
        self._folder, self.file_hash = folder, _file_hash(folder)
        self._process = _load(folder, trust_remote_code)

    def __call__(self, images: Iterable[Any]) -> list[Pixels]:
        """Prepare images; each becomes an array of float32, most often (channels, side, side).

        Raises
        ------
        InputError
            If one of them is no uint8 array of shape (height, width, 3), or cannot be prepared.
        """
        return [self._one(image) for image in checked_images(images)]

    def _one(self, image: Image) -> Pixels:
        try:
            # A picture three pixels high could be taken for three channels
            found = self._process(image, return_tensors="np", input_data_format="channels_last")
        except (ValueError, ZeroDivisionError, OverflowError, TypeError) as error:
            raise InputError(
                f"{self._folder}: an image of {size_words(image)} pixels cannot be prepared as "
                f"this model wants it: {error}"
            ) from error
        return np.asarray(found["pixel_values"][0], dtype=np.float32)


def _file_hash(folder: Path) -> str:
    """Hash what the folder says about the preparation, whatever its layout."""
    for name in (SHARED_FILE, OWN_FILE):
        path = folder / name
        if not path.is_file():
            continue
        said = read_json(path)
        if name == OWN_FILE or "image_processor" in said:
            return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    raise InputError(
        f"{folder}: the folder of a vision model must say how images are prepared; found no "
        f"{OWN_FILE}"
    )


def _load(folder: Path, trust_remote_code: bool) -> Any:
    transformers = require("transformers", extra="text", purpose=f"the model {str(folder)!r}")
    # Before version 5 the one that works with Pillow was called slow
    recent = int(transformers.__version__.partition(".")[0]) >= 5
    kind: dict[str, Any] = {"backend": "pil"} if recent else {"use_fast": False}
    with quiet(transformers):
        try:
            return transformers.AutoImageProcessor.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=trust_remote_code, **kind
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "image processor", error) from error
