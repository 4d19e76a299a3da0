"""What a safetensors file holds, read from its header alone: names, dtypes, shapes.

The header also says how long the file must be, so that a file cut short is found before any of
its numbers are used. A change of single numbers is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from calipers.errors import InputError
from calipers.samples.readers.vectors import LONGEST, Entry, read_entries, read_entry

_LFS = b"version "  # how the text of such a pointer begins


def read_header(path: Path) -> Mapping[str, Entry]:
    """Read which tensors a safetensors file holds.

    Raises
    ------
    InputError
        If the file cannot be read, is no safetensors file, or is shorter or longer than its
        header says.
    """
    try:
        with path.open("rb") as file:
            start = file.read(8)
            size = int.from_bytes(start, "little")
            content = file.read(size) if size <= LONGEST else b""
        length = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: the weights cannot be read ({error.strerror})") from error
    if start == _LFS:
        raise InputError(
            f"{path}: holds a pointer of Git LFS, not the weights themselves; fetch them with: "
            "git lfs pull"
        )
    tensors = _tensors(path, content)
    last = max((tensor.last for tensor in tensors.values()), default=0)
    _check_length(path, length, 8 + size + last)
    return tensors


def _tensors(path: Path, content: bytes) -> dict[str, Entry]:
    try:
        return {name: read_entry(entry) for name, entry in read_entries(content).items()}
    except ValueError as error:
        raise InputError(
            f"{path}: damaged, or no safetensors file: it does not begin with a header that names "
            f"its tensors: {error}"
        ) from error


def _check_length(path: Path, found: int, needed: int) -> None:
    if found != needed:
        raise InputError(
            f"{path}: damaged: by its header the file must have {needed:,} bytes; found {found:,}"
        )
