"""What is swept: the values of k or of the number of samples, chosen or checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from calipers.errors import InputError
from calipers.evaluate.intake import Cut, Intake
from calipers.numeric.validation import is_whole
from calipers.results.sweep import Over

LARGEST_K = 30
SMALLEST_N = 100
# Two sizes for each doubling
STEP = math.sqrt(2)


def choose_values(
    over: Over, values: Sequence[int] | None, intake: Intake, *, k: int
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Give the values to sweep, ascending, and what is to be said of them.

    By default k goes from 1 to 30, or as far as the smallest set allows, and the sizes go from 100
    (or a quarter of a small set) to all samples of the smallest set.

    Raises
    ------
    InputError
        If values were given that some set is too small for.
    """
    smallest = min(_cuts(intake), key=lambda cut: (len(cut.samples), cut.n_given))
    least, most = (1, len(smallest.samples) - 1) if over == "k" else (k + 1, len(smallest.samples))
    if most < least:
        raise InputError(_too_small(smallest, k if over == "n" else 1))
    if values is not None:
        if values[0] < least:
            raise InputError(f"n must be at least k + 1 = {least}; found {values[0]}")
        if values[-1] > most:
            raise InputError(_beyond(over, values[-1], smallest))
        return tuple(values), ()
    if over == "n":
        return tuple(_sizes(least, most)), ()
    cut_short = f"k ends at {most}, since {_described(smallest)}"
    return tuple(range(1, min(LARGEST_K, most) + 1)), (cut_short,) if most < LARGEST_K else ()


def check_values(over: Over, values: Any) -> tuple[int, ...] | None:
    """Bring values that were given into order, or say what is wrong with them."""
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"values must be a list of whole numbers; found {values!r}")
    given = list(values)
    for value in given:
        if not is_whole(value, 1):
            raise InputError(
                f"values of {over} must be whole numbers of at least 1; found {value!r}"
            )
    different = sorted({int(value) for value in given})
    if len(different) < 2:
        raise InputError(f"values must hold at least two different numbers; found {different}")
    return tuple(different)


def _sizes(least: int, most: int) -> Iterator[int]:
    """Sizes in equal ratios, of two significant digits but for the last."""
    first = max(least, min(SMALLEST_N, most // 4))
    count = round(math.log(most / first) / math.log(STEP))
    raw = [first * (most / first) ** (i / count) for i in range(count)] if count else []
    rounded = {max(first, _two_digits(size)) for size in raw}
    yield from sorted(size for size in rounded if size < most)
    yield most


def _two_digits(size: float) -> int:
    return int(float(f"{size:.2g}"))


def _cuts(intake: Intake) -> list[Cut]:
    return [intake.reference, *(cut for entry in intake.systems for cut in entry.cuts)]


def _beyond(over: Over, value: int, smallest: Cut) -> str:
    if over == "k":
        return (
            f"k = {value} needs at least {value + 1} samples in every set; {_described(smallest)}"
        )
    return f"n = {value} needs as many samples in every set; {_described(smallest)}"


def _too_small(smallest: Cut, k: int) -> str:
    return f"k = {k} needs at least {k + 1} samples in every set; {_described(smallest)}"


def _described(cut: Cut) -> str:
    """Name a set and its size: by its file where it came from one."""
    source, size = cut.samples.source, len(cut.samples)
    where = cut.samples.name if source.startswith("<") else source
    given = f"{cut.n_given}, cut to {size}" if size < cut.n_given else str(size)
    return f"{where} has {given} sample" + ("s" if given != "1" else "")
