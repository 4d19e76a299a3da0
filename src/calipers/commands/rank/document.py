"""A ranking ──► a document: fitted scores, metrics beside each truth, and their matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from calipers.commands.rank.document_judged import (
    CEILING,
    FIXED,
    bounds,
    fitted,
    judged_meanings,
    judged_remarks,
    judged_tables,
    level_text,
    of_ties,
    people_tables,
    share,
    two,
)
from calipers.report import legend
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.of_data import of_data
from calipers.report.table import (
    ARROWS,
    BEST,
    BEST_STYLE,
    METRIC,
    Block,
    Column,
    Data,
    Document,
    Name,
    Note,
    Notes,
    Run,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    singles,
    texts,
    together,
)

SEARCHED = "≤"
BOUND = "≥"
MORE = "All numbers: --json FILE, or .to_dict() in Python. As a heat map: --plot FILE."
ENDS = {"higher": ("↑", "higher is better"), "lower": ("↓", "lower is better")}
CLOSEST = ("→", "closer to the value of the reference is better: compared as -|T(Q) - T(P)|")
LEAST_FOR_INTERVAL = 4


def document(data: Data) -> Document:
    """Give all that a ranking shows.

    Parameters
    ----------
    data
        What ``Ranking.to_dict()`` gives.
    """
    blocks: tuple[Block, ...] = (
        *_tables(data),
        *together(*notes("point", _verdicts(data))),
        *together(*notes("note", _remarks(data)), *legend.warnings(of_data(data), [])),
        Notes(
            (
                *glossary(_meanings(data)),
                Note("how", MORE),
            )
        ),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def _tables(data: Data) -> Iterator[Table]:
    yield from judged_tables(data)
    if len(data["truths"]) > 1:
        yield _summary_table(data)
    for truth in data["truths"]:
        yield _beside_table(data, truth)
    yield from people_tables(data)
    if _has_matrix(data):
        yield _matrix_table(data)


def _title(data: Data) -> str:
    """Say what was ranked by what, and beside what."""
    settings, truths = data["settings"], len(data["truths"])
    beside = f", beside {_counted(truths, 'truth')}" if truths else ""
    head = (
        f"Ranking of {len(data['systems'])} systems by {_counted(len(data['metrics']), 'metric')}"
    )
    reference = settings.get("reference")
    pins = [f"reference {clean(reference)}"] if reference else []
    return " · ".join([head + beside, *pins])


def _summary_table(data: Data) -> Table:
    """Give one column for each metric, the best of a row marked."""
    truths = data["truths"].values()
    columns = [
        Column(
            Name(clean(metric), 2, None),
            tuple(_worst(truth, metric) for truth in truths),
            _arrow(data, metric),
            align="value",
        )
        for metric in data["metrics"]
    ]
    names = texts([clean(name) for name in data["truths"]])
    return Table(
        (Column("truth", names, align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id="summary",
        heading="Worst-case rank correlation with each truth",
    )


def _beside_table(data: Data, truth: str) -> Table:
    """Give the three correlations with a truth, each with what belongs to it.

    What raters reach with each other stands above the metrics, its interval under the systems
    fixed, since it tells what other raters would make of these systems.
    """
    held = data["truths"][truth]
    metrics, found = list(held["metrics"]), list(held["metrics"].values())
    ceiling = held.get("ceiling")
    top = [ceiling] if ceiling and ceiling["spearman"] is not None else []
    sizes = [each["n"] for each in found]
    first, last = min(sizes), max(sizes)
    over = f"{first}" if first == last else f"{first} to {last}"
    names = [Text(clean(metric), arrow=_arrow(data, metric)) for metric in metrics]
    lead = [Column("metric", (*(Text(CEILING) for _ in top), *names), align="left", share=3)]
    if first != last:
        lead.append(Column("n", texts([str(each["n"]) for each in (*top, *found)])))
    level = level_text(data["settings"]["level"])
    cells = (*(ScoreCell("") for _ in top), *(_worst(held, each) for each in metrics))
    worst = [Column("worst", cells, align="value")]
    if any(map(_is_searched, found)):
        least = [BOUND + share(each["bound"]) if _is_searched(each) else "" for each in found]
        worst.append(Column("bound", texts([*("" for _ in top), *least])))
    return Table(
        tuple(lead),
        (
            (_correlation(top, found, "spearman"), *_intervals(top, found, "spearman", level)),
            tuple(worst),
            (_correlation(top, found, "pearson"), *_intervals(top, found, "pearson", level)),
        ),
        (METRIC,) * (len(top) + len(found)),
        id=f"beside:{truth}",
        heading=f"Beside {clean(truth)}, over {over} systems",
    )


def _has_matrix(data: Data) -> bool:
    """Whether the matrix is shown: where it was asked for, or there is nothing else."""
    return len(data["matrix"]["names"]) > 1 and (
        bool(data["settings"].get("matrix")) or not data["truths"]
    )


def _matrix_table(data: Data) -> Table:
    """Say how metrics correlate with one another."""
    names, rows = [clean(name) for name in data["matrix"]["names"]], data["matrix"]["values"]
    columns = [
        Column(
            name,
            tuple(
                Text(MISSING if row[j] is None else two(row[j]), "dim" if i == j else "")
                for i, row in enumerate(rows)
            ),
        )
        for j, name in enumerate(names)
    ]
    kind, systems = str(data["matrix"]["kind"]).capitalize(), len(data["systems"])
    return Table(
        (Column("", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id="matrix",
        heading=f"{kind} correlation of values as measured, over {systems} systems",
        breaks="square",
    )


def _counted(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _arrow(data: Data, metric: str) -> str:
    return ARROWS.get(data["metrics"][metric]["better"], "")


def _worst(truth: Data, metric: str) -> ScoreCell:
    each, best = truth["metrics"][metric], truth["best"] == metric
    text = (SEARCHED if _is_searched(each) else "") + share(each["worst"])
    mark, style = (BEST, BEST_STYLE) if best else ("", "")
    return ScoreCell(text, mark=mark, style=style, number=each["worst"])


def _is_searched(each: Data) -> bool:
    return each["worst"] is not None and not each["exact"]


def _correlation(top: Sequence[Data], found: Sequence[Data], kind: str) -> Column:
    return Column(kind.capitalize(), texts([share(each[kind]) for each in (*top, *found)]))


def _intervals(top: Sequence[Data], found: Sequence[Data], kind: str, level: str) -> Run:
    """Give the columns of intervals, where there are any: systems drawn from many, and fixed."""
    columns = []
    for header, key, above in (
        (level, f"{kind}_interval", ""),
        (FIXED, f"{kind}_fixed", f"{kind}_interval"),
    ):
        shown = [bounds(each.get(above)) for each in top]
        shown += [bounds(each[key]) for each in found]
        if any(shown):
            columns.append(Column(header, texts(shown, "dim")))
    return tuple(columns)


def _verdicts(data: Data) -> Iterator[str]:
    """Say for each truth which metric agrees best, and how many others it cannot be told from."""
    for name, truth in data["truths"].items():
        if truth["best"] is not None:
            yield _verdict(clean(name), truth)
        elif tied := _tied(truth):
            listed = f"{', '.join(tied[:-1])} and {tied[-1]}"
            worst = share(truth["metrics"][tied[0]]["worst"])
            yield f"{clean(name)}: {listed} agree equally well, {worst} in the worst case"


def _remarks(data: Data) -> Iterator[str]:
    """Say what was left out, what chance does, and why correlations are missing."""
    yield from map(clean, data.get("notes") or ())
    fits = {name: data["truths"][name]["fit"] for name in fitted(data)}
    yield from judged_remarks(data)
    yield from (of_ties(name, fit) for name, fit in fits.items() if fit["tie_share"])
    if data["truths"]:
        yield _included(data)
    if data["truths"] or (_has_matrix(data) and data["matrix"]["kind"] == "spearman"):
        for size, reached in data["limits"]["rarely_reached"].items():
            yield _chance(int(size), reached)
    if _has_matrix(data):
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


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read marks and numbers, as pairs of a name and a line."""
    yield from judged_meanings(data)
    if data["truths"]:
        yield from _of_correlations(data)
    if _has_matrix(data):
        yield "1.00", "columns rise together; -1.00 one falls when the other rises, 0.00 unrelated"


def _included(data: Data) -> str:
    """Say which errors the intervals of correlations include."""
    truths = data["truths"].values()
    rated = any(truth.get("ratings") for truth in truths)
    made = ["the fitted scores"] if fitted(data) else []
    made += ["the mean ratings"] if rated else []
    of_truth = " and ".join(made) or "the truth"
    sure = not made and not any(any(t["deviations"].values()) for t in truths)
    moving = any(any(metric["deviations"].values()) for metric in data["metrics"].values())
    if sure and not moving:
        return (
            "the intervals treat the scores and the truth as exact: no standard deviations were "
            "given"
        )
    if sure:
        return (
            "the intervals include the standard deviations of the metrics, and treat the truth as "
            "exact"
        )
    if moving:
        return (
            f"the intervals include the errors of {of_truth} and the standard deviations of the "
            "metrics"
        )
    return f"the intervals include the errors of {of_truth}, and treat the metrics as exact"


def _of_correlations(data: Data) -> Iterator[tuple[str, str]]:
    used = {metric["better"] for metric in data["metrics"].values()}
    yield from (ENDS[end] for end in ENDS if end in used)
    if "closest" in used:
        yield CLOSEST
    yield "Spearman", "correlation of the ranks; 1 is the order of the truth, -1 its reverse"
    yield "worst", "rho_min, the lowest Spearman if each score may change by one standard deviation"
    if _any_searched(data):
        yield SEARCHED, "found by a search: between its bound and this value"
    yield "Pearson", "correlation of the values themselves"
    yield (
        level_text(data["settings"]["level"]),
        "treats the systems as a random sample of many similar ones",
    )
    if _any_fixed(data):
        yield FIXED, "the same for these systems only, from the errors of the truth and the metric"
    if any(truth["best"] for truth in data["truths"].values()):
        yield BEST, "the highest worst case for its truth"


def _any_searched(data: Data) -> bool:
    return any(not each["exact"] and each["worst"] is not None for each in _cells(data))


def _any_fixed(data: Data) -> bool:
    return any(each[f"{kind}_fixed"] for kind in ("spearman", "pearson") for each in _cells(data))


def _cells(data: Data) -> Iterator[Data]:
    """Give every metric beside every truth."""
    for truth in data["truths"].values():
        yield from truth["metrics"].values()


def _verdict(name: str, truth: Data) -> str:
    best = truth["metrics"][truth["best"]]
    others = [each for key, each in truth["metrics"].items() if key != truth["best"]]
    head = (
        f"{name}: {clean(truth['best'])} agrees best, with {share(best['worst'])} in the "
        "worst case; "
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
    whom = f"{len(reaching)} of {_counted(len(others), 'other metric')}"
    return f"{told}. The intervals of {whom} reach that value: their order is not certain"


def _tied(truth: Data) -> list[str]:
    """The metrics that share the highest worst case."""
    worst = {key: each["worst"] for key, each in truth["metrics"].items()}
    texts = {key: share(value) for key, value in worst.items() if value is not None}
    top = share(max(value for value in worst.values() if value is not None)) if texts else ""
    tied = [clean(key) for key, text in texts.items() if text == top]
    return tied if len(tied) > 1 else []


def _reaches(each: Data, value: float) -> bool:
    bounds = each["spearman_interval"]
    return bounds is not None and value <= bounds[1]


def _undefined(data: Data) -> Iterator[str]:
    """Say why cells of the matrix are empty."""
    reasons = (reason for row in data["matrix"]["reasons"] for reason in row if reason)
    yield from (f"no correlation: {clean(reason)}" for reason in dict.fromkeys(reasons))


def _chance(systems: int, reached: float | None) -> str:
    orders = f"{math.factorial(systems):,} orders" if systems <= 8 else "many orders"
    told = f"{systems} systems can be ranked in {orders}"
    if reached is None:
        return f"{told}: too few to distinguish agreement from chance"
    return (
        f"{told}: by chance, an unrelated metric reaches a Spearman correlation of "
        f"{two(reached)} at most 1 time in 20, the best of several more often"
    )
