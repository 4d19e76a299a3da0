"""What a ranking says in words: what is settled, what chance does, how to read the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from calipers.report.content import BEST
from calipers.report.names import clean
from calipers.report.rank_content import (
    SEARCHED,
    Data,
    counted,
    fitted,
    share,
    two,
)
from calipers.report.rank_matrix import matrix_shown

ENDS = {"higher": ("↑", "higher is better"), "lower": ("↓", "lower is better")}
CLOSEST = ("≈", "closer to the reference's own value is better: compared as -|T(Q) - T(P)|")
LEAST_FOR_INTERVAL = 4
TIES = {
    "half": "half a win to each side",
    "random": "a win to either side at random",
    "drop": "left out",
}


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
    if fitted(data):
        yield (
            "the correlations take fitted scores as they are; where their intervals overlap, so "
            "may the order of the systems change with other judgements"
        )
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


def _of_fits(data: Data) -> Iterator[tuple[str, str]]:
    fit = data["truths"][fitted(data)[0]]["fit"]
    scale = f"{fit['scale']:g}"
    yield "score", f"a system wins with probability 1/(1 + exp(-difference/{scale})); the mean is 0"
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
    if any(truth["best"] for truth in data["truths"].values()):
        yield BEST, "the highest worst case beside its truth"


def _any_searched(data: Data) -> bool:
    found = (each for truth in data["truths"].values() for each in truth["metrics"].values())
    return any(not each["exact"] and each["worst"] is not None for each in found)


def _verdict(name: str, truth: Mapping[str, Any]) -> str:
    best = truth["metrics"][truth["best"]]
    others = [each for key, each in truth["metrics"].items() if key != truth["best"]]
    head = (
        f"{name}: {clean(truth['best'])} agrees best, {share(best['worst'])} in the worst case; "
        f"Spearman {share(best['spearman'])}"
    )
    if best["spearman_interval"] is None:
        few = best["n"] < LEAST_FOR_INTERVAL
        return (
            f"{head}, without an interval ({'too few systems' if few else 'the end of the scale'})"
        )
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
