"""The marks beside values and column heads."""

from __future__ import annotations

BEST = "▲"
ALIKE = "≈"
EQUAL = "≡"
OPEN = "?"
UNTESTED = "#"
SAME = "R"
FLOOR_MARK = "✓"

ARROWS = {"higher": "↑", "lower": "↓", "closest": "→"}
"""Where a metric is better to the sign that stands behind its name."""
