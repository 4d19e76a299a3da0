"""Tables of text statistics for many systems, with systems as rows.

On the screen, a line for each system holds the gap by every statistic, with its sign; on a page and
in a paper, every statistic has a table of its own, with values and intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.evaluate.identical import about_identical
from calipers.report.overused import METRIC as OVERUSED
from calipers.report.shown import interval_of
from calipers.report.table import (
    REFERENCE,
    SYSTEM,
    Cell,
    Column,
    ScoreCell,
    Table,
    Text,
    singles,
)
from calipers.results.text_gaps import beyond_chance, by_closeness, differing, sides, signed_gap
from calipers.results.texts import TextComparison
from calipers.score import Score
from calipers.wording.marks import ALIKE
from calipers.wording.names import text_label, text_meaning
from calipers.wording.numbers import MISSING, gap_text, signed, value_of, value_text
from calipers.wording.words import Words, joined, listed, named

MANY = 4
"""Systems beyond which rows are systems."""

CLOSEST = 3
"""Systems that the verdict names at either end."""


def signed_gap_text(score: Score | None, *, whole: bool) -> str:
    """Write a gap with its sign; without one for a gap of zero."""
    gap, text = signed_gap(score), gap_text(score, whole=whole)
    if gap is None or not text.strip("0.,"):
        return text
    return f"-{text}" if gap < 0 else signed(text)


def is_whole(result: TextComparison, key: str) -> bool:
    """Whether all values of a statistic are whole, so that decimals can be omitted."""
    scores = [result.reference_scores, *(system.scores for system in result.systems)]
    values = [value_of(of_set.get(key)) for of_set in scores]
    return all(value == int(value) for value in values if value is not None)


def overview(result: TextComparison) -> Table:
    """Make a table with a line for each system, the closest first, with all gaps."""
    order = by_closeness(result)
    judged = bool(result.reference_scores)
    names = [Text(named(result.systems[place].name, 4)) for place in order]
    lead = [Column("system", (*_above(judged, "reference"), *names), align="left")]
    columns = []
    if judged:
        counts = [differing(result, result.systems[place]) for place in order]
        cells = (Text(f"{count}/{of}" if of else MISSING) for count, of in counts)
        columns.append(Column("differs", (Text(), *cells)))
    keys = [key for key in result.settings["metrics"] if key.partition(":")[0] != OVERUSED]
    columns += [_gaps(result, key, order, judged=judged) for key in keys]
    kinds = (*[REFERENCE] * judged, *[SYSTEM] * len(order))
    heading = "Reference values, and gaps: value minus that of the reference"
    return Table(
        tuple(lead),
        singles(columns),
        kinds,
        id="scores",
        heading=heading if judged else "",
        breaks="systems",
    )


def _above(judged: bool, text: str) -> tuple[Text, ...]:
    return (Text(text, "dim"),) if judged else ()


def _gaps(result: TextComparison, key: str, order: Sequence[int], *, judged: bool) -> Column:
    """The gaps by one statistic, or its values where the reference has none."""
    whole, reference = is_whole(result, key), result.reference_scores.get(key)
    cells: list[Cell] = []
    if judged:
        text = "" if reference is None else value_text(reference, whole=whole)
        cells.append(ScoreCell(text, style="dim"))
    for place in order:
        score = result.systems[place].scores.get(key)
        if score is None or score.reference is None:
            cells.append(ScoreCell(value_text(score, whole=whole), number=value_of(score)))
            continue
        within = beyond_chance(score, reference) is False
        text = signed_gap_text(score, whole=whole)
        cells.append(ScoreCell(text, mark=ALIKE if within else "", number=signed_gap(score)))
    marked = any(isinstance(cell, ScoreCell) and cell.mark for cell in cells)
    above, head = _two_lines(text_label(key))
    return Column(
        head,
        tuple(cells),
        group=above,
        align="value" if marked else "right",
        key=key,
        meaning=text_meaning(key),
        marked=marked,
    )


def _two_lines(label: str) -> tuple[str, str]:
    """Break a label where its two lines are as narrow as they can be.

    Examples
    --------
    >>> _two_lines("Distinct-2 in a text"), _two_lines("Length")
    (('Distinct-2', 'in a text'), ('', 'Length'))
    """
    words = label.split()
    ways = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(len(words))]
    return min(ways, key=lambda way: max(map(len, way)))


def single_tables(result: TextComparison) -> Iterator[Table]:
    """Make a table for each statistic: the reference, then systems from the highest value down."""
    for key in result.settings["metrics"]:
        yield _single(result, key)


def _single(result: TextComparison, key: str) -> Table:
    reference, whole = result.reference_scores.get(key), is_whole(result, key)
    scores = [system.scores.get(key) for system in result.systems]
    order = sorted(range(len(scores)), key=lambda place: _descending(scores[place]))
    rows: list[tuple[str, Score | None]] = []
    if reference is not None:
        rows.append(("reference", reference))
    rows += [(result.systems[place].name, scores[place]) for place in order]
    names = tuple(Text("reference" if s is reference else named(n, 3)) for n, s in rows)
    columns = [Column("value", tuple(_value(score, whole) for _, score in rows), align="value")]
    if reference is not None:
        gaps = tuple(_gap(score, reference, whole) for _, score in rows)
        columns.append(Column("gap", gaps, align="value", marked=True))
    kinds = tuple(REFERENCE if score is reference else SYSTEM for _, score in rows)
    meaning = text_meaning(key)
    return Table(
        (Column("system", names, align="left"),),
        singles(columns),
        kinds,
        id=f"scores-{key}",
        heading=f"{text_label(key)}{f': {meaning}' if meaning else ''}",
        breaks="systems",
    )


def _descending(score: Score | None) -> tuple[bool, float]:
    value = value_of(score)
    return value is None, -(value or 0.0)


def _value(score: Score | None, whole: bool) -> ScoreCell:
    text = value_text(score, whole=whole)
    spread = interval_of(score, text) if score else ""
    approximate = bool(spread and score and score.approximate)
    return ScoreCell(text, spread, approximate, number=value_of(score))


def _gap(score: Score | None, reference: Score, whole: bool) -> Cell:
    if score is reference:
        return Text()
    mark = ALIKE if beyond_chance(score, reference) is False else ""
    text = signed_gap_text(score, whole=whole) or MISSING
    return ScoreCell(text, mark=mark, number=signed_gap(score))


def verdict(result: TextComparison) -> Iterator[Words]:
    """Name the systems closest to and farthest from the reference, and the side of most."""
    for _, _, words in about_identical(result, "texts"):
        *others, end = words
        yield (*others, str(end).removesuffix("."))
    ranked = [p for p in by_closeness(result) if not result.systems[p].is_reference]
    told = [(place, *differing(result, result.systems[place])) for place in ranked]
    told = [row for row in told if row[2]]
    if len(told) > 1:
        ends = told[:CLOSEST], told[-CLOSEST:][::-1]
        if len(told) <= 2 * CLOSEST:
            ends = told, []
        head = "statistics that differ from the reference beyond chance: "
        yield joined((head,), _counts(result, ends[0]))
        if ends[1]:
            yield joined(("farthest from the reference: ",), _counts(result, ends[1]))
    elif told:
        place, count, of = told[0]
        name = named(result.systems[place].name, 2)
        yield (name, f" differs from the reference beyond chance in {count} of {of} statistics")
    if len(result) > MANY:
        listed_sides = [
            f"{text_label(side.key)} {side.above} above, {side.below} below"
            for side in sorted(sides(result), key=lambda side: -(side.above + side.below))
            if side.above or side.below
        ]
        if listed_sides:
            yield (f"systems that differ beyond chance: {'; '.join(listed_sides)}",)


def _counts(result: TextComparison, rows: Sequence[tuple[int, int, int]]) -> Words:
    """Name systems with by how many statistics they differ."""
    return listed(
        [(named(result.systems[place].name, 2), f" {count} of {of}") for place, count, of in rows]
    )
