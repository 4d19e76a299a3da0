"""The results of all commands, and the files that store them."""

from calipers.results.comparison import Comparison
from calipers.results.result import Result, load
from calipers.results.sets import Samples, SetSummary
from calipers.results.system import SystemResult

__all__ = [
    "Comparison",
    "Result",
    "Samples",
    "SetSummary",
    "SystemResult",
    "load",
]
