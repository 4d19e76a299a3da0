"""The number of neighbours that balances bias and variance of a ratio, by sample size.

Shared by the ratios from neighbours and the bandwidth of those from kernel densities.
"""

from __future__ import annotations

PAPER_K, PAPER_N = 50, 5000
"""The neighbours of Pillutla et al. (JMLR 2023, figure 9), and their samples in the smaller set."""


def balanced_count(count: int, n: int, m: int, d: int) -> int:
    """Scale a number of neighbours from the paper's 5,000 samples to the smaller set.

    As n^(2 / (d + 2)): the variance, 1 / k, and the bias of smooth densities, (k / n)^(2 / d), then
    fall alike.
    """
    growth = float((min(n, m) / PAPER_N) ** (2 / (d + 2)))
    return max(1, round(count * growth))
