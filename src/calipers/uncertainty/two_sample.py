"""Permutation tests of whether two sets are distinguishable.

The null hypothesis is that both sets were drawn from one distribution. Then swapping rows between
them changes nothing but chance, and the statistic of the sets as they are is one of R + 1 that are
equally likely to be the largest. The p-value (1 + #{permuted ≥ observed})/(1 + R) is therefore
exact at every size, and never 0 (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 2010). The sets
as they are go through the very same arithmetic as the relabellings, which are drawn in chunks of a
seed each, and so do not depend on the number of threads.

What it does not say: how large the difference is, nor whether anybody would care. With many
samples a tiny difference is found, with few a large one may not be; and a p-value above the level
is no proof that the sets are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Flags
from calipers.numeric.threads import Workers
from calipers.numeric.validation import check_inner_share, check_whole
from calipers.score import signature

TIES = 1e-12  # what rounding may put between two permutations that are the same

TestName = Literal["mmd", "classifier", "prompts"]


Prompts = tuple[ArrayLike, ArrayLike]
"""The prompt of every row, side by side: the reference's, the generated set's."""


@dataclass(frozen=True, eq=False)
class TwoSample:
    """The result of a permutation test of two sets.

    Attributes
    ----------
    test
        ``"mmd"``, ``"classifier"`` or ``"prompts"``.
    statistic
        Of the sets as they are; larger is more different. NaN where it is undefined.
    p_value
        Chance of so large a statistic, or a larger one, where the distributions are equal; from
        1/(1 + permutations) to 1. NaN where the statistic is.
    null
        The statistic of every permutation, shape ``(permutations,)``; empty where undefined.
    threshold
        The sets are distinguishable at `level` where the statistic is larger than this; infinite
        with too few permutations for the level.
    level
        Confidence level of `threshold`, in (0, 1).
    permutations
        How often labels were permuted.
    signature
        One line that pins every choice behind the numbers.
    reason
        Why they are NaN; None otherwise.
    estimate
        How large the gap is, for a person to read: the area under the ROC curve, or MMD². It is
        the statistic, unless another statistic finds more.
    """

    test: TestName
    statistic: float
    p_value: float
    null: NDArray[np.float64] = field(repr=False)
    threshold: float
    level: float
    permutations: int
    signature: str = ""
    reason: str | None = None
    estimate: float = np.nan

    def __post_init__(self) -> None:
        """The statistic is the estimate where nothing else is."""
        if np.isnan(self.estimate):
            object.__setattr__(self, "estimate", self.statistic)

    @property
    def distinguishable(self) -> bool | None:
        """Whether the test is significant at `level`; None where it is undefined."""
        return None if self.reason else self.p_value <= allowed(self.level)

    @classmethod
    def of(
        cls,
        test: TestName,
        statistic: float,
        null: NDArray[np.float64],
        *,
        level: float,
        pins: Mapping[str, object],
    ) -> TwoSample:
        """Make the result from a statistic and those of the permutations."""
        as_large = int(np.count_nonzero(null >= statistic - TIES))
        return cls(
            test,
            float(statistic),
            (1 + as_large) / (1 + len(null)),
            null,
            threshold(null, level),
            level,
            len(null),
            signature(pins),
        )

    @classmethod
    def undefined(
        cls,
        test: TestName,
        reason: str,
        *,
        permutations: int,
        level: float,
        pins: Mapping[str, object],
    ) -> TwoSample:
        """Make a result without an answer, with the reason."""
        nan = float("nan")
        none = np.empty(0)
        return cls(test, nan, nan, none, nan, level, permutations, signature(pins), reason)


def allowed(level: float) -> float:
    """Return the largest p-value that is significant at this level.

    Examples
    --------
    >>> allowed(0.9)
    0.1
    """
    return round(1 - level, 12)


def at_limit(test: TwoSample) -> bool:
    """Tell whether no permutation reaches the statistic, so that more could lower the p-value."""
    return test.p_value * (1 + len(test.null)) < 1 + TIES


def threshold(null: NDArray[np.float64], level: float) -> float:
    """Return what a statistic must exceed for a p-value of at most 1 − `level`.

    Examples
    --------
    >>> threshold(np.arange(1.0, 20.0), 0.9)  # 1 of 19 may be as large: p = 2/20
    18.0
    >>> threshold(np.arange(1.0, 20.0), 0.99)
    inf
    """
    may_pass = int(np.floor(allowed(level) * (len(null) + 1) * (1 + TIES))) - 1
    return float(np.sort(null)[::-1][may_pass]) if may_pass >= 0 else float("inf")


def check_options(permutations: Any, seed: Any, level: Any) -> None:
    """Refuse options with which no test can be run.

    Raises
    ------
    InputError
        If `permutations` is no whole number from 1, `seed` none from 0, or `level` lies outside
        (0, 1).
    """
    check_whole("permutations", permutations, 1)
    check_whole("seed", seed, 0)
    check_inner_share("level", level, "must be a number between 0 and 1, such as 0.95;")


def of_files(parts: Sequence[TwoSample]) -> TwoSample:
    """Combine the tests of several files of one system.

    All files are compared with one reference, so their p-values depend on each other; twice their
    mean, at most 1, is a p-value whatever the dependence (Vovk and Wang, Biometrika 2020). The
    statistic is the mean.
    """
    if len(parts) == 1:
        return parts[0]
    undefined = [test for test in parts if test.reason]
    if undefined:
        return undefined[0]
    return replace(
        parts[0],
        statistic=float(np.mean([test.statistic for test in parts])),
        estimate=float(np.mean([test.estimate for test in parts])),
        p_value=min(1.0, 2 * float(np.mean([test.p_value for test in parts]))),
    )


PLACES = 2**19  # of a chunk, at most: some megabytes
KEPT = 512  # chunks that are kept, a bit a place: 32 MiB at most
TOGETHER = 256  # relabellings that go through a statistic at once, where chunks are as small
FEWEST_TOGETHER = 16  # where there are many rows, which are read anew for each such lot


def permuted(
    statistic: Callable[[Flags], NDArray[np.float64]],
    strata: list[tuple[int, int]],
    permutations: int,
    pool: Workers,
    *,
    seed: int,
) -> tuple[float, NDArray[np.float64]]:
    """Compute a statistic for the labels as they are, and for random relabellings.

    Parameters
    ----------
    statistic
        From relabellings, shape ``(c, places)``, true for the reference, to ``(c,)`` values.
    strata
        For every stratum, how many of its places belong to the reference, and how many to the
        generated set. Places stand stratum by stratum, those of the reference first; labels are
        permuted within a stratum.
    permutations
        Number of relabellings.
    pool
        Threads that share them; their number has no effect on the values.
    seed
        Of the relabellings.
    """
    values = relabelled(statistic, strata, permutations, pool, seed=seed)
    return float(values[0]), values[1:]


def relabelled(
    statistic: Callable[[Flags], NDArray[np.float64]],
    strata: list[tuple[int, int]],
    permutations: int,
    pool: Workers,
    *,
    seed: int,
) -> NDArray[np.float64]:
    """Return the results of :func:`permuted` as one array, the original labels first.

    A statistic may have several values for each relabelling, shape ``(c, values)``.
    """
    ours = np.concatenate([np.repeat([True, False], sizes) for sizes in strata])
    chunk = int(np.clip(PLACES // len(ours), 1, 64))
    layout = tuple(strata)
    at_once = max(PLACES // len(ours), FEWEST_TOGETHER)
    step = max(chunk, min(at_once, TOGETHER) // chunk * chunk)

    def work(first: int) -> NDArray[np.float64]:
        starts = range(first, min(first + step, permutations), chunk)
        counts = [min(chunk, permutations - start) for start in starts]
        drawn = [_drawn(seed, *at, layout) for at in zip(starts, counts, strict=True)]
        rows = [np.unpackbits(bits, axis=1, count=len(ours)).view(np.bool_) for bits in drawn]
        return statistic(np.vstack([ours, *rows] if first == 0 else rows))

    return np.concatenate(list(pool.map(work, range(0, permutations, step))))


@lru_cache(maxsize=KEPT)
def _drawn(
    seed: int, start: int, count: int, strata: tuple[tuple[int, int], ...]
) -> NDArray[np.uint8]:
    """One chunk of relabellings as bits, kept for the next system of the same size."""
    rng = np.random.default_rng([seed, start, 0, 1])  # no stream that a test draws rows from
    # Strata of one size are drawn at once: there may be thousands, one for each prompt
    runs = [(size, len(list(run))) for size, run in groupby(strata)]
    chosen = np.hstack([_in_turn(rng, count, *sizes, times) for sizes, times in runs])
    return np.packbits(chosen, axis=1)


def _in_turn(rng: np.random.Generator, count: int, ours: int, theirs: int, times: int) -> Flags:
    """Relabel so many equal strata, shape ``(count, times · places)``."""
    places = ours + theirs
    chosen = subsets(rng, times * count, ours, places).reshape(times, count, places)
    return chosen.transpose(1, 0, 2).reshape(count, times * places)


def subsets(rng: np.random.Generator, count: int, size: int, places: int) -> Flags:
    """Draw random subsets of `size` out of `places`, uniformly, shape ``(count, places)``."""
    chosen = np.empty((count, places), np.bool_)
    _select(rng.random((count, places)), size, chosen)
    return chosen


_select = native.kernel(
    "select_subsets", "draws f8[count, places]", "size int", "chosen b1[count, places] out"
)
