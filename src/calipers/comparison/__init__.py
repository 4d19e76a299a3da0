"""The result of a comparison, and the file that keeps it."""

from calipers.comparison.model import Comparison, Samples, SetSummary, SystemResult

__all__ = ["Comparison", "Samples", "SetSummary", "SystemResult"]
