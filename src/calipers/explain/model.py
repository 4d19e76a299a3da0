"""The data of an explanation: samples, regions and topics.

Rows count from 0 in the sets as they were compared. Where samples are no texts, `text` is None and
there are no keywords; where an explanation was read back without texts, the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from calipers.errors import InputError
from calipers.serialise import Plain, plain

Texts = Sequence[str] | None
S = TypeVar("S", bound="Sample")
R = TypeVar("R", bound="Region")
Direction = Literal["over", "under", "even"]
Side = Literal["reference", "generated", "train"]

NAMING = 6
"""Keywords that name a topic in a sentence."""


@dataclass(frozen=True)
class Sample(Plain):
    """A sample given as an example.

    Attributes
    ----------
    row
        Its row in its set.
    text
        The whole text; None where there is none.
    file
        The file of an image; None for other samples, or without a file.
    """

    _optional = ("file",)

    row: int
    text: str | None = None
    file: str | None = field(default=None, kw_only=True)

    def _outline(self) -> Mapping[str, Any]:
        data = super()._outline()
        return data if self.file else {name: data[name] for name in data if name != "file"}


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
    """A generated sample unusually close to a reference sample: a near copy.

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
    """A region of the space: one cell of the quantisation, or a :class:`Topic`.

    Attributes
    ----------
    keywords
        The words that are typical of it, the most typical first; empty where there are no texts.
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
    uncovered_samples
        Reference samples of it that no generated sample covers, nearest to their middle first.
    """

    keywords: tuple[str, ...]
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
    uncovered_samples: tuple[Sample, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Topic(Region):
    """Several adjacent cells, and whether both sets have equal shares of them.

    Attributes
    ----------
    reference_share, generated_share
        Which share of each set lies in it, by counts.
    ratio
        The generated share divided by the reference's; None where the reference has none of it.
    interval
        Of the ratio, at the level of the explanation, for this topic alone; open at an end
        where a set has none of it.
    p_value
        The p-value of equal shares in both distributions.
    adjusted_p_value
        The p-value corrected over all topics (Holm).
    significant
        Whether `adjusted_p_value` is below 1 − level.
    """

    reference_share: float
    generated_share: float
    ratio: float | None
    interval: tuple[float, float]
    p_value: float
    adjusted_p_value: float
    significant: bool

    def __str__(self) -> str:
        cells = f"cell {self.cells[0]}" if len(self.cells) == 1 else f"{len(self.cells)} cells"
        name = ", ".join(self.keywords[:NAMING]) or cells
        shares = (
            f"{100 * self.generated_share:.3g} % of the generated set, "
            f"{100 * self.reference_share:.3g} % of the reference"
        )
        low, high = (f"{bound:.2f}" for bound in self.interval)
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}×, "
        return f"{name}: {shares} ({ratio}interval {low} to {high})"


@dataclass(frozen=True)
class Explanation(Plain):
    """The samples and topics that cause the gap between a generated set and the reference.

    Attributes
    ----------
    view
        The view of the samples.
    n, m, k
        Reference and generated samples, and the neighbours that span a ball.
    score
        The frontier integral (KL, Krichevsky–Trofimov) that the contributions add up to; None
        where no cells were made.
    topics
        Coarse regions, a partition of the space, the largest contribution first.
    level
        Confidence level of the tests of topics and of their intervals.
    cells
        The cells with the largest contributions, largest first.
    outside
        Generated samples outside the reference's support, worst first; `outside_count` of all.
    uncovered_count
        Reference samples that no generated sample covers, over all topics.
    copies
        Near copies of reference samples, closest first; `copies_count` of all.
    notes
        What could not be determined, and why; and further notes.
    best
        Of images: the generated samples deepest inside the reference's support that are no near
        copies, the largest realism first.
    train_copies
        Of images: near copies of the training set, closest first, each with its source there;
        `train_copies_count` of all, None without a training set.
    """

    _optional = ("best", "train_copies", "train_copies_count")

    view: str
    n: int
    m: int
    k: int
    score: float | None = None
    topics: tuple[Topic, ...] = ()
    cells: tuple[Region, ...] = ()
    outside: tuple[Outlier, ...] = ()
    outside_count: int | None = None
    uncovered_count: int | None = None
    copies: tuple[Copy, ...] = ()
    copies_count: int | None = None
    notes: tuple[str, ...] = ()
    level: float = 0.95
    best: tuple[Outlier, ...] = ()
    train_copies: tuple[Copy, ...] = ()
    train_copies_count: int | None = None

    def _outline(self) -> Mapping[str, Any]:
        data = super()._outline()
        missing = {name for name in self._optional if data[name] in ((), None)}
        return {name: value for name, value in data.items() if name not in missing}

    @property
    def under_represented(self) -> tuple[Topic, ...]:
        """Topics of which the generated set has significantly less than the reference."""
        return tuple(t for t in self.topics if t.significant and t.direction == "under")

    @property
    def over_represented(self) -> tuple[Topic, ...]:
        """Topics of which the generated set has significantly more than the reference."""
        return tuple(t for t in self.topics if t.significant and t.direction == "over")

    @property
    def not_significant(self) -> tuple[Topic, ...]:
        """Topics whose shares do not differ significantly."""
        return tuple(topic for topic in self.topics if not topic.significant)

    def listed(self, most: int | None = None) -> Iterator[tuple[Side, Sample]]:
        """Return every listed sample with its side, once per listing, except those of cells.

        Parameters
        ----------
        most
            Only the first of every list, with the samples beside them; all by default.
        """
        for topic in self.topics:
            for sample in (*topic.reference_medoids[:most], *topic.uncovered_samples[:most]):
                yield "reference", sample
            for sample in topic.generated_medoids[:most]:
                yield "generated", sample
        for outlier in (*self.outside[:most], *self.best[:most]):
            yield "generated", outlier
            for nearest in outlier.nearest:
                yield "reference", nearest
        for of, copies in (("reference", self.copies), ("train", self.train_copies)):
            side: Side = "train" if of == "train" else "reference"
            for copy in copies[:most]:
                yield "generated", copy
                if copy.source is not None:
                    yield side, copy.source

    def __str__(self) -> str:
        lines = [f"by {self.view}: {self.n} reference samples, {self.m} generated samples"]
        for name in ("under_represented", "over_represented"):
            if topics := getattr(self, name):
                lines.append(f"{name.replace('_', '-')} topics:")
                lines += [f"- {topic}" for topic in topics]
        tested, rest = len(self.topics), len(self.not_significant)
        at = f"(level {self.level:g}, corrected for {tested} topics)"
        if tested and rest == tested:
            lines.append(f"no topic is significantly under- or over-represented {at}")
        elif tested:
            lines.append(f"{rest} of {tested} topics do not differ significantly {at}")
        if self.outside_count is not None:
            lines.append(f"{self.outside_count} generated samples outside the reference's support")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_dict(self, *, texts: bool = True) -> dict[str, Any]:
        """Return the explanation as plain data, fit for strict JSON; NaN becomes None.

        Parameters
        ----------
        texts
            Whether to hold the texts of samples; without them, rows tell which they are, and
            keywords stay.
        """
        return plain(self if texts else self.with_texts(None, None))  # type: ignore[no-any-return]

    def with_texts(self, reference: Texts, generated: Texts) -> Explanation:
        """Return the explanation with the texts of these sets, by row; with None, without texts.

        Keywords stay as they are.

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
            topics=tuple(_region(topic, reference, generated) for topic in self.topics),
            cells=tuple(_region(cell, reference, generated) for cell in self.cells),
            outside=tuple(
                replace(outlier, nearest=_with(outlier.nearest, reference))
                for outlier in _with(self.outside, generated)
            ),
            copies=tuple(
                replace(copy, source=None if copy.source is None else _one(copy.source, reference))
                for copy in _with(self.copies, generated)
            ),
            best=tuple(
                replace(one, nearest=_with(one.nearest, reference))
                for one in _with(self.best, generated)
            ),
            train_copies=_with(self.train_copies, generated),
        )


def _region(region: R, reference: Texts, generated: Texts) -> R:
    return replace(
        region,
        reference_medoids=_with(region.reference_medoids, reference),
        generated_medoids=_with(region.generated_medoids, generated),
        uncovered_samples=_with(region.uncovered_samples, reference),
    )


def _with(samples: Iterable[S], texts: Texts) -> tuple[S, ...]:
    return tuple(_one(sample, texts) for sample in samples)


def _one(sample: S, texts: Texts) -> S:
    """The same sample with another text: its fields are copied, as there are tens of thousands."""
    made = object.__new__(type(sample))
    vars(made).update(vars(sample), text=None if texts is None else texts[sample.row])
    return made
