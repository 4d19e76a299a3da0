"""The tables and sentences of an agreement: layouts by width, marks, and the words below."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.comparison import SetSummary
from calipers.comparison.agreement import Agreement, MetricAgreement
from calipers.comparison.agreement_words import Column
from calipers.report.agree_table import AgreementTable, agreement_text
from calipers.road import agree_ranks as ranks
from calipers.score import Score

COLUMNS = (Column("minilm", "meaning"), Column("minilm", "form"), Column("tfidf", "words"))
VALUES = ((0.9, 0.5, 0.7), (0.3, 0.6, 0.2), (0.8, 0.4, 0.6))


def summary(name, **more):
    words = {"mean": 150.0, "median": 150.0}
    return SetSummary(name, f"{name}.jsonl", 500, 500, words, "0", **more)


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


def made(values=VALUES, columns=COLUMNS, systems=("a", "b", "c"), metrics=("precision",), **more):
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
    ).to_dict()


def block(text, start):
    """The lines of one table, its title left out."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(start))
    last = next(i for i in range(first, len(lines)) if not lines[i])
    return [line.split() for line in lines[first + 1 : last]]


def test_scores_stand_under_their_embedder_and_view():
    text = agreement_text(made())
    assert text.startswith("Agreement of 2 embedders (3 columns) on 3 systems · k 4 · seed 0\n")
    assert block(text, "Precision↑: share of generated") == [
        ["minilm", "--------", "tfidf"],
        ["system", "meaning", "form", "words"],
        ["a", "0.900*", "0.300", "0.800*"],
        ["b", "0.500", "0.600*", "0.400"],
        ["c", "0.700", "0.200", "0.600"],
    ]


def test_correlations_are_with_the_first_column_and_the_lowest_of_all():
    text = agreement_text(made(metrics=("precision", "recall")))
    assert block(text, "Rank correlation with minilm meaning") == [
        ["minilm", "-------", "tfidf"],
        ["metric", "meaning", "form", "words", "lowest"],
        ["Precision", "1.00", "-0.50", "1.00", "-0.50"],
        ["Recall", "1.00", "-0.50", "1.00", "-0.50"],
    ]


def test_the_words_below():
    text = agreement_text(made())
    assert "- Precision: columns disagree about 2 of 3 pairs of systems\n" in text
    assert "  - a above b by minilm meaning, tfidf words; the reverse by minilm form\n" in text
    assert (
        "The verdict hangs on the embedder: columns put systems the other way round by 1 of 1 "
        "metrics\n(Precision).\n" in text
    )
    assert "note: 3 systems can stand in 6 orders: unrelated columns agree in full 1 time in 6" in (
        text.replace("\n      ", " ")
    )
    assert "form     scores by style, fluency, word order; topics too" in text
    assert "scores within 0.022 of each other" in text


def test_more_systems_are_held_against_chance():
    values = tuple(tuple(np.random.default_rng(row).random(5)) for row in range(3))
    text = agreement_text(made(values, systems=tuple("abcde")))
    assert "5 systems can stand in 120 orders: by chance, unrelated columns reach 0.90" in text


def test_many_split_pairs_are_counted():
    values = (tuple(range(6)), tuple(range(6, 0, -1)), tuple(range(6)))
    values = tuple(tuple(x / 10 for x in row) for row in values)
    text = agreement_text(made(values, systems=tuple("abcdef")))
    assert "columns disagree about 15 of 15 pairs" in text
    assert text.count("the reverse by") == 6
    assert "  - and 9 more pairs, which --json FILE holds" in text


def test_pairs_that_all_columns_agree_about_are_told_too():
    values = ((0.9, 0.5, 0.7), (0.9, 0.1, 0.2), (0.8, 0.4, 0.3))
    text = agreement_text(made(values))
    assert "- Precision: columns disagree about 1 of 3 pairs of systems\n" in text
    assert "  - all 3 columns put a above b, a above c\n" in text
    assert "  - c above b by minilm meaning and form; the reverse by tfidf words\n" in text
    full = agreement_text(made(((0.9, 0.5, 0.7), (0.9, 0.1, 0.2), (0.8, 0.3, 0.4))))
    assert "disagree about any of 3 pairs of systems; all put a above c above b" in full
    assert "all 3 columns put" not in full


def test_two_systems_have_no_table_of_correlations():
    text = agreement_text(made(((0.9, 0.5), (0.3, 0.6), (0.8, 0.4)), systems=("a", "b")))
    assert "Rank correlation" not in text
    assert "note: no rank correlation: ranks of 2 systems cannot correlate" in text
    assert "- Precision: columns disagree: a above b by minilm meaning, tfidf words;" in text
    assert "lowest" not in text


def test_missing_values_are_dashes_with_a_reason():
    text = agreement_text(made(((0.9, np.nan, 0.7), *VALUES[1:])))
    assert block(text, "Precision↑")[3] == ["b", "–", "0.600*", "0.400"]
    assert "note: b, Precision by minilm meaning: too few" in text
    assert "note: no rank correlation: a system has no value in one of the columns" in text
    assert ["Precision", "–", "–", "–", "-0.50"] in block(text, "Rank correlation")


def test_warnings_name_the_sets_and_stand_once():
    data = made()
    for row in (data["reference"], *data["systems"]):
        row["warnings"] = ["is odd"]
    data["warnings"] = ["tfidf: a: cut"]
    text = agreement_text(data)
    assert "warning: human, a, b, c: is odd" in text
    assert "warning: tfidf: a: cut" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_lines_fit_the_width(width):
    columns = tuple(
        Column(f"a-very-long-name-of-a-model-{number}", view)
        for number, view in product(range(4), ("meaning", "form"))
    )
    values = tuple(tuple(np.random.default_rng(row).random(4)) for row in range(8))
    systems = ("a", "a system with quite a long name of its own", "c", "d")
    text = agreement_text(made(values, columns, systems), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    for name in range(4):
        assert text.count(f"-{name} ") + text.count(f"-{name}\n") >= 2


def test_the_terminal_shows_the_same_words():
    data = made()
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(AgreementTable(data))
    shown = console.file.getvalue().replace("─", "-")
    plain = [line.rstrip() for line in shown.splitlines()]
    assert plain == agreement_text(data, width=80).splitlines()


def test_names_cannot_steer_the_terminal():
    data = made(systems=("a\x1b[31m", "b\nc", "d"))
    assert "\x1b" not in agreement_text(data)
    assert "b c" in agreement_text(data)
