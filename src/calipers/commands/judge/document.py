"""The document of a judging: scores of the systems by each judge, and the quality of the judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from calipers.commands.judge.result import (
    NOUNS,
    Judge,
    JudgedQuestion,
    JudgedSystem,
    JudgedValue,
    Judging,
)
from calipers.judgements.rubric import Task
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
    glossary,
    notes,
    singles,
    texts,
    together,
)
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING, defined, number

MORE = "All numbers: `.to_dict()`."
SCORES: dict[Task, str] = {
    "pairs": "Bradley-Terry scores",
    "quality": "Mean ratings",
    "diversity": "Share of diverse batches",
}
WRITTEN: dict[Task, Callable[[float], str]] = {
    "pairs": lambda score: f"{score:.1f}",
    "quality": lambda score: f"{score:.2f}",
    "diversity": lambda score: number(score, unit=True),
}
"""How a score is written, by the task."""

RERUN_DECIMALS: dict[Task, int] = {"pairs": 1, "quality": 2, "diversity": 3}

Answered = tuple[str, JudgedQuestion]
"""The name of a judge, and a question as it answered it."""


def document(judging: Judging) -> Document:
    """Return the document of a judging: its tables and notes."""
    blocks: tuple[Block, ...] = (
        *(_scores(judging, judge) for judge in judging),
        _instrument(judging),
        *_with_people(judging),
        *_between(judging),
        *together(*notes("point", map(_counted, judging))),
        *together(*notes("note", map(clean, judging.notes)), *legend.warnings(judging, [])),
        Notes((*glossary(_meanings(judging)), Note("how", MORE))),
    )
    return Document(_title(judging), blocks, legend.made_by(judging))


def _title(judging: Judging) -> str:
    count, systems, judges = judging.items, len(judging.systems), list(judging.judges)
    by = clean(judges[0]) if len(judges) == 1 else f"{len(judges)} judges"
    noun = NOUNS[judging.task][count != 1]
    settings = judging.settings
    pins = [f"rubric {clean(settings['rubric']['name'])}", clean(settings["decoding"])]
    plural = "" if systems == 1 else "s"
    head = f"{count:,} {noun} of {systems} system{plural}, judged by {by}"
    return " · ".join([head, *pins, f"seed {settings['seed']}"])


# What the judges make of the systems -------------------------------------------------------------


def _scores(judging: Judging, judge: Judge) -> Table:
    """Return what a judge makes of every system, a column for each question."""
    reference = judging.reference
    names = [
        clean(name) + (" (reference)" if name == reference != "reference" else "")
        for name in judging.systems
    ]
    columns = []
    for question in judge.questions.values():
        systems = [question.systems.get(name) for name in judging.systems]
        scores = [score for system in systems if (score := _score(system)) is not None]
        best = max(scores, default=None)
        cells = tuple(_score_cell(judging.task, system, best) for system in systems)
        columns.append(Column(clean(question.name), cells, align="value"))
    of = f" by {clean(judge.name)}" if len(judging) > 1 else ""
    level = f"{100 * judging.settings['level']:.4g} % intervals"
    return Table(
        (Column("system", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id=f"scores:{judge.name}",
        heading=f"{SCORES[judging.task]}{of}, with {level}",
    )


def _score(system: JudgedSystem | None) -> float | None:
    return None if system is None else defined(system.score)


def _score_cell(task: Task, system: JudgedSystem | None, best: float | None) -> ScoreCell:
    value = _score(system)
    if system is None or value is None:
        return ScoreCell(MISSING)
    write, bounds = WRITTEN[task], system.interval
    spread = "" if bounds is None else f"[{write(bounds[0])},{write(bounds[1])}]"
    return ScoreCell(write(value), spread, style=BEST_STYLE if value == best else "", number=value)


# How good the judges are -------------------------------------------------------------------------


def _instrument(judging: Judging) -> Table:
    """Return how good each judge is as an instrument, a row for each question."""
    rows = _rows(judging)
    questions = [question for _, question in rows]
    pairs = judging.task == "pairs"
    columns = [_estimates("agrees with itself", [q.agreement for q in questions], _share)]
    if pairs:
        columns += [
            _estimates("flips", [question.flips for question in questions], _share),
            _estimates("first", [question.first for question in questions], _share),
            _estimates("circles", [question.circles for question in questions], _share),
            _estimates("ties", [question.ties for question in questions], _share),
        ]
    else:
        spreads = [defined(question.spread) for question in questions]
        deviations = [MISSING if spread is None else f"{spread:.2f}" for spread in spreads]
        columns.append(Column("sd of answers", texts(deviations)))
    columns.append(
        Column("another run", texts([_rerun(judging.task, question) for question in questions]))
    )
    return Table(
        _lead(judging, rows),
        singles(columns),
        (METRIC,) * len(rows),
        id="instrument",
        heading="The judge as an instrument" if len(judging) == 1 else "The judges as instruments",
    )


def _with_people(judging: Judging) -> Iterator[Table]:
    """Return each judge beside people, where their answers were given."""
    rows = [(judge, question) for judge, question in _rows(judging) if question.people is not None]
    beside = [question.people for _, question in rows if question.people is not None]
    if not beside:
        return
    pairs = judging.task == "pairs"
    on_items = _share if pairs else _coefficient
    columns = [
        _estimates("on items", [row.items for row in beside], on_items),
        _estimates("beyond chance", [row.beyond_chance for row in beside], _coefficient),
        _estimates("people themselves", [row.among_people for row in beside], on_items),
        _estimates("on systems", [row.systems for row in beside], _coefficient),
    ]
    if pairs:
        discrimination = [row.discrimination for row in beside]
        columns.append(_estimates("discrimination", discrimination, _coefficient))
    people = max(row.people for row in beside)
    noun = "person" if people == 1 else "people"
    yield Table(
        _lead(judging, rows),
        singles(columns),
        (METRIC,) * len(rows),
        id="people",
        heading=f"Beside {people} {noun} ({clean(beside[0].source)})",
    )


def _between(judging: Judging) -> Iterator[Table]:
    """Return every two judges beside each other."""
    rows = judging.between
    if not rows:
        return
    on_items = _share if judging.task == "pairs" else _coefficient
    names = [" and ".join(map(clean, row.judges)) for row in rows]
    yield Table(
        (
            Column("judges", texts(names), align="left", share=3),
            Column("question", texts([clean(row.question) for row in rows]), align="left"),
        ),
        singles(
            [
                _estimates("on items", [row.items for row in rows], on_items),
                _estimates("beyond chance", [row.beyond_chance for row in rows], _coefficient),
                _estimates("on systems", [row.systems for row in rows], _coefficient),
            ]
        ),
        (METRIC,) * len(rows),
        id="between",
        heading="Agreement of the judges",
    )


def _rows(judging: Judging) -> list[Answered]:
    return [(judge.name, question) for judge in judging for question in judge.questions.values()]


def _lead(judging: Judging, rows: Sequence[Answered]) -> tuple[Column, ...]:
    names = texts([clean(question.name) for _, question in rows])
    questions = Column("question", names, align="left")
    if len(judging) == 1:
        return (questions,)
    judges = texts([clean(judge) for judge, _ in rows])
    return (Column("judge", judges, align="left"), questions)


def _estimates(
    head: str, estimates: Sequence[JudgedValue], write: Callable[[JudgedValue], ScoreCell]
) -> Column:
    return Column(head, tuple(map(write, estimates)), align="value")


def _share(estimate: JudgedValue) -> ScoreCell:
    """Write a share in per cent, its interval behind it."""
    value, bounds = defined(estimate.value), estimate.interval
    if value is None:
        return ScoreCell(MISSING)
    spread = "" if bounds is None else f"[{100 * bounds[0]:.0f},{100 * bounds[1]:.0f}]"
    return ScoreCell(f"{100 * value:.0f} %", spread, number=value)


def _coefficient(estimate: JudgedValue) -> ScoreCell:
    """Write a coefficient with two decimals, its interval behind it."""
    value, bounds = defined(estimate.value), estimate.interval
    if value is None:
        return ScoreCell(MISSING)
    spread = "" if bounds is None else f"[{_two(bounds[0])},{_two(bounds[1])}]"
    return ScoreCell(_two(value), spread, number=value)


def _two(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _rerun(task: Task, question: JudgedQuestion) -> str:
    """Write how far another run of the judge would move a score, the one that it moves most."""
    errors = [defined(system.rerun_error) for system in question.systems.values()]
    largest = max((error for error in errors if error is not None), default=None)
    return MISSING if largest is None else f"±{largest:.{RERUN_DECIMALS[task]}f}"


# The notes ---------------------------------------------------------------------------------------


def _counted(judge: Judge) -> str:
    """Say what a judge was asked, what it answered, and what that cost."""
    counts = judge.counts
    text = f"{clean(judge.name)}: {counts['answered']:,} of {counts['asked']:,} answers can be used"
    lacking = [
        f"{counts[key]:,} {words}"
        for key, words in (("refused", "refused"), ("malformed", "could not be read"))
        if counts[key]
    ]
    text += f" ({', '.join(lacking)})" if lacking else ""
    if counts["asked_again"]:
        text += f"; {counts['asked_again']:,} were asked for a second time"
    text += f"; {counts['prompt_tokens']:,} tokens read, {counts['tokens']:,} written"
    if "cost" in counts:
        text += f", at a cost of {counts['cost']:.4f}"
    if counts["new"] < counts["asked"]:
        text += f"; {counts['new'] or 'none'} of the requests were made in this run"
    return text


def _meanings(judging: Judging) -> Iterator[tuple[str, str]]:
    """Return the meaning of each column."""
    pairs = judging.task == "pairs"
    yield "agrees with itself", "share of the same answers when the same is asked again"
    if pairs:
        yield "flips", "pairs in which it prefers the other text when the sides are swapped"
        yield "first", "answers that prefer the text shown first, of those that prefer one"
        yield (
            "circles",
            "triples of systems with circular preferences; a coin toss would give 25 %",
        )
        yield "ties", "answers that prefer neither text"
    yield (
        "another run",
        "standard error of a score that another run on the same texts would bring; the intervals "
        "include it",
    )
    people = any(question.people is not None for _, question in _rows(judging))
    beside = people or bool(judging.between)
    if beside and pairs:
        yield "on items", "how often both prefer the same text, where both prefer one"
        yield "beyond chance", "Cohen's kappa of all answers to the same items"
    elif beside:
        yield "on items", "correlation of the ratings of the same items"
        yield "beyond chance", "Krippendorff's alpha of these ratings"
    if beside:
        yield "on systems", "Spearman's correlation of the scores of the systems"
    if people and pairs:
        yield (
            "discrimination",
            "how clearly it distinguishes systems: 1 is as clearly as people do on average",
        )
