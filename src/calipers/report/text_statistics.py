"""The document of text statistics: one row for each statistic, by family."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, STATISTICS
from calipers.catalogue.texts import TEXT_FAMILIES
from calipers.report import legend, overused, text_systems
from calipers.report.shown import interval_of
from calipers.report.table import (
    BEST_STYLE,
    FAMILY,
    METRIC,
    SYSTEM,
    Block,
    Cell,
    Column,
    Document,
    Note,
    Notes,
    Run,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    texts,
    together,
)
from calipers.results.ranking import best_of
from calipers.results.sets import SetSummary
from calipers.results.text_gaps import by_closeness
from calipers.results.texts import TextComparison
from calipers.samples.wording import first_names
from calipers.score import Score
from calipers.wording.marks import ALIKE, BEST
from calipers.wording.names import clean, family_of, is_unranked, text_label, text_meaning
from calipers.wording.numbers import (
    APPROXIMATE,
    MISSING,
    PLUS_MINUS,
    gap_of,
    gap_text,
    is_asymmetric,
    length_head,
    length_meaning,
    median_of,
    percent,
    size_text,
    value_of,
    value_text,
)
from calipers.wording.short_names import short
from calipers.wording.words import Name, Words

SUITE = {
    "perplexity": "Perplexity",
    "unigram_entropy": "Entropy",
    "precision": "Precision",
    "recall": "Recall",
    "mauve_star": "MAUVE*",
}
"""What the suite for samples without prompts is read by, and the heads of the columns."""

GATHERED = 3
"""Sets that a warning of many names."""

SENTENCE = 5
"""Words from which on what stands before a colon is a sentence."""

NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")

Rows = Sequence[str | None]
"""The keys of the rows; None for the heading of a family."""


def document(result: TextComparison) -> Document:
    """Return the document for the screen.

    Parameters
    ----------
    result
        The result.
    """
    return _document(result, whole=False)


def whole(result: TextComparison) -> Document:
    """Return the document for a page: for many systems, with a table for each statistic."""
    return _document(result, whole=True)


def _document(result: TextComparison, *, whole: bool) -> Document:
    many = _has_many(result)
    blocks: tuple[Block, ...] = (
        *together(*notes("verdict", _verdict(result))),
        *_phrases(result, many=many, whole=whole),
        *_tables(result, whole=whole),
        *together(*_remarks(result, brief=many and not whole)),
        Notes((*glossary(_meanings(result)), *_how_to_read(result, brief=many and not whole))),
    )
    return Document(_title(result), blocks, legend.made_by(result))


def _tables(result: TextComparison, *, whole: bool) -> tuple[Block, ...]:
    """The tables of statistics: rows are statistics for few systems, and systems for many."""
    if _is_suite(result):
        return (_suite_table(result), _statistics(result))
    if not _has_many(result):
        return (_sets_table(result), _statistics(result))
    if not whole:
        return (text_systems.overview(result),)
    return (text_systems.overview(result), _sets_table(result), *text_systems.single_tables(result))


def _phrases(result: TextComparison, *, many: bool, whole: bool) -> Iterator[Table]:
    order = by_closeness(result) if many else range(len(result))
    yield from overused.tables(result, list(order), many=many and not whole, whole=whole)


def _verdict(result: TextComparison) -> Iterator[Words]:
    """What the numbers say: over-used phrases first, then who lies beyond chance from whom."""
    yield from overused.verdict(result)
    if not _is_suite(result):
        yield from text_systems.verdict(result)


def _has_many(result: TextComparison) -> bool:
    """Whether rows are systems."""
    return len(result) > text_systems.MANY and not _is_suite(result)


def summary(result: TextComparison) -> Document:
    """Return the summary for a paper or an issue: the tables, and how to read them."""
    title = [_title(result), legend.sizes(result.systems), legend.made_by(result)]
    signs = (replace(note, text=str(note).removesuffix(".")) for note in _signs(result))
    many = _has_many(result)
    tables: tuple[Block, ...] = (_statistics(result),)
    if _is_suite(result):
        tables = (_suite_table(result), _statistics(result))
    elif many:
        tables = tuple(text_systems.single_tables(result))
    blocks: tuple[Block, ...] = (
        *together(*notes("verdict", _verdict(result))),
        *_phrases(result, many=many, whole=False),
        *tables,
        *together(*signs),
        *together(*_remarks(result, brief=many)),
    )
    return Document(" · ".join(filter(None, title)), blocks, legend.made_by(result))


def _title(result: TextComparison) -> str:
    """Say what was measured, and how."""
    settings, reference = result.settings, result.reference
    about = "Texts, without a reference"
    if reference is not None:
        about = f"Reference: {short(reference.name)}, n = {size_text(reference)}"
    rows = ["row by row"] if settings.get("aligned") else []
    named = ("model", "generator", "decoding", "tokenizer", "seed")
    pins = [f"{key} {clean(settings[key])}" for key in named if settings.get(key) is not None]
    ends, words = settings.get("end_of_text", "keep"), settings.get("match_length")
    cuts = [] if ends == "keep" else [f"end-of-text {ends}"]
    if words and "end_of_text" in settings and result.systems:
        cuts.append(f"cut to {words} {result.systems[0].summary.word_unit}")
    return " · ".join([about, *rows, *pins, *cuts])


def _sets_table(result: TextComparison) -> Table:
    """Say who the systems are: name, size, and length in words."""
    sets = [(name, summary) for name, summary, _ in _sets(result)]
    sets += [("training set", result.train)] if result.train else []
    names, rows = [name for name, _ in sets], [row for _, row in sets]
    lead = (
        Column("system", texts(names), align="left", share=0),
        Column("n", texts([size_text(row) for row in rows])),
        Column(length_head(rows), texts([_median(row) for row in rows])),
    )
    return Table(lead, kinds=(SYSTEM,) * len(sets), id="sets", breaks="whole")


def _is_suite(result: TextComparison) -> bool:
    """Tell whether negative controls stand beside the systems."""
    return result.settings.get("controls") is not None


def _suite_table(result: TextComparison) -> Table:
    """Return one row for each set, the reference first: what the suite is read by."""
    sets = _sets(result)
    names, rows = [name for name, _, _ in sets], [row for _, row, _ in sets]
    sizes = [size_text(row) for row in rows]
    lead = [Column("system", texts(names), align="left", share=0)]
    lead += [Column("n", texts(sizes))] if len({*sizes}) > 1 else []
    lead.append(Column(length_head(rows), texts([_median(row) for row in rows])))
    run = []
    for key, head in SUITE.items():
        scores = [scores.get(key) for _, _, scores in sets]
        cells = [
            ScoreCell("" if score is None else value_text(score, whole=_whole(result, key)))
            for score in scores
        ]
        run.append(Column(head, tuple(cells), key=key))
    return Table(
        tuple(lead), (tuple(run),), (SYSTEM,) * len(sets), id="sets", breaks="whole", apart=False
    )


def _statistics(result: TextComparison) -> Table:
    """Return one row for each statistic, by family, with a heading before each."""
    families: dict[str, list[str]] = {}
    for key in result.settings["metrics"]:
        families.setdefault(family_of(key), []).append(key)
    rows = [row for keys in families.values() for row in (None, *keys)]
    kinds = tuple(FAMILY if row is None else METRIC for row in rows)
    reference = (_reference_column(result, rows),) if _has_gaps(result) else ()
    runs = tuple(_system_run(result, rows, place) for place in range(len(result)))
    heading = "Every score with its interval" if _is_suite(result) else ""
    return Table(
        (_label_column(result, rows), *reference), runs, kinds, id="scores", heading=heading
    )


def _label_column(result: TextComparison, rows: Rows) -> Column:
    """Return the names: the families, and under them what was measured."""
    cells = []
    for row, key in enumerate(rows):
        if key is None:
            family = family_of(str(rows[row + 1]))
            known = (TEXT_FAMILIES | LIKELIHOOD_FAMILIES).get(family)
            cells.append(Text(known.heading if known else family, BEST_STYLE))
        else:
            cells.append(Text(text_label(key), arrow=_arrow(result, key)))
    return Column("metric", tuple(cells), align="left")


def _has_gaps(result: TextComparison) -> bool:
    """Tell whether the reference has values of its own beside those of the systems."""
    return bool(result.reference_scores)


def _reference_column(result: TextComparison, rows: Rows) -> Column:
    """Return the column of T(P); empty for what compares texts with the reference."""
    scores = result.reference_scores
    cells = [
        Text() if key is None else replace(_value_cell(result, key, scores.get(key)), style="dim")
        for key in rows
    ]
    spread = any(isinstance(cell, ScoreCell) and cell.spread for cell in cells)
    return Column("reference", tuple(cells), align="value" if spread else "right")


def _system_run(result: TextComparison, rows: Rows, place: int) -> Run:
    """Return the columns of one system: T(Q), and the gap to T(P) where there is a reference."""
    system = result.systems[place]
    name = Name(short(system.name), 0)
    values: list[Cell] = []
    gaps: list[Cell] = []
    for key in rows:
        if key is None:
            values.append(Text())
            gaps.append(Text())
            continue
        score = system.scores.get(key)
        mark = BEST if _best_of(result, key) == place else ""
        gapped = score is not None and score.reference is not None
        shown = ScoreCell(MISSING) if score is None else _value_cell(result, key, score)
        values.append(_marked(shown, "" if gapped else mark))
        gap = text_systems.signed_gap_text(score, whole=_whole(result, key))
        gaps.append(_marked(ScoreCell(gap, number=gap_of(score)), mark if gapped else ""))
    if not _has_gaps(result):
        return (Column(name, tuple(values), align="value", marked=True),)
    return (
        Column("value", tuple(values), group=name, align="value", marked=True),
        Column("gap", tuple(gaps), group=name, align="value", marked=True),
    )


def _value_cell(result: TextComparison, key: str, score: Score | None) -> ScoreCell:
    if score is None:
        return ScoreCell("")
    text = value_text(score, whole=_whole(result, key))
    spread = interval_of(score, text)
    approximate = bool(spread and score.approximate)
    return ScoreCell(text, spread, approximate, number=value_of(score))


def _marked(cell: ScoreCell, mark: str) -> ScoreCell:
    return replace(cell, mark=mark, style=BEST_STYLE) if mark else cell


def _best_of(result: TextComparison, key: str) -> int | None:
    """Tell which system is closest to the reference; None for a tie as shown, or for one alone."""
    scores = [None if s.is_reference else s.scores.get(key) for s in result.systems]
    whole = _whole(result, key)
    if any(score is not None and score.reference is not None for score in scores):
        shown = [gap_text(score, whole=whole) for score in scores]
        return best_of(scores, "closest", shown=shown)
    side = next((_side(score, key) for score in scores if score is not None), "")
    shown = [value_text(score, whole=whole) for score in scores]
    return best_of(scores, side, shown=shown)


def _median(row: SetSummary) -> str:
    """Write the median length as warnings do: in full, whether it is whole or between two."""
    median = median_of(row)
    return MISSING if median is None else f"{median:.1f}".removesuffix(".0")


def _whole(result: TextComparison, key: str) -> bool:
    return text_systems.is_whole(result, key)


def _side(score: Score, key: str) -> str:
    """Where a value is better, ``"higher"`` or ``"lower"``; empty where neither end is good."""
    return score.better if score.better in ("higher", "lower") and not is_unranked(key) else ""


def _arrow(result: TextComparison, key: str) -> str:
    """Where a value is better that has no gap; nothing for the others."""
    sides = {_side(system.scores[key], key) for system in result.systems if key in system.scores}
    return "↑" if "higher" in sides else "↓" if "lower" in sides else ""


def _sets(result: TextComparison) -> list[tuple[str, SetSummary, Mapping[str, Score]]]:
    """The reference, named as the table names it, and the systems, each with its scores."""
    systems = ((short(system.name), system.summary, system.scores) for system in result.systems)
    if result.reference is None:
        return [*systems]
    return [("reference", result.reference, result.reference_scores), *systems]


def _remarks(result: TextComparison, *, brief: bool) -> Iterator[Note]:
    """Say how the sets were cut, why values miss, and what to beware of.

    In `brief`, warnings of one kind that many sets have are one.
    """
    yield from (Note("note", text) for text in _cuts(result))
    phrases = overused.keys_of(result)
    for note in legend.detail_notes(result.systems, text_label):
        if note.about[1] not in phrases:  # which have a table
            yield note
    yield from _reasons(result)
    sets = legend.sets_with_warnings(result)
    if result.reference is not None:
        sets[0] = "reference", result.reference
    warnings = legend.warnings(result, sets)
    yield from _gathered(list(warnings)) if brief else warnings


def _gathered(warnings: Sequence[Note]) -> Iterator[Note]:
    """Say once what several sets have to beware of that differs in numbers alone."""
    told = [(*str(note).partition(": ")[::2], note) for note in warnings]
    alike: dict[str, list[tuple[str, str, Note]]] = {}
    for row in told:
        alike.setdefault(NUMBER.sub("#", row[1]), []).append(row)
    begun: dict[str, list[tuple[str, str, Note]]] = {}
    for what, rows in alike.items():
        sentence = what.partition(": ")[0]
        several = len(rows) > GATHERED or len(sentence.split()) < SENTENCE
        begun.setdefault(what if several else sentence, []).extend(rows)
    for rows in begun.values():
        if len(rows) <= GATHERED:
            yield from (note for _, _, note in rows)
            continue
        names = [name for row in rows for name in row[0].split(", ")]
        yield replace(rows[0][2], text=f"{first_names(names, GATHERED)}: {_range_of(rows)}")


def _range_of(rows: Sequence[tuple[str, str, Note]]) -> str:
    """Write sentences that differ in numbers as one, else what they have in common."""
    texts = [what for _, what, _ in rows]
    if len({NUMBER.sub("#", text) for text in texts}) > 1:
        return f"{texts[0].partition(': ')[0]} (`.paged()` says which)"
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    ranges = iter(
        low if low == high else f"{low} to {high}"
        for column in columns
        for low, high in [(min(column, key=float), max(column, key=float))]
    )
    return NUMBER.sub(lambda _: next(ranges), texts[0])


def _cuts(result: TextComparison) -> Iterator[str]:
    """Say how the sets were cut, and what several files mean."""
    sets = _sets(result)
    if any(row.n < row.n_given for _, row, _ in sets):
        size, limit = min(row.n for _, row, _ in sets), result.settings.get("max_samples")
        smallest = [name for name, row, _ in sets if row.n_given == size]
        if limit == size or not smallest:
            yield f"larger sets cut to {limit or size}" + (" (`max_samples`)" if limit else "")
        else:
            smallest_set = f"the smallest ({smallest[0]})"
            yield f"all sets cut to {size}, {smallest_set}; `keep_sizes` keeps them whole"
    yield from legend.seed_notes(result.systems)


def _reasons(result: TextComparison) -> Iterator[Note]:
    """Say for every dash in the table why there is no value."""
    about: dict[tuple[str, str], list[str]] = {}
    for name, _, scores in _sets(result):
        missing: dict[str, list[str]] = {}
        for key, score in scores.items():
            if value_of(score) is None:
                missing.setdefault(legend.reason_of(score), []).append(text_label(key))
        for reason, labels in missing.items():
            about.setdefault((reason, ", ".join(labels)), []).append(name)
    yield from legend.missing_notes(about)


def _meanings(result: TextComparison) -> Iterator[tuple[str, str]]:
    """Return what each row tells, as pairs of a name and a line.

    Rows of one metric share a line where it is true of all of them.
    """
    if not _has_many(result):
        head = length_head(row for _, row, _ in _sets(result))
        about = "median number of words, separated by spaces"
        yield head, about if head == "words" else length_meaning(head)
    if str(result.settings.get("tokenizer", "")).startswith("unicode-"):
        yield (
            "tokens",
            "words and punctuation of any script; in scripts without spaces, characters or "
            "clusters of them (the default unless all texts are English)",
        )
    lines: dict[str, dict[str, list[str]]] = {}
    for key in result.settings["metrics"]:
        alike = lines.setdefault(key.partition(":")[0], {})
        alike.setdefault(text_meaning(key), []).append(key)
    for name, alike in lines.items():
        for line, keys in alike.items():
            if not line:
                continue
            if len(keys) > 1 and len(alike) == 1:
                yield STATISTICS[name].label, line
            else:
                yield from ((text_label(key), line) for key in keys)


def _how_to_read(result: TextComparison, *, brief: bool) -> Iterator[Note]:
    """Say what the columns and marks mean, and where more of it is."""
    yield from _signs(result, brief=brief)
    name = "likelihood" if "first_token" in result.settings else "text"
    yield Note(
        "how",
        f"{'A table for each statistic, with intervals: `.paged()`. ' if brief else ''}"
        f"More: `metrics='all'`; calipers metrics {name} lists them. Full precision and "
        "signatures: `.to_dict()`.",
    )


def _signs(result: TextComparison, *, brief: bool = False) -> Iterator[Note]:
    """Say what the gap is, what the mark means, or that a number alone says little.

    In `brief`, no intervals are shown.
    """
    if result.reference is None:
        yield Note(
            "interval",
            "A statistic of one set is hard to interpret: compare with human texts (`reference`) "
            "to see whether it is high or low.",
        )
    elif _has_gaps(result):
        text = "gap: value minus that of the reference; closer to 0 is more similar."
        yield Note("interval", text)
    if not brief:
        yield from _intervals(result)
    keys = result.settings["metrics"]
    shown = {_arrow(result, key) for key in keys}
    arrows = {"↑": "higher is better", "↓": "lower is better"}
    yield from (Note("mark", text, sign) for sign, text in arrows.items() if sign in shown)
    if _has_many(result):
        if _has_gaps(result):
            yield Note("mark", "the two intervals overlap: the gap may be chance", ALIKE)
            if brief:
                text = "statistics that differ from the reference beyond chance, of those tested"
                yield Note("mark", text, "differs")
    elif any(_best_of(result, key) is not None for key in keys):
        yield Note("mark", "closest to the reference, or best, in its row", BEST)


def _intervals(result: TextComparison) -> Iterator[Note]:
    """Say what ± and the brackets hold, and how they tell a gap from chance."""
    scores = [
        score
        for _, _, scores in _sets(result)
        for score in scores.values()
        if score.interval is not None
    ]
    if not scores:
        return
    level = percent(max(score.level or 0.0 for score in scores))
    brackets = ", [low,high] below where asymmetric" if any(map(is_asymmetric, scores)) else ""
    apart = (
        "; a gap is more than chance where the two intervals do not overlap"
        if _has_gaps(result)
        else ""
    )
    text = f"{level} interval for the average at this size{brackets}{apart}."
    yield Note("interval", text, PLUS_MINUS)
    if any(score.approximate for score in scores):
        text = "approximate interval: from smaller sets, or for a share close to 0 or 1."
        yield Note("interval", text, APPROXIMATE)
