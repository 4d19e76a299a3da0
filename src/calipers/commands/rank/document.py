"""The document of a ranking: fitted scores, metrics beside each truth, and their matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator

from calipers.commands.rank.document_judged import (
    CEILING,
    FIXED,
    correlation_run,
    fitted,
    has_ceiling,
    judged_meanings,
    judged_remarks,
    judged_tables,
    level_text,
    of_ties,
    people_tables,
    share,
    two,
)
from calipers.commands.rank.result import Beside, Disagreement, Matrix, Ranking, Truth
from calipers.report import legend
from calipers.report.table import (
    BEST_STYLE,
    METRIC,
    Block,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    singles,
    texts,
    together,
)
from calipers.wording.marks import ARROWS, BEST
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING
from calipers.wording.words import Name

SEARCHED = "≤"
BOUND = "≥"
MORE = "All numbers: `.to_dict()`. As a heat map: `.plot()`."
ENDS = {"higher": ("↑", "higher is better"), "lower": ("↓", "lower is better")}
CLOSEST = ("→", "closer to the value of the reference is better: compared as -|T(Q) - T(P)|")
LEAST_FOR_INTERVAL = 4


def document(ranking: Ranking) -> Document:
    """Return the document of a ranking: its tables and notes."""
    blocks: tuple[Block, ...] = (
        *_tables(ranking),
        *together(*notes("point", _verdicts(ranking))),
        *together(*notes("note", _remarks(ranking)), *legend.warnings(ranking, [])),
        Notes(
            (
                *glossary(_meanings(ranking)),
                Note("how", MORE),
            )
        ),
    )
    return Document(_title(ranking), blocks, legend.made_by(ranking))


def _tables(ranking: Ranking) -> Iterator[Table]:
    yield from judged_tables(ranking)
    if len(ranking) > 1:
        yield _summary_table(ranking)
    for truth in ranking:
        yield _beside_table(ranking, truth)
    yield from people_tables(ranking)
    if _has_matrix(ranking):
        yield _matrix_table(ranking.matrix, len(ranking.systems))


def _title(ranking: Ranking) -> str:
    """Say what was ranked by what, and beside what."""
    beside = f", beside {_counted(len(ranking), 'truth')}" if len(ranking) else ""
    metrics = _counted(len(ranking.metrics), "metric")
    head = f"Ranking of {len(ranking.systems)} systems by {metrics}"
    reference = ranking.settings.get("reference")
    pins = [f"reference {clean(reference)}"] if reference else []
    return " · ".join([head + beside, *pins])


def _summary_table(ranking: Ranking) -> Table:
    """Return one column for each metric, the best of a row marked."""
    columns = [
        Column(
            Name(clean(metric), 2, None),
            tuple(_worst(truth[metric], truth.best) for truth in ranking),
            _arrow(ranking, metric),
            align="value",
        )
        for metric in ranking.metrics
    ]
    names = texts([clean(truth.name) for truth in ranking])
    return Table(
        (Column("truth", names, align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id="summary",
        heading="Worst-case rank correlation with each truth",
    )


def _beside_table(ranking: Ranking, truth: Truth) -> Table:
    """Return the three correlations with a truth, each with what belongs to it.

    What raters reach with each other stands above the metrics, its interval under the systems
    fixed, since it tells what other raters would make of these systems.
    """
    metrics = list(truth)
    ceilings = [truth.ceiling] if truth.ceiling is not None and has_ceiling(truth) else []
    sizes = [metric.n for metric in metrics]
    first, last = min(sizes), max(sizes)
    over = f"{first}" if first == last else f"{first} to {last}"
    names = [Text(clean(one.metric), arrow=_arrow(ranking, one.metric)) for one in metrics]
    lead = [Column("metric", (*(Text(CEILING) for _ in ceilings), *names), align="left", share=3)]
    if first != last:
        lead.append(Column("n", texts([str(n) for n in (*(one.n for one in ceilings), *sizes)])))
    cells = (*(ScoreCell("") for _ in ceilings), *(_worst(one, truth.best) for one in metrics))
    worst = [Column("worst", cells, align="value")]
    if any(map(_is_searched, metrics)):
        least = [BOUND + share(one.bound) if _is_searched(one) else "" for one in metrics]
        worst.append(Column("bound", texts([*("" for _ in ceilings), *least])))
    level = level_text(ranking.settings["level"])
    spearman = [
        *((one.spearman, None, one.spearman_interval) for one in ceilings),
        *((one.spearman, one.spearman_interval, one.spearman_fixed) for one in metrics),
    ]
    pearson = [
        *((one.pearson, None, one.pearson_interval) for one in ceilings),
        *((one.pearson, one.pearson_interval, one.pearson_fixed) for one in metrics),
    ]
    return Table(
        tuple(lead),
        (
            correlation_run("Spearman", level, spearman),
            tuple(worst),
            correlation_run("Pearson", level, pearson),
        ),
        (METRIC,) * (len(ceilings) + len(metrics)),
        id=f"beside:{truth.name}",
        heading=f"Beside {clean(truth.name)}, over {over} systems",
    )


def _has_matrix(ranking: Ranking) -> bool:
    """Whether the matrix is shown: where it was asked for, or there is nothing else."""
    return len(ranking.matrix.names) > 1 and (
        bool(ranking.settings.get("matrix")) or not ranking.truths
    )


def _matrix_table(matrix: Matrix, systems: int) -> Table:
    """Say how metrics correlate with one another."""
    names = [clean(name) for name in matrix.names]
    columns = [
        Column(
            name,
            tuple(
                Text(two(row[j]) if math.isfinite(row[j]) else MISSING, "dim" if i == j else "")
                for i, row in enumerate(matrix.values)
            ),
        )
        for j, name in enumerate(names)
    ]
    return Table(
        (Column("", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id="matrix",
        heading=f"{matrix.kind.capitalize()} correlation of values as measured, over {systems} "
        "systems",
        breaks="square",
    )


def _counted(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _arrow(ranking: Ranking, metric: str) -> str:
    return ARROWS.get(ranking.metrics[metric].better, "")


def _worst(beside: Beside, best: str | None) -> ScoreCell:
    text = (SEARCHED if _is_searched(beside) else "") + share(beside.worst)
    mark, style = (BEST, BEST_STYLE) if beside.metric == best else ("", "")
    number = beside.worst if math.isfinite(beside.worst) else None
    return ScoreCell(text, mark=mark, style=style, number=number)


def _is_searched(beside: Beside) -> bool:
    return math.isfinite(beside.worst) and not beside.exact


def _verdicts(ranking: Ranking) -> Iterator[str]:
    """Say for each truth which metric agrees best, and how many others agree equally well."""
    for truth in ranking:
        best = truth.best
        if best is not None:
            yield _verdict(truth, truth[best])
        elif tied := _tied(truth):
            listed = ", ".join(clean(one.metric) for one in tied[:-1])
            yield (
                f"{clean(truth.name)}: {listed} and {clean(tied[-1].metric)} agree equally well, "
                f"{share(tied[0].worst)} in the worst case"
            )
    yield from _worth_a_look(ranking)


def _worth_a_look(ranking: Ranking) -> Iterator[str]:
    """Name the systems that a truth and most metrics place far from each other."""
    sentences: dict[str, list[str]] = {}
    for truth in ranking:
        for one in truth.disagreements:
            sentences.setdefault(_disagreement(one), []).append(clean(truth.name))
    for sentence, truths in sentences.items():
        yield f"worth a look: {sentence.format(truth=' and '.join(truths))}"


def _disagreement(one: Disagreement) -> str:
    """Say where a system stands by a truth, whose name is filled in later, and by the metrics."""
    system = clean(one.system).replace("{", "{{").replace("}", "}}")
    places = sorted(one.places.values())
    low, high = _place(places[0], one.n), _place(places[-1], one.n)
    where = low if low == high else f"{low} to {high}"
    by = len(places)
    many = f"all {by}" if by == one.compared else f"{by} of {one.compared}"
    metrics = f"{many} metrics" if one.compared > 1 else "the metric"
    return (
        f"{system} is {_place(one.place, one.n)} of {one.n} by {{truth}}, but {where} by "
        f"{metrics}, beyond the noise of both"
    )


def _place(place: float, n: int) -> str:
    """Write a place, such as "1st"; equal systems share a place between two."""
    if place == n:
        return "last"
    if not place.is_integer():
        return f"{place:g}"
    number = int(place)
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"


def _remarks(ranking: Ranking) -> Iterator[str]:
    """Say what was left out, what chance does, and why correlations are missing."""
    yield from map(clean, ranking.notes)
    yield from judged_remarks(ranking)
    for truth in ranking:
        if truth.fit is not None and truth.fit.tie_share:
            yield of_ties(truth.name, truth.fit)
    if ranking.truths:
        yield _included(ranking)
    if ranking.truths or (_has_matrix(ranking) and ranking.matrix.kind == "spearman"):
        for size, chance in ranking.chance.items():
            yield _chance(size, chance)
    if _has_matrix(ranking):
        yield from _undefined(ranking.matrix)
    reasons: dict[str, list[str]] = {}
    for truth in ranking:
        for beside in truth:
            if beside.reason:
                place = f"{clean(beside.metric)} beside {clean(truth.name)}"
                reasons.setdefault(clean(beside.reason), []).append(place)
    for reason, places in reasons.items():
        more = f" and {len(places) - 3} more" if places[3:] else ""
        yield f"no correlation of {', '.join(places[:3])}{more}: {reason}"


def _meanings(ranking: Ranking) -> Iterator[tuple[str, str]]:
    """Return how to read marks and numbers, as pairs of a name and a line."""
    yield from judged_meanings(ranking)
    if ranking.truths:
        yield from _of_correlations(ranking)
    if _has_matrix(ranking):
        yield "1.00", "columns rise together; -1.00 one falls when the other rises, 0.00 unrelated"


def _included(ranking: Ranking) -> str:
    """Say which errors the intervals of correlations include."""
    estimated = ["the fitted scores"] if fitted(ranking) else []
    if any(truth.ratings is not None for truth in ranking):
        estimated.append("the mean ratings")
    of_truth = " and ".join(estimated) or "the truth"
    exact = not estimated and not any(any(truth.deviations.values()) for truth in ranking)
    moving = any(any(metric.deviations.values()) for metric in ranking.metrics.values())
    if exact and not moving:
        return (
            "the intervals treat the scores and the truth as exact: no standard deviations were "
            "given"
        )
    if exact:
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


def _of_correlations(ranking: Ranking) -> Iterator[tuple[str, str]]:
    used = {metric.better for metric in ranking.metrics.values()}
    yield from (ENDS[end] for end in ENDS if end in used)
    if "closest" in used:
        yield CLOSEST
    yield "Spearman", "correlation of the ranks; 1 is the order of the truth, -1 its reverse"
    yield "worst", "rho_min, the lowest Spearman if each score may change by one standard deviation"
    besides = [beside for truth in ranking for beside in truth]
    if any(map(_is_searched, besides)):
        yield SEARCHED, "found by a search: between its bound and this value"
    yield "Pearson", "correlation of the values themselves"
    yield (
        level_text(ranking.settings["level"]),
        "treats the systems as a random sample of many similar ones",
    )
    if any(beside.spearman_fixed or beside.pearson_fixed for beside in besides):
        yield FIXED, "the same for these systems only, from the errors of the truth and the metric"
    if any(truth.best is not None for truth in ranking):
        yield BEST, "the highest worst case for its truth"


def _verdict(truth: Truth, best: Beside) -> str:
    head = (
        f"{clean(truth.name)}: {clean(best.metric)} agrees best, with {share(best.worst)} in the "
        f"worst case; Spearman {share(best.spearman)}"
    )
    if best.spearman_interval is None:
        if best.spearman_fixed is not None:
            low, high = best.spearman_fixed
            return f"{head}, with the systems fixed {two(low)} to {two(high)}"
        few = best.n < LEAST_FOR_INTERVAL
        why = "too few systems" if few else "the end of the scale"
        return f"{head}, without an interval ({why})"
    low, high = best.spearman_interval
    verdict = f"{head}, interval {two(low)} to {two(high)}"
    others = [beside for beside in truth if beside.metric != best.metric]
    reaching = [beside for beside in others if _reaches(beside, best.spearman)]
    if not reaching:
        return verdict
    whom = f"{len(reaching)} of {_counted(len(others), 'other metric')}"
    return f"{verdict}. The intervals of {whom} reach that value: their order is not certain"


def _tied(truth: Truth) -> list[Beside]:
    """Return the metrics that share the highest worst case, as it is written; none for only one."""
    defined = [beside for beside in truth if math.isfinite(beside.worst)]
    if not defined:
        return []
    top = share(max(beside.worst for beside in defined))
    tied = [beside for beside in defined if share(beside.worst) == top]
    return tied if len(tied) > 1 else []


def _reaches(beside: Beside, value: float) -> bool:
    return beside.spearman_interval is not None and value <= beside.spearman_interval[1]


def _undefined(matrix: Matrix) -> Iterator[str]:
    """Say why cells of the matrix are empty."""
    reasons = (reason for row in matrix.reasons for reason in row if reason)
    yield from (f"no correlation: {clean(reason)}" for reason in dict.fromkeys(reasons))


def _chance(systems: int, correlation: float) -> str:
    orders = f"{math.factorial(systems):,} orders" if systems <= 8 else "many orders"
    remark = f"{systems} systems can be ranked in {orders}"
    if not math.isfinite(correlation):
        return f"{remark}: too few to distinguish agreement from chance"
    return (
        f"{remark}: by chance, an unrelated metric reaches a Spearman correlation of "
        f"{two(correlation)} at most 1 time in 20, the best of several more often"
    )
