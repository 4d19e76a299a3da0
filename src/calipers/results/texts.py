"""The result of ``measure_texts``: statistics of several systems beside those of a reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from calipers._version import __version__
from calipers.results.by_name import ByKey, ByName
from calipers.results.card import card
from calipers.results.caution import Caution
from calipers.results.result import Result, of_system, system_from, with_warnings
from calipers.results.sets import SetSummary
from calipers.score import Score
from calipers.serialise import Plain, plain

if TYPE_CHECKING:
    from calipers.results.archive import Archive, Draft
    from calipers.results.rows import Row, Wide
    from calipers.uncertainty.spread import Spread


@dataclass(frozen=True, eq=False)
class TextResult(ByKey[Score], Plain):
    """Measurements of one system.

    Attributes
    ----------
    summary
        Its set; with several seed files, sizes are those of one and lengths the mean.
    scores
        By key ``metric[:option…]``, as ``distinct:n=2``. Statistics of one set hold T(Q) in
        ``value``, T(P) in ``reference`` and |T(Q) - T(P)| in ``gap``.
    seeds
        The sources of its files, when it has several.
    warnings
        Warnings on this system.
    spreads
        How much the scores move from one draw of the texts to another, by the same keys, as
        :mod:`calipers.uncertainty.text_replicates` tells it; empty without intervals.
    gap_spreads
        The same of the gaps.
    cautions
        The warnings that could change a verdict, the worst first.
    is_reference
        Whether all its texts are the reference's. It is measured and shown, and no mark takes it
        for a system.
    """

    _optional = ("cautions", "is_reference")
    _apart = ("spreads", "gap_spreads")

    summary: SetSummary
    scores: Mapping[str, Score]
    seeds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict, repr=False)
    gap_spreads: Mapping[str, Spread] = field(default_factory=dict, repr=False)
    cautions: tuple[Caution, ...] = ()
    is_reference: bool = False

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.summary.name

    @property
    def _parts(self) -> Mapping[str, Score]:
        return self.scores

    @property
    def _what(self) -> str:
        return f"score of {self.name!r}"

    def __str__(self) -> str:
        return card(self.summary, self.scores, cautions=self.cautions, warnings=self.warnings)

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return the result as plain data; `per_sample` as of :meth:`TextComparison.to_dict`."""
        return plain(self, per_sample=per_sample)  # type: ignore[no-any-return]

    def _outline(self) -> Mapping[str, Any]:
        data = of_system(self.summary, seeds=self.seeds, scores=self.scores, warnings=self.warnings)
        return {**data, "cautions": self.cautions, "is_reference": self.is_reference}

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return system_from(data)


@dataclass(frozen=True, eq=False, repr=False)
class TextComparison(ByName[TextResult], Result):
    """Statistics of several systems' texts, beside a reference: print it, look scores up.

    Attributes
    ----------
    systems
        One result for each system, in the order given; ``comparison["model_a"]["self_bleu"].gap``.
    settings
        The settings of the run, as plain data.
    reference
        The reference set, or None.
    reference_scores
        T(P), by the keys of the statistics of one set.
    train
        The training set, or None.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    cautions
        The warnings that could change a verdict, the worst first; systems have their own.
    """

    kind = "texts"
    _noun = "system"
    _needed = ("metrics",)
    _optional = ("reference_scores", "train", "cautions")

    systems: tuple[TextResult, ...]
    settings: Mapping[str, Any]
    reference: SetSummary | None = None
    reference_scores: Mapping[str, Score] = field(default_factory=dict)
    train: SetSummary | None = None
    warnings: tuple[str, ...] = ()
    version: str = __version__
    cautions: tuple[Caution, ...] = ()

    @property
    def _parts(self) -> Mapping[str, TextResult]:
        return {system.name: system for system in self.systems}

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        against = "" if self.reference is None else f" with {self.reference.name!r}"
        return f"<TextComparison of {names}{against}>"

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON.

        Parameters
        ----------
        per_sample
            Whether to include one value for each text, where a metric has them.
        """
        return plain(self, per_sample=per_sample)  # type: ignore[no-any-return]

    def _outline(self) -> Mapping[str, Any]:
        reference = None if self.reference is None else with_warnings(self.reference)
        if reference is not None:
            reference |= {"scores": self.reference_scores}
        return {
            **self._stamp(),
            "settings": self.settings,
            "reference": reference,
            "train": None if self.train is None else with_warnings(self.train),
            "systems": self.systems,
            "warnings": self.warnings,
            "cautions": self.cautions,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        scores = (data["reference"] or {}).get("scores", {})
        return {**super()._restored(data), "reference_scores": scores}

    def _rows(self) -> list[Row]:
        from calipers.results.rows import score_rows

        return score_rows(self)

    def _sample_rows(self) -> list[Row]:
        from calipers.results.rows import sample_rows

        return sample_rows(self)

    def _wide(self) -> Wide:
        return ("system", "role"), "key", "value"

    def _pack(self, draft: Draft) -> None:
        super()._pack(draft)
        draft.add_per_sample("reference", self.reference_scores)
        for place, system in enumerate(self.systems):
            draft.add_per_sample(f"systems/{place}", system.scores)

    @classmethod
    def _unpacked(cls, archive: Archive) -> TextComparison:
        data = archive.json(f"{cls.kind}.json")
        archive.check_arrays(data)
        result = cls.from_dict(data)
        systems = tuple(
            replace(system, scores=archive.with_per_sample(f"systems/{place}", system.scores))
            for place, system in enumerate(result.systems)
        )
        reference = archive.with_per_sample("reference", result.reference_scores)
        return replace(result, systems=systems, reference_scores=reference)
