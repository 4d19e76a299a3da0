"""The only place that wires the stages together: from samples to a comparison."""

from calipers.road.run import compare
from calipers.road.sweep_run import sweep

__all__ = ["compare", "sweep"]
