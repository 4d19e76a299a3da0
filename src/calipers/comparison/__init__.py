"""The result of a comparison, and the file that keeps it."""

from calipers.comparison.model import Comparison, Samples, SetSummary, SystemResult
from calipers.comparison.sweep import Sweep, SweptSystem
from calipers.comparison.sweep_curve import Curve

__all__ = [
    "Comparison",
    "Curve",
    "Samples",
    "SetSummary",
    "Sweep",
    "SweptSystem",
    "SystemResult",
]
