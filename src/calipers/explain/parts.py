"""What an explanation is made of: samples that stand for something, and regions of the space.

Rows count from 0 in the sets as they were compared. Where samples are no texts, `text` is None and
there are no words; where an explanation was read back without texts, the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["over", "under", "even"]


@dataclass(frozen=True)
class Sample:
    """A sample that stands for something.

    Attributes
    ----------
    row
        Its place in its set.
    text
        The whole text; None where there is none.
    """

    row: int
    text: str | None = None


@dataclass(frozen=True)
class Neighbour(Sample):
    """A reference sample near another sample.

    Attributes
    ----------
    distance
        To it, in the space of comparison.
    """

    distance: float = 0.0


@dataclass(frozen=True)
class Outlier(Sample):
    """A generated sample outside the reference's support: poor, or off topic.

    Attributes
    ----------
    realism
        Largest ratio of a reference ball's radius to the distance from its centre: below 1
        outside, the lower the worse; None where it was not measured.
    first_k
        The smallest k at which a reference ball holds it; one more than the largest k that was
        measured where none does.
    nearest
        The reference samples nearest to it, nearest first.
    """

    realism: float | None = None
    first_k: int = 0
    nearest: tuple[Neighbour, ...] = ()


@dataclass(frozen=True)
class Copy(Sample):
    """A generated sample as close to a reference sample as hardly two reference samples are.

    Attributes
    ----------
    distance
        To that reference sample.
    source
        The reference sample.
    """

    distance: float = 0.0
    source: Sample | None = None


@dataclass(frozen=True)
class Region:
    """A region of the space: one cell of the quantisation, or several that make up a topic.

    Attributes
    ----------
    words
        Its telling words, the most telling first; empty where there are no texts.
    reference, generated
        How many samples of each set lie in it.
    expected, produced
        The smoothed shares p and q of both sets that the contribution was computed from.
    contribution
        Its term q·f̃(p/q) of the frontier integral; those of all cells add up to the score.
    share
        The contribution divided by the frontier integral; NaN where that is 0.
    direction
        ``"over"`` where the generated set has more of it than the reference, ``"under"`` where
        less, else ``"even"``.
    uncovered
        How many of its reference samples no generated sample covers; None where not measured.
    outside
        How many of its generated samples lie outside the reference's support; None where not
        measured.
    cells
        The cells that it is made of, by their place in the histograms.
    reference_medoids, generated_medoids
        The samples of each set nearest to its middle.
    missed_samples
        Reference samples of it that no generated sample covers, nearest to their middle first.
    """

    words: tuple[str, ...]
    reference: int
    generated: int
    expected: float
    produced: float
    contribution: float
    share: float
    direction: Direction
    uncovered: int | None = None
    outside: int | None = None
    cells: tuple[int, ...] = ()
    reference_medoids: tuple[Sample, ...] = ()
    generated_medoids: tuple[Sample, ...] = ()
    missed_samples: tuple[Sample, ...] = ()
