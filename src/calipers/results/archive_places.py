"""Where samples lie, as a zip has it, is refused where it names what is not there.

The files of a system stand one after another in every array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.explain.evidence import OF_GENERATED, OF_REFERENCE
from calipers.results.system import SystemResult

CELLS = ("reference_cells", "generated_cells")
KINDS = {"covered": "biu", "copied": "biu"}


def check_array(where: str, array: Any, kinds: str, axes: int) -> None:
    """Refuse what is no array of such numbers with so many axes.

    Raises
    ------
    ValueError
        Names the array, its dtype and its shape.
    """
    if array.dtype.kind not in kinds or array.ndim != axes:
        raise ValueError(f"{where} has dtype {array.dtype} and shape {array.shape}")


def check_places(system: SystemResult, n: int, sizes: Sequence[int], every: int) -> None:
    """Refuse neighbours and cells of a system that do not fit its samples.

    Parameters
    ----------
    system
        The system.
    n, sizes
        Samples of the reference and of each file.
    every
        Samples of all sets, which is also the most cells that there can be.

    Raises
    ------
    ValueError
        Names the array and the numbers that it holds.
    """
    expected = _expected(n, sizes)
    below = {"nearest_reference": n, "nearest_generated": max(sizes), "cell_count": every + 1}
    for key, each in system.neighbours.items():
        where, name = f"{key} of {system.name!r}", key.rpartition(".")[2]
        check_array(where, each, KINDS.get(name, "f" if "distance" in name else "iu"), 1)
        if len(each) != expected.get(name, len(each)):
            raise ValueError(f"{where} has {len(each)} entries, not {expected[name]}")
        whole = each.dtype.kind in "iu"
        if whole and ((each < 0) | (each >= below.get(name, np.inf))).any():
            raise ValueError(f"{where} holds numbers from {each.min()} to {each.max()}")
    for key, counts in system.neighbours.items():
        if key.endswith("cell_count"):
            _check_cells(system, key.removesuffix("cell_count"), counts, (n, sizes))


def _expected(n: int, sizes: Sequence[int]) -> Mapping[str, int]:
    """How many entries each array has."""
    of_reference = dict.fromkeys((*OF_REFERENCE, CELLS[0]), n * len(sizes))
    generated = (*OF_GENERATED, CELLS[1], "nearest_train", "train_distance")
    return of_reference | dict.fromkeys(generated, sum(sizes)) | {"cell_count": len(sizes)}


def _check_cells(
    system: SystemResult, prefix: str, counts: NDArray[Any], sizes: tuple[int, Sequence[int]]
) -> None:
    """Refuse cells that a file does not have."""
    n, own = sizes
    for name, rows in zip(CELLS, ([n] * len(own), own), strict=True):
        if (system.neighbours[prefix + name] >= np.repeat(counts, rows)).any():
            raise ValueError(f"{prefix}{name} of {system.name!r} names cells that are not there")
