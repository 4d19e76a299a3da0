"""Thumbnails of the images of a set, by row.

Made from the images when a report asks (:class:`LivePictures`), or read from the zip of a result,
which keeps those that its explanations list (:class:`StoredPictures`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from calipers.errors import InputError
from calipers.samples.image_files import ImageFiles
from calipers.samples.images import Images
from calipers.samples.sample_set import SampleSet
from calipers.samples.thumbnails import media_type, thumbnail


class Pictures(Protocol):
    """Protocol of the thumbnails of a set."""

    @property
    def files(self) -> Sequence[str] | None:
        """The file of each sample; None for images from memory, or where it was not stored."""
        ...

    def thumbnail(self, row: int) -> bytes | None:
        """Return a small PNG or JPEG of a sample; None where it is gone."""
        ...


@dataclass(frozen=True, eq=False)
class LivePictures:
    """Thumbnails of available images, each made on first access.

    Attributes
    ----------
    images
        The images, decoded one at a time.
    files
        Their files; None where they came from memory.
    """

    images: Images
    files: Sequence[str] | None = None
    _made: dict[int, bytes | None] = field(default_factory=dict, repr=False)

    def thumbnail(self, row: int) -> bytes | None:
        """Return a thumbnail; None where the file has changed or vanished."""
        if row not in self._made:
            try:
                self._made[row] = thumbnail(self.images[row])
            except InputError:
                self._made[row] = None
        return self._made[row]


@dataclass(frozen=True, eq=False)
class StoredPictures:
    """Thumbnails stored in a zip, by row."""

    stored: Mapping[int, bytes]
    files: Sequence[str] | None = None

    def thumbnail(self, row: int) -> bytes | None:
        """Return a thumbnail; None where it was not stored."""
        return self.stored.get(row)

    @classmethod
    def of(cls, data: Any, size: int) -> StoredPictures:
        """Read the output of :func:`stored` for a set of `size` samples.

        Raises
        ------
        TypeError, ValueError
            If a row does not exist, or what it names is no thumbnail.
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"thumbnails are {data!r:.100}, not an object")
        pictures = {}
        for key, text in data.items():
            row = int(key)
            if not 0 <= row < size:
                raise ValueError(f"a thumbnail is of row {row}, but there are {size} samples")
            if not isinstance(text, str):
                raise TypeError(f"the thumbnail of row {row} is {text!r:.100}, not a text")
            try:
                pictures[row] = base64.b64decode(text, validate=True)
            except binascii.Error as error:
                raise ValueError(f"the thumbnail of row {row} is damaged: {error}") from error
            media_type(pictures[row])
        return cls(pictures)


def stored(pictures: Pictures, rows: Sequence[int]) -> dict[str, str]:
    """Return the thumbnails of some rows as plain data, without missing ones."""
    made = {row: pictures.thumbnail(row) for row in sorted(set(rows))}
    return {
        str(row): base64.b64encode(data).decode("ascii")
        for row, data in made.items()
        if data is not None
    }


def pictures_of(samples: SampleSet) -> LivePictures | None:
    """Return the pictures of a set; None where it does not hold images."""
    images = Images.of(samples.data)
    if images is None:
        return None
    data = samples.data
    return LivePictures(images, data.paths.tolist() if isinstance(data, ImageFiles) else None)
