"""What an explanation says: frozen data, with the texts that it is about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from calipers.errors import InputError
from calipers.explain.parts import Copy, Outlier, Region, Sample

Texts = Sequence[str] | None
S = TypeVar("S", bound=Sample)


@dataclass(frozen=True)
class Explanation:
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
        data: dict[str, Any] = _plain(self if texts else self.with_texts(None, None))
        return data

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


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
