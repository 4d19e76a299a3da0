"""What an agreement says in words: who disagrees, what chance does, how to read the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from calipers.report.agree_content import Data, arrow
from calipers.report.content import BEST
from calipers.report.names import VIEWS, WIDEST_NAME, clean, label, shorten
from calipers.report.notes import cut_notes
from calipers.report.numbers import MISSING, score_text

MOST_PAIRS = 6
"""Pairs of systems that are told for each metric; the JSON holds all."""


def correlated(data: Data) -> bool:
    """Whether any correlation is defined."""
    return any(each["lowest"] for each in data["metrics"].values())


def verdicts(data: Data) -> Iterator[tuple[str, list[str]]]:
    """Give what the columns say by each metric, and below it the pairs that it is about."""
    for metric, found in data["metrics"].items():
        told = [*_agreed(data, metric), *_split(data, metric)] if len(found["pairs"]) > 1 else []
        yield f"{label(metric)}: {clean(found['sentence'])}", told


def _agreed(data: Data, metric: str) -> Iterator[str]:
    """Name the pairs that all columns put the same way round, unless the sentence has them all."""
    found = data["metrics"][metric]
    pairs = [pair for pair in found["pairs"] if pair["agreed"]]
    if not pairs or len(pairs) == len(found["pairs"]):
        return
    told = [clean(pair["sentence"]).partition(" put ") for pair in pairs]
    orders = [order for _, _, order in told]
    more = f" and {len(orders) - MOST_PAIRS} more" if orders[MOST_PAIRS:] else ""
    yield f"{told[0][0]} put {', '.join(orders[:MOST_PAIRS])}{more}"


def _split(data: Data, metric: str) -> Iterator[str]:
    """Tell each pair that columns put the one and the other way round."""
    pairs = [each for each in data["metrics"][metric]["pairs"] if each["split"]]
    yield from (clean(pair["sentence"]) for pair in pairs[:MOST_PAIRS])
    if pairs[MOST_PAIRS:]:
        yield f"and {len(pairs) - MOST_PAIRS} more pairs, which --json FILE holds"


def verdict(data: Data) -> str:
    """Give the whole in one sentence."""
    text = clean(data["verdict"])
    named = ", ".join(label(metric) for metric in data["split"])
    return text[:1].upper() + text[1:] + (f" ({named})." if named else ".")


def remarks(data: Data) -> Iterator[str]:
    """Say how sets were cut, what chance does, and why correlations are missing."""
    yield from cut_notes(data)
    systems, rare = len(data["systems"]), data["limits"]["rarely_reached"]
    if correlated(data):
        yield _chance_note(systems, rare)
    reasons = [
        (label(metric), reason)
        for metric, found in data["metrics"].items()
        for reason in dict.fromkeys(row for rows in found["reasons"] for row in rows if row)
    ]
    for reason in dict.fromkeys(reason for _, reason in reasons):
        about = [name for name, own in reasons if own == reason]
        whom = "" if len(about) == len(data["metrics"]) else f" ({', '.join(about)})"
        yield f"no rank correlation{whom}: {clean(reason)}"
    yield from _missing_scores(data)


def legend(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read marks, views and words, as pairs of a name and a line."""
    arrows = {arrow(data, metric) for metric in data["metrics"]}
    words = {"↑": "higher is better", "↓": "lower is better", "≈": "closer to the reference's own"}
    yield from ((mark, words[mark]) for mark in words if mark in arrows)
    yield BEST, "best of its column"
    for view in dict.fromkeys(column["view"] for column in data["columns"]):
        if view in VIEWS:
            yield clean(view), f"scores by {VIEWS[view]}"
    if correlated(data):
        yield "1.00", "the same order of the systems; -1.00 the reverse, 0.00 unrelated"
        yield "lowest", "of any two columns"
    tie = data["limits"]["tie"]
    yield "tie", f"scores within {tie:.2g} of each other: what the draw of the samples may move"


def warnings(data: Data) -> list[str]:
    """Give every warning once, with the sets that it is about in front of it."""
    about: dict[str, list[str]] = {}
    for row in [data["reference"], *data["systems"]]:
        for text in row.get("warnings") or ():
            about.setdefault(clean(text), []).append(shorten(clean(row["name"]), WIDEST_NAME))
    sets = [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in about.items()]
    return [*sets, *dict.fromkeys(clean(text) for text in data.get("warnings") or ())]


def _chance_note(systems: int, rare: float | None) -> str:
    orders = f"{math.factorial(systems)} orders" if systems <= 8 else "many orders"
    told = f"{systems} systems can stand in {orders}"
    if rare is None:
        share = math.factorial(systems)
        return f"{told}: unrelated columns agree in full 1 time in {share}, so 1.00 shows little"
    return f"{told}: by chance, unrelated columns reach {rare:.2f} no more than 1 time in 20"


def _missing_scores(data: Data) -> Iterator[str]:
    """Say for every dash among the scores why there is no value."""
    about: dict[str, list[str]] = {}
    for metric, found in data["metrics"].items():
        for column, scores in zip(data["columns"], found["scores"], strict=True):
            for name, score in scores.items():
                if score_text(score) == MISSING:
                    reason = clean(score.get("reason") or "no value, and no reason was kept")
                    where = f"{clean(name)}, {label(metric)} by {clean(column['label'])}"
                    about.setdefault(reason, []).append(where)
    for reason, places in about.items():
        more = f" and {len(places) - 3} more" if places[3:] else ""
        yield f"{'; '.join(places[:3])}{more}: {reason}"
