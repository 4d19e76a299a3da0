"""The parts of the table: names, numbers, the grid, names of keys, and the blocks below."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from calipers.catalogue.choosing import find
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import DIVERGENCE, ESTIMATOR, SMOOTHING
from calipers.report.comparison import document as compare
from calipers.report.render.layout import Grid, Strip, Written, packed, rows, total_width
from calipers.report.render.text import Screen, plain
from calipers.results.ranking import best_of
from calipers.results.sets import SetSummary
from calipers.score import Score
from calipers.wording.names import clean, label, meaning, shorten
from calipers.wording.numbers import number, score_text, words_text
from hand_made import comparison_of


def plain_text(data, *, width=100):
    """Write a comparison as plain text."""
    return plain(compare.full(comparison_of(data)), width=width)


def comparison_table(data, *, width=None):
    """Show a comparison on a terminal."""
    return Screen(compare.full(comparison_of(data)), width=width)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, True, "0.000"),
        (-0.00001, True, "0.000"),
        (1.0, True, "1.000"),
        (0.9996, True, "1.000"),
        (1.25, False, "1.250"),
        (38.664, False, "38.66"),
        (0.000123456, False, "0.0001235"),
        (12345.6, False, "1.235e+04"),
        (1234.6, False, "1235"),
        (0.0, False, "0.000"),
    ],
)
def test_numbers(value, unit, text):
    assert number(value, unit=unit) == text


def test_a_score_without_a_value_is_a_dash():
    assert score_text(None) == score_text(Score(math.nan)) == "–"


@pytest.mark.parametrize(("median", "text"), [(3.5, "3.5"), (9.96, "10.0"), (150.0, "150")])
def test_lengths(median, text):
    assert words_text(SetSummary("a", "a", 9, 9, {"median": median}, "0")) == text


@pytest.mark.parametrize(
    ("values", "direction", "best"),
    [
        ([0.1, 0.3, 0.2], "higher", 1),
        ([0.1, 0.3, 0.2], "lower", 0),
        ([0.3, 0.3, 0.2], "higher", None),
        ([0.2, 0.2, 0.3], "higher", 2),
        ([0.3, None], "higher", None),
        ([None, 0.1, 0.2], "higher", 2),
        ([0.1, 0.3, 0.2], "", None),
        ([0.1, 0.3, 0.2], "closest", None),
        ([], "higher", None),
    ],
)
def test_best(values, direction, best):
    scores = [Score(math.nan if value is None else value) for value in values]
    assert best_of(scores, direction) == best


def test_the_best_statistic_is_the_closest_to_that_of_the_reference():
    values = [0.9, 0.35, 0.1]
    scores = [Score(value, reference=0.4) for value in values]
    assert best_of(scores, "closest") == 1


@given(st.text(), st.integers(min_value=3, max_value=50))
def test_shortened_names_fit_and_keep_their_ends(text, width):
    text = clean(text)
    short = shorten(text, width)
    assert cell_len(short) <= width
    assert short == text or "…" in short


@given(st.text())
def test_clean_text_is_one_printable_line(text):
    assert clean(text).isprintable()


def test_a_group_spans_its_columns_and_no_more():
    cells = (Written("1"), Written("22"))
    columns = [Strip("name", cells, right=False)]
    columns += [Strip(header, cells, group="view") for header in ("one", "three")]
    lines = ["".join(text for text, _ in line) for line in rows(Grid(tuple(columns), 1), rule="-")]
    assert lines == [
        "      view ----",
        "name  one three",
        "1       1     1",
        "22     22    22",
    ]
    assert total_width(columns, 1) == len(lines[1])


def test_a_broken_group_shares_no_grid_with_another():
    def run(group: str, count: int) -> tuple[Strip, ...]:
        return tuple(Strip("123456", (Written("1"),), group=group) for _ in range(count))

    lead = (Strip("name", (Written("a"),), right=False),)
    grids = packed(lead, [run("small", 1), run("wide", 4), run("last", 1)], width=25)
    groups = [{column.group for column in grid.columns[1:]} for grid in grids]
    assert groups == [{"small"}, {"wide"}, {"wide"}, {"last"}]
    assert [len(grid.columns) - 1 for grid in grids] == [1, 2, 2, 1]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mauve_star:chi2", "MAUVE* χ²"),
        ("frontier_integral:knn", "FI k-NN"),
        ("mauve:chi2:knn", "MAUVE χ² k-NN"),
        ("mauve:interpolated_kl=0.3", "MAUVE KL 0.3"),
        ("midpoint:laplace", "Mid Laplace"),
        ("prd_f1_8:gaussian", "PRD F1/8 Gauss"),
        ("divergence", "Div KL"),
        ("divergence:knn", "Div KL k-NN"),
        ("divergence_star:le_cam", "Div* Le Cam"),
        ("mauve:unheard", "mauve:unheard"),
        ("unheard:chi2", "unheard:chi2"),
        ("recall:group=a:b", "Recall a:b"),
        ("near_copies:train", "Copies train"),
    ],
)
def test_the_head_of_a_column(key, text):
    assert label(key) == text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mauve", "how close the two distributions are, unsmoothed; 1 is no gap"),
        ("mauve:chi2", "how close the two distributions are, unsmoothed, by χ²; 1 is no gap"),
        ("mauve:knn", "how close the two distributions are, from nearest neighbours; 1 is no gap"),
        (
            "mauve:laplace",
            "how close the two distributions are, 1 added to each count; 1 is no gap",
        ),
        ("max_recall:kde", ", from kernel densities"),
    ],
)
def test_what_a_key_with_options_tells(key, text):
    assert meaning(key).endswith(text)


def test_every_word_of_every_option_has_a_name():
    for divergence in DIVERGENCE.forms:
        assert label(find(f"divergence_star:{divergence}").name).startswith("Div* ")
    assert set(DIVERGENCE.names) == set(DIVERGENCE.labels)
    for option in (ESTIMATOR, SMOOTHING):
        assert set(option.words) - {option.default} == set(option.labels) == set(option.phrases)
    assert len({label(name) for name in METRICS}) == len(METRICS)


def test_the_headline_follows_the_estimator(make):
    scores = {"precision": make["score"](0.5), "mauve:knn": make["score"](0.4)}
    scores |= {"frontier_integral:knn": make["score"](0.3)}
    data = make["comparison"]([make["system"]("a", scores)], estimator="knn")
    text = plain_text(data)
    assert "MAUVE k-NN↑" in text
    assert "FI k-NN" not in text


KINDS = ("recall", "coverage", "precision")


def group_scores(make, values, prefix=""):
    """Scores by group, of the same value for every kind but recall."""
    return {
        f"{prefix}{kind}:group={label}": make["score"](value if kind == "recall" else 0.5)
        for label, value in values.items()
        for kind in KINDS
    }


@pytest.fixture
def grouped(make):
    def build(sizes, *systems, views=("meaning",), **more):
        data = make["comparison"](list(systems), views=list(views), group="topic", **more)
        data["reference"]["groups"] = sizes
        return data

    return build


def block(text, start):
    """The lines from a heading to the next heading but one empty line."""
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith(start))
    return lines[first:]


def test_a_row_for_each_group_and_the_lowest_marked(make, grouped):
    values = {"World": 0.9, "Sports": 0.25, "tiny": 0.125}
    sizes = {"World": 600, "Sports": 400, "tiny": 3}
    text = plain_text(grouped(sizes, make["system"]("a", group_scores(make, values))))
    lines = block(text, "By group (topic)")
    assert lines[1].split() == ["meaning", "-" * len(lines[1].split()[1])]
    assert lines[2].split() == ["group", "n", "Recall", "Coverage", "Precision"]
    assert lines[3].split() == ["World", "600", "0.900", "0.500", "0.500"]
    assert lines[4].split() == ["Sports", "400", "0.250!", "0.500", "0.500"]
    assert lines[5].split() == ["tiny", "3", "0.125", "0.500", "0.500"]
    assert "! lowest in its column, among groups of at least 10" in " ".join(lines)


def test_scores_by_group_are_no_columns_of_the_table(make, grouped):
    scores = {"recall": make["score"](0.5), **group_scores(make, {"World": 0.9})}
    scores["near_copies:train"] = make["score"](0.5)
    for asked in (None, ["recall"]):
        data = grouped({"World": 9}, make["system"]("a", scores), metrics_shown=asked)
        head = plain_text(data).split("By group")[0]
        assert "Recall↑" in head
        assert "World" not in head
        assert "train" not in head


def test_without_groups_there_is_no_block(two_systems):
    assert "By group" not in plain_text(two_systems)
    assert "Copies of" not in plain_text(two_systems)


def test_a_run_of_columns_for_each_system_main_view_first(make, grouped):
    values = {"World": 0.9, "Sports": 0.25}
    scores = group_scores(make, values) | group_scores(make, values, "form.")
    systems = [make["system"](name, scores) for name in ("model_a", "model_b")]
    data = grouped({"World": 50, "Sports": 50}, *systems, views=("meaning", "form"))
    wide = block(plain_text(data, width=160), "By group")
    order = ["model_a, meaning", "model_b, meaning", "model_a, form", "model_b, form"]
    places = [wide[1].index(name) for name in order]
    assert places == sorted(places)
    narrow = block(plain_text(data, width=80), "By group")
    heads = [line for line in narrow if "model_a, " in line]
    assert [line.split(", ")[1].split()[0] for line in heads] == ["meaning", "form"]
    assert all("model_b" in line for line in heads)
    assert max(map(len, narrow)) <= 80


def test_a_view_that_was_not_asked_for_has_no_columns(make, grouped):
    scores = group_scores(make, {"World": 0.9}, "form.")
    data = grouped({"World": 50}, make["system"]("a", scores), views=("meaning", "form"))
    lines = block(plain_text(data), "By group")
    assert lines[1].strip().startswith("form ")
    assert "meaning" not in lines[1]


def test_groups_of_the_generated_set_have_a_column_and_rows(make, grouped):
    scores = group_scores(make, {"World": 0.9})
    scores |= {f"precision:own={label}": make["score"](0.75) for label in ("World", "world")}
    system = make["system"]("a", scores, groups={"World": 5, "world": 6})
    lines = block(plain_text(grouped({"World": 50}, system)), "By group")
    assert lines[2].split()[-1] == "Own"
    assert lines[3].split()[-1] == "0.750"
    assert lines[4].split() == ["world", "0", "–", "–", "–", "0.750"]
    assert "Own: precision of the generated samples in the group" in " ".join(lines)


def test_of_many_groups_the_worst_are_shown(make, grouped):
    values = {f"g{place}": place / 100 for place in range(60)}
    text = plain_text(
        grouped(dict.fromkeys(values, 30), make["system"]("a", group_scores(make, values)))
    )
    rows = [line for line in text.split("\n") if line.startswith("g") and "0.5" in line]
    assert [row.split()[0] for row in rows] == [f"g{place}" for place in range(20)]
    assert "Shown are the 20 groups with the lowest recall; 40 more are in" in " ".join(
        text.split()
    )
    fifty = {label: values[label] for label in list(values)[:50]}
    text = plain_text(
        grouped(dict.fromkeys(fifty, 30), make["system"]("a", group_scores(make, fifty)))
    )
    assert "40 more in" not in text
    assert "g49 " in text


def test_labels_cannot_steer_a_terminal_and_long_ones_are_shortened(make, grouped):
    values = {"\x1b[2J": 0.5, "x" * 90: 0.5}
    data = grouped(dict.fromkeys(values, 30), make["system"]("a", group_scores(make, values)))
    data["settings"]["group"] = "a\x1bb"
    text = plain_text(data, width=80)
    assert "\x1b" not in text
    assert "x" * 30 not in text
    assert "By group (a\ufffdb)" in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_shows_the_same(make, grouped, width):
    from rich.console import Console

    scores = group_scores(make, {"World": 0.9, "Sports": 0.5})
    systems = [make["system"](name * 30, scores) for name in "ab"]
    data = grouped({"World": 50, "Sports": 50}, *systems)
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(comparison_table(data))
    shown = console.export_text()
    assert "By group (topic)" in shown
    assert "0.500!" in shown
    assert max(map(len, shown.split("\n"))) <= width


def test_copies_stand_below_what_is_normal(make):
    scores = {"recall": make["score"](0.5), "near_copies:train": make["score"](0.25)}
    scores["authenticity:train"] = make["score"](0.375)
    data = make["comparison"]([make["system"]("a", scores)], views=["meaning"])
    data["train"] = make["system"]("lessons", {}, warnings=["two texts are empty"])
    data["reference"]["scores"] = {
        "near_copies:train": make["score"](0.0125),
        "authenticity:train": make["score"](0.5),
    }
    text = plain_text(data)
    lines = block(text, "Copies of the training set: lessons, n = 500")
    assert lines[2].split() == ["system", "Near", "copies↓", "Authentic"]
    assert lines[3].split() == ["reference", "0.013", "0.500"]
    assert lines[4].split() == ["a", "0.250", "0.375"]
    assert "warning: lessons: two texts are empty" in text
    narrow = block(plain_text(data, width=40), "Copies of the training set")
    assert max(map(len, narrow)) <= 40


def test_a_distance_other_than_the_usual_stands_in_the_title(make):
    data = make["comparison"]([], distance="cosine")
    assert plain_text(data).startswith("Reference: human, n = 500 · embedder minilm · seed 7 · dis")
    data = make["comparison"]([], distance="euclidean")
    assert "distance" not in plain_text(data)


def test_runs_too_wide_for_a_line_are_broken():
    lead = [Strip("group", (Written("World"),), right=False)]
    runs = [
        tuple(Strip(header, (Written("0.5"),), group=name) for header in ("first", "second"))
        for name in ("one", "two")
    ]
    for width, expected in ((60, [5]), (22, [3, 3]), (14, [2, 2, 2, 2])):
        grids = packed(lead, runs, width=width)
        assert [len(grid.columns) for grid in grids] == expected
        assert all(total_width(grid.columns, grid.gap) <= width for grid in grids)
    assert packed(lead, [], width=60) == []
