"""Bradley-Terry scores with effects of raters: discrimination, side bias, tendency to ties.

Rater r prefers i to j, rather than j to i, with the log odds

    η = a_r·(θ_i − θ_j) + b_r·(1 if i was shown first, −1 if j was),

and calls a tie by Davidson's model (JASA 1970) with a parameter δ_r of its own. The discrimination
a_r is 1 of the typical rater: its logarithm, the side bias b_r and δ_r are drawn from normal
distributions of means 0, β and δ, whose spreads are estimated too. A rater of few answers is so
drawn to the mean of all, and one who answers at random gets a low a_r and counts little.

The scores θ, β, δ and the spreads are those of the greatest likelihood of the answers, the raters'
own parameters integrated out by Gauss-Hermite quadrature around each rater's mode (Pinheiro and
Bates, JCGS 1995). Spreads have a Rayleigh prior, which keeps them off 0, where few raters would
make them end by chance (Chung et al., Psychometrika 2013). A rater's own parameters are means of
what is known of them given the answers; their intervals have the errors of all else in them, by the
delta method, and Student's t of as many degrees of freedom as there are raters but one (at least
four), since the spreads are estimated from so many. A rater who alone answered all has the normal
one.

The scores are those of the typical rater. What a plain fit estimates is another thing, the odds in
the whole crowd, which lie nearer to even where raters differ in what they like or where they look.

Errors of the scores are clustered by rater (:mod:`~calipers.uncertainty.clustered`, on the
integrated likelihood, the spreads taken as known), so that they hold where raters differ in ways
that the model has not, such as in what they like; with fewer than five raters they are the model's.

What it does not see: a rater whose order of systems is another than that of all reads as one of low
discrimination.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Matrix
from calipers.numeric.validation import check_inner_share
from calipers.uncertainty.bradley_terry import (
    ScoreDifference,
    Ties,
    difference_of,
    fit_bradley_terry,
    place_of,
)
from calipers.uncertainty.clustered import ClusteredErrors, errors_of, student
from calipers.uncertainty.rated_pairs import RatedPairs
from calipers.uncertainty.rater_effects_fit import (
    DISCRIMINATION,
    SIDE,
    TIE,
    RaterParameters,
    RaterRows,
    RaterSummit,
    choose_parameters,
    climb_with_raters,
    spreads_of,
)
from calipers.uncertainty.spread import quantile

Interval = tuple[float, float]


@dataclass(frozen=True)
class RaterEffect:
    """The estimated effects of one rater.

    Attributes
    ----------
    name
        The rater.
    answers
        Judgements of the rater.
    discrimination
        Multiplies differences of scores; 1 is the typical rater, 0 one who answers at random. NaN
        where it is not identified.
    discrimination_interval
        Of it; None where there is none.
    side_bias
        Log odds by which the text shown first is preferred where two systems are equal. NaN where
        it is not identified.
    side_bias_interval
        Of it.
    tie_parameter
        Davidson's ν of the rater; 0 without ties, NaN where ties are not modelled.
    """

    name: str
    answers: int
    discrimination: float
    discrimination_interval: Interval | None
    side_bias: float
    side_bias_interval: Interval | None
    tie_parameter: float


@dataclass(frozen=True, eq=False)
class RaterFit:
    """Scores of systems, and effects of raters.

    Attributes
    ----------
    names
        The systems, as of the pairs.
    scores
        Of the typical rater, shape ``(n,)``, of mean 0; higher is preferred.
    standard_errors
        Shape ``(n,)``.
    intervals
        Lower and upper ends, shape ``(n, 2)``.
    covariance
        Of the scores, shape ``(n, n)``; its rows add up to 0.
    raters
        One for each rater who answered, in the order of the pairs.
    side_bias
        The mean of all raters, in log odds; NaN where it is not identified.
    side_bias_interval
        Of it; None where there is none.
    discrimination_spread, side_bias_spread, tie_spread
        Standard deviations of log discrimination, side bias and log tie parameter among raters; NaN
        where they are not identified.
    tie_parameter
        Davidson's ν of the typical rater; 0 without ties, NaN where ties are not modelled.
    left_out
        Which parameters the judgements cannot tell, and why, a sentence each.
    log_likelihood
        Of the judgements, raters' parameters integrated out.
    comparisons
        Judgements that the scores rest on.
    scale, level, ties
        As given.
    clustered
        Whether errors of the scores and of the mean side bias are clustered by rater; if there are
        fewer than five raters, they are those of the model.
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    intervals: Matrix
    covariance: Matrix
    raters: tuple[RaterEffect, ...]
    side_bias: float
    side_bias_interval: Interval | None
    discrimination_spread: float
    side_bias_spread: float
    tie_spread: float
    tie_parameter: float
    left_out: tuple[str, ...]
    log_likelihood: float
    comparisons: float
    scale: float
    level: float
    ties: str
    clustered: bool
    _errors: ClusteredErrors | None = field(repr=False)
    _logs: Matrix = field(repr=False)
    _logs_covariance: Matrix = field(repr=False)

    def difference(self, i: str | int, j: str | int) -> ScoreDifference:
        """Return the score of `i` minus that of `j`, given by name or index.

        Raises
        ------
        InputError
            If a name is unknown, or a place is not from 0 to n - 1.
        """
        if self._errors is not None:
            return self._errors.difference(i, j)
        p, q = place_of(self.names, i), place_of(self.names, j)
        return difference_of(self.scores, self.covariance, p, q, quantile(math.inf, self.level))

    def relative_discrimination(
        self, rater: str, others: Sequence[str] | None = None
    ) -> tuple[float, Interval]:
        """Return a rater's discrimination relative to the others'.

        Parameters
        ----------
        rater
            Name of a rater, such as that of a model.
        others
            Names of those compared with, such as people; None takes all others.

        Returns
        -------
        float and tuple of float
            The ratio to the geometric mean of theirs, and its interval; NaN where discriminations
            are not identified.

        Raises
        ------
        InputError
            If a rater is unknown, or there are no others.
        """
        known = [effect.name for effect in self.raters]
        others = [name for name in known if name != rater] if others is None else list(others)
        for name in (rater, *others):
            if name not in known:
                raise unknown_name("rater", name, known)
        if not others:
            raise InputError("a discrimination is relative to other raters, found none")
        weights = np.zeros(len(known))
        weights[known.index(rater)] += 1
        for name in others:
            weights[known.index(name)] -= 1 / len(others)
        if not self._logs.size:
            return math.nan, (math.nan, math.nan)
        value = float(weights @ self._logs)
        error = math.sqrt(max(float(weights @ self._logs_covariance @ weights), 0.0))
        reach = _quantile_of_rater(self.level, len(known)) * error
        return math.exp(value), (math.exp(value - reach), math.exp(value + reach))


def fit_rater_effects(
    pairs: RatedPairs,
    *,
    ties: Ties = "davidson",
    scale: float = 100.0,
    level: float = 0.95,
    seed: int = 0,
) -> RaterFit:
    """Fit scores of systems together with effects of raters.

    Parameters
    ----------
    pairs
        The judgements; of raters and sides that are not known, nothing is estimated.
    ties, scale, level, seed
        As of :func:`~calipers.uncertainty.bradley_terry.fit_bradley_terry`.

    Raises
    ------
    InputError
        As of `fit_bradley_terry`: where the plain model has no scores, this one has none.
    """
    plain = fit_bradley_terry(pairs.preferences, ties=ties, scale=scale, level=level, seed=seed)
    check_inner_share("level", level, "must lie between 0 and 1,")
    table = RaterRows.of(pairs, ties, seed)
    model, left_out = choose_parameters(table, len(pairs.names), ties)
    summit = climb_with_raters(table, model, plain.scores / scale, plain.tie_parameter)
    return _fit(pairs, table, model, summit, left_out, plain.comparisons, ties, scale, level)


def _fit(
    pairs: RatedPairs,
    table: RaterRows,
    model: RaterParameters,
    summit: RaterSummit,
    left_out: tuple[str, ...],
    comparisons: float,
    ties: str,
    scale: float,
    level: float,
) -> RaterFit:
    n, v, z = model.n, summit.covariance, quantile(math.inf, level)
    scores = summit.point[:n] * scale
    covariance = v[:n, :n] * scale**2
    errors = np.sqrt(covariance.diagonal().clip(min=0))
    intervals = np.column_stack([scores - z * errors, scores + z * errors])
    clustered, made = None, summit.clustered
    if made is not None:
        clustered = errors_of(pairs.names, scores, made, scale=scale, level=level)
        covariance, errors = clustered.covariance, clustered.standard_errors
        intervals = clustered.intervals
    spread = dict(zip(model.effects, spreads_of(model, summit.point).tolist(), strict=True))
    side, side_reach = math.nan, math.nan
    if model.side:
        side, side_reach = float(summit.point[n]), z * math.sqrt(max(float(v[n, n]), 0.0))
    if model.side and made is not None:
        contrast = np.eye(model.fixed)[n]
        side_reach = float(student(level, made.degrees(contrast)))
        side_reach *= math.sqrt(float(made.covariance[n, n]))
    tie = math.nan if ties != "davidson" else 0.0
    if model.tie:
        tie = math.exp(summit.point[n + model.side])
    logs, logs_covariance = np.zeros(0), np.zeros((0, 0))
    if DISCRIMINATION in model.effects:
        slopes = summit.slopes[:, 0, :]
        logs = summit.means[:, 0]
        logs_covariance = np.diag(summit.spreads[:, 0, 0]) + slopes @ v @ slopes.T
    return RaterFit(
        names=pairs.names,
        scores=scores,
        standard_errors=errors,
        intervals=intervals,
        covariance=covariance,
        raters=_raters(pairs, table, model, summit, tie, level),
        side_bias=side,
        side_bias_interval=(side - side_reach, side + side_reach) if model.side else None,
        discrimination_spread=spread.get(DISCRIMINATION, math.nan),
        side_bias_spread=spread.get(SIDE, math.nan),
        tie_spread=spread.get(TIE, math.nan),
        tie_parameter=tie,
        left_out=left_out,
        log_likelihood=summit.log_likelihood,
        comparisons=comparisons,
        scale=float(scale),
        level=level,
        ties=ties,
        clustered=clustered is not None,
        _errors=clustered,
        _logs=logs,
        _logs_covariance=logs_covariance,
    )


def _raters(
    pairs: RatedPairs,
    table: RaterRows,
    model: RaterParameters,
    summit: RaterSummit,
    tie: float,
    level: float,
) -> tuple[RaterEffect, ...]:
    """Say what each rater is like; none where nobody knows who answered."""
    if table.raters[0] < 0 and len(table.raters) == 1:
        return ()
    z = _quantile_of_rater(level, len(table.raters))
    effects = []
    for place, number in enumerate(table.raters.tolist()):
        sharp, sharp_interval = math.nan, None
        if DISCRIMINATION in model.effects:
            log, error = _of_rater(model, summit, place, DISCRIMINATION, None)
            sharp = math.exp(log)
            sharp_interval = (math.exp(log - z * error), math.exp(log + z * error))
        side, side_interval = math.nan, None
        if model.side:
            side, error = _of_rater(model, summit, place, SIDE, model.n)
            side_interval = (side - z * error, side + z * error)
        own_tie = tie
        if model.tie:
            log, _ = _of_rater(model, summit, place, TIE, model.n + model.side)
            own_tie = math.exp(log)
        effects.append(
            RaterEffect(
                name=pairs.raters[number] if number >= 0 else "",
                answers=int(table.answers[place]),
                discrimination=sharp,
                discrimination_interval=sharp_interval,
                side_bias=side,
                side_bias_interval=side_interval,
                tie_parameter=own_tie,
            )
        )
    return tuple(effects)


def _of_rater(
    model: RaterParameters, summit: RaterSummit, place: int, effect: int, mean: int | None
) -> tuple[float, float]:
    """Return a parameter of a rater, the mean of all added where there is one, and its error."""
    weights = np.zeros(model.size)
    value, variance = 0.0, 0.0
    if mean is not None:
        value += float(summit.point[mean])
        weights[mean] = 1.0
    if effect in model.effects:
        k = model.effects.index(effect)
        value += float(summit.means[place, k])
        variance += float(summit.spreads[place, k, k])
        weights += summit.slopes[place, k]
    variance += float(weights @ summit.covariance @ weights)
    return value, math.sqrt(max(variance, 0.0))


def _quantile_of_rater(level: float, raters: int) -> float:
    """Quantile of Student's t, as spreads are estimated from so many raters."""
    return float(student(level, max(raters - 1, 4))) if raters > 1 else quantile(math.inf, level)
