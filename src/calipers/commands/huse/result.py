"""HUSE of a generated set and a reference: three scores, and the texts that they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers._version import __version__
from calipers.results.result import Result, with_warnings
from calipers.results.sets import SetSummary
from calipers.score import Score
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

PARTS = ("huse", "quality", "diversity")


@dataclass(frozen=True)
class UsedTexts(Plain):
    """The texts of a set that the scores rest on.

    Attributes
    ----------
    summary
        The set.
    used
        Texts with a judgement and a likelihood.
    not_judged
        Texts without a judgement.
    not_likely
        Texts with a judgement, and without a finite log-probability.
    answers, raters
        How many judgements there are of its texts, and of how many raters.
    """

    summary: SetSummary
    used: int
    not_judged: int
    not_likely: int
    answers: int
    raters: int

    @property
    def name(self) -> str:
        """Name of the set."""
        return self.summary.name

    def _outline(self) -> Mapping[str, Any]:
        counts = ("used", "not_judged", "not_likely", "answers", "raters")
        return {**with_warnings(self.summary), **{name: getattr(self, name) for name in counts}}

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**data, "summary": data}

    def _check(self) -> None:
        if min(self.used, self.not_judged, self.not_likely) < 0 or (
            self.used + self.not_judged + self.not_likely != self.summary.n
        ):
            raise ValueError(f"the texts of {self.name!r} do not add up to {self.summary.n}")


@dataclass(frozen=True, eq=False, repr=False)
class HuseResult(Result):
    """Quality and diversity of a set by judgements and likelihoods: print it, or read its scores.

    Attributes
    ----------
    reference, generated
        The two sets, and which of their texts were used.
    huse
        Twice the left-out error of telling the two sets apart by judgements and likelihoods, in
        [0, 2]; 1 where they cannot be told apart.
    quality
        HUSE-Q, the same by judgements alone.
    diversity
        HUSE-D = 1 + HUSE − HUSE-Q, in [−1, 3].
    settings
        The settings of the run, as plain data.
    warnings
        Texts that were left out, and cautions.
    version
        Version of Calipers that made it.
    """

    kind = "huse"
    _needed = ("model", "question", "k", "judged_by")

    reference: UsedTexts
    generated: UsedTexts
    huse: Score
    quality: Score
    diversity: Score
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    @property
    def sets(self) -> tuple[UsedTexts, UsedTexts]:
        """The reference, followed by the generated set."""
        return self.reference, self.generated

    @property
    def scores(self) -> Mapping[str, Score]:
        """The three scores by their names."""
        return {name: getattr(self, name) for name in PARTS}

    def __repr__(self) -> str:
        return f"<HuseResult of {self.generated.name!r} beside {self.reference.name!r}>"

    def _rows(self) -> Iterator[Row]:
        """A row for each score."""
        from calipers.results.rows import of_score

        for name, score in self.scores.items():
            yield {
                "system": self.generated.name,
                "metric": name,
                **of_score(score),
                "n": self.generated.used,
                "n_reference": self.reference.used,
                "signature": score.signature,
            }

    def _wide(self) -> Wide:
        return ("system",), "metric", "value"

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "reference": self.reference,
            "generated": self.generated,
            **self.scores,
            "warnings": self.warnings,
        }
