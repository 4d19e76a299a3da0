"""Notes on approximate neighbours: metrics that need exact ones, and the error of scores.

Each score of such a run is signed with the search and all that it depends on. How much the search
found differs from pair to pair and is measured on a sample, so it is beside the scores and not in
their signatures: signatures that held it would never be equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from calipers.catalogue.choosing import Choice
from calipers.catalogue.settings import Settings
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.estimate.knn.passes import EXACT, LocalPasses, chosen_passes
from calipers.numeric.distances import Points
from calipers.results.caution import Caution
from calipers.score import Score
from calipers.uncertainty.search_quality import SampledMean, SearchQuality, measure_search

Scores = Mapping[str, Score]

ALMOST_ALL = 0.999
"""Share of the samples in balls; the caution mentions a smaller one."""


def check_approximate(choices: Iterable[Choice], neighbours: str) -> None:
    """Refuse a requested metric that needs all pairs; others become NaN with a reason.

    Raises
    ------
    InputError
        If such a metric was named, and neighbours are approximate.
    """
    names = [choice.name for choice in choices if choice.named and choice.metric.needs.every_pair]
    if names and neighbours != EXACT:
        raise InputError(
            f"the metric {names[0]!r} looks at all pairs of samples, near and far; it needs "
            "`neighbours='exact'`"
        )


def search_of(
    reference: Points, generated: Points, near: Neighbourhoods, settings: Settings, k: int
) -> SearchQuality | None:
    """Estimate what the search missed between these rows; None where it is exact."""
    if near.search == EXACT:
        return None
    return measure_search(
        reference, generated, near, k=k, seed=settings.seed, threads=settings.threads
    )


def with_search(scores: Scores, quality: SearchQuality) -> dict[str, Score]:
    """Add to precision and recall the share of neighbours found, and the error that follows."""
    errors = {"precision": quality.precision_error, "recall": quality.recall_error}
    return {
        name: score
        if name not in errors
        else replace(
            score,
            details=(
                _row("true neighbours found", quality.neighbour_recall),
                _row(f"error of {name}", errors[name]),
            ),
        )
        for name, score in scores.items()
    }


def _row(what: str, mean: SampledMean) -> dict[str, Any]:
    return {"search": what, "value": mean.value, "low": mean.low, "high": mean.high}


def search_caution(
    searches: Sequence[SearchQuality], view: str = "", *, pairs: str = "pairs"
) -> Caution:
    """State the share of neighbours found, and the error of precision and recall.

    Of several pairs, the one whose search found least is reported; `pairs` says what they are of.
    """
    worst = min(searches, key=lambda search: search.neighbour_recall.value)
    where = f"by {view}, " if view else ""
    which = f"; in the worst of {len(searches)} {pairs}" if len(searches) > 1 else ""
    text = (
        f"{where}neighbours are approximate (HNSW){which}: of the nearest neighbours of "
        f"{worst.sampled:,} sampled rows {_percent(worst.neighbour_recall)} were found; "
        f"precision is off by {_signed(worst.precision_error)}, "
        f"recall by {_signed(worst.recall_error)}"
    )
    if worst.members < ALMOST_ALL:
        text += (
            f"; of the samples in the balls {100 * worst.members:.1f} % were counted, so "
            "density is too low"
        )
    brief = f"neighbours approximate, {_rounded(worst.neighbour_recall.value)} % found"
    moved = max(abs(worst.precision_error.value), abs(worst.recall_error.value))
    return Caution("neighbours", brief, text, "`neighbours='exact'`", moved)


def search_fields() -> dict[str, object]:
    """Describe how neighbours are found, for signatures; nothing for exact search."""
    search = (chosen_passes() or LocalPasses()).search
    return {} if search == EXACT else {"neighbours": search}


def _percent(share: SampledMean) -> str:
    low, high = _rounded(share.low), _rounded(share.high)
    return f"{_rounded(share.value)} % [{low}, {high}]"


def _rounded(share: float) -> str:
    """A share in percent, 100 only where it is all.

    Examples
    --------
    >>> _rounded(1.0), _rounded(0.99999), _rounded(0.987)
    ('100', '99.9', '98.7')
    """
    return "100" if share == 1 else f"{min(99.9, 100 * share):.1f}"


def _signed(error: SampledMean) -> str:
    value, low, high = (f"{number + 0.0:+.4f}" for number in (error.value, error.low, error.high))
    return f"{value} [{low}, {high}]"
