"""What is to be known of scores before they are ranked: gaps, deviations, ends that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.catalogue.shown import UNRANKED
from calipers.evaluate.rank_scores import Scores
from calipers.samples.wording import names

PEOPLE = ("human", "humans", "reference", "gold")
"""Names that what people wrote usually has."""

SPREADS = {
    "sd": "the column sd",
    "seeds": "the spread over the seed files of a system",
    "errors": "standard errors",
}


def score_notes(scores: Scores, *, spread: bool) -> Iterator[str]:
    """Say what was left out or taken for granted; `spread` tells that deviations matter."""
    yield from scores.notes
    yield from _gaps(scores)
    yield from _unranked(scores)
    if spread:
        yield from _spreads(scores)
    if scores.reference is None:
        yield from _hints(scores.systems)


def score_warnings(scores: Scores) -> Iterator[str]:
    """Say by which metrics all systems are alike."""
    for key, column in scores.columns.items():
        if len(column.means) > 1 and len(set(column.means.values())) == 1:
            yield f"{key}: all systems score the same, so it ranks none"


def _gaps(scores: Scores) -> Iterator[str]:
    """Say which systems have no value of a metric."""
    for metric, column in scores.columns.items():
        missing = [name for name in scores.systems if name not in column.means]
        reasons = "; ".join(dict.fromkeys(column.reasons.get(name, "") for name in missing))
        why = f" ({reasons})" if reasons else ""
        if missing:
            yield f"{metric}: no value of {names(missing)}{why}; ranked over the other systems"


def _spreads(scores: Scores) -> Iterator[str]:
    """Say what deviations are, unless they are what the table calls them throughout."""
    kinds = [kind for column in scores.columns.values() for kind in column.spreads.values()]
    used = [SPREADS[kind] for kind in SPREADS if kind in kinds]
    none = kinds.count("")
    if none == len(kinds):
        yield "no deviations were given: the worst case is Spearman's own"
    elif none:
        yield f"{none} of {len(kinds)} scores have no deviation: taken as 0"
    if used and used != [SPREADS["sd"]]:
        yield f"deviations are {' or '.join(used)}"


def _unranked(scores: Scores) -> Iterator[str]:
    """Say which metrics are good in the middle."""
    known = [key for key in scores.columns if key.rpartition(".")[2].partition(":")[0] in UNRANKED]
    if known:
        yield f"neither end of {names(known)} is better; higher is taken for better"


def _hints(systems: Sequence[str]) -> Iterator[str]:
    for name in systems:
        if name.casefold() in PEOPLE:
            yield (
                f"{name!r} is ranked as one of the systems; if it is what people wrote, name it "
                "as the reference (--reference)"
            )
