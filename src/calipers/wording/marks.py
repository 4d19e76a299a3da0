"""The signs beside values and heads of columns, and nothing of what decides on them."""

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
