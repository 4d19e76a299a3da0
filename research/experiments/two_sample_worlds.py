"""Pairs of sets whose distributions are known to be equal, or to differ in one way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ag_news import BUSINESS, SCIENCE, SPORTS, WORLD
from calipers.estimate.axes import preprocess
from estimators_news import embedded

Rows = np.ndarray
Draw = Callable[[np.random.Generator], tuple[Rows, Rows]]


def gaussians(n: int, m: int, d: int) -> Draw:
    """Two equal Gaussians."""
    return lambda rng: (rng.standard_normal((n, d)), rng.standard_normal((m, d)))


def lattice(n: int, m: int, d: int) -> Draw:
    """Equal distributions full of copies: every column is 0, 1 or 2."""
    return lambda rng: (
        rng.integers(3, size=(n, d)).astype(float),
        rng.integers(3, size=(m, d)).astype(float),
    )


def heavy(n: int, m: int, d: int) -> Draw:
    """Equal distributions with tails so long that there is no mean."""
    return lambda rng: (rng.standard_cauchy((n, d)), rng.standard_cauchy((m, d)))


def spectrum(d: int) -> Rows:
    """Standard deviations of the axes, falling as those of embeddings do."""
    return np.arange(1, d + 1) ** -0.5


def shifted(n: int, d: int, size: float, axis: int) -> Draw:
    """The mean moved along an axis, by so many of the axis's standard deviations."""

    def draw(rng: np.random.Generator) -> tuple[Rows, Rows]:
        x, y = (rng.standard_normal((n, d)) for _ in range(2))
        y[:, axis] += size
        return x * spectrum(d), y * spectrum(d)

    return draw


def small_axis(n: int, d: int, size: float) -> Draw:
    """All axes alike but the last, which varies a sixth as much and alone is shifted."""

    def draw(rng: np.random.Generator) -> tuple[Rows, Rows]:
        x, y = (rng.standard_normal((n, d)) for _ in range(2))
        y[:, -1] += size
        scale = np.r_[np.full(d - 1, 6.0), 1.0]
        return x * scale, y * scale

    return draw


def stretched(n: int, d: int, factor: float) -> Draw:
    """The same mean, all standard deviations times a factor."""

    def draw(rng: np.random.Generator) -> tuple[Rows, Rows]:
        x, y = (rng.standard_normal((n, d)) * spectrum(d) for _ in range(2))
        return x, y * factor

    return draw


def fewer_modes(n: int, d: int, modes: int, lost: int) -> Draw:
    """Clusters on random places; the generated set lacks some of them."""

    def draw(rng: np.random.Generator) -> tuple[Rows, Rows]:
        places = 2.0 * rng.standard_normal((modes, d))
        x = places[rng.integers(modes, size=n)] + rng.standard_normal((n, d))
        y = places[rng.integers(modes - lost, size=n)] + rng.standard_normal((n, d))
        return x, y

    return draw


def news(folder: Path, threads: int) -> dict[str, Callable[[float, int], Draw]]:
    """For every view, draws of AG News with a share of the generated set from other topics.

    Reference and generated set are halves of World and Sports without a common item, cut to n;
    the other topics are Business and Science.
    """
    views, labels = embedded(folder)
    known = np.flatnonzero(np.isin(labels, (WORLD, SPORTS)))
    others = np.flatnonzero(np.isin(labels, (BUSINESS, SCIENCE)))

    def of(view: str) -> Callable[[float, int], Draw]:
        def mixture(share: float, n: int) -> Draw:
            def draw(rng: np.random.Generator) -> tuple[Rows, Rows]:
                own, foreign = rng.permutation(known), rng.permutation(others)
                count = round(share * n)
                generated = np.concatenate([own[n : 2 * n - count], foreign[:count]])
                rows = views[view]
                sets = preprocess(rows[own[:n]], rows[generated], threads=threads)
                return sets.reference, sets.generated

            return draw

        return mixture

    return {view: of(view) for view in views}
