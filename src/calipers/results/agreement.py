"""Every metric under several embedders, and whether they order the systems alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.agreement_metric import MetricAgreement
from calipers.results.agreement_words import Column
from calipers.results.plain import values
from calipers.results.system import SetSummary

__all__ = ["Agreement", "MetricAgreement"]


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """Several embedders' verdicts on the same systems: print it, or look metrics up.

    Attributes
    ----------
    reference, systems
        The sets that were compared.
    columns
        The views of the embedders.
    metrics
        By the key of the metric, without a view.
    settings
        The choices of the run, as plain data; ``embedders`` holds how each was made.
    tie
        Scores this close to each other are a tie.
    rarely_reached
        The correlation that unrelated columns reach 1 time in 20 or less; NaN with under 4 systems.
    warnings
        What is to be known of the whole.
    version
        Of Calipers, that made it.
    """

    reference: SetSummary
    systems: tuple[SetSummary, ...]
    columns: tuple[Column, ...]
    metrics: Mapping[str, MetricAgreement]
    settings: Mapping[str, Any]
    tie: float
    rarely_reached: float
    warnings: tuple[str, ...] = ()
    version: str = __version__

    @property
    def split(self) -> tuple[str, ...]:
        """Metrics by which columns put some pair of systems the one and the other way round."""
        return tuple(key for key, found in self.metrics.items() if found.split)

    @property
    def verdict(self) -> str:
        """Whether the verdict hangs on the embedder, in one sentence."""
        if not any(found.pairs for found in self.metrics.values()):
            return "no metric here has a better end, so there is no verdict"
        if not self.split:
            return (
                "the verdict does not hang on the embedder: by no metric do two columns put a "
                "pair of systems the other way round"
            )
        return (
            "the verdict hangs on the embedder: columns put systems the other way round by "
            f"{len(self.split)} of {len(self.metrics)} metrics"
        )

    def __getitem__(self, metric: str) -> MetricAgreement:
        if metric not in self.metrics:
            raise unknown_name("metric", metric, self.metrics)
        return self.metrics[metric]

    def __iter__(self) -> Iterator[MetricAgreement]:
        return iter(self.metrics.values())

    def __len__(self) -> int:
        return len(self.metrics)

    def __repr__(self) -> str:
        names = ", ".join(repr(column.label) for column in self.columns)
        return f"<Agreement of {names} on {len(self.systems)} systems>"

    def __str__(self) -> str:
        from calipers.report.documents import agree
        from calipers.report.render.text import plain

        return plain(agree.document(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON."""
        rare = values(np.array([self.rarely_reached]))[0]
        return {
            "calipers": self.version,
            "settings": dict(self.settings),
            "limits": {"tie": self.tie, "rarely_reached": rare},
            "reference": _summary(self.reference),
            "systems": [_summary(system) for system in self.systems],
            "columns": [column.to_dict() for column in self.columns],
            "metrics": {key: found.to_dict() for key, found in self.metrics.items()},
            "verdict": self.verdict,
            "split": list(self.split),
            "warnings": list(self.warnings),
        }


def _summary(summary: SetSummary) -> dict[str, Any]:
    return summary.to_dict() | {"warnings": list(summary.warnings)}
