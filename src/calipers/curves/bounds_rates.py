"""The error bounds without their constants: the rates that figure 21 of the paper draws.

They are no bounds. On a logarithmic scale their slopes against n and k are to be compared with
those of a measured error; their level means nothing. The bounds are in
:mod:`calipers.curves.bounds`.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from calipers.curves.bounds import LEAST
from calipers.curves.bounds_terms import check_distributions, missing_information, spread
from calipers.estimate.validate import check_whole


def statistical_rate(*, n: int, k: int) -> float:
    """How the error falls with n and grows with k, constants left out: (√(k/n) + k/n)·log n.

    Pillutla et al., JMLR 2023, equation 12 and section 7.8, "Bound".
    """
    size, cells = check_whole("n", n, LEAST), check_whole("k", k, 1)
    return (math.sqrt(cells / size) + cells / size) * math.log(size)


def oracle_rate(reference: ArrayLike, generated: ArrayLike, *, n: int) -> float:
    """The same for known distributions: (α_n(P) + α_n(Q))·log n + β_n(P) + β_n(Q).

    Pillutla et al., JMLR 2023, section 7.8, "Oracle Bound".
    """
    p, q = check_distributions(reference, generated)
    size = check_whole("n", n, LEAST)
    missed = missing_information(p, size) + missing_information(q, size)
    return (spread(p, size) + spread(q, size)) * math.log(size) + missed
