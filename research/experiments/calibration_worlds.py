"""Worlds to draw from: how a reference and a system, or several of equal scores, are spread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).parents[3] / "shared" / "data"))
Rows = np.ndarray
Draw = Callable[[np.random.Generator, int], tuple[Rows, Rows]]
Systems = Callable[[np.random.Generator, int], tuple[Rows, list[Rows]]]


def gaussian(d: int, shift: float = 0.0, scale: float = 1.0) -> Draw:
    """A Gaussian, and one whose mean is moved along the first axis or whose spread is scaled."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        x, y = rng.standard_normal((2, n, d))
        y *= scale
        y[:, 0] += shift
        return single(x), single(y)

    return draw


def spectrum(d: int, shift: float) -> Draw:
    """Axes whose spread falls as that of embeddings does; the mean moved along the first."""
    spread = np.arange(1, d + 1) ** -0.5

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        x, y = rng.standard_normal((2, n, d))
        y[:, 0] += shift
        return single(x * spread), single(y * spread)

    return draw


def heavy(d: int, freedom: float, shift: float) -> Draw:
    """Student's t rows: few axes, long tails in all directions."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        x, y = rng.standard_normal((2, n, d))
        x, y = (rows / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom) for rows in (x, y))
        y[:, 0] += shift
        return single(x), single(y)

    return draw


def modes(d: int, count: int, lost: tuple[int, ...] = ()) -> Draw:
    """Clusters of equal weight at equal distances; the generated set lacks some of them."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        left = [mode for mode in range(count) if mode not in lost]
        return clusters(rng, n, d, range(count)), clusters(rng, n, d, left)

    return draw


def clusters(rng: np.random.Generator, n: int, d: int, which: Iterable[int]) -> Rows:
    """Rows around 4 e_i for the clusters i that are asked for."""
    rows = rng.standard_normal((n, d))
    rows[np.arange(n), rng.choice(list(which), n)] += 4.0
    return single(rows)


def prompted(d: int, shift: float, share: float) -> Draw:
    """Row i of both sets answers one prompt, which explains a share of the variance of both."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        x, y = answers(rng, n, d, share, 2)
        y[:, 0] += shift
        return single(x), single(y)

    return draw


def repeated(d: int, shift: float, share: float, each: int) -> Draw:
    """So many rows in turn answer one prompt of their own set: they are not independent."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        x, y = (
            np.sqrt(share) * np.repeat(rng.standard_normal((-(-n // each), d)), each, axis=0)[:n]
            + np.sqrt(1 - share) * rng.standard_normal((n, d))
            for _ in range(2)
        )
        y[:, 0] += shift
        return single(x), single(y)

    return draw


def answers(rng: np.random.Generator, n: int, d: int, share: float, count: int) -> list[Rows]:
    """So many sets of Gaussian rows whose rows i have the prompt in common."""
    prompt = np.sqrt(share) * rng.standard_normal((n, d))
    return [prompt + np.sqrt(1 - share) * rng.standard_normal((n, d)) for _ in range(count)]


def unequal(draw: Draw, share: float) -> Draw:
    """A generated set of another size: so many times the reference's."""

    def smaller(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        x, y = draw(rng, max(n, round(share * n)))
        return x[:n], y[: round(share * n)]

    return smaller


def news(view: str, *, foreign: float = 0.0) -> Draw:
    """Items of AG News held out against others, a share of them from another topic.

    Worlds draw from the same 7,600 items, so that far apart sizes share some of them.
    """

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
        rows, labels = _news(view)
        own = rng.permutation(np.flatnonzero(labels != 4) if foreign else len(rows))
        other = rng.permutation(np.flatnonzero(labels == 4))
        count = round(foreign * n)
        return rows[own[:n]], rows[np.r_[own[n : 2 * n - count], other[:count]]]

    return draw


@cache
def _news(view: str) -> tuple[Rows, Rows]:
    from estimators_news import embedded

    views, labels = embedded(DATA)
    return views[view], labels


def alike(draw: Draw, count: int = 4) -> Systems:
    """So many systems of one distribution."""

    def systems(rng: np.random.Generator, n: int) -> tuple[Rows, list[Rows]]:
        reference = draw(rng, n)[0]
        return reference, [draw(rng, n)[1] for _ in range(count)]

    return systems


def along_axes(d: int, shift: float, count: int = 4) -> Systems:
    """Each system moved as far, along an axis of its own: equal scores, other distributions."""

    def systems(rng: np.random.Generator, n: int) -> tuple[Rows, list[Rows]]:
        rows = rng.standard_normal((count + 1, n, d))
        for axis in range(count):
            rows[axis + 1][:, axis] += shift
        return single(rows[0]), [single(each) for each in rows[1:]]

    return systems


def without_modes(d: int, count: int, each: int, systems: int = 4) -> Systems:
    """Each system lacks clusters of its own, as many as the others."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, list[Rows]]:
        reference = clusters(rng, n, d, range(count))
        lost = [range(i * each, (i + 1) * each) for i in range(systems)]
        left = [[mode for mode in range(count) if mode not in gone] for gone in lost]
        return reference, [clusters(rng, n, d, kept) for kept in left]

    return draw


def to_prompts(d: int, shift: float, share: float, *, reference: bool = False) -> Systems:
    """Four systems that answer the same prompts; the reference may, too."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, list[Rows]]:
        x, *sets = answers(rng, n, d, share, 5)
        for rows in sets:
            rows[:, 0] += shift
        own = x if reference else rng.standard_normal((n, d))
        return single(own), [single(rows) for rows in sets]

    return draw


def several(d: int, shifts: Iterable[float]) -> Systems:
    """Systems moved by so much each along the first axis."""
    moved = list(shifts)

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, list[Rows]]:
        rows = rng.standard_normal((len(moved) + 1, n, d))
        for place, shift in enumerate(moved):
            rows[place + 1][:, 0] += shift
        return single(rows[0]), [single(each) for each in rows[1:]]

    return draw


def second_view(rng: np.random.Generator, rows: Rows) -> Rows:
    """Another view of the same samples: half of its variance is that of the first."""
    return single(np.sqrt(0.5) * rows + np.sqrt(0.5) * rng.standard_normal(rows.shape))


def two_shifts(d: int, shift: float, further: float) -> Systems:
    """Two systems, the second moved a little further."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Rows, list[Rows]]:
        rows = rng.standard_normal((3, n, d))
        rows[1][:, 0] += shift
        rows[2][:, 0] += shift + further
        return single(rows[0]), [single(rows[1]), single(rows[2])]

    return draw


def single(rows: Rows) -> Rows:
    return rows.astype(np.float32)
