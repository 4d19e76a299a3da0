"""What several comparisons of the same sets found ──► one agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from calipers.catalogue.choosing import key
from calipers.evaluate import agree_ranks as ranks
from calipers.results import Comparison, SetSummary
from calipers.results.agreement import Agreement, Column, MetricAgreement, merit, tie_width
from calipers.score import Score


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one embedder said, without samples and vectors.

    Attributes
    ----------
    name
        Of the embedder.
    views
        Its views, the main one first.
    metrics
        Keys of the metrics that were asked for, without a view.
    scores
        One mapping from key to score for each system.
    warnings
        What is to be known of each set, the reference first.
    common
        What is to be known of the comparison as a whole.
    signature
        How it was made.
    """

    name: str
    views: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: tuple[Mapping[str, Score], ...]
    warnings: tuple[tuple[str, ...], ...]
    common: tuple[str, ...]
    signature: Mapping[str, str]

    @classmethod
    def of(cls, name: str, comparison: Comparison) -> Verdict:
        """Keep of a comparison what an agreement needs."""
        settings = comparison.settings
        own = [each.summary.warnings + each.warnings for each in comparison]
        return cls(
            name=name,
            views=tuple(settings["views"]),
            metrics=tuple(settings["metrics_shown"]),
            scores=tuple(_light(system.scores) for system in comparison),
            warnings=(comparison.reference.warnings, *own),
            common=comparison.warnings,
            signature=settings["embedding"],
        )

    def column(self, view: str, metric: str) -> tuple[Score, ...]:
        """Give the score of every system by one view."""
        name = key(view, metric, self.views)
        return tuple(scores[name] for scores in self.scores)


def build(
    verdicts: Sequence[Verdict],
    reference: SetSummary,
    systems: Sequence[SetSummary],
    settings: Mapping[str, Any],
) -> Agreement:
    """Bring the verdicts of all embedders together.

    Parameters
    ----------
    verdicts
        One for each embedder, on the same sets.
    reference, systems
        The sets, as any of the comparisons describes them.
    settings
        The choices that hold for all.
    """
    columns = tuple(Column(each.name, view) for each in verdicts for view in each.views)
    names = tuple(system.name for system in systems)
    shared = [_shared([each.warnings[row] for each in verdicts]) for row in range(len(systems) + 1)]
    common = _shared([each.common for each in verdicts])
    made = {each.name: {"views": list(each.views), **each.signature} for each in verdicts}
    tie = tie_width(min(each.n for each in (reference, *systems)))
    return Agreement(
        reference=replace(reference, warnings=shared[0]),
        systems=tuple(replace(s, warnings=w) for s, w in zip(systems, shared[1:], strict=True)),
        columns=columns,
        metrics={
            metric: _metric(metric, verdicts, columns, names, tie) for metric in verdicts[0].metrics
        },
        settings={**settings, "embedders": made},
        tie=tie,
        rarely_reached=ranks.rarely_reached(len(names)),
        warnings=(*common, *_own_warnings(verdicts, (reference.name, *names), shared, common)),
    )


def _metric(
    metric: str,
    verdicts: Sequence[Verdict],
    columns: tuple[Column, ...],
    names: tuple[str, ...],
    tie: float,
) -> MetricAgreement:
    scores = tuple(each.column(view, metric) for each in verdicts for view in each.views)
    merits = [np.array([merit(score) for score in column]) for column in scores]
    size = len(columns)

    def table(measure: Any) -> Any:
        found = [measure(merits[i], merits[j]) for i, j in product(range(size), repeat=2)]
        return [found[row * size : (row + 1) * size] for row in range(size)]

    return MetricAgreement(
        metric=metric,
        columns=columns,
        systems=names,
        scores=scores,
        spearman=np.array(table(ranks.spearman)),
        kendall=np.array(table(ranks.kendall)),
        chance=np.array(table(ranks.chance)),
        reasons=tuple(map(tuple, table(ranks.why_undefined))),
        tie=tie,
    )


def _light(scores: Mapping[str, Score]) -> dict[str, Score]:
    return {name: replace(score, per_sample=None) for name, score in scores.items()}


def _shared(warnings: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What every embedder's comparison says."""
    return tuple(text for text in warnings[0] if all(text in each for each in warnings))


def _own_warnings(
    verdicts: Sequence[Verdict],
    names: Sequence[str],
    shared: Sequence[Sequence[str]],
    common: Sequence[str],
) -> list[str]:
    """What some embedder's comparison says alone, with its name in front."""
    found = []
    for each in verdicts:
        found += [_told(each.name, "", text) for text in each.common if text not in common]
        for name, own, known in zip(names, each.warnings, shared, strict=True):
            found += [_told(each.name, f"{name}: ", text) for text in own if text not in known]
    return found


def _told(embedder: str, about: str, text: str) -> str:
    """Put the embedder in front of a warning, unless the warning names it."""
    return f"{about}{text}" if text.startswith(f"{embedder} ") else f"{embedder}: {about}{text}"
