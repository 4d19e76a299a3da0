"""Maps of all samples: dots, crosses, and what is said of them."""

from __future__ import annotations

import pytest

from calipers.errors import InputError
from calipers.report.plots import (
    map_plot,
)


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def words_of(figure):
    legends = [*figure.legends, *(each.get_legend() for each in figure.axes)]
    return [text.get_text() for legend in legends if legend for text in legend.get_texts()]


def test_a_map_marks_what_lies_outside_the_support(report):
    figure = map_plot(report("a", "b")).figure()
    first, second = figure.axes
    lines = lines_of(second)
    assert lines["reference"].get_xdata().tolist() == [0, 1, 2, 3]
    assert lines["b"].get_xydata().tolist() == [[1, 0], [3, 4]]
    assert lines["b, outside"].get_xydata().tolist() == [[2, 2]]
    assert lines["b, outside"].get_marker() == "x"
    assert [text.get_text() for text in first.texts] == ["1 of 3 outside"]
    assert first.get_xlim() == second.get_xlim()
    assert figure.get_supxlabel() == "PC 1 (25.0 % of variance)"


def test_a_map_without_support_or_variance_says_nothing_of_them(report):
    data = report("a")
    data["map"]["meaning"] |= {"method": "umap", "explained": None}
    data["map"]["meaning"]["sets"][1]["inside"] = None
    axes = map_plot(data).axes()
    assert axes.get_xlabel() == "UMAP 1"
    assert not lines_of(axes)["a, outside"].get_xdata().size
    assert words_of(axes.figure) == ["reference", "a"]


def test_a_system_named_reference_is_told_by_its_role(report):
    lines = map_plot(report("reference")).axes().get_lines()
    assert [len(line.get_xdata()) for line in lines] == [4, 2, 1]


def test_a_missing_map_is_told(report):
    data = report("a", views=("meaning", "form"))
    with pytest.raises(InputError, match=r"map .*'form'"):
        map_plot(data, view="form").figure()
    with pytest.raises(InputError, match="unknown system 'A'"):
        map_plot(data, system="A").figure()
