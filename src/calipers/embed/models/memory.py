"""Whether a model fits in the memory that is free, found out before it is loaded.

The headers of safetensors files tell how many numbers a model has. In float32, which float16 is
always turned into, a file in bfloat16 takes twice its size. What a forward pass needs on top is
small beside that, since batches are bounded. Where a system does not tell what is free, nothing is
refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calipers.embed.models.safetensors_header import read_header
from calipers.errors import InputError
from calipers.samples.safetensors_files import Entry

_WIDTH = 4
"""Bytes that a number takes in float32."""
MARGIN = 1.1
"""How many times its weights a model needs, with what it computes."""
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_MEMINFO = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


def check_fits(name: str, weights: Iterable[Path], *, device: str, dtype: str, torch: Any) -> None:
    """Refuse a model that does not fit in the memory that is free.

    Parameters
    ----------
    name
        What a person calls it.
    weights
        Its files.
    device, dtype
        Where it will run, such as ``"cuda:0"``, and in which precision.
    torch
        The package, which knows the memory of a GPU.

    Raises
    ------
    InputError
        If it needs more than is free.
    """
    weights = tuple(weights)
    needed = sum(loaded_size(path, dtype) for path in weights)
    free = free_memory(device, torch)
    if free is None or needed * MARGIN <= free:
        return
    stored = sum(loaded_size(path, "bfloat16") for path in weights)
    auto = "--dtype auto, which takes half of that on hardware that computes in bfloat16, "
    raise InputError(
        f"the model {name!r} does not fit {'in memory' if device == 'cpu' else f'on {device!r}'}: "
        f"its weights take {_words(needed)} in {dtype}, and with what it computes "
        f"{_words(needed * MARGIN)}, but {_words(free)} are free; try "
        f"{auto if stored < needed else ''}a smaller model, or another device"
    )


def loaded_size(path: Path, dtype: str) -> int:
    """Bytes that the tensors of a file take while they are loaded, for a precision to compute in.

    Only bfloat16 stays as it is stored, and only where it is computed in. The content of a pickled
    file is not known; its own size stands for it.
    """
    if path.suffix != ".safetensors":
        return path.stat().st_size
    return sum(_in_memory(each, dtype) for each in read_header(path).values())


def _in_memory(tensor: Entry, dtype: str) -> int:
    kept = not tensor.floats or (tensor.dtype == "BF16" and dtype == "bfloat16")
    return tensor.size if kept else tensor.numbers * _WIDTH


def free_memory(device: str, torch: Any) -> int | None:
    """Bytes that are free where a model will be; None where nothing tells."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    known = [each for each in (_of_machine(), _of_group()) if each is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    """What the system could give without swapping."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", _MEMINFO.read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        found = None
    if found:
        return int(found[1]) * 1024
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if pages in getattr(os, "sysconf_names", {}):
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_group() -> int | None:
    """What a container may still take, by version 2 or 1 of the kernel's control groups."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most = int((_GROUPS / limit).read_text("ascii"))
            taken = int((_GROUPS / used).read_text("ascii"))
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
        return max(0, most - taken + _given_back((_GROUPS / limit).parent / "memory.stat"))
    return None


def _given_back(stat: Path) -> int:
    """Bytes of the file cache, which counts as taken and is given back when asked for."""
    try:
        found = re.search(r"^inactive_file (\d+)", stat.read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        found = None
    return int(found[1]) if found else 0


def _words(size: float) -> str:
    unit, name = next((unit, name) for unit, name in _UNITS if size >= unit or name == "kB")
    return f"{size / unit:,.1f} {name}"
