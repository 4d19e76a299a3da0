"""What a ranking says in words: what is settled, what chance does, how to read the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from calipers.report.content import BEST
from calipers.report.names import clean
from calipers.report.rank_content import (
    FIXED,
    SEARCHED,
    Data,
    counted,
    fitted,
    interval_name,
    share,
    two,
)
from calipers.report.rank_matrix import matrix_shown

ENDS = {"higher": ("↑", "higher is better"), "lower": ("↓", "lower is better")}
CLOSEST = ("≈", "closer to the reference's own value is better: compared as -|T(Q) - T(P)|")
LEAST_FOR_INTERVAL = 4
TIES = {
    "davidson": "an outcome of its own, by Davidson's model (1970)",
    "half": "half a win to each side",
    "random": "a win to either side at random",
    "drop": "left out",
}
SHRINKING = ("half", "random")


def verdicts(data: Data) -> Iterator[str]:
    """Say for each truth which metric agrees best, and how many others it cannot be told from."""
    for name, truth in data["truths"].items():
        if truth["best"] is not None:
            yield _verdict(clean(name), truth)
        elif tied := _tied(truth):
            listed = f"{', '.join(tied[:-1])} and {tied[-1]}"
            worst = share(truth["metrics"][tied[0]]["worst"])
            yield f"{clean(name)}: {listed} agree alike, {worst} in the worst case"


def remarks(data: Data) -> Iterator[str]:
    """Say what was left out, what chance does, and why correlations are missing."""
    yield from map(clean, data.get("notes") or ())
    fits = {name: data["truths"][name]["fit"] for name in fitted(data)}
    yield from (_of_ties(name, fit) for name, fit in fits.items() if fit["tie_share"])
    if data["truths"]:
        yield _included(data)
    if data["truths"] or (matrix_shown(data) and data["matrix"]["kind"] == "spearman"):
        for size, reached in data["limits"]["rarely_reached"].items():
            yield _chance(int(size), reached)
    if matrix_shown(data):
        yield from _undefined(data)
    reasons: dict[str, list[str]] = {}
    for name, truth in data["truths"].items():
        for metric, each in truth["metrics"].items():
            if each["reason"]:
                where = f"{clean(metric)} beside {clean(name)}"
                reasons.setdefault(clean(each["reason"]), []).append(where)
    for reason, places in reasons.items():
        more = f" and {len(places) - 3} more" if places[3:] else ""
        yield f"no correlation of {', '.join(places[:3])}{more}: {reason}"


def warnings(data: Data) -> list[str]:
    """Give every warning once."""
    return list(dict.fromkeys(clean(text) for text in data.get("warnings") or ()))


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read marks and numbers, as pairs of a name and a line."""
    if fitted(data):
        yield from _of_fits(data)
    if data["truths"]:
        yield from _of_correlations(data)
    if matrix_shown(data):
        yield "1.00", "columns rise together; -1.00 one falls as the other rises, 0.00 unrelated"


def _of_ties(name: str, fit: Mapping[str, Any]) -> str:
    """Say how many judgements are ties, and what became of them."""
    share = fit["tie_share"]
    told = f"{clean(name)}: {100 * share:.3g} % of the judgements are ties"
    if fit["ties"] == "davidson":
        even = fit["tie_parameter"] / (2 + fit["tie_parameter"])
        return (
            f"{told}: {TIES['davidson']}, in which two equal systems tie with probability "
            f"{even:.2f}"
        )
    more = ", which draws the scores together" if fit["ties"] in SHRINKING else ""
    return f"{told}: {TIES[fit['ties']]}{more}"


def _included(data: Data) -> str:
    """Say which errors the intervals of correlations include."""
    truths = data["truths"].values()
    of_truth = "the fitted scores" if fitted(data) else "the truth"
    sure = not fitted(data) and not any(any(t["deviations"].values()) for t in truths)
    moving = any(any(metric["deviations"].values()) for metric in data["metrics"].values())
    if sure and not moving:
        return "the intervals take the scores and the truth for exact: no deviations were given"
    if sure:
        return "the intervals include the deviations of the metrics, and take the truth for exact"
    if moving:
        return f"the intervals include the errors of {of_truth} and the deviations of the metrics"
    return f"the intervals include the errors of {of_truth}, and take the metrics for exact"


def _of_fits(data: Data) -> Iterator[tuple[str, str]]:
    fit = data["truths"][fitted(data)[0]]["fit"]
    chance = f"1/(1 + exp(-difference/{fit['scale']:g}))"
    yield "score", f"preferred, where one is, with probability {chance}; the mean is 0"
    yield "tied", f"judged alike: {TIES[fit['ties']]}"


def _of_correlations(data: Data) -> Iterator[tuple[str, str]]:
    used = {metric["better"] for metric in data["metrics"].values()}
    yield from (ENDS[end] for end in ENDS if end in used)
    if "closest" in used:
        yield CLOSEST
    yield "Spearman", "correlation of the ranks; 1 is the order of the truth, -1 its reverse"
    yield "worst", "rho_min, the least Spearman when each score may move by one standard deviation"
    if _any_searched(data):
        yield SEARCHED, "found by a search: no lower than its bound, and no higher than this"
    yield "Pearson", "correlation of the values themselves"
    yield interval_name(data), "takes the systems for a random draw from many alike"
    if _any_fixed(data):
        yield FIXED, "the same for these very systems, from the errors of truth and metric alone"
    if any(truth["best"] for truth in data["truths"].values()):
        yield BEST, "the highest worst case beside its truth"


def _any_searched(data: Data) -> bool:
    return any(not each["exact"] and each["worst"] is not None for each in _cells(data))


def _any_fixed(data: Data) -> bool:
    return any(each[f"{kind}_fixed"] for kind in ("spearman", "pearson") for each in _cells(data))


def _cells(data: Data) -> Iterator[Mapping[str, Any]]:
    """Give every metric beside every truth."""
    for truth in data["truths"].values():
        yield from truth["metrics"].values()


def _verdict(name: str, truth: Mapping[str, Any]) -> str:
    best = truth["metrics"][truth["best"]]
    others = [each for key, each in truth["metrics"].items() if key != truth["best"]]
    head = (
        f"{name}: {clean(truth['best'])} agrees best, {share(best['worst'])} in the worst case; "
        f"Spearman {share(best['spearman'])}"
    )
    if best["spearman_interval"] is None:
        few = best["n"] < LEAST_FOR_INTERVAL
        why = "too few systems" if few else "the end of the scale"
        if best["spearman_fixed"] is not None:
            low, high = best["spearman_fixed"]
            return f"{head}, with the systems fixed {two(low)} to {two(high)}"
        return f"{head}, without an interval ({why})"
    low, high = best["spearman_interval"]
    told = f"{head}, interval {two(low)} to {two(high)}"
    reaching = [each for each in others if _reaches(each, best["spearman"])]
    if not reaching:
        return told
    whom = f"{len(reaching)} of {counted(len(others), 'other metric')}"
    return f"{told}. The intervals of {whom} reach that value: their order is not settled"


def _tied(truth: Mapping[str, Any]) -> list[str]:
    """The metrics that share the highest worst case."""
    worst = {key: each["worst"] for key, each in truth["metrics"].items()}
    texts = {key: share(value) for key, value in worst.items() if value is not None}
    top = share(max(value for value in worst.values() if value is not None)) if texts else ""
    tied = [clean(key) for key, text in texts.items() if text == top]
    return tied if len(tied) > 1 else []


def _reaches(each: Mapping[str, Any], value: float) -> bool:
    bounds = each["spearman_interval"]
    return bounds is not None and value <= bounds[1]


def _undefined(data: Data) -> Iterator[str]:
    """Say why cells of the matrix are empty."""
    reasons = (reason for row in data["matrix"]["reasons"] for reason in row if reason)
    yield from (f"no correlation: {clean(reason)}" for reason in dict.fromkeys(reasons))


def _chance(systems: int, reached: float | None) -> str:
    orders = f"{math.factorial(systems):,} orders" if systems <= 8 else "many orders"
    told = f"{systems} systems can stand in {orders}"
    if reached is None:
        return f"{told}: too few to tell agreement from chance"
    return (
        f"{told}: by chance, an unrelated metric reaches a Spearman of {two(reached)} no more than "
        "1 time in 20, the best of several more often"
    )
