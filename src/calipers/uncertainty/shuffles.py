"""Random flips and swaps, drawn once and used by every test of a family."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calipers.uncertainty.spread import Doubles

DRAWS = 9999


@dataclass(frozen=True)
class Shuffles:
    """The same random flips and swaps for all tests of a family.

    Attributes
    ----------
    seed
        Of the draws.
    draws
        How many.
    """

    seed: int = 0
    draws: int = DRAWS

    @cached_property
    def _made(self) -> dict[tuple[int, ...], Doubles]:
        return {}

    def flips(self, count: int, stream: int = 0) -> Doubles:
        """Signs of contributions, shape ``(draws, count)``; each stream has its own.

        Sources that are independent of each other must not be flipped together: what their blocks
        have in common by chance would count as if it were there in every sample.
        """
        key = (count, 0, stream) if stream else (count, 0)
        if key not in self._made:
            rng = np.random.default_rng([self.seed, *key])
            signs: Doubles = 2 * rng.integers(0, 2, (self.draws, count)).astype(np.float64) - 1
            self._made[key] = signs
        return self._made[key]

    def swaps(self, first: int, second: int) -> Doubles:
        """Who has each of the contributions, 1 the first and 0 the second, ``(draws, both)``."""
        key = (first, second)
        if key not in self._made:
            rng = np.random.default_rng([self.seed, *key])
            owners = np.repeat(np.array([1.0, 0.0]), [first, second])
            everywhere = np.tile(owners, (self.draws, 1))
            owned: Doubles = rng.permuted(everywhere, axis=1)
            self._made[key] = owned
        return self._made[key]
