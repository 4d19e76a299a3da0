"""The tables and sentences of an agreement: layouts, marks, words below."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.commands.agree.document import document
from calipers.commands.agree.result import Agreement, MetricAgreement, ViewColumn
from calipers.report.render.text import Screen, plain
from calipers.results import SetSummary
from calipers.score import Score
from calipers.uncertainty import rank_agreement as ranks


def agreement_text(agreement, *, width=100):
    """Write what is shown as plain text."""
    return plain(document(agreement), width=width)


COLUMNS = (
    ViewColumn("minilm", "meaning"),
    ViewColumn("minilm", "form"),
    ViewColumn("tfidf", "words"),
)
VALUES = ((0.9, 0.5, 0.7), (0.3, 0.6, 0.2), (0.8, 0.4, 0.6))


def summary(name, **more):
    words = {"mean": 150.0, "median": 150.0}
    return replace(SetSummary(name, f"{name}.jsonl", 500, 500, words, "0"), **more)


def metric(name, values, columns, systems):
    size = len(columns)

    def table(measure):
        rows = [[measure(np.array(a), np.array(b)) for b in values] for a in values]
        return np.array(rows) if measure is not ranks.why_undefined else tuple(map(tuple, rows))

    assert len(values) == size
    return MetricAgreement(
        metric=name,
        columns=columns,
        systems=systems,
        scores=tuple(
            tuple(Score(x, reason=None if x == x else "too few") for x in row) for row in values
        ),
        spearman=table(ranks.spearman),
        kendall=table(ranks.kendall),
        chance=table(ranks.chance),
        reasons=table(ranks.why_undefined),
        tie=0.02,
    )


def agreement_of(
    values=VALUES, columns=COLUMNS, systems=("a", "b", "c"), metrics=("precision",), **more
):
    return Agreement(
        reference=summary("human"),
        systems=tuple(summary(name) for name in systems),
        columns=columns,
        metrics={name: metric(name, values, columns, systems) for name in metrics},
        settings={
            "k": 4,
            "seed": 0,
            "embedders": {column.embedder: {} for column in columns},
        },
        tie=0.0224,
        rarely_reached=ranks.rarely_reached(len(systems)),
        **more,
    )


def block(text, start):
    """The lines of one table, its title left out."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(start))
    last = next(i for i in range(first, len(lines)) if not lines[i])
    return [line.split() for line in lines[first + 1 : last]]


def test_scores_stand_under_their_embedder_and_view():
    text = agreement_text(agreement_of())
    assert text.startswith("Agreement of 2 embedders (3 columns) on 3 systems · k 4 · seed 0\n")
    assert block(text, "Precision↑: share of generated") == [
        ["minilm", "-------", "tfidf"],
        ["system", "meaning", "form", "words"],
        ["a", ".900▲", ".300", ".800▲"],
        ["b", ".500", ".600▲", ".400"],
        ["c", ".700", ".200", ".600"],
    ]


def test_correlations_are_with_the_first_column_and_the_lowest_of_all():
    text = agreement_text(agreement_of(metrics=("precision", "recall")))
    assert block(text, "Rank correlation with minilm meaning") == [
        ["minilm", "-------", "tfidf"],
        ["metric", "meaning", "form", "words", "lowest"],
        ["Precision", "1.00", "-0.50", "1.00", "-0.50"],
        ["Recall", "1.00", "-0.50", "1.00", "-0.50"],
    ]


def test_the_words_below():
    text = agreement_text(agreement_of())
    assert "- Precision: columns disagree on 2 of 3 pairs of systems\n" in text
    assert "  - a above b by minilm meaning, tfidf words; the reverse by minilm form\n" in text
    assert (
        "The ranking depends on the embedder: columns rank systems in opposite order for 1 of 1 "
        "metrics (Precision).\n" in text.replace("\n(", " (").replace("\nmetrics", " metrics")
    )
    note = (
        "note: 3 systems can be ranked in 6 orders: unrelated columns agree completely 1 time in 6"
    )
    assert note in text.replace("\n      ", " ")
    assert "form     scores by style, fluency, word order; topics too" in text
    assert "scores that differ by less than 0.022" in text


def test_more_systems_are_compared_with_chance():
    values = tuple(tuple(np.random.default_rng(row).random(5)) for row in range(3))
    text = agreement_text(agreement_of(values, systems=tuple("abcde")))
    assert "5 systems can be ranked in 120 orders: by chance, unrelated columns reach 0.90" in text


def test_many_split_pairs_are_counted():
    values = (tuple(range(6)), tuple(range(6, 0, -1)), tuple(range(6)))
    values = tuple(tuple(x / 10 for x in row) for row in values)
    text = agreement_text(agreement_of(values, systems=tuple("abcdef")))
    assert "columns disagree on 15 of 15 pairs" in text
    assert text.count("the reverse by") == 6
    assert "  - and 9 more pairs, which `.to_dict()` holds" in text


def test_pairs_that_all_columns_agree_about_are_told_too():
    values = ((0.9, 0.5, 0.7), (0.9, 0.1, 0.2), (0.8, 0.4, 0.3))
    text = agreement_text(agreement_of(values))
    assert "- Precision: columns disagree on 1 of 3 pairs of systems\n" in text
    assert "  - all 3 columns put a above b, a above c\n" in text
    assert "  - c above b by minilm meaning and form; the reverse by tfidf words\n" in text
    full = agreement_text(agreement_of(((0.9, 0.5, 0.7), (0.9, 0.1, 0.2), (0.8, 0.3, 0.4))))
    assert "disagree on any of 3 pairs of systems; all rank a above c above b" in full
    assert "all 3 columns put" not in full


def test_two_systems_have_no_table_of_correlations():
    text = agreement_text(agreement_of(((0.9, 0.5), (0.3, 0.6), (0.8, 0.4)), systems=("a", "b")))
    assert "Rank correlation" not in text
    assert "note: no rank correlation: ranks of 2 systems cannot correlate" in text
    assert "- Precision: columns disagree: a above b by minilm meaning, tfidf words;" in text
    assert "lowest" not in text


def test_missing_values_are_dashes_with_a_reason():
    text = agreement_text(agreement_of(((0.9, np.nan, 0.7), *VALUES[1:])))
    assert block(text, "Precision↑")[3] == ["b", "–", ".600▲", ".400"]
    assert "note: b, Precision by minilm meaning: too few" in text
    assert "note: no rank correlation: a system has no value in one of the columns" in text
    assert ["Precision", "–", "–", "–", "-0.50"] in block(text, "Rank correlation")


def test_warnings_name_the_sets_and_stand_once():
    agreement = agreement_of(warnings=("tfidf: a: cut",))
    odd = [replace(samples, warnings=("is odd",)) for samples in agreement.sets]
    text = agreement_text(replace(agreement, reference=odd[0], systems=tuple(odd[1:])))
    assert "warning: human, a, b, c: is odd" in text
    assert "warning: tfidf: a: cut" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_lines_fit_the_width(width):
    columns = tuple(
        ViewColumn(f"a-very-long-name-of-a-model-{number}", view)
        for number, view in product(range(4), ("meaning", "form"))
    )
    values = tuple(tuple(np.random.default_rng(row).random(4)) for row in range(8))
    systems = ("a", "a system with quite a long name of its own", "c", "d")
    text = agreement_text(agreement_of(values, columns, systems), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    for name in range(4):
        assert text.count(f"-{name} ") + text.count(f"-{name}\n") >= 2


def test_the_terminal_shows_the_same_words():
    agreement = agreement_of()
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(Screen(document(agreement)))
    shown = console.file.getvalue().replace("─", "-")
    plain = [line.rstrip() for line in shown.splitlines()]
    assert plain == agreement_text(agreement, width=80).splitlines()


def test_names_cannot_steer_the_terminal():
    text = agreement_text(agreement_of(systems=("a\x1b[31m", "b\nc", "d")))
    assert "\x1b" not in text
    assert "b c" in text
