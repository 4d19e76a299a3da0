"""Topics and cells: shares of both sets, and their parts of the gap."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from calipers.errors import InputError
from calipers.report.plots import (
    cells_plot,
)
from calipers.report.plots.style import COLOURS


def widths(axes, colour):
    bars = [patch for patch in axes.patches if to_hex(patch.get_facecolor()) == colour.lower()]
    return [bar.get_width() for bar in bars]


def test_topics_come_by_contribution_with_both_shares_and_their_part(report):
    figure = cells_plot(report("a")).figure()
    shares, gaps = figure.axes
    assert widths(shares, "#8c8c8c") == [0.5, 0.2, 0.3]
    assert widths(shares, COLOURS[0]) == [0.1, 0.6, 0.3]
    assert [t.get_text() for t in shares.get_yticklabels()] == ["sport, ball", "cell 7", "rest"]
    assert [bar.get_width() for bar in gaps.patches] == [0.06, 0.03, 0.01]
    assert [t.get_text() for t in gaps.texts] == [
        *("60.0 % under-represented", "30.0 % over-represented", "10.0 %")
    ]
    assert gaps.get_title(loc="right") == "FI* 0.100"
    assert shares.get_ylim()[0] > shares.get_ylim()[1]


def test_systems_stand_below_each_other_on_one_scale(report):
    data = report("a", "b")
    for topic in data["explanations"]["b"]["meaning"]["topics"]:
        topic["contribution"] /= 8
    figure = cells_plot(data, limit=2).figure()
    assert [axes.get_title(loc="left") for axes in figure.axes[::2]] == ["a", "b"]
    for column in (figure.axes[::2], figure.axes[1::2]):
        assert len({axes.get_xlim() for axes in column}) == 1
    assert [len(axes.get_yticks()) for axes in figure.axes] == [2, 2, 2, 2]
    assert cells_plot(data, system="b", regions="cells").axes().get_yticks().tolist() == [0]


def test_what_is_not_explained_is_told_with_its_reason(report):
    data = report("a", views=("meaning", "form"))
    with pytest.raises(InputError, match=r"topics .*'a' .*'form'$"):
        cells_plot(data, view="form").figure()
    data["explanations"]["a"]["meaning"] |= {"topics": [], "notes": ["too few samples"]}
    with pytest.raises(InputError, match=r"'meaning': .*few samples"):
        cells_plot(data).figure()
    with pytest.raises(InputError, match=r"regions 'topic'.*'topics'"):
        cells_plot(data, regions="topic").figure()
    with pytest.raises(InputError, match="limit must be at least 1; found 0"):
        cells_plot(data, limit=0).figure()
