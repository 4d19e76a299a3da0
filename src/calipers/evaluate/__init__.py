"""The only place that wires the stages together: from samples to a comparison."""

from calipers.evaluate.run import compare
from calipers.evaluate.sweep_run import sweep

__all__ = ["compare", "sweep"]
