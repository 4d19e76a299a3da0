"""Tensors of weight files: safetensors, or torch pickles where these are allowed.

The header of a safetensors file alone tells names, dtypes and shapes, and how long the file must
be, so that a file cut short is found before any of its numbers are used; a change of single numbers
is not seen. A pickled file is read so that nothing but tensors can come of it: whatever else it
holds is refused and never made.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.errors import InputError, first_line
from calipers.files import check_plain
from calipers.samples.readers.vectors import LONGEST, TensorEntry, read_entries, read_entry
from calipers.samples.wording import describe, shortened

if TYPE_CHECKING:
    from torch import Tensor

_LFS = b"version "  # how the text of such a pointer begins


def read_header(path: Path) -> Mapping[str, TensorEntry]:
    """Read the list of tensors of a safetensors file.

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
    try:
        tensors = {name: read_entry(entry) for name, entry in read_entries(content).items()}
    except ValueError as error:
        raise InputError(
            f"{path}: damaged, or no safetensors file: it does not begin with a header that names "
            f"its tensors: {error}"
        ) from error
    needed = 8 + size + max((tensor.last for tensor in tensors.values()), default=0)
    if length != needed:
        raise InputError(
            f"{path}: damaged: by its header the file must have {needed:,} bytes; found {length:,}"
        )
    return tensors


def safe_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file.

    Raises
    ------
    InputError
        If it cannot be read, or is damaged.
    """
    from safetensors.torch import load_file

    check_plain(path)
    try:
        return dict(load_file(path))
    except MemoryError:
        raise
    except Exception as error:  # the package has errors of its own beside those of files and torch
        reason = first_line(error)[:200]
        raise InputError(f"{path}: cannot be read as safetensors: {reason}") from error


def pickled_tensors(path: Path, content: bytes) -> dict[str, Tensor]:
    """Read tensors pickled by torch: a mapping from name to tensor.

    Parameters
    ----------
    path
        The file, for messages.
    content
        Its bytes.

    Raises
    ------
    InputError
        If they are damaged, or hold anything else than tensors by their names.
    """
    import torch

    try:
        tensors = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{path}: holds something else than tensors, which is not read since it could run "
            "code, or is damaged"
        ) from error
    except Exception as error:  # a damaged pickle can lead to nearly any error
        reason = first_line(error)[:200]
        raise InputError(f"{path}: cannot be read as a file of torch: {reason}") from error
    if not isinstance(tensors, dict):
        raise InputError(f"{path}: must hold tensors by their names; found {describe(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise InputError(
                f"{path}: must hold tensors by their names; found {describe(name)} with "
                f"{describe(tensor)}"
            )
        if tensor.layout != torch.strided or tensor.is_meta:
            form = "without numbers" if tensor.is_meta else f"of the layout {tensor.layout}"
            raise InputError(
                f"{path}: must hold tensors with all their numbers, but {shortened(name)!r} is one "
                f"{form}"
            )
    return tensors
