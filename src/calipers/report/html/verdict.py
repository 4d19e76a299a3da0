"""A comparison as data ──► two sentences: how near, and what is missing, quality or variety.

They say what the numbers of the table say, and how sure those are; where nothing was measured that
would tell, they say that. By which scores they speak is fixed below, and the headline scores come
first.

Diversity is read from coverage wherever it was measured: recall rises when samples of a worse model
are mixed in, whose wide balls hold more of the reference, and falls little for a topic that is
missing (docs/experiments.md). Where there is a noise floor, a system is held against two halves of
the reference at the same size. Without one there are only the scores themselves, and the sentence
says what that leaves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from calipers.catalogue.shown import views_of
from calipers.report.html.wording import count, joined, listing, words
from calipers.report.inference import (
    ALIKE,
    EQUAL,
    OPEN,
    UNTESTED,
    against_reference,
    all_marks,
    alpha_of,
    between_systems,
    is_tested,
)
from calipers.report.names import clean
from calipers.report.numbers import leaders_of
from calipers.report.shown import TEXT, Metric, interval_of, named, scores_of, shown_metrics
from calipers.report.table import Data, Name, Words

CLOSENESS = (
    "mauve_star",
    "mauve",
    "frontier_integral_star",
    "frontier_integral",
    "midpoint_star",
    "midpoint",
    "divergence_star",
    "divergence",
    "total_variation",
    "mauve_ot",
    "frechet_distance",
    "mmd",
    "kid",
    "energy_distance",
)
"""Scores of the gap between the distributions, the one to speak of first."""

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

NOT_TESTED = " was not tested"
FROM_REFERENCE = "can be told from the reference"


@dataclass(frozen=True)
class Verdict:
    """Two sentences.

    Attributes
    ----------
    nearness
        Which system is nearest to the reference, and whether the others can be told from it.
    balance
        Whether quality or variety is lost, whether that is beyond noise, and which systems cannot
        be told from the reference.
    """

    nearness: Words
    balance: Words


class Loss(NamedTuple):
    """By how much one system falls below the floor in one score."""

    size: float
    row: int
    metric: Metric


def verdict(data: Data) -> Verdict:
    """Say in two sentences what a comparison found.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives.
    """
    metrics = [metric for metric in shown_metrics(data) if _rows(data, metric)]
    lead = _lead(metrics)
    first: Words = ("No score that could rank the systems has a value",)
    if lead is not None:
        first = _nearness(data, lead, closeness=_base(lead) in CLOSENESS)
    return Verdict(
        _sentence(first), _sentence(words(*_balance(data, metrics), "; ", *_of_reference(data)))
    )


def _lead(metrics: Sequence[Metric]) -> Metric | None:
    """Choose the score to speak of first: of the gap, by the first view; else any ranked one."""
    of_gap = [metric for metric in metrics if metric.view != TEXT and _base(metric) in CLOSENESS]
    views = list(dict.fromkeys(metric.view for metric in metrics))
    of_gap.sort(key=lambda metric: (views.index(metric.view), CLOSENESS.index(_base(metric))))
    return next(iter([*of_gap, *(metric for metric in metrics if metric.ranked)]), None)


def _sentence(parts: Words) -> Words:
    first, *rest = parts
    if not isinstance(first, Name):
        first = first[:1].upper() + first[1:]
    return (first, *rest, ".")


def _base(metric: Metric) -> str:
    return metric.metric.partition(":")[0]


def _rows(data: Data, metric: Metric) -> list[int]:
    """Give the systems that have a value."""
    scores = scores_of(data, metric)
    return [row for row, s in enumerate(scores) if s and s.get("value") is not None]


def _name(data: Data, row: int) -> Name:
    return named(data["systems"][row]["name"])


def _names(data: Data, rows: Sequence[int]) -> Words:
    return listing([_name(data, row) for row in rows])


def _by_view(data: Data, metric: Metric) -> str:
    """Name a score, with its view where there are several.

    Unlike in a table, the view comes as words, since values stand in brackets.
    """
    return metric.label + _view(data, metric)


def _view(data: Data, metric: Metric) -> str:
    return f" by {clean(metric.view)}" if metric.view and len(views_of(data)) > 1 else ""


def _valued(data: Data, metric: Metric, row: int) -> str:
    """Write the score of a system with its interval."""
    score = scores_of(data, metric)[row]
    text = metric.write(score)
    spread = interval_of(score, text)
    return f"{text} {spread}" if spread.startswith("[") else text + spread


# ------------------------------------------------------------------ which is nearest


def _nearness(data: Data, metric: Metric, *, closeness: bool) -> Words:
    """Say which system is best by one score, and whether the others can be told from it.

    `closeness` tells that the score is one of the gap between the distributions.
    """
    leaders = leaders_of(scores_of(data, metric), metric.direction)
    if not leaders:
        return _alone(data, metric, _rows(data, metric))
    value, name = _valued(data, metric, leaders[0]), _by_view(data, metric)
    if len(leaders) > 1:
        return words(_names(data, leaders), f" share the best {name} ({value})")
    others = _others(data, metric, leaders[0], closeness=closeness)
    if closeness:
        said = f"comes closest to the reference{_view(data, metric)} ({metric.label} {value})"
    elif metric.direction == "closest":
        said = f"is nearest to the reference's own {name} ({value})"
    else:
        said = f"has the best {name} ({value})"
    return words(_name(data, leaders[0]), f" {said}", others)


def _alone(data: Data, metric: Metric, rows: list[int]) -> Words:
    """Say what one system scores; nothing is there to hold it against but the floor."""
    name = _by_view(data, metric)
    if len(rows) > 1:
        return (f"by {name}, the systems cannot be ranked",)
    only = len(data["systems"]) > 1
    said = f" {'has' if only else 'scores'} {_valued(data, metric, rows[0])} by {name}"
    floor = _beside_floor(data, metric, rows[0])
    return words(*(("only ",) if only else ()), _name(data, rows[0]), said + floor)


def _beside_floor(data: Data, metric: Metric, row: int) -> str:
    floor = (scores_of(data, metric)[row] or {}).get("floor")
    if not floor:
        return "; without a noise floor, nothing here tells what equal distributions would score"
    its, halves = _of_floor(data, metric, row)
    near = "as near as this score can tell"
    return (
        f"; at {count(floor['size'])} samples it has {its} where two halves of the reference have "
        f"{halves}, {near if floor['inside'] else 'a difference beyond the noise floor'}"
    )


def _of_floor(data: Data, metric: Metric, row: int) -> tuple[str, str]:
    """Write the score of a system at the size of its noise floor, and that floor."""
    score = scores_of(data, metric)[row] or {}
    values = (score["floor"][key] for key in ("beside", "value"))
    its, halves = (metric.write({**score, "value": value}) for value in values)
    return its, halves


def _others(data: Data, metric: Metric, best: int, *, closeness: bool) -> Words:
    """Say of the other systems whether they can be told from the best."""
    rows = _rows(data, metric)
    if not is_tested(data):
        rest = _all(data, metric, [row for row in rows if row != best])
        return words(" before ", rest, ", untested: chance may have made this order")
    marks = all_marks(data, [metric])[0]
    said = {
        "": f"{{be}} {'further away' if closeness else 'behind it'} by more than chance",
        EQUAL: "{be} equal to it within the margin",
        ALIKE: "cannot be told from it with these samples",
        OPEN: "{be} undecided: apart when tested alone",
        UNTESTED: "{was} not tested against it",
    }
    parts: list[str | Words] = []
    for mark, text in said.items():
        found = [row for row in rows if marks[row] == mark]
        if found:
            one = len(found) == 1
            verb = text.format(be="is" if one else "are", was="was" if one else "were")
            parts += ["; ", _all(data, metric, found), f" {verb}"]
    return words(*parts)


def _all(data: Data, metric: Metric, rows: list[int]) -> Words:
    """Name systems with their values, the best first."""
    scores = scores_of(data, metric)
    field = "gap" if metric.direction == "closest" else "value"
    higher = metric.direction == "higher"
    ordered = sorted(rows, key=lambda row: (scores[row] or {}).get(field) or 0.0, reverse=higher)
    return listing([(_name(data, r), f" ({_valued(data, metric, r)})") for r in ordered])


# ------------------------------------------------------------------ quality or variety


def _balance(data: Data, metrics: Sequence[Metric]) -> Words:
    """Say which systems lose quality or diversity most, and whether that is beyond noise."""
    diversity = (_of_family(metrics, (name,)) for name in DIVERSITY)
    sides = {
        "quality": _of_family(metrics, QUALITY),
        "diversity": next(filter(None, diversity), []),
    }
    measured = {side: found for side, found in sides.items() if found}
    if not measured:
        return ("quality and diversity were not measured apart",)
    floored = {side: found for side, found in measured.items() if _has_floor(data, found)}
    if not floored:
        lowest = joined([_lowest(data, found) for found in measured.values()], ", and ")
        return words(lowest, "; how much of that is noise was not measured")
    losses = {side: _losses(data, found) for side, found in floored.items()}
    return words(f"against the noise floor{_size(data, metrics)}, ", _clauses(data, losses))


def _clauses(data: Data, losses: dict[str, list[Loss]]) -> Words:
    """Say of both sides what is lost; sides of which nothing is lost come last."""
    worst = {
        side: max(found, key=lambda loss: loss.size) for side, found in losses.items() if found
    }
    parts: list[Words] = []
    before = None
    for side, loss in worst.items():
        who = () if loss.row == before else (_name(data, loss.row), " loses ")
        parts.append(words(who, _lost(data, side, loss, losses[side])))
        before = loss.row
    kept = " or ".join(side for side in losses if side not in worst)
    several = len(data["systems"]) > 1
    none: Words = ("no system loses",) if several else (_name(data, 0), " does not lose")
    return joined([*parts, *([words(none, f" {kept} beyond noise")] if kept else [])], ", and ")


def _lost(data: Data, side: str, worst: Loss, found: list[Loss]) -> Words:
    """Say in which score a system loses most, and who else loses some."""
    others = sorted({loss.row for loss in found} - {worst.row})
    alike = [row for row in others if _is_alike(data, worst, row)]
    rest = [row for row in others if row not in alike]
    its, halves = _of_floor(data, worst.metric, worst.row)
    beside = f"{_by_view(data, worst.metric)} {its}, floor {halves}"
    lose = "lose" if rest[1:] else "loses"
    return words(
        f"{'most ' if others else ''}{side} ({beside}",
        *(("; ", _names(data, alike), " cannot be told from it") if alike else ()),
        *(("; ", _names(data, rest), f" {lose} some too") if rest else ()),
        ")",
    )


def _is_alike(data: Data, loss: Loss, row: int) -> bool:
    """Tell whether two systems are alike in the score of a loss: as shown, or by a test."""
    scores = scores_of(data, loss.metric)
    floor = (scores[row] or {}).get("floor") or {}
    its, _ = _of_floor(data, loss.metric, loss.row)
    if floor.get("beside") is not None and its == _of_floor(data, loss.metric, row)[0]:
        return True
    pair = {data["systems"][each]["name"] for each in (loss.row, row)}
    found = [t for t in between_systems(data) if {t["a"], t["b"]} == pair]
    p = [t["adjusted_p_value"] for t in found if t["score"] == loss.metric.key]
    return any(each is not None and each >= alpha_of(data) for each in p)


def _losses(data: Data, metrics: Sequence[Metric]) -> list[Loss]:
    """Give every score of a system that is below its floor by more than noise."""
    found = []
    for metric in metrics:
        for row, score in enumerate(scores_of(data, metric)):
            floor = (score or {}).get("floor")
            if floor and not floor["inside"] and floor["beside"] < floor["value"]:
                found.append(Loss(floor["value"] - floor["beside"], row, metric))
    return found


def _lowest(data: Data, metrics: Sequence[Metric]) -> Words:
    """Say the lowest score of a side, by the first view that has any."""
    values = [
        (score["value"], row, metric)
        for metric in metrics
        for row, score in enumerate(scores_of(data, metric))
        if score and score.get("value") is not None
    ]
    _, row, metric = min(values, key=lambda each: each[0])
    text, name = _valued(data, metric, row), _by_view(data, metric)
    if len(data["systems"]) == 1:
        return (f"{name} is {text}",)
    shown = [metric.write(score) for score in scores_of(data, metric)]
    alike = [other for other, each in enumerate(shown) if each == shown[row]]
    has = "have" if alike[1:] else "has"
    return words(_names(data, alike), f" {has} the lowest {name} ({text})")


def _of_family(metrics: Sequence[Metric], family: Sequence[str]) -> list[Metric]:
    return [metric for metric in metrics if metric.view != TEXT and _base(metric) in family]


def _has_floor(data: Data, metrics: Sequence[Metric]) -> bool:
    return any((s or {}).get("floor") for metric in metrics for s in scores_of(data, metric))


def _size(data: Data, metrics: Sequence[Metric]) -> str:
    """Say at how many samples the floor was measured, where that is one number."""
    scores = [score for metric in metrics for score in scores_of(data, metric)]
    sizes = {score["floor"]["size"] for score in scores if score and score.get("floor")}
    return f" at {count(sizes.pop())} samples" if len(sizes) == 1 else ""


# ------------------------------------------------------------------ the reference


def _of_reference(data: Data) -> Words:
    """Say which systems the tests tell from the reference, and which they do not."""
    decided = [t for t in against_reference(data) if t["adjusted_p_value"] is not None]
    apart = [t["a"] for t in decided if t["adjusted_p_value"] < alpha_of(data)]
    alike = dict.fromkeys(t["a"] for t in decided if t["a"] not in apart)
    names = [each["name"] for each in data.get("systems", ())]
    if not decided:
        return (f"whether {'it' if len(names) == 1 else 'a system'} {FROM_REFERENCE}{NOT_TESTED}",)
    if len(names) > 1 and set(apart) == set(names):
        return (f"every system {FROM_REFERENCE}",)
    unlike = [named(name) for name in dict.fromkeys(apart)]
    same = [named(name) for name in alike]
    parts = [
        (*listing(same), " cannot be told from the reference by any test made"),
        (*listing(unlike), " can" if same else f" {FROM_REFERENCE}"),
    ]
    return joined([part for part in parts if part[1:]], ", ")
