"""The table, the sentences and the figure of a sweep, from data made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rich.console import Console

from calipers.commands.sweep import document as sweeps
from calipers.commands.sweep.plot import sweep_plot as draw_sweep
from calipers.commands.sweep.result import Curve, Sweep
from calipers.errors import InputError
from calipers.report.plots import save_figure
from calipers.report.plots.style import COLOURS
from calipers.report.render.text import Screen, plain


def typed(data):
    """The sweep that some data are of."""
    return Sweep.from_dict({"calipers": "0.1.0", **data})


def sweep_text(data, *, width=100):
    """Write what is shown as plain text."""
    return plain(sweeps.document(typed(data)), width=width)


def sweep_plot(data, **options):
    """Draw a sweep."""
    return draw_sweep(typed(data), **options)


KS = list(range(1, 31))
NS = [100, 200, 400, 800]
NS_ROWS = [[0.5, 0.8, 0.9, 0.9], [0.7, 0.8, 0.9, 0.9]]


def about(name: str, n: int = 500, given: int = 500) -> dict[str, Any]:
    words = {"mean": 9.0, "median": 9.0}
    read = {"n": n, "n_given": given, "words": words, "content_hash": "0"}
    return {"name": name, "source": name, **read, "warnings": []}


def sweep(
    over: str, rows: dict[str, Any], *, systems: int = 1, views: tuple[str, ...] = ("meaning",)
) -> dict[str, Any]:
    values = KS if over == "k" else NS
    keys = {
        name if index == 0 else f"{view}.{name}": row
        for index, view in enumerate(views)
        for name, row in rows.items()
    }
    curves = {
        key: Curve(np.array(values), np.array(row, float), "metric:x", reason="too few").to_dict()
        for key, row in keys.items()
    }
    settings = {"over": over, "values": values, "embedder": "minilm", "views": list(views)}
    fixed = {"metrics": list(rows), "tolerance": 0.01, "seed": 0, "max_samples": None}
    return {
        "settings": settings | fixed | ({} if over == "k" else {"k": 4, "seeds": 2}),
        "reference": about("human", NS[-1] if over == "n" else 500, 900 if over == "n" else 500),
        "systems": [
            {**about(f"model_{i}", 800, 800), "curves": curves, "seeds": []} for i in range(systems)
        ],
        "warnings": ["mind the gap"],
    }


@pytest.fixture
def by_k() -> dict[str, Any]:
    rising = [[1 - 0.5 / k for k in KS]]
    return sweep("k", {"precision": rising, "recall": [[1.0] * 30]}, systems=2)


@pytest.fixture
def by_n() -> dict[str, Any]:
    return sweep("n", {"precision": NS_ROWS, "density": [[1.2] * 4] * 2}, views=("meaning", "form"))


def test_the_table_shows_round_values_and_both_systems(by_k):
    lines = sweep_text(by_k, width=80).splitlines()
    head = lines.index(" k  Precision↑  Recall↑  Precision↑  Recall↑")
    assert lines[head - 1] == "    model_0 -----------  model_1 -----------"
    shown = " ".join(line.split()[0] for line in lines[head + 1 : head + 11])
    assert shown == "1 2 3 4 5 7 10 15 20 30"
    assert lines[head + 4] == " 4       0.875    1.000       0.875    1.000"


def test_systems_that_do_not_fit_stand_below_each_other(by_k):
    text = sweep_text(by_k, width=43)
    assert max(map(len, text.splitlines())) <= 43
    assert text.count(" k  Precision↑  Recall↑\n") == 2


def test_deviations_stand_beside_the_means_view_by_view(by_n):
    lines = sweep_text(by_n, width=80).splitlines()
    assert "100  0.600±0.141  1.200±0.000" in lines
    assert lines.index("By meaning (topics and content)") < lines.index(
        "By form (style, fluency, word order; topics too)"
    )


def test_every_curve_has_a_sentence(by_k, by_n):
    text = sweep_text(by_k, width=100)
    assert "Where the mean becomes constant: within 0.01 of its value at k = 30" in text
    assert "model_1  Precision  no plateau: at 18 still 0.011 below the end" in text
    assert "model_1  Recall     from k = 1 on (1.000, at the end 1.000)" in text
    assert "neighbourhoods of 30 cover all" in text
    text = sweep_text(by_n, width=100)
    assert "within 0.01, or its standard error, of its value at n = 800" in text
    assert "model_0  form     Precision  no plateau: at 200 still 0.100 below the end" in text
    assert "model_0  meaning  Density    from n = 100 on (1.200, at the end 1.200)" in text


def with_range(data: dict[str, Any], key: str, rows: Any, low: float, high: float) -> None:
    curve = Curve(np.array(NS), np.array(rows), "metric:x", range=(low, high))
    data["systems"][0]["curves"][key] = curve.to_dict()


def test_the_title_names_the_share_for_scores_without_a_scale():
    data = sweep("n", {"recall": NS_ROWS, "mmd": NS_ROWS})
    with_range(data, "mmd", [[0.004, 0.002, 0.001, 0.0005]], -np.inf, np.inf)
    text = sweep_text(data, width=200)
    assert (
        "becomes constant: within 0.01 (5 % of its end for scores without a scale), or its " in text
    )
    assert "MMD     no plateau: at 400 still 0.0005 above the end" in text
    with_range(data, "recall", NS_ROWS, 0.0, np.inf)
    assert "becomes constant: within 5 %, or its standard error, of its value" in sweep_text(data)


@pytest.mark.parametrize(
    ("mean", "shown"),
    [
        (0.0004164, "0.0004164±0.0000273"),
        (0.00004164, "4.164e-05±2.730e-05"),
        (-0.4164, "-0.4164±0.0000"),
        (12.345, "12.35±0.00"),
        (123456.0, "1.235e+05±0.000e+05"),
    ],
)
def test_a_deviation_has_the_decimals_of_its_mean(mean, shown):
    data = sweep("n", {"kid": NS_ROWS})
    half = 0.0000273 / np.sqrt(2)
    with_range(data, "kid", [[mean - half] * 4, [mean + half] * 4], -np.inf, np.inf)
    assert f"100  {shown}" in sweep_text(data, width=80).splitlines()


def test_the_notes_say_what_the_spread_is(by_k, by_n):
    assert "no ± for a system of one file" in sweep_text(by_k, width=200)
    text = sweep_text(by_n, width=200)
    assert "± is the standard deviation over 2 random orders of the samples; each larger" in text
    assert "at n = 800 every order has all samples" in text
    assert "cut to the smallest generated set, or as `max_samples` says: human 900 to 800" in text
    assert "warning: mind the gap" in text


def test_a_system_of_several_files_names_them(by_k):
    by_k["systems"][0]["seeds"] = ["a", "b", "c"]
    text = sweep_text(by_k, width=200)
    assert "model_0: mean ± standard deviation over 3 seed files" in text
    assert "no ± for a system of one file" in text


def test_an_undefined_value_is_a_dash_with_its_reason():
    data = sweep("n", {"cover_recall": [[np.nan, 0.5, 0.5, 0.5]]})
    lines = sweep_text(data, width=80).splitlines()
    assert "100         –" in lines
    assert "– model_0, Cover R: too few" in lines


def test_a_long_name_gives_its_sentence_a_line_of_its_own(by_k):
    by_k["systems"][0]["name"] = "a_very_long_name_of_a_system_in_deed"
    assert any(
        line.startswith("a_very_long_name_of_a_system_in_deed, Precision: no plateau")
        for line in sweep_text(by_k, width=80).splitlines()
    )


def test_a_terminal_shows_the_same_words(by_k):
    console = Console(width=80, force_terminal=True, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(Screen(sweeps.document(typed(by_k))))
    shown = [line.rstrip() for line in console.export_text().splitlines()]
    assert shown == sweep_text(by_k, width=80).replace("-----------", "───────────").splitlines()


def lines_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_the_lines_of_a_figure_hold_the_means(by_n):
    panels = sweep_plot(by_n).figure().axes
    assert [panel.get_title(loc="left") for panel in panels] == ["By meaning", "By form"]
    for panel in panels:
        drawn = lines_of(panel)
        assert list(drawn) == ["model_0, Precision", "model_0, Density"]
        assert drawn["model_0, Precision"].get_xdata().tolist() == NS
        assert drawn["model_0, Precision"].get_ydata() == pytest.approx([0.6, 0.8, 0.9, 0.9])
        assert panel.get_xscale() == "log"
        assert panel.get_ylim() == pytest.approx((0, 1.03 * 1.2))
    assert panels[0].get_ylabel() == "Precision and Density"


def test_bands_reach_one_deviation_to_each_side(by_n):
    panel = sweep_plot(by_n).figure().axes[0]
    (corners,) = [path.vertices for path in panel.collections[0].get_paths()]
    at_100 = corners[corners[:, 0] == 100, 1]
    assert at_100.min() == pytest.approx(0.6 - np.sqrt(0.02))
    assert at_100.max() == pytest.approx(0.6 + np.sqrt(0.02))


def test_a_tick_stands_where_a_plateau_starts(by_n):
    panel = sweep_plot(by_n).figure().axes[0]
    ticks = [line for line in panel.lines if line.get_label() == "_plateau"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in ticks] == [(100, 1.2)]


def test_systems_differ_in_colour_and_metrics_in_marker_and_dashes(by_k):
    axes = sweep_plot(by_k).axes()
    assert axes.get_xscale() == "linear"
    drawn = lines_of(axes)
    colours = {name: line.get_color() for name, line in drawn.items()}
    assert colours["model_0, Recall"] == colours["model_0, Precision"] == COLOURS[0]
    assert colours["model_1, Recall"] == COLOURS[1]
    markers = {name: (line.get_marker(), line.get_linestyle()) for name, line in drawn.items()}
    assert markers["model_0, Recall"] == markers["model_1, Recall"]
    assert markers["model_0, Recall"] != markers["model_0, Precision"]


def test_more_than_two_metrics_take_rows_of_panels():
    names = ("precision", "recall", "density", "coverage", "clipped_coverage")
    data = sweep("k", {name: [[0.5] * 30] for name in names}, views=("meaning", "form"))
    figure = sweep_plot(data).figure()
    assert [len(lines_of(panel)) for panel in figure.axes] == [2, 2, 2, 2, 1, 1]
    assert len(lines_of(sweep_plot(data, metrics=["recall"], view="form").axes())) == 1


def test_metrics_that_fall_have_panels_of_their_own_as_far_as_they_reach():
    rows = {name: [[0.5] * 4, [0.7] * 4] for name in ("frechet_distance", "recall", "near_copies")}
    data = sweep("n", rows)
    for name in ("frechet_distance", "near_copies"):
        data["systems"][0]["curves"][name]["better"] = "lower"
    rising, falling = sweep_plot(data).figure().axes
    assert list(lines_of(rising)) == ["model_0, Recall"]
    assert list(lines_of(falling)) == ["model_0, Fréchet", "model_0, Copies"]
    assert rising.get_ylim() == pytest.approx((0, 1.03))
    assert falling.get_ylim() == pytest.approx((0, 1.03 * (0.6 + np.sqrt(0.02))))


@pytest.mark.parametrize(
    ("over", "rows", "told"), [("n", 2, True), ("n", 1, False), ("k", 2, True)]
)
def test_the_legend_of_a_figure_says_what_a_band_is(over, rows, told):
    data = sweep(over, {"recall": [[0.5] * (4 if over == "n" else 30)] * rows})
    (legend,) = sweep_plot(data).figure().legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert ({"n": "±1 SD (orders)", "k": "±1 SD (files)"}[over] in texts) is told


def test_authenticity_has_no_arrow_since_neither_end_is_best():
    text = sweep_text(sweep("n", {"authenticity": [[0.5] * 4]}))
    assert "Authentic" in text
    assert "Authentic↑" not in text


def test_undefined_values_leave_a_gap():
    data = sweep("n", {"cover_recall": [[np.nan, 0.5, 0.5, 0.5]]})
    (line,) = lines_of(sweep_plot(data).figure().axes[0]).values()
    assert np.isnan(line.get_ydata()).tolist() == [True, False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")])
def test_files_are_the_same_every_time(tmp_path, by_n, name, start):
    found = []
    for _ in range(2):
        save_figure(sweep_plot(by_n).figure(), tmp_path / name)
        found.append((tmp_path / name).read_bytes())
    assert found[0].startswith(start)
    assert found[0] == found[1]


def test_an_svg_keeps_its_words_as_words(tmp_path, by_n):
    save_figure(sweep_plot(by_n).figure(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "N, samples on each side" in text
    assert "date" not in text.lower()


def test_the_settings_of_a_user_are_left_alone_and_do_not_matter(by_n, tmp_path):
    import matplotlib

    save_figure(sweep_plot(by_n).figure(), tmp_path / "a.png")
    with matplotlib.rc_context({"lines.linewidth": 9.0, "font.size": 20.0}):
        save_figure(sweep_plot(by_n).figure(), tmp_path / "b.png")
        assert matplotlib.rcParams["lines.linewidth"] == 9.0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_other_kinds_of_files_are_refused(tmp_path, by_n):
    with pytest.raises(InputError, match=r"\.png, \.pdf, \.svg.*'\.gif'"):
        save_figure(sweep_plot(by_n).figure(), tmp_path / "a.gif")
    with pytest.raises(InputError, match="cannot be written"):
        save_figure(sweep_plot(by_n).figure(), tmp_path / "none" / "a.png")
