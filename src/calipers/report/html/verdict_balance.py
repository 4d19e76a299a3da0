"""The middle of a verdict: is it quality that is lost, or variety, and beyond noise?

Diversity is read from coverage wherever it was measured: recall rises when samples of a worse model
are mixed in, whose wide balls hold more of the reference, and falls little for a topic that is
missing (docs/experiments.md). Where there is a noise floor, a system is held against two halves of
the reference at the same size. Without one there are only the scores themselves, and the sentence
says what that leaves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from calipers.report.html.verdict_nearness import by_view, valued
from calipers.report.html.wording import count, listing, named
from calipers.report.inference import alpha_of, between_systems
from calipers.report.shown import TEXT, Metric, scores_of
from calipers.report.table import Data

QUALITY = (
    "precision",
    "clipped_density",
    "cover_precision",
    "topp",
    "probabilistic_precision",
    "max_precision",
    "prd_f1_8",
)
"""Shares between 0 and 1, higher better, so that losses can be held against each other."""

DIVERSITY = (
    "coverage",
    "clipped_coverage",
    "cover_recall",
    "prd_f8",
    "recall",
    "topr",
    "max_recall",
    "probabilistic_recall",
)
"""Such shares, the one to speak of first: those behind it speak only where it was not measured."""


class Loss(NamedTuple):
    """By how much one system falls below the floor in one score."""

    size: float
    row: int
    metric: Metric


def balance(data: Data, metrics: Sequence[Metric]) -> str:
    """Say which systems lose quality or diversity most, and whether that is beyond noise."""
    diversity = (_of_family(metrics, (name,)) for name in DIVERSITY)
    sides = {
        "quality": _of_family(metrics, QUALITY),
        "diversity": next(filter(None, diversity), []),
    }
    measured = {side: found for side, found in sides.items() if found}
    if not measured:
        return "quality and diversity were not measured apart"
    floored = {side: found for side, found in measured.items() if _has_floor(data, found)}
    if not floored:
        return _by_value(data, measured)
    losses = {side: _losses(data, found) for side, found in floored.items()}
    return f"against the noise floor{_size(data, metrics)}, {_clauses(data, losses)}"


def _clauses(data: Data, losses: dict[str, list[Loss]]) -> str:
    """Say of both sides what is lost; sides of which nothing is lost come last."""
    worst = {side: max(found, key=_size_of) for side, found in losses.items() if found}
    parts, said = [], None
    for side, loss in worst.items():
        who = "" if loss.row == said else f"{_name(data, loss.row)} loses "
        parts.append(f"{who}{_lost(data, side, loss, losses[side])}")
        said = loss.row
    kept = [side for side in losses if side not in worst]
    several = len(data["systems"]) > 1
    who = "no system loses" if several else f"{_name(data, 0)} does not lose"
    rest = [f"{who} {' or '.join(kept)} beyond noise"] if kept else []
    return ", and ".join([*parts, *rest])


def _lost(data: Data, side: str, worst: Loss, found: list[Loss]) -> str:
    """Say in which score a system loses most, and who else loses some."""
    others = sorted({loss.row for loss in found} - {worst.row})
    alike = [row for row in others if _not_told(data, worst, row)]
    rest = [row for row in others if row not in alike]
    told = f"; {_names(data, alike)} cannot be told from it" if alike else ""
    some = f"; {_names(data, rest)} {'lose' if rest[1:] else 'loses'} some too" if rest else ""
    return f"{'most ' if others else ''}{side} ({_beside(data, worst)}{told}{some})"


def _not_told(data: Data, loss: Loss, row: int) -> bool:
    """Tell whether two systems are alike in the score of a loss: as shown, or by a test."""
    if _at_the_floor(data, loss.metric, row) == _at_the_floor(data, loss.metric, loss.row):
        return True
    pair = {data["systems"][each]["name"] for each in (loss.row, row)}
    found = [t for t in between_systems(data) if {t["a"], t["b"]} == pair]
    p = [t["adjusted_p_value"] for t in found if t["score"] == loss.metric.key]
    return any(each is not None and each >= alpha_of(data) for each in p)


def _at_the_floor(data: Data, metric: Metric, row: int) -> str:
    """Write the score of a system at the size of the floor; nothing where there is none."""
    score = scores_of(data, metric)[row] or {}
    beside = (score.get("floor") or {}).get("beside")
    return metric.write({**score, "value": beside}) if beside is not None else ""


def _names(data: Data, rows: list[int]) -> str:
    return listing([_name(data, row) for row in rows])


def _size_of(loss: Loss) -> float:
    return loss.size


def _name(data: Data, row: int) -> str:
    return named(data["systems"][row]["name"])


def _beside(data: Data, loss: Loss) -> str:
    score = scores_of(data, loss.metric)[loss.row] or {}
    floor, write = score["floor"], loss.metric.write
    its, halves = (write({**score, "value": floor[key]}) for key in ("beside", "value"))
    return f"{by_view(data, loss.metric)} {its}, floor {halves}"


def _losses(data: Data, metrics: Sequence[Metric]) -> list[Loss]:
    """Give every score of a system that is below its floor by more than noise."""
    found = []
    for metric in metrics:
        for row, score in enumerate(scores_of(data, metric)):
            floor = (score or {}).get("floor")
            if floor and not floor["inside"] and floor["beside"] < floor["value"]:
                found.append(Loss(floor["value"] - floor["beside"], row, metric))
    return found


def _by_value(data: Data, measured: dict[str, list[Metric]]) -> str:
    parts = [_lowest(data, found) for found in measured.values()]
    return f"{', and '.join(parts)}; how much of that is noise was not measured"


def _lowest(data: Data, metrics: Sequence[Metric]) -> str:
    """Say the lowest score of a side, by the first view that has any."""
    values = [
        (score["value"], row, metric)
        for metric in metrics
        for row, score in enumerate(scores_of(data, metric))
        if score and score.get("value") is not None
    ]
    _, row, metric = min(values, key=lambda each: each[0])
    text = valued(data, metric, row)
    if len(data["systems"]) == 1:
        return f"{by_view(data, metric)} is {text}"
    alike = _shown_alike(data, metric, row)
    has = "have" if alike[1:] else "has"
    return f"{_names(data, alike)} {has} the lowest {by_view(data, metric)} ({text})"


def _shown_alike(data: Data, metric: Metric, row: int) -> list[int]:
    """Give the systems whose score is written like that of one of them."""
    texts = [metric.write(score) for score in scores_of(data, metric)]
    return [other for other, text in enumerate(texts) if text == texts[row]]


def _of_family(metrics: Sequence[Metric], family: Sequence[str]) -> list[Metric]:
    return [
        metric
        for metric in metrics
        if metric.view != TEXT and metric.metric.partition(":")[0] in family
    ]


def _has_floor(data: Data, metrics: Sequence[Metric]) -> bool:
    return any((s or {}).get("floor") for metric in metrics for s in scores_of(data, metric))


def _size(data: Data, metrics: Sequence[Metric]) -> str:
    """Say at how many samples the floor was measured, where that is one number."""
    scores = [score for metric in metrics for score in scores_of(data, metric)]
    sizes = {score["floor"]["size"] for score in scores if score and score.get("floor")}
    return f" at {count(sizes.pop())} samples" if len(sizes) == 1 else ""
