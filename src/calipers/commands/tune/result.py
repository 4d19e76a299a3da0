"""The result of tuning: a comparison of the samples at each value of a decoding parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from calipers.results.comparison import Comparison, Varied
from calipers.serialise import Plain


@dataclass(frozen=True)
class TunedPoint(Plain):
    """One decoding that was tried.

    Attributes
    ----------
    system
        What the comparison calls its samples, such as ``"top_p=0.9"``.
    values
        The parameters that vary, with their values.
    decoding
        The whole decoding, as it is written.
    """

    system: str
    values: Mapping[str, float]
    decoding: str


@dataclass(frozen=True)
class Tuned(Plain):
    """The parameters that were varied, and the value that comes closest.

    Attributes
    ----------
    over
        The parameters that vary.
    points
        The decodings that were tried.
    model
        What wrote the samples.
    n
        Samples of each decoding.
    score
        The key of the score that decides.
    closest
        The system with the best value of it.
    tied
        Those that are not distinguishable from the closest: ``≈`` and ``≡`` in the table.
    undecided
        Those that differ from the closest when tested alone, not after the correction for all
        tests: ``?``.
    worse
        Those that are significantly further from the reference.
    untested
        Those of which that is not known.
    """

    over: tuple[str, ...]
    points: tuple[TunedPoint, ...]
    model: str
    n: int
    score: str
    closest: str | None
    tied: tuple[str, ...]
    undecided: tuple[str, ...]
    worse: tuple[str, ...]
    untested: tuple[str, ...]

    @classmethod
    def of(
        cls, comparison: Comparison, points: Sequence[TunedPoint], *, model: str, n: int
    ) -> Self:
        """Determine the closest decoding by the rule of the marks and verdict of the comparison."""
        from calipers.evaluate.standing import Standing, standing
        from calipers.evaluate.verdict import decisive

        lead = decisive(comparison)
        standings = Standing() if lead is None else standing(comparison, lead)
        alone = (0,) if len(comparison) == 1 and lead is not None else ()

        def names(rows: Sequence[int]) -> tuple[str, ...]:
            return tuple(comparison.systems[row].name for row in rows)

        return cls(
            over=tuple(points[0].values),
            points=tuple(points),
            model=model,
            n=n,
            score="" if lead is None else lead.key,
            closest=next(iter(names(standings.best or alone)), None),
            tied=names((*standings.best[1:], *standings.tied)),
            undecided=names(standings.undecided),
            worse=names(standings.worse),
            untested=names(standings.untested),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Comparison):
    """Comparison of decodings of one model: print it, plot it, or read which value is closest.

    Attributes
    ----------
    tuned
        What was varied, and which value comes closest to the reference. All else is as in a
        :class:`~calipers.Comparison`, whose systems are the decodings.
    """

    kind = "tuning"
    _plot = "parameter"

    tuned: Tuned | None = None

    @classmethod
    def of(cls, comparison: Comparison, tuned: Tuned) -> Self:
        """Make the result from the comparison of all decodings."""
        parts = {part.name: getattr(comparison, part.name) for part in fields(Comparison)}
        return cls(**parts, tuned=tuned)

    @property
    def varied(self) -> Varied | None:
        """The varied parameters: values of the last one, and one line per value of the others."""
        if self.tuned is None:
            return None
        *others, last = self.tuned.over
        points, model = self.tuned.points, self.tuned.model
        lines = {
            point.system: ", ".join(f"{name}={point.values[name]:g}" for name in others) or model
            for point in points
        }
        return Varied(
            self.tuned.over, {point.system: point.values[last] for point in points}, lines
        )

    def __repr__(self) -> str:
        over = "" if self.tuned is None else f" over {', '.join(self.tuned.over)}"
        return f"<Tuning{over}: {len(self)} decodings against {self.reference.name!r}>"

    def _measured(self) -> Mapping[str, Any]:
        return {**super()._measured(), "tuned": self.tuned}
