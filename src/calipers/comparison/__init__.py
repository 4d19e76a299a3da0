"""The result of a comparison, and the file that keeps it."""

from calipers.comparison.model import Comparison
from calipers.comparison.samples import Samples
from calipers.comparison.sweep import Sweep, SweptSystem
from calipers.comparison.sweep_curve import Curve
from calipers.comparison.system import SetSummary, SystemResult

__all__ = [
    "Comparison",
    "Curve",
    "Samples",
    "SetSummary",
    "Sweep",
    "SweptSystem",
    "SystemResult",
]
