"""The tensors of a file of weights: of safetensors, or pickled by torch where that may be read.

A pickled file is read so that nothing but tensors can come of it: whatever else it holds is refused
and never made.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.errors import InputError
from calipers.files import check_plain
from calipers.samples.wording import describe, shortened

if TYPE_CHECKING:
    from torch import Tensor


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
        raise InputError(f"{path}: cannot be read as safetensors: {_reason(error)}") from error


def pickled_tensors(path: Path, content: bytes) -> dict[str, Tensor]:
    """Read what torch has pickled: a mapping from name to tensor.

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
        found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{path}: holds something else than tensors, which is not read since it could run "
            "code, or is damaged"
        ) from error
    except Exception as error:  # a damaged pickle can lead to nearly any error
        raise InputError(f"{path}: cannot be read as a file of torch: {_reason(error)}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: must hold tensors by their names; found {describe(found)}")
    for name, each in found.items():
        if not isinstance(name, str) or not isinstance(each, torch.Tensor):
            raise InputError(
                f"{path}: must hold tensors by their names; found {describe(name)} with "
                f"{describe(each)}"
            )
        if each.layout != torch.strided or each.is_meta:
            form = "without numbers" if each.is_meta else f"of the layout {each.layout}"
            raise InputError(
                f"{path}: must hold tensors with all their numbers, but {shortened(name)!r} is one "
                f"{form}"
            )
    return found


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
