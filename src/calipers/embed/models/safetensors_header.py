"""What a safetensors file holds, read from its header alone: names, dtypes, shapes.

The header also says how long the file must be, so that a file cut short is found before any of
its numbers are used. A change of single numbers is not seen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.errors import InputError

_LONGEST = 100_000_000
"""Bytes; the format allows no longer header."""
_LFS = b"version "  # how the text of such a pointer begins


@dataclass(frozen=True)
class Stored:
    """A tensor in a file.

    Attributes
    ----------
    dtype
        As the format writes it, such as ``"F32"`` or ``"BF16"``.
    numbers
        How many numbers it has.
    size
        How many bytes it takes in the file.
    """

    dtype: str
    numbers: int
    size: int

    @property
    def floats(self) -> bool:
        """Whether it holds floating-point numbers, whose precision may be chosen when loading."""
        return self.dtype.startswith(("F", "BF"))


def read_header(path: Path) -> Mapping[str, Stored]:
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
            content = file.read(size) if size <= _LONGEST else b""
        length = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: the weights cannot be read ({error.strerror})") from error
    if start == _LFS:
        raise InputError(
            f"{path}: holds a pointer of Git LFS, not the weights themselves; fetch them with: "
            "git lfs pull"
        )
    tensors = _tensors(path, content)
    _check_length(path, length, 8 + size + max((end for _, end in tensors.values()), default=0))
    return {name: stored for name, (stored, _) in tensors.items()}


def _tensors(path: Path, content: bytes) -> dict[str, tuple[Stored, int]]:
    try:
        header: dict[str, Any] = json.loads(content)
        header.pop("__metadata__", None)
        return {name: _stored(entry) for name, entry in header.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"{path}: damaged, or no safetensors file: it does not begin with a header that names "
            "its tensors"
        ) from error


def _stored(entry: Mapping[str, Any]) -> tuple[Stored, int]:
    start, end = map(int, entry["data_offsets"])
    return Stored(str(entry["dtype"]), math.prod(map(int, entry["shape"])), end - start), end


def _check_length(path: Path, found: int, needed: int) -> None:
    if found != needed:
        raise InputError(
            f"{path}: damaged: by its header the file must have {needed:,} bytes; found {found:,}"
        )
