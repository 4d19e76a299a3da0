"""What an explanation says: frozen data, with the samples and regions that it is about.

Rows count from 0 in the sets as they were compared. Where samples are no texts, `text` is None and
there are no words; where an explanation was read back without texts, the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from calipers.errors import InputError
from calipers.serialise import Plain, plain

Texts = Sequence[str] | None
S = TypeVar("S", bound="Sample")
Direction = Literal["over", "under", "even"]


@dataclass(frozen=True)
class Sample(Plain):
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
class Region(Plain):
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


@dataclass(frozen=True)
class Explanation(Plain):
    """Which samples and topics cause the gap between one generated set and the reference.

    Attributes
    ----------
    view
        By which view of the samples.
    n, m, k
        Reference and generated samples, and the neighbours that span a ball.
    score
        The frontier integral (KL, Krichevsky–Trofimov) that the contributions add up to; None
        where no cells were made.
    topics
        Coarse regions, a partition of the space, the largest contribution first.
    cells
        The cells with the largest contributions, largest first.
    outside
        Generated samples outside the reference's support, worst first; `outside_count` of all.
    uncovered_count
        Reference samples that no generated sample covers, over all topics.
    copies
        Near copies of reference samples, closest first; `copies_count` of all.
    notes
        What could not be told, and why; and what else is to be known.
    """

    view: str
    n: int
    m: int
    k: int
    score: float | None = None
    topics: tuple[Region, ...] = ()
    cells: tuple[Region, ...] = ()
    outside: tuple[Outlier, ...] = ()
    outside_count: int | None = None
    uncovered_count: int | None = None
    copies: tuple[Copy, ...] = ()
    copies_count: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def missed(self) -> tuple[Region, ...]:
        """Topics of which the generated set has less than the reference, worst first."""
        return tuple(topic for topic in self.topics if topic.direction == "under")

    @property
    def invented(self) -> tuple[Region, ...]:
        """Topics of which the generated set has more than the reference, worst first."""
        return tuple(topic for topic in self.topics if topic.direction == "over")

    def to_dict(self, *, texts: bool = True) -> dict[str, Any]:
        """Return all of it as plain data, fit for strict JSON; NaN becomes None.

        Parameters
        ----------
        texts
            Whether to hold the texts of samples; without them, rows tell which they are, and
            words stay.
        """
        return plain(self if texts else self.with_texts(None, None))  # type: ignore[no-any-return]

    def with_texts(self, reference: Texts, generated: Texts) -> Explanation:
        """Return the same with the texts of these sets, by row; with None, without texts.

        Telling words stay as they are.

        Raises
        ------
        InputError
            If a set has not as many texts as there are samples.
        """
        for side, given, size in (
            ("reference", reference, self.n),
            ("generated", generated, self.m),
        ):
            if given is not None and len(given) != size:
                raise InputError(
                    f"the explanation is of {size} {side} samples; found {len(given)} texts"
                )
        return replace(
            self,
            topics=tuple(_region(each, reference, generated) for each in self.topics),
            cells=tuple(_region(each, reference, generated) for each in self.cells),
            outside=tuple(
                replace(each, nearest=_with(each.nearest, reference))
                for each in _with(self.outside, generated)
            ),
            copies=tuple(
                replace(each, source=None if each.source is None else _one(each.source, reference))
                for each in _with(self.copies, generated)
            ),
        )


def _region(region: Region, reference: Texts, generated: Texts) -> Region:
    return replace(
        region,
        reference_medoids=_with(region.reference_medoids, reference),
        generated_medoids=_with(region.generated_medoids, generated),
        missed_samples=_with(region.missed_samples, reference),
    )


def _with(samples: Iterable[S], texts: Texts) -> tuple[S, ...]:
    return tuple(_one(sample, texts) for sample in samples)


def _one(sample: S, texts: Texts) -> S:
    return replace(sample, text=None if texts is None else texts[sample.row])
