"""How far the axes of a plane go: by hand."""

from __future__ import annotations

import pytest

from calipers.report.plots.plane_content import Floor, Place
from calipers.report.plots.plane_limits import span


def test_boxes_ellipses_and_bars_are_held_whole():
    box = Floor((0.5, 0.6), (0.05, 0.1), 100)
    assert span([], [box], 2.0, 0) == pytest.approx((0.4, 0.6))
    assert span([], [box], 2.0, 1) == pytest.approx((0.4, 0.8))
    bars = Place(0, "a", 0.5, 0.6, None, (0.45, 0.7), None)
    assert span([bars], [box], 2.0, 0) == pytest.approx((0.4, 0.7))
    assert span([bars], [Floor((0.3, 0.3), None, None)], 2.0, 1) == pytest.approx((0.3, 0.6))
    assert span([], [], 2.0, 0) is None
