"""Maximisation of the likelihood integrated over effects of raters.

The model is that of :mod:`~calipers.uncertainty.rater_effects`. Raters are independent given the
parameters that they share: scores, mean side bias β, mean δ and the spreads. So the likelihood is a
product of integrals over the effects of one rater, each done on a grid around the mode of these
effects, in the units of the curvature there. Its derivatives come from those of the likelihood if
the effects were known: the mean of them over what is known of the effects is the gradient (Fisher's
identity), and the information is the mean of that if they were known less the variance of the
derivatives (Louis, JRSS B 1982). Newton's method climbs from the scores of the plain fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calipers.errors import InputError
from calipers.numeric.arrays import Longs, Matrix
from calipers.uncertainty.bradley_terry import Ties
from calipers.uncertainty.clustered import Sandwich, sandwich
from calipers.uncertainty.davidson import Outcomes, outcomes
from calipers.uncertainty.rated_pairs import RatedPairs

DISCRIMINATION, SIDE, TIE = 0, 1, 2
"""Places of a rater's log discrimination, side bias and tendency to tie."""

NODES = (9, 5, 5)
"""Points of the quadrature for each of them."""

FEW_NODES = (5, 3, 3)
"""The same where there are so many judgements that each rater's parameters are nearly normal."""

MOST_VALUES = 4_000_000
"""Kinds of judgements times points beyond which there are few points."""

TYPICAL_SPREAD = (0.5, 1.0, 1.0)
"""Modes of the priors of the spreads, in log odds (of the first: in logs of the discrimination)."""

LEAST_CLUSTERS = 5
"""Raters below which errors are those of the model: it trusts its account of how raters differ."""

MOST_STEPS = 200
CLOSE = 1e-6
LONGEST = 1.0
"""Largest step of any parameter."""

FLATTEST = 1e-3
"""Least curvature that a step reckons with, of what it would be if the effects were known."""


@dataclass(frozen=True, eq=False)
class RaterRows:
    """Identical judgements counted together, sorted by rater.

    `raters` holds the places of those who answered, `starts` their first rows, `answers` how many
    they gave.
    """

    i: Longs
    j: Longs
    outcome: Longs
    first: Longs
    rater: Longs
    often: Matrix
    raters: Longs
    starts: Longs
    answers: Longs
    n: int

    @classmethod
    def of(cls, pairs: RatedPairs, ties: Ties, seed: int) -> RaterRows:
        outcome, often = pairs.outcome, np.ones(len(pairs))
        rows = np.arange(len(pairs))
        tied = rows[outcome == 0]
        if ties == "half":
            rows = np.concatenate([rows, tied])
            often = np.asarray(np.where(outcome == 0, 0.5, 1.0)[rows])
            outcome = np.where(outcome == 0, 1, outcome)
            outcome = np.concatenate([outcome, np.full(len(tied), -1)])
        elif ties == "random":
            outcome = outcome.copy()
            outcome[tied] = np.random.default_rng(seed).choice([-1, 1], len(tied))
        elif ties == "drop":
            rows = rows[outcome != 0]
            outcome, often = outcome[rows], often[rows]
        # Of two sides one is i: the one with the lower place
        turned = pairs.i[rows] > pairs.j[rows]
        sign = np.where(turned, -1, 1)
        low, high = np.minimum(pairs.i, pairs.j)[rows], np.maximum(pairs.i, pairs.j)[rows]
        columns = np.column_stack(
            [pairs.rater[rows], low, high, outcome * sign, pairs.first[rows] * sign]
        )
        kinds, back = np.unique(columns, axis=0, return_inverse=True)
        counts = np.asarray(np.bincount(back.ravel(), often), dtype=np.float64)
        raters, starts, of_row = np.unique(kinds[:, 0], return_index=True, return_inverse=True)
        answered = np.bincount(of_row, counts)
        return cls(
            i=kinds[:, 1],
            j=kinds[:, 2],
            outcome=kinds[:, 3],
            first=kinds[:, 4],
            rater=of_row,
            often=counts,
            raters=raters,
            starts=starts,
            answers=np.rint(answered).astype(np.int64),
            n=len(pairs.names),
        )

    @property
    def slices(self) -> list[slice]:
        """The rows of each rater."""
        ends = np.append(self.starts[1:], len(self.i))
        return [slice(low, high) for low, high in zip(self.starts, ends, strict=True)]

    def by_rater(self, values: Matrix) -> Matrix:
        """Sum the rows of each rater."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))


@dataclass(frozen=True, eq=False)
class RaterParameters:
    """The parameters of the model: mean side bias, δ, and which effects of raters."""

    n: int
    side: bool
    tie: bool
    effects: tuple[int, ...]

    @property
    def fixed(self) -> int:
        """Scores, mean side bias and δ."""
        return self.n + self.side + self.tie

    @property
    def size(self) -> int:
        return self.fixed + len(self.effects)


def choose_parameters(
    table: RaterRows, n: int, ties: Ties
) -> tuple[RaterParameters, tuple[str, ...]]:
    """Choose the parameters that the judgements identify, and report the others."""
    left_out = []
    known = table.first != 0
    side = bool(known.any()) and _side_is_free(table, n)
    tie = ties == "davidson" and bool((table.outcome == 0).any())
    effects: tuple[int, ...] = ()
    several = len(table.raters) > 1
    if several:
        effects = (DISCRIMINATION, *([SIDE] if side else []), *([TIE] if tie else []))
    elif table.raters[0] < 0:
        left_out.append("the raters are unknown: differences between raters cannot be estimated")
    else:
        left_out.append(
            "one rater answered all: a discrimination is relative to others, and is left out"
        )
    if not known.any():
        left_out.append("it is not known which text was shown first: side bias is left out")
    elif not side:
        left_out.append(
            "of every two systems the same was always shown first: side bias cannot be separated "
            "from the scores, and is left out"
        )
    return RaterParameters(n, side, tie, effects), tuple(left_out)


def _side_is_free(table: RaterRows, n: int) -> bool:
    """Whether no scores would make the same odds as a side bias."""
    rows = np.zeros((len(table.i), n))
    place = np.arange(len(table.i))
    rows[place, table.i], rows[place, table.j] = 1.0, -1.0
    both = np.column_stack([rows, table.first])
    return int(np.linalg.matrix_rank(both)) > int(np.linalg.matrix_rank(rows))


@dataclass(frozen=True, eq=False)
class RaterSummit:
    """The maximum of the likelihood, and estimates of the raters there.

    `covariance` is that of all parameters, as the model has it; `clustered` that of the scores, β
    and δ, as raters have it, None where they are few. `means` ``(raters, k)`` and `spreads`
    ``(raters, k, k)`` are of raters' effects given the parameters, `slopes` ``(raters, k, size)``
    how these means move with the parameters.
    """

    point: Matrix
    covariance: Matrix
    clustered: Sandwich | None
    log_likelihood: float
    means: Matrix
    spreads: Matrix
    slopes: Matrix


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Points of the quadrature, ``(raters, q, k)``, and their log weights, ``(raters, q)``."""

    points: Matrix
    log_weights: Matrix


def _odds(
    table: RaterRows, model: RaterParameters, point: Matrix, effects: Matrix
) -> tuple[Outcomes, Matrix, Matrix]:
    """Return outcomes, discrimination and gaps of scores of rows ``(rows, q)``.

    `effects` has the shape ``(raters, q, k)``.
    """
    of_rater = effects[table.rater]
    places = {effect: of_rater[:, :, place] for place, effect in enumerate(model.effects)}
    zero = np.zeros(of_rater.shape[:2])
    sharp = np.exp(places.get(DISCRIMINATION, zero))
    gap = (point[table.i] - point[table.j])[:, None]
    side = places.get(SIDE, zero) + (point[model.n] if model.side else 0.0)
    log_tie: Matrix | float = -math.inf
    if model.tie:
        log_tie = places.get(TIE, zero) + point[model.n + model.side]
    odds = sharp * gap + table.first[:, None] * side
    return outcomes(odds, log_tie, table.outcome[:, None]), sharp, gap


def _jacobians(
    table: RaterRows, model: RaterParameters, sharp: Matrix, gap: Matrix
) -> list[tuple[Matrix, Matrix]]:
    """Of each effect, the derivatives of η and of δ by it, ``(rows, q)`` each."""
    zero, one = np.zeros_like(sharp), np.ones_like(sharp)
    known = {
        DISCRIMINATION: (sharp * gap, zero),
        SIDE: (one * table.first[:, None], zero),
        TIE: (zero, one),
    }
    return [known[effect] for effect in model.effects]


def spreads_of(model: RaterParameters, point: Matrix) -> Matrix:
    return np.asarray(np.exp(point[model.fixed :]))


def _nodes(
    table: RaterRows, model: RaterParameters, point: Matrix, start: Matrix
) -> tuple[_Nodes, Matrix]:
    """Place the quadrature around the mode of each rater's effects; `start` is near it."""
    count, k = len(table.raters), len(model.effects)
    if not k:
        return _Nodes(np.zeros((count, 1, 0)), np.zeros((count, 1))), start
    precision = spreads_of(model, point) ** -2
    mode = start

    def height(at: Matrix) -> Matrix:
        terms, _, _ = _odds(table, model, point, at[:, None, :])
        likelihood = table.by_rater(table.often * terms.log_chance[:, 0])
        return np.asarray(likelihood - (at**2 * precision).sum(axis=1) / 2)

    current = height(mode)
    for _ in range(50):
        gradient, information = _effect_derivatives(table, model, point, mode, precision)
        move = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        move *= np.minimum(1.0, 2 * LONGEST / np.maximum(np.abs(move).max(axis=1), 1e-300))[:, None]
        factor = np.ones(count)
        for _ in range(20):
            there = height(mode + factor[:, None] * move)
            worse = there < current - 1e-12 * (1 + np.abs(current))
            if not worse.any():
                break
            factor[worse] /= 2
        mode = mode + factor[:, None] * move
        current = there
        if np.abs(move).max() < 1e-8:
            break
    _, information = _effect_derivatives(table, model, point, mode, precision)
    root = np.linalg.cholesky(np.linalg.inv(information))
    many = len(table.i) * math.prod(NODES[effect] for effect in model.effects) > MOST_VALUES
    sizes = FEW_NODES if many else NODES
    grids = [np.polynomial.hermite_e.hermegauss(sizes[effect]) for effect in model.effects]
    z = np.stack(np.meshgrid(*(x for x, _ in grids), indexing="ij"), axis=-1).reshape(-1, k)
    w = np.stack(np.meshgrid(*(w for _, w in grids), indexing="ij"), axis=-1).reshape(-1, k)
    points = mode[:, None, :] + np.einsum("rkl,ql->rqk", root, z)
    log_root = np.log(root[:, range(k), range(k)]).sum(axis=1)
    log_weights = (np.log(w) + z**2 / 2).sum(axis=1)[None, :] + log_root[:, None]
    return _Nodes(points, log_weights), mode


def _effect_derivatives(
    table: RaterRows, model: RaterParameters, point: Matrix, mode: Matrix, precision: Matrix
) -> tuple[Matrix, Matrix]:
    """Gradient and expected information of raters' effects, their normal distribution included."""
    count, k = mode.shape
    terms, sharp, gap = _odds(table, model, point, mode[:, None, :])
    slopes = _jacobians(table, model, sharp, gap)
    often = table.often[:, None]
    gradient, information = np.empty((count, k)), np.empty((count, k, k))
    for a, (odds_a, tie_a) in enumerate(slopes):
        pull = often * (terms.by_odds * odds_a + terms.by_tie * tie_a)
        gradient[:, a] = table.by_rater(pull)[:, 0] - mode[:, a] * precision[a]
        for b, (odds_b, tie_b) in enumerate(slopes):
            curve = often * (
                terms.odds_odds * odds_a * odds_b
                + terms.odds_tie * (odds_a * tie_b + tie_a * odds_b)
                + terms.tie_tie * tie_a * tie_b
            )
            information[:, a, b] = table.by_rater(curve)[:, 0]
        information[:, a, a] += precision[a]
    return gradient, information


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The integrated log-likelihood of each rater at a point; `shares` ``(raters, q)`` of nodes."""

    value: float
    by_rater: Matrix
    shares: Matrix
    terms: Outcomes
    sharp: Matrix


def _likelihood(
    table: RaterRows, model: RaterParameters, point: Matrix, nodes: _Nodes
) -> _Likelihood:
    from scipy.special import logsumexp

    terms, sharp, _ = _odds(table, model, point, nodes.points)
    logs = table.by_rater(table.often[:, None] * terms.log_chance) + nodes.log_weights
    spread = spreads_of(model, point)
    logs -= (nodes.points**2 / spread**2 / 2 + np.log(spread) + math.log(2 * math.pi) / 2).sum(-1)
    whole = np.asarray(logsumexp(logs, axis=1))
    shares = np.exp(logs - whole[:, None])
    prior = _typical(model)
    value = float(whole.sum() + (np.log(spread) - (spread / prior) ** 2 / 2).sum())
    return _Likelihood(value, whole, shares, terms, sharp)


def _typical(model: RaterParameters) -> Matrix:
    return np.array([TYPICAL_SPREAD[effect] for effect in model.effects])


@dataclass(frozen=True, eq=False)
class _Slopes:
    """Derivatives of the integrated log-likelihood.

    `scores` ``(raters, size)`` and `parts` ``(raters, size, size)`` are the first and, with the
    sign turned, the second ones of each rater; `gradient` and `observed` their sums, with the prior
    of the spreads. `complete` is the information if the effects of raters were known. `crossed`
    ``(raters, k, size)`` is how the means of the effects move with the parameters.
    """

    gradient: Matrix
    scores: Matrix
    parts: Matrix
    complete: Matrix
    observed: Matrix
    crossed: Matrix


def _slopes(
    table: RaterRows, model: RaterParameters, point: Matrix, nodes: _Nodes, likelihood: _Likelihood
) -> _Slopes:
    """Derivatives by Fisher's and Louis's identities."""
    n, fixed, size = model.n, model.fixed, model.size
    spread = spreads_of(model, point)
    rows = np.zeros((len(table.i), n))
    place = np.arange(len(table.i))
    rows[place, table.i], rows[place, table.j] = 1.0, -1.0
    at_node = _at_nodes(table, model, spread, nodes, likelihood, rows)
    known = _if_known(table, model, spread, nodes, likelihood, rows)
    scores = np.einsum("rq,rqp->rp", likelihood.shares, at_node)
    weighted = at_node * likelihood.shares[:, :, None]
    missing = weighted.transpose(0, 2, 1) @ at_node - scores[:, :, None] * scores[:, None, :]
    means = np.einsum("rq,rqk->rk", likelihood.shares, nodes.points)
    crossed = nodes.points.transpose(0, 2, 1) @ weighted
    crossed -= means[:, :, None] * scores[:, None, :]
    prior = (spread / _typical(model)) ** 2
    gradient = scores.sum(axis=0)
    gradient[fixed:] += 1 - prior
    complete = known.sum(axis=0)
    complete[range(fixed, size), range(fixed, size)] += 2 * prior
    # As in the plain fit: 1/n in each entry lifts the one direction, all scores alike, that is flat
    complete[:n, :n] += 1 / n
    return _Slopes(
        gradient, scores, known - missing, complete, complete - missing.sum(axis=0), crossed
    )


def _at_nodes(
    table: RaterRows,
    model: RaterParameters,
    spread: Matrix,
    nodes: _Nodes,
    likelihood: _Likelihood,
    rows: Matrix,
) -> Matrix:
    """Derivatives if a rater's effects were those of a node, shape ``(raters, q, size)``."""
    terms, often, n = likelihood.terms, table.often[:, None], model.n
    at_node = np.zeros((*nodes.points.shape[:2], model.size))
    pull = often * likelihood.sharp * terms.by_odds
    for rater, answers in enumerate(table.slices):
        at_node[rater, :, :n] = pull[answers].T @ rows[answers]
    if model.side:
        at_node[:, :, n] = table.by_rater(often * table.first[:, None] * terms.by_odds)
    if model.tie:
        at_node[:, :, n + model.side] = table.by_rater(often * terms.by_tie)
    at_node[:, :, model.fixed :] = (nodes.points / spread) ** 2 - 1
    return at_node


def _if_known(
    table: RaterRows,
    model: RaterParameters,
    spread: Matrix,
    nodes: _Nodes,
    likelihood: _Likelihood,
    rows: Matrix,
) -> Matrix:
    """Information of each rater if the effects were known, ``(raters, size, size)``."""
    terms, sharp, n = likelihood.terms, likelihood.sharp, model.n
    share = likelihood.shares[table.rater] * table.often[:, None]
    odds_odds = (share * terms.odds_odds).sum(axis=1)
    odds_tie = (share * terms.odds_tie).sum(axis=1)
    tie_tie = (share * terms.tie_tie).sum(axis=1)
    sharp_odds = (share * sharp * terms.odds_odds).sum(axis=1)
    sharp_tie = (share * sharp * terms.odds_tie).sum(axis=1)
    sharp_sharp = (share * sharp**2 * terms.odds_odds).sum(axis=1)
    side, tie, first = n, n + model.side, table.first
    known = np.zeros((len(table.raters), model.size, model.size))
    for rater, answers in enumerate(table.slices):
        part, x = known[rater], rows[answers]
        part[:n, :n] = x.T @ (x * sharp_sharp[answers, None])
        if model.side:
            part[:n, side] = part[side, :n] = x.T @ (first * sharp_odds)[answers]
            part[side, side] = (first**2 * odds_odds)[answers].sum()
        if model.tie:
            part[:n, tie] = part[tie, :n] = x.T @ sharp_tie[answers]
            part[tie, tie] = tie_tie[answers].sum()
        if model.side and model.tie:
            part[side, tie] = part[tie, side] = (first * odds_tie)[answers].sum()
    squares = np.einsum("rq,rqk->rk", likelihood.shares, nodes.points**2) / spread**2
    places = range(model.fixed, model.size)
    known[:, places, places] = 2 * squares
    return known


def climb_with_raters(
    table: RaterRows, model: RaterParameters, theta: Matrix, tie: float
) -> RaterSummit:
    """Maximise the integrated likelihood, starting from the plain fit.

    Raises
    ------
    InputError
        If there are no finite ones.
    """
    _check_sides(table, model)
    point = np.zeros(model.size)
    point[: model.n] = theta
    if model.tie:
        point[model.n + model.side] = math.log(tie)
    point[model.fixed :] = np.log(_typical(model) / 2)
    mode = np.zeros((len(table.raters), len(model.effects)))
    try:
        for _ in range(MOST_STEPS):
            nodes, mode = _nodes(table, model, point, mode)
            likelihood = _likelihood(table, model, point, nodes)
            slopes = _slopes(table, model, point, nodes, likelihood)
            move = _move(slopes, model)
            point = _ascend(table, model, point, nodes, likelihood.value, move)
            if np.abs(move).max() < CLOSE:
                return _reached(table, model, point, mode)
    except np.linalg.LinAlgError:
        pass  # a parameter on its way to infinity
    raise InputError(
        f"the scores with effects of raters did not converge in {MOST_STEPS} steps: some raters "
        "are too lopsided to be fitted; fit without effects of raters"
    )


def _check_sides(table: RaterRows, model: RaterParameters) -> None:
    """Refuse judgements that all follow the side, so that no finite bias fits best."""
    follows = table.outcome * table.first
    decided = follows[follows != 0]
    if model.side and len(decided) and abs(int(decided.sum())) == len(decided):
        side = "first" if decided[0] > 0 else "second"
        raise InputError(
            f"every preference whose sides are known is for the text shown {side}: no finite side "
            "bias fits best, and nothing is left to compare the systems by; fit without effects of "
            "raters"
        )


def _move(slopes: _Slopes, model: RaterParameters) -> Matrix:
    """Return a Newton step; where the likelihood curves upwards, one that climbs all the same.

    The curvature is measured in units of what it would be if the effects of raters were known, and
    its sign turned where it is upwards.
    """
    root = np.linalg.cholesky(slopes.complete)
    back = np.linalg.inv(root)
    curves, axes = np.linalg.eigh(back @ slopes.observed @ back.T)
    along = axes.T @ (back @ slopes.gradient)
    move = back.T @ (axes @ (along / np.maximum(np.abs(curves), FLATTEST)))
    move[: model.n] -= move[: model.n].mean()
    return np.asarray(move * min(1.0, LONGEST / max(float(np.abs(move).max()), 1e-300)))


def _ascend(
    table: RaterRows,
    model: RaterParameters,
    point: Matrix,
    nodes: _Nodes,
    before: float,
    move: Matrix,
) -> Matrix:
    """Go the largest half, quarter, ... of a step that does not lower the likelihood."""
    slack = 1e-12 * abs(before)
    for halving in range(30):
        there: Matrix = point + move / 2**halving
        if _likelihood(table, model, there, nodes).value >= before - slack:
            return there
    return point


def _reached(table: RaterRows, model: RaterParameters, point: Matrix, mode: Matrix) -> RaterSummit:
    nodes, _ = _nodes(table, model, point, mode)
    likelihood = _likelihood(table, model, point, nodes)
    slopes = _slopes(table, model, point, nodes, likelihood)
    try:
        np.linalg.cholesky(slopes.observed)
        inverse = np.asarray(np.linalg.inv(slopes.observed), dtype=np.float64)
    except np.linalg.LinAlgError:
        # A spread at the end of its range: what is known of the rest, given the spreads
        fixed, inverse = model.fixed, np.zeros((model.size, model.size))
        inverse[:fixed, :fixed] = np.linalg.inv(slopes.observed[:fixed, :fixed])
    n = model.n
    inverse[:n, :n] -= 1 / n
    means = np.einsum("rq,rqk->rk", likelihood.shares, nodes.points)
    squares = np.einsum(
        "rq,rqk,rql->rkl", likelihood.shares, nodes.points, nodes.points, optimize=True
    )
    return RaterSummit(
        point=point,
        covariance=inverse,
        clustered=_clustered(slopes, model) if len(table.raters) >= LEAST_CLUSTERS else None,
        log_likelihood=float(likelihood.by_rater.sum()),
        means=means,
        spreads=squares - means[:, :, None] * means[:, None, :],
        slopes=slopes.crossed,
    )


def _clustered(slopes: _Slopes, model: RaterParameters) -> Sandwich:
    """Errors that hold where raters differ in other ways too, the spreads taken as known."""
    fixed = model.fixed
    values, axes = np.linalg.eigh(slopes.parts[:, :fixed, :fixed])
    parts = (axes * values.clip(min=0)[:, None, :]) @ axes.transpose(0, 2, 1)
    return sandwich(slopes.observed[:fixed, :fixed], parts, slopes.scores[:, :fixed])
