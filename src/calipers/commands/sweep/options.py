"""The options of ``calipers sweep``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from calipers.errors import InputError
from calipers.options.option import option, options_class, reworded
from calipers.options.rules import AT_LEAST_ZERO, METRICS, Rule, one_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.commands.sweep.result import Over

from calipers.options.engines import EngineSearch
from calipers.options.inputs import Files, Sampling
from calipers.options.measuring import Neighbours
from calipers.options.running import Seeded

MOST_VALUES = 10_000


def read_values(text: str) -> tuple[int, ...]:
    """Parse at least two whole numbers; ranges are allowed, as in ``1-10,15,20``."""
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    values = {value for part in parts for value in _range(part, text)}
    if len(values) < 2:
        raise ValueError
    return tuple(sorted(values))


def _range(part: str, text: str) -> range:
    ends = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
    first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (0, 0)
    if first < 1 or last < 1:
        rule = "must list whole numbers of at least 1 and ranges such as 1-10"
    elif last < first:
        rule = f"must name the smaller end of a range first, as in {last}-{first}"
    elif last - first >= MOST_VALUES:
        rule = f"can list at most {MOST_VALUES:,} values; name some of them, as 100,1000,10000"
    else:
        return range(first, last + 1)
    raise InputError(f"`values` {rule}; found {part!r} in {text!r}")


@options_class
class SweepOptions(EngineSearch, Seeded, Neighbours, Sampling, Files):
    """The options of ``sweep``."""

    over: Over = option(
        "k",
        "What to vary: k (nearest neighbours), n (samples in each set), length (words that all "
        "texts are cut to), buckets (cells of MAUVE and its family) or axes (leading axes that "
        "likelihood ratios are estimated on).",
        one_of("k", "n", "length", "buckets", "axes"),
        required=True,
    )
    values: Iterable[int] | None = option(
        None,
        "The values to compute, such as 1-10,15,20. By default k goes from 1 to 30, or as far as "
        "the sets allow, and n from 100 to all samples, two values for each doubling; length from "
        "8 words to the median length of the reference, buckets from 8 to a fifth of the smallest "
        "set and axes from 2 to 128, by doubling.",
        Rule("list at least two different numbers", read=read_values, metavar="LIST"),
        common=True,
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute: over n and length any that calipers metrics lists, over k precision, "
        "recall, density, coverage and clipped_coverage, over buckets those of the family frontier "
        "by quantisation, over axes those with another estimator, such as mauve:knn. A key is "
        "[view.]metric[:option…]: the name precision means precision in every view, form.precision "
        "in one of them. In Python a list or one text. By default precision, recall, density and "
        "coverage; over length mauve_star and frechet_distance too, over buckets mauve_star, over "
        "axes mauve by knn, kde and gaussian.",
        METRICS,
        several=True,
        common=True,
        complete="metrics",
        show_default=False,
    )
    k: int = reworded(
        Neighbours,
        "k",
        "With --over n and --over length: number of nearest neighbours.",
        setting=False,
    )
    seeds: int = option(
        5,
        "With --over n: number of random orders of the samples; in each of them the larger "
        "subsamples contain the smaller ones. With --over buckets: number of starts of k-means. A "
        "system of several files takes them in turn, equally often.",
        whole(1),
        common=True,
    )
    tolerance: float = option(
        0.01,
        "How far from its end the mean of a score within [0, 1] may lie on a plateau: this much or "
        "its standard error, whichever is larger; 5 % of the end for other scores.",
        AT_LEAST_ZERO,
        flag=(),
        setting=True,
    )
    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random. This includes the reference.",
    )
