"""The result of a comparison, and the file that keeps it."""

from calipers.results.model import Comparison
from calipers.results.samples import Samples
from calipers.results.sweep import Sweep, SweptSystem
from calipers.results.sweep_curve import Curve
from calipers.results.system import SetSummary, SystemResult

__all__ = [
    "Comparison",
    "Curve",
    "Samples",
    "SetSummary",
    "Sweep",
    "SweptSystem",
    "SystemResult",
]
