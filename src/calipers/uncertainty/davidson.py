"""Davidson's model of paired comparisons with ties (JASA 1970): log probabilities and derivatives.

The log weights of a win, a tie and a loss are η/2, δ and −η/2, where η is the log odds of a win
against a loss; the model without ties is δ = −∞. The three are an exponential family, so the
observed information of (η, δ) is the expected one, and does not depend on the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Floats


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Log probabilities of outcomes, with derivatives; all of the shape of η.

    Attributes
    ----------
    log_chance
        Of what was answered.
    by_odds, by_tie
        Its derivatives by η and by δ.
    odds_odds, odds_tie, tie_tie
        The information: the second derivatives, with the sign turned.
    """

    log_chance: Floats
    by_odds: Floats
    by_tie: Floats
    odds_odds: Floats
    odds_tie: Floats
    tie_tie: Floats


def outcomes(
    odds: Floats, log_tie: Floats | float, outcome: Floats | NDArray[np.int64]
) -> Outcomes:
    """Return the log probability of each outcome (1 win, 0 tie, -1 loss), and its derivatives.

    An outcome between is a win in part and a loss in part: both log chances, each by its share.

    Parameters
    ----------
    odds, log_tie
        η and δ, of shapes that broadcast with each other and with `outcome`.
    outcome
        What was answered.

    Examples
    --------
    Of two equal systems of which a third of all judgements tie, ν = 1:

    >>> np.exp(outcomes(np.zeros(3), 0.0, np.array([1, 0, -1])).log_chance).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    half = odds / 2
    ends = np.logaddexp(half, -half)
    total = np.logaddexp(ends, log_tie)
    won, lost, tie = np.exp(half - total), np.exp(-half - total), np.exp(log_tie - total)
    tied = outcome == 0
    mean = (won - lost) / 2
    return Outcomes(
        log_chance=np.where(tied, log_tie, half * outcome) - total,
        by_odds=outcome / 2 - mean,
        by_tie=tied - tie,
        odds_odds=(won + lost) / 4 - mean**2,
        odds_tie=-tie * mean,
        tie_tie=tie * (1 - tie),
    )
