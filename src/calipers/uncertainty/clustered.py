"""Clustered standard errors of a Bradley-Terry fit, by rater or by item.

The fit takes all judgements for independent. Where they come in clusters, the scores are still
estimated rightly, of the population that the clusters are drawn from, but the errors are larger.
With H the information of the fit, H_g the part of cluster g and s_g the sum of the derivatives of
its log-likelihood, the sandwich is

    V = H⁻¹ (Σ_g A_g s_g s_gᵀ A_gᵀ) H⁻¹.

With A_g = 1 it is too small where clusters are few, as the scores follow each cluster. A_g =
H_g^½ (1 − H_g^½ H⁻¹ H_g^½)^−½ H_g^−½ makes V right on average if the judgements are independent
after all (Bell and McCaffrey, Survey Methodology 2002, here of the derivatives by the scores). The
intervals take Student's t, with the degrees of freedom that a score or a difference would have
under that same model (their Satterthwaite rule): far fewer than there are clusters where a few
people gave most answers. Where one cluster alone is informative, such as one person who gave
all judgements of a system, no other can contradict it, and its judgements count as independent.

Where no two clusters differ at all, as where every item has a win for either side, V is 0 and would
claim certainty. There each cluster counts as one judgement: V is H⁻¹ times the mean size of the
cluster of a judgement, which it has where the judgements of a cluster are all alike.

Where several people judge the same texts, answers are alike by person and by item. Then

    V = V_person + V_item − V_both

(Cameron, Gelbach and Miller, J. Business & Economic Statistics 2011), *both* being the answers of
one person about one item, each of the three made as above. Where noise of few clusters gives it a
negative eigenvalue, the negative part of V_item − V_both is left out, so that no variance is below
that by person. A contrast has the degrees of freedom of persons or of items, whichever are fewer.
Where no item has two persons the last two terms are the same, and V is that of persons.

What it does not see: dependence beyond both, such as that of items about one prompt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.numeric.arrays import Floats, Longs, Matrix
from calipers.uncertainty.bradley_terry import (
    BradleyTerry,
    ScoreDifference,
    difference_of,
    place_of,
)
from calipers.uncertainty.davidson import outcomes
from calipers.uncertainty.rated_pairs import RatedPairs

LEAST = 2
"""Clusters below which nothing tells how far they differ."""

ROOM = 2**22
"""Numbers of the matrices that are adjusted at once, which bounds the memory."""

FLOOR = 1e-10
"""Relative size below which an eigenvalue is rounding."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters with equal numbers of parameters, which occur in no other cluster.

    Attributes
    ----------
    places
        Which parameters, shape ``(clusters, m)``.
    parts
        H_g of these, shape ``(clusters, m, m)``.
    scores
        s_g of these, shape ``(clusters, m)``.
    """

    places: Longs
    parts: Matrix
    scores: Matrix

    def __len__(self) -> int:
        return len(self.places)

    def blocks(self) -> Iterator[slice]:
        """Number of clusters that are processed at once."""
        m = self.places.shape[1]
        step = max(1, ROOM // (m * m))
        return (slice(start, start + step) for start in range(0, len(self), step))

    def inverse(self, inverse: Matrix, block: slice) -> Matrix:
        """Return H⁻¹ of the parameters of each cluster of a block."""
        places = self.places[block]
        return inverse[places[:, :, None], places[:, None, :]]

    def spread(self, values: Matrix, block: slice, p: int) -> Matrix:
        """Spread values of these parameters over all p, shape ``(clusters, p)``."""
        full = np.zeros((len(values), p))
        np.put_along_axis(full, self.places[block], values, axis=1)
        return full


@dataclass(frozen=True, eq=False)
class Sandwich:
    """A sandwich covariance from clusters, and the terms of its degrees of freedom.

    A cluster is kept as what it says of the parameters that its judgements are about: A_g is the
    identity in all others, and H_g nothing. An item has two systems, whatever their number.

    Attributes
    ----------
    covariance
        Shape ``(p, p)``.
    inverse
        H⁻¹, shape ``(p, p)``.
    groups
        The clusters, those of equally many parameters together.
    adjusted
        A_g of each of them, shape ``(clusters, m, m)``.
    """

    covariance: Matrix
    inverse: Matrix
    groups: tuple[Clusters, ...]
    adjusted: tuple[Matrix, ...]

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return sum(map(len, self.groups))

    def degrees(self, contrast: Matrix) -> float:
        """Return the degrees of freedom of the variance of a contrast, shape ``(p,)``.

        The variance is Σ_g (v_g·s_g)² with v_g = A_gᵀ H⁻¹ contrast. Under the model the s_g at the
        fitted scores have the covariance H_g [g = h] − H_g H⁻¹ H_h, and for the sum of squares of
        normal variables with a covariance C, Satterthwaite's rule is tr(C)²/tr(C²).
        """
        turned = self.inverse @ contrast
        total, squares = 0.0, 0.0
        cross = np.zeros_like(self.inverse)
        for group, adjusted in zip(self.groups, self.adjusted, strict=True):
            for block in group.blocks():
                v = np.einsum("gqp,gq->gp", adjusted[block], turned[group.places[block]])
                u = np.einsum("gpq,gq->gp", group.parts[block], v)
                squared = np.einsum("gp,gp->g", u, v)
                full = group.spread(u, block, len(self.inverse))
                remaining = squared - np.einsum("gp,gp->g", full @ self.inverse, full)
                cross += full.T @ full
                total += float(remaining.sum())
                # Σ_gh C_gh², with C = diag(own) − u H⁻¹ uᵀ, without clusters by clusters
                squares += float((squared**2 - 2 * squared * (squared - remaining)).sum())
        cross = cross @ self.inverse
        squares += float(np.sum(cross * cross.T))
        if total <= 0 or squares <= 0:
            return 1.0
        return max(1.0, total**2 / squares)


def sandwich(information: Matrix, parts: Matrix, scores: Matrix) -> Sandwich:
    """Compute the covariance of a fit from the derivatives of its clusters.

    Parameters
    ----------
    information
        H, shape ``(p, p)``; positive definite, and at least the sum of the parts.
    parts
        H_g, shape ``(clusters, p, p)``, positive semidefinite.
    scores
        s_g, shape ``(clusters, p)``.
    """
    places = np.broadcast_to(np.arange(len(information)), scores.shape)
    return sandwich_of(information, (Clusters(places, parts, scores),))


def sandwich_of(information: Matrix, groups: tuple[Clusters, ...]) -> Sandwich:
    """Compute the covariance of a fit from clusters that each concern some parameters."""
    inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
    p = len(inverse)
    every, lone, between = [], np.zeros_like(inverse), np.zeros_like(inverse)
    for group in groups:
        adjusted = np.empty_like(group.parts)
        for block in group.blocks():
            near = group.inverse(inverse, block)
            adjusted[block], more = _adjusted(group.parts[block], near)
            places = group.places[block]
            for cluster, alone in more:
                lone[np.ix_(places[cluster], places[cluster])] += alone
            moved = np.einsum("gpq,gq->gp", adjusted[block], group.scores[block])
            full = group.spread(moved, block, p)
            between += full.T @ full
        every.append(adjusted)
    covariance = inverse @ (between + lone) @ inverse
    return Sandwich(np.asarray(covariance), inverse, groups, tuple(every))


def _adjusted(parts: Matrix, inverse: Matrix) -> tuple[Matrix, list[tuple[int, Matrix]]]:
    """Return A_g, and of clusters that alone inform of something the information that they have."""
    values, axes = np.linalg.eigh(parts)
    top = values.max(axis=1, keepdims=True)
    positive = values > FLOOR * np.maximum(top, FLOOR)
    root = np.sqrt(np.where(positive, values, 0.0))
    back = np.divide(1.0, root, out=np.zeros_like(root), where=positive)
    half = axes * root[:, None, :] @ axes.transpose(0, 2, 1)
    against = axes * back[:, None, :] @ axes.transpose(0, 2, 1)
    leverage, turned = np.linalg.eigh(half @ inverse @ half)
    # A cluster that alone informs some direction has leverage 1 there, and no residual at all
    free = 1 - leverage
    alone = free <= math.sqrt(FLOOR)
    widened = np.where(alone, 0.0, 1 / np.sqrt(np.maximum(free, FLOOR)))
    middle = turned * widened[:, None, :] @ turned.transpose(0, 2, 1)
    # What lies outside the range of H_g has no leverage, and stays as it is
    outside = axes * ~positive[:, None, :] @ axes.transpose(0, 2, 1)
    adjusted = half @ middle @ against + outside
    # Nothing tells how its judgements depend on each other: there they count as independent
    lone = [
        (g, half[g] @ (turned[g] * alone[g]) @ turned[g].T @ half[g])
        for g in np.flatnonzero(alone.any(axis=1)).tolist()
    ]
    return adjusted, lone


@dataclass(frozen=True, eq=False)
class CrossedSandwich:
    """A sandwich covariance from two kinds of clusters that cross.

    Attributes
    ----------
    covariance
        Of the first n parameters, shape ``(n, n)``.
    first, second
        From the clusters of either kind alone.
    """

    covariance: Matrix
    first: Sandwich
    second: Sandwich

    @property
    def inverse(self) -> Matrix:
        """H⁻¹, shape ``(p, p)``."""
        return self.first.inverse

    @property
    def clusters(self) -> int:
        """Number of clusters of the first kind."""
        return self.first.clusters

    def degrees(self, contrast: Matrix) -> float:
        """Return the degrees of freedom of a contrast: those of the kind with fewer."""
        return min(self.first.degrees(contrast), self.second.degrees(contrast))


def crossed(first: Sandwich, second: Sandwich, both: Sandwich, *, n: int) -> CrossedSandwich:
    """Compute the covariance of the first n parameters of a fit from two kinds of clusters.

    Parameters
    ----------
    first, second
        From the clusters of either kind.
    both
        From what lies in one cluster of either.
    n
        Of how many parameters, the first ones.
    """
    more = second.covariance - both.covariance
    return CrossedSandwich(combined(first.covariance[:n, :n], more[:n, :n]), first, second)


def combined(first: Matrix, more: Matrix) -> Matrix:
    """Add to the covariance of one kind of cluster the excess of another over both together.

    Of a sum with negative eigenvalues, the negative part of `more` is left out.
    """
    total = first + more
    values = np.linalg.eigvalsh(total)
    if values.min(initial=0.0) >= -FLOOR * values.max(initial=0.0):
        return total
    values, axes = np.linalg.eigh(more)
    return np.asarray(first + (axes * values.clip(min=0)) @ axes.T)


@dataclass(frozen=True, eq=False)
class ClusteredErrors:
    """Standard errors of scores, from clusters of judgements.

    Attributes
    ----------
    names
        The systems, as of the fit.
    scores
        Their scores, as of the fit.
    covariance
        Of the scores, shape ``(n, n)``; its rows add up to 0.
    standard_errors
        Shape ``(n,)``.
    degrees
        Degrees of freedom of each system's error, shape ``(n,)``.
    intervals
        By Student's t, lower and upper ends, shape ``(n, 2)``.
    clusters
        How many; where there are two kinds, of the first.
    level
        Of the intervals.
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]
    covariance: Matrix
    standard_errors: NDArray[np.float64]
    degrees: NDArray[np.float64]
    intervals: Matrix
    clusters: int
    level: float
    _made: Sandwich | CrossedSandwich

    def difference(self, i: str | int, j: str | int) -> ScoreDifference:
        """Return the score of `i` minus that of `j`, given by name or index.

        Raises
        ------
        InputError
            If a name is unknown, or a place is not from 0 to n - 1.
        """
        p, q = place_of(self.names, i), place_of(self.names, j)
        contrast = np.zeros(len(self._made.inverse))
        contrast[p] += 1
        contrast[q] -= 1
        degrees = self._made.degrees(contrast) if p != q else 1.0
        reach = float(student(self.level, degrees))
        return difference_of(self.scores, self.covariance, p, q, reach)


def clustered_covariance(
    fit: BradleyTerry, pairs: RatedPairs, cluster: Sequence[object] | ArrayLike | None = None
) -> ClusteredErrors:
    """Compute the errors of fitted scores with judgements in clusters.

    Parameters
    ----------
    fit
        By :func:`~calipers.uncertainty.bradley_terry.fit_bradley_terry`, of ``pairs.preferences``.
    pairs
        The judgements that the fit is of.
    cluster
        What each judgement belongs to, shape ``(rows,)``: any labels. None takes the raters.

    Raises
    ------
    InputError
        If the fit is of other systems or judgements, there is no label for each judgement, or
        there are fewer than two clusters.
    """
    rows, tied, judged = _judgements(fit, pairs)
    labels = _labels(pairs, cluster)[judged]
    made = _made(fit, rows, labels, tied)
    return errors_of(
        fit.names, fit.scores, made, scale=fit.scale, level=fit.level, alike=_mean_size(labels)
    )


def crossed_covariance(
    fit: BradleyTerry,
    pairs: RatedPairs,
    first: Sequence[object] | ArrayLike | None = None,
    second: Sequence[object] | ArrayLike | None = None,
) -> ClusteredErrors:
    """Compute the errors of fitted scores with judgements in two kinds of clusters.

    Where every cluster of one kind lies within a single one of the other, such as where no item has
    two raters, the errors are those of the other kind alone.

    Parameters
    ----------
    fit, pairs
        As of :func:`clustered_covariance`.
    first, second
        What each judgement belongs to in either way, shape ``(rows,)``: any labels. None takes the
        raters as the first, and the items as the second; a judgement of an item that is not known
        has an item of its own.

    Raises
    ------
    InputError
        As of :func:`clustered_covariance`, for either way.
    """
    rows, tied, judged = _judgements(fit, pairs)
    ways = _labels(pairs, first), _labels(pairs, items_of(pairs) if second is None else second)
    one, other = (np.unique(way[judged], return_inverse=True)[1] for way in ways)
    _, both = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)
    count = int(both.max())
    made: Sandwich | CrossedSandwich
    alike = max(map(_mean_size, (one, other)))
    if count == other.max():
        made, alike = _made(fit, rows, one, tied), _mean_size(one)
    elif count == one.max():
        made, alike = _made(fit, rows, other, tied), _mean_size(other)
    else:
        kinds = [_made(fit, rows, labels, tied) for labels in (one, other, both)]
        made = crossed(kinds[0], kinds[1], kinds[2], n=len(fit.names))
    return errors_of(fit.names, fit.scores, made, scale=fit.scale, level=fit.level, alike=alike)


def _mean_size(labels: NDArray[np.int64]) -> float:
    """How many judgements the cluster of a judgement has on average."""
    counts = np.unique(labels, return_counts=True)[1]
    return float((counts**2).sum() / counts.sum())


def items_of(pairs: RatedPairs) -> NDArray[np.int64]:
    """Return the index of each judgement's item; unknown items have an index of their own."""
    alone = len(pairs.items) + np.arange(len(pairs))
    return np.where(pairs.item >= 0, pairs.item, alone)


def _judgements(
    fit: BradleyTerry, pairs: RatedPairs
) -> tuple[RatedPairs, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the judgements that a fit rests on, where these are ties, and where they stand."""
    if fit.names != pairs.names:
        raise InputError("pairs must be of the systems that the fit is of, in the same order")
    tied = pairs.outcome == 0
    judged = ~tied if fit.ties == "drop" else np.ones(len(pairs), dtype=np.bool_)
    if int(judged.sum()) != round(fit.comparisons):
        raise InputError(
            f"pairs must be the judgements that the fit is of: it has {fit.comparisons:g}, "
            f"pairs {int(judged.sum())}"
        )
    return pairs.select(judged), tied[judged], judged


def errors_of(
    names: tuple[str, ...],
    scores: NDArray[np.float64],
    made: Sandwich | CrossedSandwich,
    *,
    scale: float,
    level: float,
    alike: float = 1.0,
) -> ClusteredErrors:
    """Return the errors of scores of mean 0, the first parameters of a fit in log odds.

    Where no two clusters differ, `alike` times the errors of independent judgements are taken.
    """
    n = len(names)
    covariance = _centred(made.covariance[:n, :n])
    covariance = _with_unseen(covariance, _centred(made.inverse[:n, :n]), made.clusters, alike)
    covariance = covariance * scale**2
    errors = np.sqrt(covariance.diagonal().clip(min=0))
    against = np.zeros((n, len(made.inverse)))
    against[:, :n] = np.eye(n) - 1 / n
    degrees = np.array([made.degrees(contrast) for contrast in against])
    reach = student(level, degrees) * errors
    return ClusteredErrors(
        names=names,
        scores=scores,
        covariance=covariance,
        standard_errors=errors,
        degrees=degrees,
        intervals=np.column_stack([scores - reach, scores + reach]),
        clusters=made.clusters,
        level=level,
        _made=made,
    )


def _centred(covariance: Matrix) -> Matrix:
    """The covariance of scores of mean 0."""
    rows = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None]
    return np.asarray(rows + covariance.mean())


def _with_unseen(covariance: Matrix, independent: Matrix, clusters: int, alike: float) -> Matrix:
    """Put in the variance of directions in which clusters do not differ at all.

    With fewer clusters than systems some direction is always empty, and the degrees of freedom see
    to it; then only a covariance that is empty altogether is filled.
    """
    values, axes = np.linalg.eigh(independent)
    values, axes = values[1:], axes[:, 1:]  # but that of all scores alike
    root, back = axes * np.sqrt(values), axes / np.sqrt(values)
    seen, turned = np.linalg.eigh(back.T @ covariance @ back)
    empty = seen <= FLOOR
    if not empty.any() or (clusters <= len(covariance) and not empty.all()):
        return covariance
    unseen = root @ turned[:, empty]
    return np.asarray(covariance + alike * unseen @ unseen.T)


def _made(
    fit: BradleyTerry,
    pairs: RatedPairs,
    labels: NDArray[np.int64],
    tied: NDArray[np.bool_],
) -> Sandwich:
    """Sum derivatives and information by cluster, by the scores and, where ties count, by δ."""
    n = len(fit.names)
    modelled = fit.ties == "davidson" and fit.tie_parameter > 0
    theta = fit.scores / fit.scale
    terms = outcomes(
        theta[pairs.i] - theta[pairs.j],
        math.log(fit.tie_parameter) if modelled else -math.inf,
        pairs.signed,
    )
    i, j, tie = pairs.i, pairs.j, np.full(len(pairs), n)
    entries = [
        (a, b, sign * terms.odds_odds)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1))
    ]
    slopes = [(i, terms.by_odds), (j, -terms.by_odds)]
    if modelled:
        for a, sign in ((i, 1), (j, -1)):
            entries += [(a, tie, sign * terms.odds_tie), (tie, a, sign * terms.odds_tie)]
        entries.append((tie, tie, terms.tie_tie))
        slopes.append((tie, terms.by_tie))
    information = np.zeros((n + modelled, n + modelled))
    for a, b, values in entries:
        np.add.at(information, (a, b), values)
    # As in the fit: 1/n in each entry lifts the one direction, all scores alike, that is flat
    information[:n, :n] += 1 / n
    made = sandwich_of(information, tuple(_grouped(labels, n + modelled, entries, slopes)))
    if fit.ties != "random" or not tied.any():
        return made
    # Half a win was expected where one was drawn: the draws add their own variance, 1/4 each
    drawn = (made.inverse[i[tied]] - made.inverse[j[tied]]) / 2
    return replace(made, covariance=made.covariance + drawn.T @ drawn)


def _grouped(
    labels: NDArray[np.int64],
    p: int,
    entries: Sequence[tuple[Longs, Longs, Floats]],
    slopes: Sequence[tuple[Longs, Floats]],
) -> Iterator[Clusters]:
    """Sum what judgements add to H_g and s_g by cluster, each of the parameters it is about."""
    codes = [labels * p + place for place, _ in slopes]
    known = np.unique(np.concatenate(codes))
    cluster, place = known // p, known % p
    sizes = np.bincount(cluster)
    starts = np.cumsum(sizes) - sizes

    def within(places: Longs) -> Longs:
        """Where a parameter stands among those of its cluster."""
        local: Longs = np.searchsorted(known, labels * p + places) - starts[labels]
        return local

    for m in np.unique(sizes[sizes > 0]).tolist():
        members = np.flatnonzero(sizes == m)
        number = np.full(len(sizes), -1)
        number[members] = np.arange(len(members))
        rows = np.flatnonzero(number[labels] >= 0)
        of = number[labels[rows]]
        parts, scores = np.zeros((len(members), m, m)), np.zeros((len(members), m))
        for a, b, values in entries:
            np.add.at(parts, (of, within(a)[rows], within(b)[rows]), values[rows])
        for a, values in slopes:
            np.add.at(scores, (of, within(a)[rows]), values[rows])
        yield Clusters(place[starts[members][:, None] + np.arange(m)], parts, scores)


def _labels(pairs: RatedPairs, cluster: Sequence[object] | ArrayLike | None) -> NDArray[np.int64]:
    if cluster is None:
        if not pairs.raters:
            raise InputError("errors clustered by rater need the rater of every judgement")
        cluster = pairs.rater
    given = np.asarray(cluster)
    if given.shape != (len(pairs),):
        raise InputError(
            f"cluster must have one label for each of the {len(pairs)} judgements, "
            f"found the shape {given.shape}"
        )
    known, labels = np.unique(given, return_inverse=True)
    if len(known) < LEAST:
        raise InputError(
            f"clustered errors need judgements of at least {LEAST} clusters, found {len(known)}"
        )
    return np.asarray(labels, dtype=np.int64)


def student(level: float, degrees: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return the quantile of Student's t to which an interval extends on either side."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, (1 + level) / 2), dtype=np.float64)
