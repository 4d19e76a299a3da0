"""What a run over texts found: frozen, complete, and readable without computing anything again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.plain import all_scores
from calipers.results.system import SetSummary
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.uncertainty.spread import Spread


@dataclass(frozen=True, eq=False)
class TextResult:
    """What was measured of one system.

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
        What is to be known of this system.
    spreads
        How much the scores move from one draw of the texts to another, by the same keys, as
        :mod:`calipers.uncertainty.text_replicates` tells it; empty without intervals.
    gap_spreads
        The same of the gaps.
    """

    summary: SetSummary
    scores: Mapping[str, Score]
    seeds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict, repr=False)
    gap_spreads: Mapping[str, Spread] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """What the system is called."""
        return self.summary.name

    def __getitem__(self, key: str) -> Score:
        if key not in self.scores:
            raise unknown_name(f"score of {self.name!r}", key, self.scores)
        return self.scores[key]

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return the result as plain data."""
        warnings = [*self.summary.warnings, *self.warnings]
        data = self.summary.to_dict() | {"seeds": list(self.seeds)}
        return data | {"scores": all_scores(self.scores, per_sample), "warnings": warnings}


@dataclass(frozen=True, eq=False, repr=False)
class TextComparison:
    """Texts of several systems, measured beside those of a reference: print it, look scores up.

    Attributes
    ----------
    systems
        One result for each system, in the order given; ``found["model_a"]["self_bleu"].gap``.
    settings
        The choices of the run, as plain data.
    reference
        The reference set, or None.
    reference_scores
        T(P), by the keys of the statistics of one set.
    train
        The training set, or None.
    warnings
        What is to be known of the whole.
    version
        Of Calipers, that made it.
    """

    systems: tuple[TextResult, ...]
    settings: Mapping[str, Any]
    reference: SetSummary | None = None
    reference_scores: Mapping[str, Score] = field(default_factory=dict)
    train: SetSummary | None = None
    warnings: tuple[str, ...] = ()
    version: str = __version__

    def __getitem__(self, name: str) -> TextResult:
        for system in self.systems:
            if system.name == name:
                return system
        raise unknown_name("system", name, [system.name for system in self.systems])

    def __contains__(self, name: object) -> bool:
        return any(system.name == name for system in self.systems)

    def __iter__(self) -> Iterator[TextResult]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        against = "" if self.reference is None else f" with {self.reference.name!r}"
        return f"<TextComparison of {names}{against}>"

    def __str__(self) -> str:
        from calipers.report.documents import texts
        from calipers.report.render.text import plain

        return plain(texts.document(self.to_dict()))

    def _repr_html_(self) -> str:
        from calipers.report.documents import summary
        from calipers.report.render.html import html

        return html(summary(self.to_dict()))

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON.

        Parameters
        ----------
        per_sample
            Whether to include one value for each text, where a metric has them.
        """
        reference = None if self.reference is None else _with_warnings(self.reference)
        if reference is not None:
            reference |= {"scores": all_scores(self.reference_scores, per_sample)}
        return {
            "calipers": self.version,
            "settings": dict(self.settings),
            "reference": reference,
            "train": None if self.train is None else _with_warnings(self.train),
            "systems": [system.to_dict(per_sample=per_sample) for system in self.systems],
            "warnings": list(self.warnings),
        }


def _with_warnings(summary: SetSummary) -> dict[str, Any]:
    return summary.to_dict() | {"warnings": list(summary.warnings)}
