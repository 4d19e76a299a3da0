"""The results of all commands, and the files that keep them."""

from calipers.results.comparison import Comparison
from calipers.results.result import Result, load_result
from calipers.results.sets import Samples, SetSummary
from calipers.results.sweep import Curve, Sweep, SweptSystem
from calipers.results.system import SystemResult

__all__ = [
    "Comparison",
    "Curve",
    "Result",
    "Samples",
    "SetSummary",
    "Sweep",
    "SweptSystem",
    "SystemResult",
    "load_result",
]
