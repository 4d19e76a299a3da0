"""The options of ``calipers sweep``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from calipers.errors import InputError
from calipers.options.option import (
    Rule,
    one_of,
    option,
    options_class,
    reworded,
    unchecked,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.commands.sweep.result import Over

from calipers.options.engines import EngineSearch
from calipers.options.inputs import Files, Sampling
from calipers.options.measuring import Neighbours
from calipers.options.rules import KEYS, at_least_zero
from calipers.options.running import Seeded

MOST_VALUES = 10_000


def read_values(text: str) -> tuple[int, ...] | None:
    """Read whole numbers and ranges, such as ``1-10,15,20``; None where they are fewer than two."""
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    values = {value for part in parts for value in _range(part, text)}
    return tuple(sorted(values)) if len(values) > 1 else None


def _range(part: str, text: str) -> range:
    found = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if first < 1 or last < 1:
        rule = "must list whole numbers of at least 1 and ranges such as 1-10"
    elif last < first:
        rule = f"must name the smaller end of a range first, as in {last}-{first}"
    elif last - first >= MOST_VALUES:
        rule = f"can list at most {MOST_VALUES:,} values; name some of them, as 100,1000,10000"
    else:
        return range(first, last + 1)
    raise InputError(f"--values {rule}; found {part!r} in {text!r}")


@options_class
class SweepOptions(EngineSearch, Seeded, Neighbours, Sampling, Files):
    """The options of ``sweep``."""

    over: Over = option(
        "k",
        "What to vary: k, the number of nearest neighbours, or n, the number of samples in each "
        "set.",
        one_of("k", "n"),
        required=True,
        doc='What to sweep: ``"k"``, or ``"n"`` for the number of samples.',
    )
    values: Iterable[int] | None = option(
        None,
        "The values of k or n to compute, such as 1-10,15,20. By default k goes from 1 to 30, and "
        "n from 100 to all samples, two values for each doubling.",
        Rule("list at least two different numbers", read_values, unchecked, "LIST"),
        common=True,
        doc="The values to visit. By default k from 1 to 30, or as far as the sets allow; sizes"
        " from 100 to all samples, two for each doubling.",
    )
    metrics: str | Iterable[str] = option(
        ("precision", "recall", "density", "coverage"),
        "Metrics to compute: over n any that calipers metrics lists, over k precision, recall, "
        "density, coverage and clipped_coverage. The name precision means precision in every view, "
        "form.precision in one of them. By default precision, recall, density and coverage.",
        KEYS,
        several=True,
        common=True,
        complete="metrics",
        show_default=False,
        doc="Keys ``[view.]metric[:option…]``, in a list or in one string: over n any of the "
        "catalogue, over k precision, recall, density, coverage and clipped_coverage. A plain name "
        "means every view.",
    )
    k: int = reworded(
        Neighbours,
        "k",
        "With --over n: number of nearest neighbours.",
        kept=False,
        doc="Neighbours that span a ball; where k is swept it has no effect.",
    )
    seeds: int = option(
        5,
        "With --over n: number of random orders of the samples; in each of them the larger "
        "subsamples contain the smaller ones.",
        whole(1),
        common=True,
        doc="Random orders of the samples, for a sweep over n. A system of several files takes "
        "them in turn, equally often.",
    )
    tolerance: float = option(
        0.01,
        "How far from its end the mean of a score within [0, 1] may lie on a plateau: this much or "
        "its standard error, whichever is larger; 5 % of the end for other scores.",
        Rule("be a number of at least 0", float, at_least_zero),
        flag=(),
        kept=True,
    )
    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random. This includes the reference.",
    )
