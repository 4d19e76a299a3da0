"""What the catalogue knows of a metric: how it is read off a pair, and what to make of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, MissingExtraError
from calipers.metrics.keys import USUAL, Axis, Options
from calipers.metrics.needs import NOTHING, Needs
from calipers.score import Better, Score, signature

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair

Family = Literal["support", "frontier", "prd", "classifier", "ot", "mmd", "copying", "variety"]

Doubles = NDArray[np.float64]

UNIT = (0.0, 1.0)
FROM_ZERO = (0.0, np.inf)
ANY = (-np.inf, np.inf)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric of the catalogue.

    Attributes
    ----------
    name
        The key under which its score stands, without options.
    family
        What it is listed with.
    tells
        What a person learns from it, in one line.
    read
        Reads the score off a pair; estimates that metrics share are made only once.
    source
        The paper, and its equation or section.
    blind
        What it does not detect by the usual options.
    needs
        What the pass over the distances must measure for it, beyond the balls of the shared k.
    on_request
        Whether it is left out unless it, its family or all was asked for.
    takes
        The options that its key may carry.
    range, better
        As of its scores, by the usual options.
    by_block
        Whether it can be read off the pair with a block of rows left out, from the counts that
        the estimates keep.
    by_part
        Whether, failing that, parts of both sets tell how much it moves.
    without
        Gives the score with each block of the reference, and of the generated set, left out, where
        the metric has sums of its own for that; shapes ``(blocks,)``.
    ranged, blinded
        The range, and what it does not detect, by other options, where that depends on them.
    equal
        What a set scores against itself by the usual options; None where that depends on the set.
    extra
        The extra of Calipers without which it has no value.
    extra_if_unequal
        Whether it can do without for sets of one size.
    """

    name: str
    family: Family
    tells: str
    read: Callable[[Pair, Options], Score]
    source: str
    blind: str
    needs: Needs = NOTHING
    on_request: bool = False
    takes: tuple[Axis, ...] = ()
    range: tuple[float, float] = UNIT
    better: Better = "higher"
    equal: float | None = None
    extra: str | None = None
    extra_if_unequal: bool = False
    by_block: bool = False
    by_part: bool = True
    without: Callable[[Pair], tuple[Doubles, Doubles]] | None = None
    ranged: Callable[[Options], tuple[float, float]] | None = None
    blinded: Callable[[Options], str] | None = None

    def range_of(self, options: Options) -> tuple[float, float]:
        """The smallest and largest value by some options."""
        return self.range if self.ranged is None else self.ranged(options)

    def blind_of(self, options: Options) -> str:
        """What it does not detect by some options."""
        return self.blind if self.blinded is None else self.blinded(options)

    def score(self, pair: Pair, options: Options = USUAL) -> Score:
        """Read the score off a pair.

        A score that its own estimate does not allow (a frontier that is not defined, a package
        that is not there) is NaN with the reason, and leaves the others alone. Where the pair
        itself lacks what was asked of it, that is an error.
        """
        if self.family in ("support", "copying"):
            return self.read(pair, options)
        try:
            return self.read(pair, options)
        except (InputError, MissingExtraError) as error:
            return Score(
                np.nan,
                range=self.range_of(options),
                better=self.better,
                signature=signature(
                    {
                        "metric": options.key(self.name),
                        "n": len(pair.reference),
                        "m": len(pair.generated),
                    }
                ),
                reason=str(error),
            )
