"""The tables, the words and the heat map of a ranking, made by hand."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from rich.cells import cell_len
from rich.console import Console

from calipers.commands.rank import document as rank
from calipers.commands.rank.plot import heat_map_plot
from calipers.commands.rank.result import Beside, Fit, Matrix, Player, RankedMetric, Ranking, Truth
from calipers.report.plots import save_figure
from calipers.report.render.text import Screen, plain


def ranking_text(ranking, *, width=100):
    """Write what is shown as plain text."""
    return plain(rank.document(ranking), width=width)


NAMES = ("a", "b", "c", "d", "e")


def beside(metric: str, worst: float = math.nan, **more: Any) -> Beside:
    """A metric beside a truth: all of its correlations are the worst case, proven."""
    defined = not math.isnan(worst)
    interval = (worst - 0.5, min(1.0, worst + 0.3)) if defined else None
    return Beside(
        **{
            "metric": metric,
            "n": 5,
            "spearman": worst,
            "spearman_interval": interval,
            "worst": worst,
            "exact": True,
            "bound": worst,
            "pearson": worst,
            "pearson_interval": interval,
            **more,
        }
    )


def player(name: str, score: float) -> Player:
    return Player(name, score, 4.5, (score - 9, score + 9), won=4, lost=2, tied=1)


def truth(name: str, *metrics: Beside, fit: Fit | None = None) -> Truth:
    return Truth(
        name=name,
        source="t.csv",
        made_of="scores" if fit is None else "judgements",
        scores=dict.fromkeys(NAMES, 0.0),
        metrics={metric.metric: metric for metric in metrics},
        fit=fit,
    )


def ranking(truths: Sequence[Truth], metrics: dict[str, str]) -> Ranking:
    """Five systems by metrics, which are better as they are told, with correlations of -0.25."""
    names = (*metrics, *(truth.name for truth in truths))
    shape = (len(names), len(names))
    values = np.full(shape, -0.25)
    np.fill_diagonal(values, 1.0)
    return Ranking(
        systems=NAMES,
        metrics={key: RankedMetric(key, better, {}, {}, {}) for key, better in metrics.items()},
        truths={truth.name: truth for truth in truths},
        matrix=Matrix(
            kind="spearman",
            names=names,
            truths=len(truths),
            values=values,
            systems=np.full(shape, 5),
            reasons=((None,) * len(names),) * len(names),
        ),
        settings={"reference": "human", "kind": "spearman", "level": 0.95, "matrix": False},
        chance={5: 0.9},
    )


def with_truth(given: Ranking, name: str, **changes: Any) -> Ranking:
    """A ranking with one of its truths changed."""
    return replace(given, truths={**given.truths, name: replace(given[name], **changes)})


def with_beside(given: Ranking, name: str, metric: str, **changes: Any) -> Ranking:
    """A ranking with one metric changed beside one truth."""
    metrics = {**given[name].metrics, metric: replace(given[name][metric], **changes)}
    return with_truth(given, name, metrics=metrics)


def with_deviations(given: Ranking, metric: str, deviations: dict[str, float]) -> Ranking:
    """A ranking with the standard deviations of a metric."""
    changed = replace(given.metrics[metric], deviations=deviations)
    return replace(given, metrics={**given.metrics, metric: changed})


@pytest.fixture
def two_truths() -> Ranking:
    metrics = {"mauve": "higher", "ppl": "closest", "gap": "lower"}
    liked = truth("liked", beside("mauve", 0.8), beside("ppl", 0.6), beside("gap", -0.2))
    clear = truth("clear", beside("mauve", 0.1), beside("ppl", 0.1), beside("gap", -0.3))
    return ranking([liked, clear], metrics)


@pytest.fixture
def judged() -> Ranking:
    fit = Fit(
        players=(player("human", 40.0), player("a", 10.0), player("x", -50.0)),
        ties="half",
        tie_share=0.25,
        tie_parameter=math.nan,
        scale=100.0,
        level=0.95,
        covariance=np.eye(3),
    )
    return ranking([truth("judgements", beside("m", 0.5), fit=fit)], {"m": "higher"})


@pytest.fixture
def matrix_alone() -> Ranking:
    given = ranking([], {"precision": "higher", "recall": "higher", "ppl": "lower"})
    values = given.matrix.values.copy()
    values[0, 1] = values[1, 0] = np.nan
    reasons = ((None, "all systems are alike", None), *given.matrix.reasons[1:])
    return replace(given, matrix=replace(given.matrix, values=values, reasons=reasons))


def block(text: str, start: str) -> list[list[str]]:
    """The cells of one table, its title left out."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(start))
    last = next(i for i in range(first, len(lines)) if not lines[i])
    return [line.split() for line in lines[first + 1 : last]]


def test_the_table_of_all_truths_marks_the_best_of_a_row(two_truths):
    text = ranking_text(two_truths)
    assert text.startswith("Ranking of 5 systems by 3 metrics, beside 2 truths · reference human\n")
    assert block(text, "Worst-case rank correlation with each truth") == [
        ["truth", "mauve↑", "ppl→", "gap↓"],
        ["liked", "0.800▲", "0.600", "-0.200"],
        ["clear", "0.100", "0.100", "-0.300"],
    ]


def test_each_truth_has_its_three_correlations(two_truths):
    rows = block(ranking_text(two_truths), "Beside liked, over 5 systems")
    interval = ["95", "%", "interval"]
    assert rows[0] == ["metric", "Spearman", *interval, "worst", "Pearson", *interval]
    assert rows[1] == ["mauve↑", "0.800", "[0.30,", "1.00]", "0.800▲", "0.800", "[0.30,", "1.00]"]


def test_the_words_below(two_truths):
    text = " ".join(ranking_text(two_truths).split())
    assert (
        "- liked: mauve agrees best, with 0.800 in the worst case; Spearman 0.800, interval 0.30 "
        "to 1.00. The intervals of 1 of 2 other metrics reach that value: their order is not "
        "certain"
    ) in text
    assert "- clear: mauve and ppl agree equally well, 0.100 in the worst case" in text
    assert "note: 5 systems can be ranked in 120 orders: by chance, an unrelated metric" in text
    assert "compared as -|T(Q) - T(P)|" in text
    assert "Bradley-Terry" not in text


def test_one_truth_has_no_table_of_all(judged):
    text = ranking_text(judged)
    assert "Worst-case rank correlation" not in text
    assert "highest worst case" not in text


def test_fitted_scores_say_who_is_who(judged):
    text = ranking_text(judged)
    assert block(text, "Bradley-Terry scores, from 10 judgements of 3 systems") == [
        ["system", "score", "95", "%", "interval", "won", "lost", "tied"],
        ["human", "(reference)", "40.0", "[31.0,", "49.0]", "4", "2", "1"],
        ["a", "10.0", "[1.0,", "19.0]", "4", "2", "1"],
        ["x", "(no", "scores)", "-50.0", "[-59.0,", "-41.0]", "4", "2", "1"],
    ]
    assert "judged alike: half a win for each system" in text
    assert "1/(1 + exp(-difference/100))" in text


def test_ties_are_told_with_what_became_of_them(judged):
    def shown(**changes):
        fit = replace(judged["judgements"].fit, **changes)
        return " ".join(ranking_text(with_truth(judged, "judgements", fit=fit)).split())

    remark = "note: judgements: 25 % of the judgements are ties: half a win for each system, which"
    assert remark in shown()
    text = shown(ties="davidson", tie_parameter=2.0)
    assert "are ties: a separate outcome, by Davidson's model (1970), in which two equal" in text
    assert "two equal systems tie with probability 0.50" in text  # 2/(2 + 2)
    assert "25 % of the judgements are ties: left out note:" in shown(ties="drop")
    assert "of the judgements are ties" not in shown(ties="drop", tie_share=0.0)


def test_intervals_say_which_errors_they_include(judged, two_truths):
    def remark(given):
        text = " ".join(ranking_text(given).split())
        return text.split("note: the intervals ")[1].split(" note: ")[0]

    assert (
        remark(judged) == "include the errors of the fitted scores, and treat the metrics as exact"
    )
    assert remark(with_deviations(judged, "m", {"a": 0.1})).endswith(
        "errors of the fitted scores and the standard deviations of the metrics"
    )
    assert remark(two_truths).startswith(
        "treat the scores and the truth as exact: no standard deviations"
    )
    uncertain = with_deviations(two_truths, "ppl", {"a": 0.0, "b": 0.1})
    assert (
        remark(uncertain)
        == "include the standard deviations of the metrics, and treat the truth as exact"
    )
    assert remark(with_truth(uncertain, "liked", deviations={"a": 1.0})).startswith(
        "include the errors of the truth and the standard deviations"
    )


def test_an_interval_with_the_systems_fixed_stands_beside_the_other(judged):
    assert "systems fixed" not in ranking_text(judged)
    intervals = {"spearman_fixed": (0.25, 0.75), "spearman_interval": None}
    text = ranking_text(with_beside(judged, "judgements", "m", **intervals))
    rows = block(text, "Beside judgements")
    assert rows[0][1:4] == ["Spearman", "systems", "fixed"]
    assert rows[1][1:4] == ["0.500", "[0.25,", "0.75]"]
    assert "for these systems only, from the errors of the truth and the metric" in " ".join(
        text.split()
    )


def test_at_the_end_of_the_scale_the_verdict_has_the_interval_of_these_systems(two_truths):
    best = {"spearman": 1.0, "spearman_interval": None, "spearman_fixed": (0.5, 1.0)}
    text = " ".join(ranking_text(with_beside(two_truths, "liked", "mauve", **best)).split())
    assert "Spearman 1.000, with the systems fixed 0.50 to 1.00" in text


def test_a_worst_case_that_was_searched_for_shows_its_bound(two_truths):
    text = ranking_text(with_beside(two_truths, "liked", "ppl", exact=False, bound=0.55))
    rows = block(text, "Beside liked")
    assert rows[0].count("bound") == 1
    assert rows[2][4:6] == ["≤0.600", "≥0.550"]
    assert "found by a search: between its bound and this value" in text
    assert "≤" not in text.split("Beside clear")[1].split("- liked")[0]


def test_undefined_correlations_are_dashes_with_a_reason(judged):
    undefined = beside("m", reason="all systems have the same value on one side")
    text = ranking_text(with_truth(judged, "judgements", metrics={"m": undefined}))
    assert block(text, "Beside judgements")[1] == ["m↑", "–", "–", "–"]
    assert "note: no correlation of m beside judgements: all systems have the same value" in text


def test_sizes_are_shown_where_they_differ(two_truths):
    text = ranking_text(with_beside(two_truths, "liked", "ppl", n=4))
    rows = block(text, "Beside liked, over 4 to 5 systems")
    assert rows[0][:2] == ["metric", "n"]
    assert [row[1] for row in rows[1:]] == ["5", "4", "5"]


def test_the_matrix_alone(matrix_alone):
    text = ranking_text(matrix_alone)
    assert block(text, "Spearman correlation of values as measured, over 5 systems") == [
        ["precision", "recall", "ppl"],
        ["precision", "1.00", "–", "-0.25"],
        ["recall", "–", "1.00", "-0.25"],
        ["ppl", "-0.25", "-0.25", "1.00"],
    ]
    assert "note: no correlation: all systems are alike" in text


def test_columns_have_numbers_where_names_do_not_fit():
    many = ranking([], {f"a_metric_of_long_name_{i}": "higher" for i in range(12)})
    rows = block(ranking_text(many, width=80), "Spearman correlation")
    assert rows[0][0] == "1"
    assert rows[1][:3] == ["1", "a_metric_of_long_name_0", "1.00"]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_lines_fit_the_width(width, two_truths, judged):
    metrics = {f"a_metric_of_a_very_long_name_{i}": "lower" for i in range(9)}
    cells = [beside(key, -0.4, exact=False, bound=-0.5) for key in metrics]
    long = ranking([truth(f"a_truth_{i}", *cells) for i in range(3)], metrics)
    long = replace(long, settings={**long.settings, "matrix": True})
    for given in (two_truths, judged, long):
        assert max(map(cell_len, ranking_text(given, width=width).splitlines())) <= width


def test_the_terminal_shows_the_same_words(two_truths):
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(Screen(rank.document(two_truths)))
    shown = [line.rstrip() for line in console.file.getvalue().replace("─", "-").splitlines()]
    assert shown == ranking_text(two_truths, width=80).splitlines()


def test_names_cannot_steer_the_terminal():
    text = ranking_text(ranking([truth("t\x1b[31m", beside("m\n", 0.1))], {"m\n": "higher"}))
    assert "\x1b" not in text
    assert "m ↑" in text


def test_a_heat_map_writes_every_value_and_sets_truths_apart(two_truths):
    axes = heat_map_plot(two_truths).axes()
    written = [text.get_text() for text in axes.texts]
    assert written.count("1.00") == 5
    assert written.count("−0.25") == 20
    assert [tick.get_text() for tick in axes.get_yticklabels()][-2:] == ["liked", "clear"]
    dark = [line for line in axes.lines if to_rgb(line.get_color()) != (1, 1, 1)]
    assert [line.get_ydata()[0] for line in dark[:1]] == [2.5]
    assert len(dark) == 2


def test_its_colours_are_centred_and_legible(matrix_alone):
    axes = heat_map_plot(matrix_alone).axes()
    (image,) = axes.images
    assert image.get_clim() == (-1, 1)
    assert image.cmap(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.01)
    dash = next(text for text in axes.texts if text.get_text() == "–")
    assert dash.get_position() == (1, 0)
    low, high = image.cmap(0.0), image.cmap(1.0)
    assert low[0] > low[2]  # orange falls
    assert high[2] > high[0]  # blue rises


def test_an_empty_line_before_truths_only_where_there_are_some(matrix_alone):
    dark = [
        line for line in heat_map_plot(matrix_alone).axes().lines if line.get_color() != "white"
    ]
    assert dark == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_heat_maps_are_the_same_every_time(tmp_path, two_truths, name, start):
    files = []
    for _ in range(2):
        save_figure(heat_map_plot(two_truths).figure(), tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0].startswith(start)
    assert files[0] == files[1]
