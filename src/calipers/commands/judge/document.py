"""A judging ──► a document: what judges make of the systems, and how good the judges are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from calipers.report import legend
from calipers.report.names import clean
from calipers.report.numbers import MISSING, number
from calipers.report.of_data import of_data
from calipers.report.table import (
    BEST_STYLE,
    METRIC,
    Block,
    Column,
    Data,
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

MORE = "All numbers: --json FILE, or .to_dict() in Python."
ITEMS = {
    "pairs": ("pair of texts", "pairs of texts"),
    "quality": ("text", "texts"),
    "diversity": ("batch", "batches"),
}
SCORES = {
    "pairs": "Bradley-Terry scores",
    "quality": "Mean ratings",
    "diversity": "Share of diverse batches",
}


def document(data: Data) -> Document:
    """Give all that a judging shows.

    Parameters
    ----------
    data
        What ``Judging.to_dict()`` gives.
    """
    blocks: tuple[Block, ...] = (
        *(_scores(data, judge) for judge in data["judges"]),
        _instrument(data),
        *_with_people(data),
        *_between(data),
        *together(*notes("point", map(_counted, data["judges"].items()))),
        *together(*notes("note", map(clean, data["notes"])), *legend.warnings(of_data(data), [])),
        Notes((*glossary(_meanings(data)), Note("how", MORE))),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


def _title(data: Data) -> str:
    count, systems, judges = data["items"], len(data["systems"]), list(data["judges"])
    by = clean(judges[0]) if len(judges) == 1 else f"{len(judges)} judges"
    noun = ITEMS[data["task"]][count != 1]
    settings = data["settings"]
    pins = [f"rubric {clean(settings['rubric']['name'])}", clean(settings["decoding"])]
    plural = "" if systems == 1 else "s"
    head = f"{count:,} {noun} of {systems} system{plural}, judged by {by}"
    return " · ".join([head, *pins, f"seed {settings['seed']}"])


def _scores(data: Data, judge: str) -> Table:
    """Give what a judge makes of every system, a column for each question."""
    held = data["judges"][judge]["questions"]
    names = [
        clean(name) + (" (reference)" if name == data["reference"] != "reference" else "")
        for name in data["systems"]
    ]
    columns = []
    for name, question in held.items():
        found = [question["systems"].get(system) for system in data["systems"]]
        best = max((s["score"] for s in found if s and s["score"] is not None), default=None)
        cells = tuple(_score(data["task"], system, best) for system in found)
        columns.append(Column(clean(name), cells, align="value"))
    heading = SCORES[data["task"]]
    of = f" by {clean(judge)}" if len(data["judges"]) > 1 else ""
    level = f"{100 * data['settings']['level']:.4g} % intervals"
    return Table(
        (Column("system", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id=f"scores:{judge}",
        heading=f"{heading}{of}, with {level}",
    )


def _score(task: str, system: Data | None, best: float | None) -> ScoreCell:
    if system is None or system["score"] is None:
        return ScoreCell(MISSING)
    value, bounds = system["score"], system["interval"]
    write: Callable[[float], str] = {
        "pairs": lambda number: f"{number:.1f}",
        "quality": lambda number: f"{number:.2f}",
        "diversity": lambda number_: number(number_, unit=True),
    }[task]
    spread = "" if bounds is None else f"[{write(bounds[0])},{write(bounds[1])}]"
    style = BEST_STYLE if value == best else ""
    return ScoreCell(write(value), spread, style=style, number=value)


def _instrument(data: Data) -> Table:
    """Give how good each judge is as an instrument, a row for each question."""
    rows = _rows(data)
    pairs = data["task"] == "pairs"
    kinds = [("agrees with itself", "agreement")]
    if pairs:
        kinds += [(name, name) for name in ("flips", "first", "circles", "ties")]
    columns = [
        Column(head, tuple(_share(row[key]) for _, row in rows), align="value")
        for head, key in kinds
    ]
    if not pairs:
        spreads = [MISSING if row["spread"] is None else f"{row['spread']:.2f}" for _, row in rows]
        columns.append(Column("sd of answers", texts(spreads)))
    reruns = [_rerun(data["task"], row["systems"]) for _, row in rows]
    columns.append(Column("another run", texts(reruns)))
    return Table(
        _lead(data, rows),
        singles(columns),
        (METRIC,) * len(rows),
        id="instrument",
        heading="The judge as an instrument"
        if len(data["judges"]) == 1
        else ("The judges as instruments"),
    )


def _with_people(data: Data) -> Iterator[Table]:
    """Give each judge beside people, where their answers were given."""
    rows = [(judge, row) for judge, row in _rows(data) if row.get("people")]
    if not rows:
        return
    held = [row["people"] for _, row in rows]
    pairs = data["task"] == "pairs"
    on_items = _share if pairs else _coefficient
    columns = [
        Column("on items", tuple(on_items(each["items"]) for each in held), align="value"),
        Column(
            "beyond chance",
            tuple(_coefficient(each["beyond_chance"]) for each in held),
            align="value",
        ),
        Column(
            "people themselves",
            tuple(on_items(each["among_people"]) for each in held),
            align="value",
        ),
        Column("on systems", tuple(_coefficient(each["systems"]) for each in held), align="value"),
    ]
    if pairs:
        columns.append(
            Column(
                "discrimination",
                tuple(_coefficient(each["discrimination"]) for each in held),
                align="value",
            )
        )
    people = max(each["people"] for each in held)
    noun = "person" if people == 1 else "people"
    yield Table(
        _lead(data, rows),
        singles(columns),
        (METRIC,) * len(rows),
        id="people",
        heading=f"Beside {people} {noun} ({clean(held[0]['source'])})",
    )


def _between(data: Data) -> Iterator[Table]:
    """Give every two judges beside each other."""
    rows = data["between"]
    if not rows:
        return
    on_items = _share if data["task"] == "pairs" else _coefficient
    names = [" and ".join(map(clean, row["judges"])) for row in rows]
    columns = [
        Column("on items", tuple(on_items(row["items"]) for row in rows), align="value"),
        Column(
            "beyond chance",
            tuple(_coefficient(row["beyond_chance"]) for row in rows),
            align="value",
        ),
        Column("on systems", tuple(_coefficient(row["systems"]) for row in rows), align="value"),
    ]
    yield Table(
        (
            Column("judges", texts(names), align="left", share=3),
            Column("question", texts([clean(row["question"]) for row in rows]), align="left"),
        ),
        singles(columns),
        (METRIC,) * len(rows),
        id="between",
        heading="Agreement of the judges",
    )


def _rows(data: Data) -> list[tuple[str, Data]]:
    return [
        (name, {**question, "name": key})
        for name, judge in data["judges"].items()
        for key, question in judge["questions"].items()
    ]


def _lead(data: Data, rows: Sequence[tuple[str, Data]]) -> tuple[Column, ...]:
    questions = Column("question", texts([clean(row["name"]) for _, row in rows]), align="left")
    if len(data["judges"]) == 1:
        return (questions,)
    return (Column("judge", texts([clean(name) for name, _ in rows]), align="left"), questions)


def _share(estimate: Data) -> ScoreCell:
    """Write a share in per cent, its interval behind it."""
    value, bounds = estimate["value"], estimate["interval"]
    if value is None:
        return ScoreCell(MISSING)
    spread = "" if bounds is None else f"[{100 * bounds[0]:.0f},{100 * bounds[1]:.0f}]"
    return ScoreCell(f"{100 * value:.0f} %", spread, number=value)


def _coefficient(estimate: Data) -> ScoreCell:
    value, bounds = estimate["value"], estimate["interval"]
    if value is None:
        return ScoreCell(MISSING)
    spread = "" if bounds is None else f"[{_two(bounds[0])},{_two(bounds[1])}]"
    return ScoreCell(_two(value), spread, number=value)


def _two(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _rerun(task: str, systems: Data) -> str:
    """Write how far another run of the judge would move a score, the one that it moves most."""
    errors = [each["rerun_error"] for each in systems.values() if each["rerun_error"] is not None]
    decimals = {"pairs": 1, "quality": 2, "diversity": 3}[task]
    return f"±{max(errors):.{decimals}f}" if errors else MISSING


def _counted(judge: tuple[str, Data]) -> str:
    """Say what a judge was asked, what it answered, and what that cost."""
    name, counts = clean(judge[0]), judge[1]["counts"]
    told = f"{name}: {counts['answered']:,} of {counts['asked']:,} answers can be used"
    lacking = [
        f"{counts[key]:,} {words}"
        for key, words in (("refused", "refused"), ("malformed", "could not be read"))
        if counts[key]
    ]
    told += f" ({', '.join(lacking)})" if lacking else ""
    if counts["asked_again"]:
        told += f"; {counts['asked_again']:,} were asked for a second time"
    told += f"; {counts['prompt_tokens']:,} tokens read, {counts['tokens']:,} written"
    if "cost" in counts:
        told += f", at a cost of {counts['cost']:.4f}"
    if counts["new"] < counts["asked"]:
        told += f"; {counts['new'] or 'none'} of the requests were made in this run"
    return told


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give what each column tells."""
    yield "agrees with itself", "share of the same answers when the same is asked again"
    if data["task"] == "pairs":
        yield "flips", "pairs of which it prefers the other text when the sides are swapped"
        yield "first", "answers that prefer the text shown first, of those that prefer one"
        yield (
            "circles",
            "triples of systems that it prefers in a circle; a coin would make 25 % of them so",
        )
        yield "ties", "answers that prefer neither text"
    yield (
        "another run",
        "standard error of a score that another run on the same texts would bring; the intervals "
        "include it",
    )
    beside = any(row.get("people") for _, row in _rows(data)) or data["between"]
    if beside and data["task"] == "pairs":
        yield "on items", "how often both prefer the same text, where both prefer one"
        yield "beyond chance", "Cohen's kappa of all answers to the same items"
    elif beside:
        yield "on items", "correlation of the ratings of the same items"
        yield "beyond chance", "Krippendorff's alpha of these ratings"
    if beside:
        yield "on systems", "Spearman's correlation of the scores of the systems"
    if any(row.get("people") for _, row in _rows(data)) and data["task"] == "pairs":
        yield (
            "discrimination",
            "how clearly it tells systems apart: 1 is as clearly as people do on average",
        )
