"""Folders and lists of image files, with sub-folders as groups or clusters.

Hidden files and folders are left out; links to folders are followed, each folder once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from calipers.errors import InputError
from calipers.samples.readers.text_folder import is_text_name, mixed
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source, Wanted
from calipers.samples.wording import counted, names, shortened

SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".bmp",
    ".gif",
    ".tif",
    ".tiff",
    ".ppm",
    ".pgm",
)
"""What the names of image files end in."""

FOLDER = "folder"
"""The one label that images have: the sub-folder in which each lies."""


def is_image_name(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file should be an image, by its name."""
    return os.path.splitext(path)[1].lower() in SUFFIXES


def read_image_folder(folder: Path, source: Source) -> SampleSet | None:
    """Read the images of a folder and its sub-folders, sorted; None if there are none."""
    walk = _Walk()
    walk.walk(folder)
    if not walk.images:
        return None
    texts = list(filter(is_text_name, walk.others))
    if len(texts) > 1:  # a single one, such as readme.txt, is about the images
        raise mixed(source, walk.images, texts)
    paths = sorted(walk.images, key=lambda path: PurePath(path).parts)
    return read_image_files(paths, folder, source, walk.notes())


def read_image_files(
    paths: Sequence[str], base: Path, source: Source, notes: Sequence[str] = ()
) -> SampleSet:
    """Read image files as one set; labels are their sub-folders of `base`."""
    labels = {wanted.kind: _labels(paths, base, source, wanted) for wanted in source.labels}
    return SampleSet.from_images(
        paths,
        name=source.name,
        source=source.path,
        groups=labels.get("group"),
        clusters=labels.get("cluster"),
        skip_bad=source.skip_bad,
        notes=notes,
        progress=source.progress,
    )


def one_image(source: Source) -> InputError:
    """Build the error for a single image where a set is needed."""
    return source.error(
        "is one image, but a set needs many: give the folder that contains them, or for a "
        "generated system the pattern "
        f"NAME='{Path(source.path).parent}/*{Path(source.path).suffix}' in "
        "quotes"
    )


@dataclass
class _Walk:
    """What lies in a folder and beneath it."""

    images: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    again: int = 0
    seen: set[tuple[int, int]] = field(default_factory=set)

    def walk(self, folder: Path) -> None:
        """Go through a folder and all beneath it that are not hidden."""
        waiting = [os.fspath(folder)]
        while waiting:
            waiting.extend(reversed(self._enter(waiting.pop())))

    def notes(self) -> tuple[str, ...]:
        """Tell what was left out."""
        notes = []
        if self.others:
            which = names(sorted(map(os.path.basename, self.others)), limit=3)
            notes.append(
                f"{counted(len(self.others), 'file')} without the suffix of an image left out "
                f"({which})"
            )
        if self.again:
            notes.append(
                f"{counted(self.again, 'link')} to folders that were read already left out"
            )
        return tuple(notes)

    def _enter(self, folder: str) -> list[str]:
        """Sort a folder's files into images and others; return the folders in it."""
        try:
            status = os.stat(folder)
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            problem = error.strerror or str(error)
            raise InputError(f"{folder}: the folder cannot be read: {problem}") from error
        if (status.st_dev, status.st_ino) in self.seen:
            self.again += 1
            return []
        self.seen.add((status.st_dev, status.st_ino))
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        folders = [entry.path for entry in visible if _is_folder(entry)]
        for entry in visible:
            if not _is_folder(entry):
                (self.images if is_image_name(entry.name) else self.others).append(entry.path)
        return folders


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself: not a folder; it is refused as an image.
        return False


def _labels(paths: Sequence[str], base: Path, source: Source, wanted: Wanted) -> list[str] | None:
    if wanted.path != FOLDER:
        if not wanted.needed:
            return None
        raise source.error(
            f"images have no field {shortened(wanted.path)!r}; their only {wanted.kind} is "
            "'folder', the sub-folder in which each lies"
        )
    parts = [PurePath(os.path.relpath(path, base)).parts for path in paths]
    missing = [path for path, folders in zip(paths, parts, strict=True) if len(folders) < 2]
    if len(missing) == len(paths) and not wanted.needed:
        return None
    if missing:
        raise source.error(
            f"the {wanted} is missing for {len(missing):,} of "
            f"{counted(len(paths), 'image')}: give each {wanted.kind} a sub-folder; the first "
            f"that lies in none is {missing[0]}"
        )
    return [folders[0] for folders in parts]
