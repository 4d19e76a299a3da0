"""What the catalogue knows of a text metric: how it is measured, and what to make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calipers.errors import CalipersError
from calipers.score import Better, Score, signature
from calipers.text.keys import Option

if TYPE_CHECKING:
    from calipers.text.corpus import Corpus

Family = Literal["words", "diversity", "repetition", "copies", "strings", "aligned"]

Side = Literal["own", "against", "aligned"]
"""Of one set alone, of texts against a whole other set, or row by row against references."""

UNIT = (0.0, 1.0)
FROM_ZERO = (0.0, np.inf)


@dataclass(frozen=True, eq=False)
class Held:
    """What a metric is measured on.

    Attributes
    ----------
    texts
        The set that is measured.
    against
        What it is held against: the reference or the training set; None for statistics of one set.
    seed, threads
        As of the run.
    """

    texts: Corpus
    against: Corpus | None = None
    seed: int = 0
    threads: int | None = None

    @property
    def references(self) -> Corpus:
        """What it is held against, which the run has made sure of."""
        assert self.against is not None
        return self.against


@dataclass(frozen=True, kw_only=True)
class TextMetric:
    """One text metric of the catalogue.

    Attributes
    ----------
    name
        The key under which its score stands, without options.
    family
        What it is listed with.
    tells
        What a person learns from it, in one line.
    read
        Measures it.
    source
        The paper, and its equation or section.
    blind
        What it does not detect.
    side
        What it needs: the set alone (``"own"``; T(P) then stands beside T(Q)), a whole other set
        (``"against"``), or a reference for each row (``"aligned"``).
    takes
        The options that its key may carry.
    shown
        The keys that the default table has of it.
    on_request
        Whether it is left out unless it, its family or all was asked for.
    slow
        Whether its family and all leave it out too, so that it must be asked for by its own name.
    range, better
        As of its scores.
    sized
        Whether the number of texts alone moves it, or by which options it does.
    ordered
        Whether the order of the texts moves it.
    extra, package
        The extra of Calipers without which it has no value, and the package that this brings.
    """

    name: str
    family: Family
    tells: str
    read: Callable[[Held, Mapping[str, Any]], Score]
    source: str
    blind: str
    side: Side = "own"
    takes: tuple[Option, ...] = ()
    shown: tuple[str, ...] = ()
    on_request: bool = False
    slow: bool = False
    range: tuple[float, float] = UNIT
    better: Better = "closest"
    sized: bool | Callable[[Mapping[str, Any]], bool] = False
    ordered: bool = False
    extra: str | None = None
    package: str | None = None

    def score(self, held: Held, options: Mapping[str, Any], key: str) -> Score:
        """Measure it; what the texts or a missing package do not allow is NaN with the reason."""
        try:
            return self.read(held, options)
        except CalipersError as error:
            return Score(
                np.nan,
                range=self.range,
                better=self.better,
                signature=signature({"metric": key, "n": len(held.texts)}),
                reason=str(error),
            )
