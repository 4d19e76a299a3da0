"""Bars by group: their lengths, their order, and which groups are shown."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from calipers.errors import InputError
from calipers.report import plots
from calipers.report.plots.style import COLOURS
from hand_made import comparison_of


def group_bars_plot(data, **options):
    return plots.group_bars_plot(comparison_of(data), **options)


def words_of(figure):
    legends = [*figure.legends, *(each.get_legend() for each in figure.axes)]
    return [text.get_text() for legend in legends if legend for text in legend.get_texts()]


def widths(axes, colour):
    bars = [patch for patch in axes.patches if to_hex(patch.get_facecolor()) == colour.lower()]
    return [bar.get_width() for bar in bars]


def test_bars_hold_the_scores_by_group_in_the_order_of_the_reference(report):
    figure = group_bars_plot(report("a", "b")).figure()
    recall, precision = figure.axes
    assert widths(recall, COLOURS[0]) == [0.8, 0.4]
    assert widths(recall, COLOURS[1]) == [0.7375, 0.36875]
    assert [t.get_text() for t in recall.get_yticklabels()] == ["World (300)", "Sports (200)"]
    ends = [segment[:, 0].tolist() for c in recall.collections for segment in c.get_segments()]
    assert [0.675, 0.8625] in ends
    assert widths(precision, COLOURS[0]) == [0.4]
    assert [text.get_text() for text in precision.texts] == ["–", "–"]
    assert words_of(figure) == ["a", "b", "95 % interval"]


def test_one_system_keeps_its_colour(report):
    axes = group_bars_plot(report("a", "b"), system="b", metrics="recall").axes()
    assert widths(axes, COLOURS[1]) == [0.7375, 0.36875]
    assert not widths(axes, COLOURS[0])


def test_of_many_groups_the_worst_are_shown_and_the_figure_says_so(report, make):
    data = report("a")
    names = [f"g{i:02}" for i in range(60)]
    data["comparison"]["reference"]["groups"] = dict.fromkeys(names, 50)
    scores = {f"recall:group={name}": make["score"](i / 64) for i, name in enumerate(names)}
    data["comparison"]["systems"][0]["scores"] = scores
    figure = group_bars_plot(data).figure()
    shown = [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert shown == [f"{name} (50)" for name in names[:20]]
    assert figure.get_suptitle() == "The 20 groups of the lowest recall, of 60"


def test_groups_are_needed_and_names_checked(report):
    data = report("a")
    with pytest.raises(InputError, match="unknown metric by group 'coverage'"):
        group_bars_plot(data, metrics=["coverage"]).figure()
    for system in data["comparison"]["systems"]:
        system["scores"] = {"recall": system["scores"]["recall"]}
    with pytest.raises(InputError, match=r"has no scores by group.*`group`"):
        group_bars_plot(data).figure()
