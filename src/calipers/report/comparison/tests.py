"""The tables of tests, noise floors, differences, seeds and advice of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from calipers.report.inference import family, floor_cell, floor_splits, pair_name, untested
from calipers.report.shown import as_scores, column, interval_of, metric_of, spoken, spoken_all
from calipers.report.table import (
    BEST_STYLE,
    FLOOR,
    SYSTEM,
    Cell,
    Column,
    Note,
    ScoreCell,
    Table,
    Text,
    by_group,
    texts,
)
from calipers.results.comparison import Advice, Comparison
from calipers.results.ranking import scores_of
from calipers.results.shown import ShownScore
from calipers.results.significance import (
    against_reference,
    alpha_of,
    between_systems,
    is_significant,
    level_of,
)
from calipers.results.system import SystemResult
from calipers.results.tests import SignificanceTest, SystemPair
from calipers.score import WIDTH, NoiseFloor, Score
from calipers.wording.marks import FLOOR_MARK
from calipers.wording.names import clean
from calipers.wording.numbers import (
    MISSING,
    about,
    defined,
    floor_of,
    half_text,
    p_text,
    percent,
    signed,
)
from calipers.wording.words import Name, listed, named

MOST_ADVICE = 40
MOST_NAMED, FEW = 6, 3
"""Systems that a finding names; of more it names only the first few."""
ASKED = "distinguishable?"
FIXED = "\N{NO-BREAK SPACE}"


def reference_table(comparison: Comparison) -> Table | None:
    """Return the table of tests against the reference; None without tests."""
    tests = against_reference(comparison)
    if not tests:
        return None
    tested = {test.a for test in tests}
    names = [system.name for system in comparison.systems if system.name in tested]
    lead = Column("system", tuple(Text(named(name)) for name in names), align="left")
    metrics = _by_view(
        [metric_of(comparison, key) for key in dict.fromkeys(t.score for t in tests)]
    )
    columns = [column for metric in metrics for column in _verdicts(comparison, metric, names)]
    caption = f"p-value{family(tests)}; yes: below {alpha_of(comparison):g}"
    return Table(
        (lead,),
        by_group(columns),
        (SYSTEM,) * len(names),
        id="against-reference",
        heading="Distinguishable from the reference?",
        notes=(*untested(comparison, tests), Note("caption", caption)),
    )


def floor_table(comparison: Comparison, metrics: Sequence[ShownScore]) -> Table | None:
    """Return the table of the floor at every size, and the systems at that size; None without any.

    It stands apart from the scores of the full sets: only numbers of one size may be compared.
    """
    shown = [metric for metric in metrics if any(map(floor_of, scores_of(comparison, metric)))]
    if not shown:
        return None
    rows = list(_floor_rows(comparison, shown))
    kinds = tuple(kind for kind, _, _, _ in rows)
    names, sizes = tuple(row[1] for row in rows), tuple(row[2] for row in rows)
    columns = [
        column(metric, [row[3][place] for row in rows]) for place, metric in enumerate(shown)
    ]
    return Table(
        (Column("system", names, align="left"), Column("n", sizes)),
        by_group(columns),
        kinds,
        id="floor",
        heading="Noise floor: the reference against itself",
        notes=(*_inside(comparison, shown), Note("caption", _floor_caption(comparison, shown))),
        breaks="views",
        even=True,
    )


def pairs_table(comparison: Comparison, metrics: Sequence[ShownScore]) -> Table | None:
    """Return the table of differences of every pair of systems; None without tests."""
    tests = between_systems(comparison)
    if not tests:
        return None
    pairs = list(comparison.indexed.by_pair)
    shown = [metric for metric in metrics if metric.key in comparison.indexed.by_score]
    tells = (*_separating(comparison, shown, pairs), *_missed(comparison, shown))
    heading = "Differences between systems"
    if not shown:
        notes = (Note("finding", _count(comparison, tests, len(pairs))), *tells)
        return Table((), id="pairs", heading=heading, notes=notes)
    lead = Column("first - second", tuple(Text(pair_name(pair)) for pair in pairs), align="left")
    columns = [_differences(comparison, metric, pairs) for metric in shown]
    caption = Note("caption", _pairs_caption(comparison, tests))
    return Table(
        (lead,),
        by_group(columns),
        (SYSTEM,) * len(pairs),
        id="pairs",
        heading=heading,
        notes=(*tells, *untested(comparison, tests), caption),
    )


def seeds_table(comparison: Comparison, metrics: Sequence[ShownScore]) -> Table | None:
    """Return the table of the spread over the files of each system that has several."""
    systems = [system for system in comparison.systems if len(system.seeds) > 1]
    shown = [
        metric
        for metric in metrics
        if any(_seeds_cell(system, metric).spread for system in systems)
    ]
    if not shown:
        return None
    files = Column("files", texts([str(len(system.seeds)) for system in systems]))
    names = Column("system", texts([clean(system.name) for system in systems]), align="left")
    columns = [
        column(metric, [_seeds_cell(system, metric) for system in systems], align="right")
        for metric in shown
    ]
    return Table(
        (names, files),
        by_group(columns),
        (SYSTEM,) * len(systems),
        id="seeds",
        heading="Over the seed files: mean ± standard deviation",
        breaks="views",
    )


def advice_table(comparison: Comparison) -> Table | None:
    """Return the table of how each score would change with more samples; None without advice."""
    advice = comparison.advice
    if not advice:
        return None
    shown = advice[:MOST_ADVICE]
    rest = f"{len(advice) - MOST_ADVICE} more (`.to_dict()`)"
    systems = tuple(Text(named(advised.system, 4)) for advised in shown)
    scores = tuple(
        Text(Name(spoken(comparison, metric_of(comparison, advised.score)), 3, None))
        for advised in shown
    )
    caption = (
        f"limit: the score extrapolated to unlimited samples, with the same settings; {MISSING} no "
        "limit found. bias: now minus limit. spread: standard error now. plateau: whether the "
        "score changes little from half of the samples to all."
    )
    return Table(
        (Column("system", systems, align="left"), Column("score", scores, align="left")),
        (_advice_run(comparison, shown),),
        (SYSTEM,) * len(shown),
        id="advice",
        heading="What more samples would change",
        notes=(
            *((Note("finding", rest),) if advice[MOST_ADVICE:] else ()),
            Note("caption", caption),
        ),
    )


def _by_view(metrics: Sequence[ShownScore]) -> list[ShownScore]:
    order = list(dict.fromkeys(metric.view for metric in metrics))
    return sorted(metrics, key=lambda metric: order.index(metric.view))


def _verdicts(
    comparison: Comparison, metric: ShownScore, names: Sequence[str]
) -> tuple[Column, Column]:
    """Return the column of a statistic, and the one that says whether it tells."""
    by_system = comparison.indexed.against_by_score[metric.key]
    tests = [by_system.get(name) for name in names]
    values = [
        as_scores(comparison, metric.key, test.difference if test else None) or MISSING
        for test in tests
    ]
    verdicts = [_verdict(test, alpha_of(comparison)) for test in tests]
    group = clean(metric.view)
    return (
        Column(metric.label, texts(values), group=group, key=metric.key),
        Column(ASKED, texts(verdicts), group=group, align="left"),
    )


def _verdict(test: SignificanceTest | None, alpha: float) -> str:
    p = None if test is None else defined(test.adjusted_p_value)
    if test is None or p is None:
        return MISSING
    text = p_text(p, alpha, at_limit=test.at_limit)
    return f"{'yes' if p < alpha else 'no'}: {text}"


def _floor_rows(
    comparison: Comparison, metrics: Sequence[ShownScore]
) -> Iterator[tuple[str, Text, Text, tuple[ScoreCell, ...]]]:
    """Return for each size the row of the floor, then those of the systems."""
    floors = [
        tuple(floor_cell(scores_of(comparison, metric)[row], metric) for metric in metrics)
        for row in range(len(comparison))
    ]
    keys = [tuple("" if c is None else c.value + c.spread for c in cells) for cells in floors]
    measured = sorted((row for row, key in enumerate(keys) if any(key)), key=lambda row: keys[row])
    for _, members in groupby(measured, key=lambda row: keys[row]):
        systems = sorted(members)
        cells = tuple(cell or ScoreCell(MISSING, style="dim") for cell in floors[systems[0]])
        size = _floor_size(comparison, metrics, systems[0])
        yield FLOOR, Text(FLOOR, "dim"), Text(f"2x{size}", "dim"), cells
        for row in systems:
            beside = tuple(
                _beside_floor(scores_of(comparison, metric)[row], metric) for metric in metrics
            )
            yield SYSTEM, Text(clean(comparison.systems[row].name)), Text(str(size)), beside


def _beside_floor(score: Score | None, metric: ShownScore) -> ScoreCell:
    floor = floor_of(score)
    if score is None or floor is None:
        return ScoreCell(MISSING)
    text = metric.write(replace(score, value=floor.beside))
    return ScoreCell(text, floor=FLOOR_MARK if floor.inside else "")


def _floor_size(comparison: Comparison, metrics: Sequence[ShownScore], row: int) -> object:
    floors = [floor_of(scores_of(comparison, metric)[row]) for metric in metrics]
    return next(floor.size for floor in floors if floor)


def _inside(comparison: Comparison, metrics: Sequence[ShownScore]) -> Iterator[Note]:
    """Say by which scores a system is within the noise floor."""
    about: dict[str, list[Name]] = {}
    for row, system in enumerate(comparison.systems):
        floors = [floor_of(scores_of(comparison, metric)[row]) for metric in metrics]
        inside = [m for m, floor in zip(metrics, floors, strict=True) if floor and floor.inside]
        if inside:
            every = len(inside) == len(metrics) > 1
            words = f"all {len(inside)} scores" if every else spoken_all(comparison, inside)
            about.setdefault(words, []).append(named(system.name))
    for words, systems in about.items():
        more = f": within the noise floor by {words}"
        rest = len(systems) - MOST_NAMED
        named_ones = listed(systems if rest <= 0 else systems[:FEW])
        more = more if rest <= 0 else f" and {len(systems) - FEW} more{more}"
        yield Note("finding", (*named_ones, more), about=tuple(map(str, systems)))


def _floor_caption(comparison: Comparison, metrics: Sequence[ShownScore]) -> str:
    every = (floor_of(score) for metric in metrics for score in scores_of(comparison, metric))
    floors = [floor for floor in every if floor]
    alike = any(floor.inside for floor in floors)
    mark = f" {FLOOR_MARK}{FIXED}{_reach(floors)}." if alike else ""
    return (
        f"{FLOOR}: one half of the reference against the other (mean ± standard deviation over "
        f"{floor_splits(comparison, metrics)} splits); below it, as many samples of each system "
        "against a half. Compare within this block only: scores change with the number of samples."
        f"{mark}"
    )


def _reach(floors: Sequence[NoiseFloor]) -> str:
    """Say how near the floor a system must be."""
    if any(floor.margin is not None for floor in floors):
        return "as close to the floor as equal distributions are in 19 of 20 runs"
    return f"within {WIDTH:g} standard deviations of the floor"


def _differences(comparison: Comparison, metric: ShownScore, pairs: Sequence[SystemPair]) -> Column:
    """Return the differences by one score with their p."""
    by_pair, alpha = comparison.indexed.by_score[metric.key], alpha_of(comparison)
    cells = tuple(_difference(comparison, metric.key, by_pair.get(pair), alpha) for pair in pairs)
    return Column(metric.label, cells, group=clean(metric.view), key=metric.key)


def _difference(
    comparison: Comparison, key: str, test: SignificanceTest | None, alpha: float
) -> Cell:
    if test is None or defined(test.difference) is None:
        return ScoreCell(MISSING)
    text, p = as_scores(comparison, key, test.difference), defined(test.adjusted_p_value)
    difference = Score(test.difference, test.interval, range=(-1.0, 1.0))
    return ScoreCell(
        signed(text),
        interval_of(difference, text.lstrip("-")),
        aside=p_text(p, alpha),
        style=BEST_STYLE if is_significant(test, alpha) else "",
        number=test.difference,
    )


def _separating(
    comparison: Comparison, metrics: Sequence[ShownScore], pairs: Sequence[SystemPair]
) -> Iterator[Note]:
    """Say of the two closest systems how many samples would distinguish them."""
    by_pair, alpha = comparison.indexed.by_pair, alpha_of(comparison)
    cheapest = [(_cheapest(by_pair[pair], metrics, alpha), pair) for pair in pairs]
    known = [(size, pair) for size, pair in cheapest if size is not None]
    if known:
        (n, metric), (a, b) = max(known, key=lambda pair: pair[0][0])
        closest = "closest: " if pairs[1:] else ""
        more = (
            f"; {about(n)} samples in every set would be needed to distinguish them by "
            f"{spoken(comparison, metric)}, the score that needs the fewest"
        )
        yield Note("finding", (closest, named(a), " and ", named(b), more), about=(a, b))


def _missed(comparison: Comparison, metrics: Sequence[ShownScore]) -> Iterator[Note]:
    """Say how large a difference would have been found, where one was not."""
    alpha, sizes = alpha_of(comparison), []
    for metric in metrics:
        missed = [
            detectable
            for test in comparison.indexed.by_score[metric.key].values()
            if (detectable := defined(test.detectable))
            and defined(test.adjusted_p_value) is not None
            and not is_significant(test, alpha)
        ]
        if missed:
            size = as_scores(comparison, metric.key, max(missed))
            sizes.append(f"{spoken(comparison, metric)} {size}")
    if sizes:
        yield Note(
            "finding",
            "not distinguishable does not mean equal; a difference at least this large would have "
            f"been found in four of five runs: {', '.join(sizes)}",
        )


def _cheapest(
    tests: Mapping[str, SignificanceTest], metrics: Sequence[ShownScore], alpha: float
) -> tuple[int, ShownScore] | None:
    """The score that would distinguish a pair with the fewest samples; None where one does so."""
    if any(is_significant(test, alpha) for test in tests.values()):
        return None
    sizes = [(tests[metric.key].separating_n, metric) for metric in metrics if metric.key in tests]
    return min(((n, metric) for n, metric in sizes if n), key=lambda size: size[0], default=None)


def _count(comparison: Comparison, tests: Sequence[SignificanceTest], pairs: int) -> str:
    alpha = alpha_of(comparison)
    significant = sum(is_significant(test, alpha) for test in tests)
    return (
        f"{pairs} pair{'s' * (pairs > 1)}: {significant} of {len(tests)} differences are "
        f"significant at {percent(level_of(comparison))}{family(tests)}"
    )


def _pairs_caption(comparison: Comparison, tests: Sequence[SignificanceTest]) -> str:
    paired = sum(test.paired for test in tests)
    how = "" if not paired else "; paired over prompts" if paired == len(tests) else "; some paired"
    return f"±: {percent(level_of(comparison))} interval of the difference; p{family(tests)}{how}"


def _seeds_cell(system: SystemResult, metric: ShownScore) -> ScoreCell:
    score = system.scores.get(metric.key)
    text = metric.write(score)
    spread = None if score is None or text == MISSING else score.seeds_sd
    return ScoreCell(text, "" if spread is None else half_text(spread, text))


def _advice_run(comparison: Comparison, advice: Sequence[Advice]) -> tuple[Column, ...]:
    rows = [_advice_texts(comparison, advised) for advised in advice]
    headers = ("n", "now", "limit", "bias", "spread")
    columns = [
        Column(header, texts([row[place] for row in rows])) for place, header in enumerate(headers)
    ]
    plateau = texts(["reached" if advised.plateau else "not reached" for advised in advice])
    return (*columns, Column("plateau", plateau, align="left"))


def _advice_texts(comparison: Comparison, advice: Advice) -> tuple[str, ...]:
    now = advice.values[-1] if advice.values else None
    n = str(advice.sizes[-1]) if advice.sizes else MISSING
    numbers = (now, advice.limit, advice.bias)
    text, limit, bias = (as_scores(comparison, advice.score, number) for number in numbers)
    half = defined(advice.spread)
    spread = "" if half is None else half_text(half, text)
    return n, text or MISSING, limit or MISSING, signed(bias or MISSING), spread or MISSING
