"""The document of explanations: for each system, topics that differ and its worst samples.

It is short, to be read below the table of scores: the page holds the rest, with texts beside each
other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.catalogue.shown import views_of
from calipers.explain.model import Explanation, Topic
from calipers.report.table import SYSTEM, Block, Column, Document, Note, Notes, Table, Text, singles
from calipers.report.topics import name_of, outcome, times
from calipers.results.comparison import Comparison
from calipers.results.result import names_of
from calipers.results.system import SystemResult
from calipers.wording.cells import cell_len, fits, head_of
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING, defined, percent, share
from calipers.wording.short_names import among, short
from calipers.wording.words import Passage, Quoted

TITLE = "Topics and samples behind the gap, by system"
WIDEST_TOPIC = 36
"""Characters of the keywords of a topic; whole ones are shown."""
TOPICS = (5, 2)
"""Topics that are shown by the main view, and by each other one."""
SAMPLES = (3, 1)
"""Samples that are shown likewise."""
EXCERPT = 70
"""Cells of a sample, so that it takes one line."""


def document(comparison: Comparison) -> Document:
    """Return the document of the explanations of every system, for the screen.

    Parameters
    ----------
    comparison
        With the explanations that its systems are to show
        (:meth:`~calipers.Comparison.explained`); without texts only the rows of samples are named.
    """
    with among(names_of(comparison)):
        return _document(comparison)


def _document(comparison: Comparison) -> Document:
    blocks: list[Block] = []
    for system in comparison.systems:
        views = [view for view in views_of(comparison.settings) if view in system.explained]
        if not views:
            missing = "cannot be explained: its samples are not available"
            blocks.append(Notes((Note("note", f"{short(system.name)} {missing}"),)))
        for place, view in enumerate(views):
            blocks += _blocks(system, system.explained[view], place)
    return Document(TITLE, tuple(blocks))


def _blocks(system: SystemResult, explanation: Explanation, place: int) -> Iterator[Block]:
    """Lay out one system by one view; `place` tells whether it is the main one."""
    files = len(system.seeds)
    first = f", the first of its {files} files" if files > 1 else ""
    by = f"{short(system.name)} by {clean(explanation.view)}{first}"
    sentence, minor = outcome(explanation), min(place, 1)
    topics, below = _chosen(explanation, TOPICS[minor]), tuple(_notes(explanation, minor))
    heading = f"{by}: {sentence}" if sentence else by
    if topics:
        yield _table(topics, heading, explanation, below)
    else:
        yield Notes((Note("heading", heading), *below))


def _chosen(explanation: Explanation, most: int) -> list[Topic]:
    """Return the significant topics with the largest contributions, under-represented ones first.

    Neither kind is left out for the other.
    """
    under, over = explanation.under_represented, explanation.over_represented
    room = max(most - len(over), (most + 1) // 2)
    first = under[:room]
    return [*first, *over[: most - len(first)]]


def _table(
    topics: Sequence[Topic], heading: str, explanation: Explanation, below: tuple[Note, ...]
) -> Table:
    names = [Passage(_keywords(topic), 0) for topic in topics]
    level = percent(explanation.level)
    columns = (
        ("generated", [share(topic.generated_share) for topic in topics]),
        ("reference", [share(topic.reference_share) for topic in topics]),
        ("ratio", [_ratio(topic) for topic in topics]),
        (f"{level} interval", [_interval(topic) for topic in topics]),
    )
    made = [Column(head, tuple(map(Text, cells))) for head, cells in columns]
    head = "topic, by keywords" if any(topic.keywords for topic in topics) else _unnamed(topics)
    lead = Column(head, tuple(map(Text, names)), align="left", share=0)
    return Table(
        (lead,),
        singles(made),
        (SYSTEM,) * len(topics),
        heading=heading,
        notes=below,
        breaks="whole",
    )


def _keywords(topic: Topic) -> str:
    """Name a topic by as many of its keywords as a line has room for."""
    if (file := _typical(topic)) is not None:
        return clean(file)
    words = [clean(word) for word in topic.keywords]
    named = name_of(topic, 1)
    for count in range(2, len(words) + 1):
        longer = " ".join(words[:count])
        if cell_len(longer) > WIDEST_TOPIC:
            break
        named = longer
    return clean(named)


def _unnamed(topics: Sequence[Topic]) -> str:
    """Head the names of topics without keywords."""
    files = any(_typical(topic) for topic in topics)
    return "mode, by its most typical image" if files else "topic, by keywords"


def _typical(topic: Topic) -> str | None:
    """Return the file of the image in the middle of a topic, on the side that has more of it."""
    sides = topic.reference_medoids, topic.generated_medoids
    first, other = sides if topic.direction == "under" else sides[::-1]
    return next((sample.file for sample in (*first, *other) if sample.file), None)


def _ratio(topic: Topic) -> str:
    return MISSING if topic.ratio is None else f"{times(topic.ratio)}×"


def _interval(topic: Topic) -> str:
    low, high = map(defined, topic.interval)
    return f"[{times(low or 0.0)}, {MISSING if high is None else times(high)}]"


def _notes(explanation: Explanation, minor: int) -> Iterator[Note]:
    """Say which topics are left out, what the worst samples are, and what is missing."""
    different = len(explanation.under_represented) + len(explanation.over_represented)
    left = different - len(_chosen(explanation, TOPICS[minor]))
    if left > 0:
        yield Note("how", f"and {left} more, with smaller contributions: `.html()` lists them")
    yield from _samples(explanation, SAMPLES[minor])
    yield from _copies(explanation, SAMPLES[minor])
    yield from (Note("note", clean(note)) for note in explanation.notes)


def _samples(explanation: Explanation, most: int) -> Iterator[Note]:
    worst, total = explanation.outside[:most], explanation.outside_count
    if total is None:
        return
    head = f"samples outside the reference's support: {total} of {explanation.m}"
    if not worst:
        yield Note("caption", head)
    elif all(sample.text is None for sample in worst):
        if all(sample.file for sample in worst):
            yield Note("caption", f"{head}; the worst (file, nearest in the reference):")
            for sample in worst:
                near = next((clean(one.file) for one in sample.nearest if one.file), MISSING)
                yield Note("point", Quoted(f"{clean(sample.file or '')}  {near}"))
        else:
            rows = ", ".join(str(sample.row) for sample in worst)
            yield Note("caption", f"{head}; the worst are rows {rows}")
    else:
        yield Note("caption", f"{head}; the worst (row: text):")
        for sample in worst:
            text = " ".join(clean(sample.text or "").split())
            start = text if fits(text, EXCERPT) else f"{head_of(text, EXCERPT - 1).rstrip()}…"
            yield Note("point", Quoted(f"{sample.row}: {start}"))


def _copies(explanation: Explanation, most: int) -> Iterator[Note]:
    """Name the files of the closest near copies, each with what it is a copy of."""
    for copies, count, of in (
        (explanation.copies, explanation.copies_count, "reference"),
        (explanation.train_copies, explanation.train_copies_count, "training"),
    ):
        named = [
            f"{clean(copy.file)}  {clean(copy.source.file)}"
            for copy in copies[:most]
            if copy.file and copy.source is not None and copy.source.file
        ]
        if named:
            head = f"near copies of {of} samples: {count} of {explanation.m}"
            yield Note("caption", f"{head}; the closest (file, {of} sample):")
            yield from (Note("point", Quoted(pair)) for pair in named)
