"""A document is values, and every format is a walk over it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from calipers.report import table
from calipers.report.comparison import document as compare
from calipers.report.render.csv import SHOWN, tables_csv
from calipers.report.render.html import html
from calipers.report.render.latex import latex
from calipers.report.render.markdown import markdown
from calipers.report.render.text import plain
from calipers.report.scored import summary
from calipers.report.table import Column, Document, Note, Notes, ScoreCell, Table, Text
from calipers.wording.words import Name
from hand_made import comparison_of

FORMATS = (plain, markdown, latex, html, tables_csv)


def small() -> Document:
    """Two systems, a score with an interval, and notes of every other kind."""
    lead = Column("system", (Text("first"), Text("second")), align="left")
    score = Column(
        "Score",
        (
            ScoreCell("0.91", "±0.02", mark="*", style="bold"),
            ScoreCell("0.81", "[0.70,0.83]", approximate=True, aside="p = 0.03"),
        ),
        "↑",
        group="view",
        align="value",
    )
    notes = Notes(
        (
            Note("heading", "Heading"),
            Note("finding", ("of ", Name("a" * 60), " and others")),
            Note("named", "sentence", about=("first", "score")),
            Note("point", "pointed"),
            Note("warning", "beware"),
            Note("legend", "meaning", "Score"),
        )
    )
    return Document("Title", (Table((lead,), ((score,),), ("system",) * 2, id="t"), notes), "Made")


@pytest.mark.parametrize("write", FORMATS)
def test_a_column_is_added_to_every_format_in_one_place(write):
    document = small()
    (one,) = document.tables
    cells = (Text("added 1"), Text("added 2"))
    longer = replace(one, lead=(*one.lead, Column("newest", cells)))
    shown = write(replace(document, blocks=(longer, *document.blocks[1:])))
    assert "newest" not in write(document)
    assert all(word in shown for word in ("newest", "added 1", "added 2"))


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_shows_values_and_intervals(write):
    shown = write(small())
    assert all(text in shown for text in ("first", "second", "0.91", "0.02", "0.81", "p = 0.03"))


@pytest.mark.parametrize("write", FORMATS[:4])
def test_every_document_format_shows_all_notes(write):
    words = ("Title", "Heading", "and others", "sentence", "pointed", "beware", "meaning")
    shown = write(small())
    assert all(word in shown for word in words)


@pytest.mark.parametrize("write", FORMATS)
def test_a_whole_comparison_can_be_written_in_every_format(write, four_sure):
    shown = write(compare.document(comparison_of(four_sure), details=True))
    assert all(system["name"] in shown.replace("\\", "") for system in four_sure["systems"])


def test_values_have_no_padding(four_sure):
    for document in (
        compare.document(comparison_of(four_sure), details=True),
        summary(comparison_of(four_sure)),
    ):
        for one in document.tables:
            for column in one.columns:
                cells = (c.value if isinstance(c, ScoreCell) else str(c.text) for c in column.cells)
                assert all(text == text.strip() for text in (*cells, str(column.head)))


def test_names_are_shortened_by_the_width_alone():
    lines = plain(small(), width=60).splitlines()
    (line,) = [line for line in lines if line.startswith("of ")]
    assert "…" in line
    assert len(line) < len("a" * 40 + "of  and others")


def test_the_cells_of_a_document_are_rows(four_sure):
    document = compare.document(comparison_of(four_sure))
    head, *rows = csv.reader(io.StringIO(tables_csv(document), newline=""))
    assert tuple(head) == SHOWN
    cells = [len(c.cells) for one in document.tables for c in one.columns[1:]]
    assert len(rows) == sum(cells)


def test_a_row_is_left_out():
    shorter = table.without_row(small().tables[0], 0)
    assert [len(column.cells) for column in shorter.columns] == [1, 1]
    assert shorter.kinds == ("system",)
    assert shorter.lead[0].cells == (Text("second"),)


def test_notes_are_found_by_their_kind():
    document = small()
    assert document.warnings == ["beware"]
    assert [str(note) for note in document.of_kind("point", "named")] == ["sentence", "pointed"]


def test_spare_intervals_go_before_names_are_cut():
    score = ScoreCell(".94", "[.89,.97]", mark="▲")
    columns = [Column(f"Score {n}", (score, score), align="inline", key=str(n)) for n in range(3)]
    columns.append(replace(columns[0], head="Spare", spare=True))
    lead = Column("", (Text(Name("markov_chain")), Text(Name("near_copies"))), align="left")
    table = Table((lead,), (tuple(columns),), ("system", "system"))
    document = Document("", (table,))
    wide, closer, bare, cut = (plain(document, width=width) for width in (90, 75, 64, 60))
    assert wide.count(".94 [.89,.97] ▲") == 8
    assert closer.count(".94 [.89,.97]▲") == 8
    assert bare.count(".94 [.89,.97]") == 6
    assert "markov_chain" in bare
    assert "mark" in cut
    assert "markov_chain" not in cut.split("\n\n")[0]
    assert "mark…ain  markov_chain" in cut
    assert all(len(line) <= 60 for line in cut.splitlines())
