"""The tables and sentences of an agreement, an overlap and a probe: layouts, marks, words below."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers.commands.agree import document as agree
from calipers.commands.agree.result import Agreement, Column, MetricAgreement
from calipers.commands.overlap import document as overlap
from calipers.commands.overlap.result import Overlap, OverlapSystem, OverlapView
from calipers.commands.probe import document as probe
from calipers.commands.probe.document import percent, signed
from calipers.commands.probe.result import Move, Probe, ProbedChange, ProbedView
from calipers.report.render.text import Screen, plain
from calipers.results import SetSummary
from calipers.score import Score
from calipers.uncertainty import rank_agreement as ranks


def agreement_text(data, *, width=100):
    """Write what is shown as plain text."""
    return plain(agree.document(data), width=width)


def overlap_text(data, *, width=100):
    """Write what is shown as plain text."""
    return plain(overlap.document(Overlap.from_dict(data)), width=width)


def probe_text(data, *, width=100):
    """Write what is shown as plain text."""
    return plain(probe.document(data), width=width)


COLUMNS = (Column("minilm", "meaning"), Column("minilm", "form"), Column("tfidf", "words"))
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
    ).to_dict()


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
        ["minilm", "--------", "tfidf"],
        ["system", "meaning", "form", "words"],
        ["a", "0.900*", "0.300", "0.800*"],
        ["b", "0.500", "0.600*", "0.400"],
        ["c", "0.700", "0.200", "0.600"],
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
    assert "  - and 9 more pairs, which --json FILE holds" in text


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
    assert block(text, "Precision↑")[3] == ["b", "–", "0.600*", "0.400"]
    assert "note: b, Precision by minilm meaning: too few" in text
    assert "note: no rank correlation: a system has no value in one of the columns" in text
    assert ["Precision", "–", "–", "–", "-0.50"] in block(text, "Rank correlation")


def test_warnings_name_the_sets_and_stand_once():
    data = agreement_of()
    for row in (data["reference"], *data["systems"]):
        row["warnings"] = ["is odd"]
    data["warnings"] = ["tfidf: a: cut"]
    text = agreement_text(data)
    assert "warning: human, a, b, c: is odd" in text
    assert "warning: tfidf: a: cut" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_lines_fit_the_width_of_an_agreement(width):
    columns = tuple(
        Column(f"a-very-long-name-of-a-model-{number}", view)
        for number, view in product(range(4), ("meaning", "form"))
    )
    values = tuple(tuple(np.random.default_rng(row).random(4)) for row in range(8))
    systems = ("a", "a system with quite a long name of its own", "c", "d")
    text = agreement_text(agreement_of(values, columns, systems), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    for name in range(4):
        assert text.count(f"-{name} ") + text.count(f"-{name}\n") >= 2


def test_the_terminal_shows_the_same_words_of_an_agreement():
    data = agreement_of()
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(Screen(agree.document(data)))
    shown = console.file.getvalue().replace("─", "-")
    plain = [line.rstrip() for line in shown.splitlines()]
    assert plain == agreement_text(data, width=80).splitlines()


def test_names_cannot_steer_the_terminal():
    data = agreement_of(systems=("a\x1b[31m", "b\nc", "d"))
    assert "\x1b" not in agreement_text(data)
    assert "b c" in agreement_text(data)


def overlap_of(names, *, seeds=False, value=0.42):
    size = len(names)
    shares = np.full((size, size), value)
    sd = np.full((size, size), 0.01 if seeds else np.nan)
    if not seeds:
        np.fill_diagonal(shares, np.nan)
    pairs = np.full((size, size), 4 if seeds else 1)
    signatures = tuple(("metric:x",) * size for _ in names)
    views = {
        view: OverlapView(view, tuple(names), (500,) * size, shares, sd, pairs, signatures)
        for view in ("meaning", "form")
    }
    files = 2 if seeds else 1
    systems = tuple(OverlapSystem(summary(n), (summary(n),) * files) for n in names)
    return Overlap(systems, views, {"embedder": "minilm", "k": 4, "seed": 7}).to_dict()


def matrix(text, view="meaning"):
    """The lines of one matrix, headers first."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"By {view}"))
    end = next(i for i in range(start, len(lines)) if not lines[i])
    return lines[start + 1 : end]


def test_rows_are_references_and_columns_judged():
    data = overlap_of(["human", "model"])
    data["views"]["meaning"]["precision"] = [[None, 0.25], [0.75, None]]
    data["views"]["meaning"]["recall"] = [[None, 0.75], [0.25, None]]
    rows = [line.split() for line in matrix(overlap_text(data))]
    assert rows == [
        ["reference", "human", "model"],
        ["human", "precision", "–", "0.250"],
        ["recall", "–", "0.750"],
        ["model", "precision", "0.750", "–"],
        ["recall", "0.250", "–"],
    ]


def test_what_stands_above_and_below():
    text = overlap_text(overlap_of(["human", "model"]))
    assert text.startswith("Overlap of 2 systems, n = 500 each · embedder minilm · k 4 · seed 7\n")
    assert "- human and model overlap in part: 42 % of model lies inside human" in text
    assert "within     at least 90 % of one inside the other" in text
    assert "disjoint   at most 10 % in both directions" in text
    assert "No system is taken as the correct one." in text
    assert "note: – on the diagonal: the system has a single file" in text
    assert "\nceiling" not in text
    assert "\nabout" not in text


def test_seed_files_bring_spreads_and_the_diagonal():
    text = overlap_text(overlap_of(["human", "model"], seeds=True))
    assert matrix(text)[1].split() == ["human", "precision", "0.42±0.01", "0.42±0.01"]
    assert "note: diagonal: the overlap of the files of one system" in text
    assert "±          standard deviation" in text
    assert "system  files    n  words" in text


def test_a_system_of_one_file_beside_others_with_seeds():
    data = overlap_of(["human", "model"], seeds=True)
    data["systems"][0]["files"] = data["systems"][0]["files"][:1]
    for kind in ("precision", "recall", "precision_sd", "recall_sd"):
        data["views"]["meaning"][kind][0][0] = None
    text = overlap_text(data)
    assert "note: – on the diagonal: the system has a single file" in text
    assert matrix(text)[1].split() == ["human", "precision", "–", "0.42±0.01"]


SIX = ["llama-2-70b-chat", "llama-2-13b-chat", "llama-2-7b", "mistral-7b-instruct", "vicuna", "x"]


@pytest.mark.parametrize(
    ("width", "header", "kind"), [(140, "1", "precision"), (120, "1", "precision"), (80, "1", "P")]
)
def test_six_systems_with_seeds_stay_in_one_matrix(width, header, kind):
    text = overlap_text(overlap_of(SIX, seeds=True), width=width)
    rows = matrix(text)
    assert len(rows) == 13
    assert rows[0].split()[1] == header
    assert rows[1].split()[2] == kind
    assert max(map(cell_len, text.splitlines())) <= width
    assert "1 llama-2-70b-chat" in text


def test_short_names_stand_above_their_columns():
    rows = matrix(overlap_text(overlap_of(["human", "gpt2-xl", "neox"], seeds=True), width=80))
    assert rows[0].split() == ["reference", "human", "gpt2-xl", "neox"]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("count", [2, 12])
def test_no_line_is_too_wide_whatever_the_names(width, count):
    names = [f"{i}模型/" * 30 + "end" for i in range(count)]
    data = overlap_of(names, seeds=True)
    text = overlap_text(data, width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count("0.42±0.01") == 2 * 2 * count * count


def test_percent_signs_stay_with_their_numbers():
    for width in range(40, 100):
        text = overlap_text(overlap_of(["human", "model"]), width=width)
        assert not any(line.lstrip().startswith("%") for line in text.splitlines())
        assert "\N{NO-BREAK SPACE}" not in text


def test_control_characters_in_names_are_not_shown():
    assert "\x1b" not in overlap_text(overlap_of(["a\x1b[2Jb", "c\nd"]))


def test_warnings_name_their_systems_and_stand_once():
    data = overlap_of(["human", "model"])
    for system in data["systems"]:
        system["warnings"] = ["2 of 500 texts are empty"]
    data["warnings"] = ["few", "few"]
    text = overlap_text(data)
    assert "warning: human, model: 2 of 500 texts are empty\nwarning: few\n" in text
    assert text.count("few") == 1


def test_the_terminal_shows_the_same_lines():
    data = overlap_of(["human", "[red]x[/red]"], seeds=True)
    file = io.StringIO()
    Console(file=file, width=90).print(Screen(overlap.document(Overlap.from_dict(data))))
    shown = [line.rstrip() for line in file.getvalue().splitlines()]
    assert shown == overlap_text(data, width=90).splitlines()
    colour = io.StringIO()
    Console(file=colour, width=90, force_terminal=True, color_system="standard").print(
        Screen(overlap.document(Overlap.from_dict(data)))
    )
    assert "\x1b[2m0.42±0.01\x1b[0m" in colour.getvalue()


METRICS = ("mauve_star", "precision", "recall")


def change(name, gap, *, altered=1.0, moved=1.0):
    moves = tuple(
        Move(metric, "higher", (0.9, 0.94), (0.9 + gap, 0.94 + gap), 0.02) for metric in METRICS
    )
    return ProbedChange(name, name.replace("_", " "), f"does {name}", altered, moved, moves)


def probe_of(*changes, views=("meaning",), **more):
    settings = {
        "embedder": "minilm",
        "metrics": list(METRICS),
        "seeds": 2,
        "half": 250,
        "k": 4,
        "seed": 0,
        "max_samples": None,
    }
    return Probe(
        samples=SetSummary("human", "human.jsonl", 500, 500, None, "0"),
        views={view: ProbedView(view, {each.name: each for each in changes}) for view in views},
        settings={**settings, **more},
        signatures={},
    ).to_dict()


def test_gaps_and_verdicts():
    text = probe_text(probe_of(change("word_shuffle", -0.4), change("typos", 0.0)), width=80)
    lines = [line.split() for line in text.splitlines()]
    assert text.startswith(
        "What minilm detects in human · 2 random splits into 250 + 250 · k 4 · seed 0\n"
    )
    assert lines[2] == ["By", "meaning", "(topics", "and", "content)"]
    assert lines[4] == ["change", "alters", *["score", "gap"] * 3, "verdict"]
    assert lines[5] == ["unchanged", *["0.920", "±0.057"] * 3]
    assert lines[6] == ["word", "shuffle", "100", "%", *["0.520", "-0.400"] * 3, "sees"]
    assert lines[7] == ["typos", "100", "%", *["0.920", "0.000"] * 3, "blind"]


def test_what_moves_no_vector_is_told():
    text = probe_text(probe_of(change("case", 0.0, moved=0.0), change("typos", 0.0)))
    assert "note: by meaning, no vector changes with: case\n" in text


def test_what_changes_nothing_is_not_called_blind():
    data = probe_of(
        change("case", 0.0, altered=0.0, moved=np.nan), change("typos", 0.0, altered=0.2)
    )
    text = probe_text(data)
    assert [line.split()[-2:] for line in text.splitlines()[6:8]] == [
        ["no", "change"],
        ["few", "changed"],
    ]
    assert "no vector changes" not in text
    assert "\ncase" in text
    assert data["views"]["meaning"]["case"]["moved"] is None


def test_every_view_has_a_table():
    text = probe_text(probe_of(change("typos", 0.0), views=("meaning", "form")))
    assert text.count("\nchange ") == 2
    assert text.count("does typos") == 1


def test_a_cut_and_warnings_are_told():
    data = probe_of(change("typos", 0.0), max_samples=300)
    data["warnings"] = ["halves are few"]
    data["samples"]["warnings"] = ["14 of 500 texts were cut"]
    text = probe_text(data)
    assert "note: 500 texts cut to 300 (--max-samples)" in text
    assert "warning: human: 14 of 500 texts were cut" in text
    assert "warning: halves are few" in text


@pytest.mark.parametrize("width", [40, 60, 79, 80, 120])
def test_lines_fit_the_width_of_a_probe(width):
    data = probe_of(
        change("sentence_shuffle", -0.4), change("typos", 0.01), views=("meaning", "form")
    )
    text = probe_text(data, width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count(" sees") + text.count("\nsees") >= 2


def test_the_terminal_shows_the_same_words_of_a_probe():
    data = probe_of(change("typos", -0.2))
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(Screen(probe.document(data)))
    plain = [line.rstrip() for line in console.file.getvalue().replace("─", "-").splitlines()]
    assert plain == probe_text(data, width=80).splitlines()


def test_signs_and_shares():
    assert [signed(x) for x in (0.1, -0.1, 0.0001, -0.0001, None)] == [
        "+0.100",
        "-0.100",
        "0.000",
        "0.000",
        "–",
    ]
    assert [percent(x) for x in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %",
        "<1 %",
        "50 %",
        ">99 %",
        "100 %",
    ]
