"""The only place that wires the stages together: from samples to a comparison."""

from calipers.road.run import compare

__all__ = ["compare"]
