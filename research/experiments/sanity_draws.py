"""The pairs of sets that the sanity checks draw: (setting, point, generator, n) → both sets.

All points of a check are drawn from the same random numbers, so that a curve shows the metric and
not the draw; the two sets of a pair are independent.
"""

from __future__ import annotations

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]
Rng = np.random.Generator

MODES = 10
LINE = np.linspace(0, 10, MODES)[:, None] * np.ones(8)
"""Ten modes on a diagonal of 8 dimensions, for modes with a standard deviation of 1/3."""
APART = np.random.default_rng(7).uniform(-20, 20, (MODES, 8))
"""Ten modes anywhere, far from each other."""


def mixture(
    means: np.ndarray, shares: np.ndarray, scale: float, rng: Rng, n: int, shrink: float = 1.0
) -> np.ndarray:
    """Draw from Gaussians with these means and shares, each shrunk towards its mean."""
    which = rng.choice(len(means), size=n, p=shares / shares.sum())
    return means[which] + rng.standard_normal((n, means.shape[1])) * scale * shrink


def two_draws(d: int, point: str, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, d))
    return reference, generated


def itself(d: int, point: str, rng: Rng, n: int) -> Pair:
    reference = rng.standard_normal((n, d))
    return reference, reference.copy()


def shifted(d: int, shift: float, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, d))
    return reference, generated + shift


def rescaled(d: int, factor: float, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, d))
    return reference, generated * factor


def dropped(_: str, lost: int, rng: Rng, n: int) -> Pair:
    kept = (np.arange(MODES) < MODES - lost).astype(float)
    reference = mixture(LINE, np.ones(MODES), 1 / 3, rng, n)
    return reference, mixture(LINE, kept, 1 / 3, rng, n)


def faded(_: str, lost: float, rng: Rng, n: int) -> Pair:
    shares = np.where(np.arange(MODES) == 0, 1.0, 1 - lost)
    reference = mixture(LINE, np.ones(MODES), 1 / 3, rng, n)
    return reference, mixture(LINE, shares, 1 / 3, rng, n)


def invented(_: str, extra: int, rng: Rng, n: int) -> Pair:
    modes = np.arange(MODES)
    reference = mixture(APART, (modes < 5).astype(float), 1.0, rng, n)
    return reference, mixture(APART, (modes < 5 + extra).astype(float), 1.0, rng, n)


def collapsed(_: str, width: float, rng: Rng, n: int) -> Pair:
    reference = mixture(APART, np.ones(MODES), 1.0, rng, n)
    return reference, mixture(APART, np.ones(MODES), 1.0, rng, n, shrink=width)


def repeated(_: str, times: int, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, 8))
    return reference, np.resize(generated[: max(n // times, 1)], generated.shape)


def copied(_: str, share: float, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, 8))
    count = round(share * n)
    return reference, np.vstack([reference[:count], generated[count:]])


def outlier_in_reference(shift: float, present: bool, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, 8))
    return _with_outlier(reference, present), generated + shift


def outlier_in_generated(shift: float, present: bool, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, 8))
    return reference + shift, _with_outlier(generated, present)


def _with_outlier(rows: np.ndarray, present: bool) -> np.ndarray:
    """Add one sample far from the others, amid a set that is shifted by 3."""
    return np.vstack([rows, np.full((int(present), 8), 3.0)])


def heavy_tailed(_: str, shift: float, rng: Rng, n: int) -> Pair:
    tails = rng.pareto(1.01, (2, n, 1)) + 1
    reference, generated = np.concatenate([rng.standard_normal((2, n, 1)), tails], axis=2)
    return reference, generated + np.array([shift, 0])


def stretched(_: str, factor: float, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, 2)) * [1, factor]
    return reference, generated + np.array([6, 0])


def one_axis_apart(_: str, d: int, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, d))
    generated[:, 0] += 6
    return reference, generated


def overlapping_cubes(size: str, d: int, rng: Rng, n: int) -> Pair:
    reference, generated = rng.random((2, n, d))
    return reference, generated + 1 - 0.2 ** (1 / d)


def growing_cubes(d: int, size: float, rng: Rng, n: int) -> Pair:
    return overlapping_cubes("", d, rng, round(n * size))


def more_generated(d: int, size: float, rng: Rng, n: int) -> Pair:
    reference = rng.random((n, d))
    return reference, rng.random((round(n * size), d)) + 1 - 0.2 ** (1 / d)


def ball_and_torus(reference: str, size: float, rng: Rng, n: int) -> Pair:
    first, second = (_ball, _torus) if reference == "ball" else (_torus, _ball)
    return first(n, rng), second(round(n * size), rng)


def _ball(n: int, rng: Rng, d: int = 3, radius: float = 0.8) -> np.ndarray:
    """Evenly in a ball around the origin."""
    directions = rng.standard_normal((n, d))
    lengths = radius * rng.random((n, 1)) ** (1 / d)
    return lengths * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _torus(n: int, rng: Rng) -> np.ndarray:
    """In a tube of radius 0.1 around the unit circle, which the ball does not touch."""
    across, angle = _ball(n, rng, d=2, radius=0.1), rng.uniform(0, 2 * np.pi, n)
    from_axis = 1 + across[:, 0]
    return np.column_stack([from_axis * np.cos(angle), from_axis * np.sin(angle), across[:, 1]])


def rounded(which: str, scale: float, rng: Rng, n: int) -> Pair:
    reference, generated = rng.standard_normal((2, n, 1)) * scale
    return (
        (np.round(reference), generated)
        if which == "reference"
        else (
            reference,
            np.round(generated),
        )
    )
