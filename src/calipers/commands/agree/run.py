"""``agree``: compare the verdicts on several systems between embedders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calipers.catalogue.choosing import check_keys, choose, key, split_names
from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.keys import split_key
from calipers.catalogue.shown import HEADLINE
from calipers.commands.agree.embedders import name_embedders, processes_of, try_embedders
from calipers.commands.agree.options import AgreeOptions
from calipers.commands.agree.result import Agreement, MetricAgreement, ViewColumn
from calipers.commands.compare.run import compare
from calipers.errors import InputError
from calipers.evaluate.inputs import Reader
from calipers.evaluate.text_view import VIEW as TEXT
from calipers.options.comparison import CompareOptions
from calipers.options.keywords import keywords_of
from calipers.progress import Advance, Progress, Silent
from calipers.results import Comparison, SetSummary
from calipers.samples import SampleSet, System
from calipers.score import Score
from calipers.uncertainty import rank_agreement as ranks
from calipers.uncertainty.ties import merit, tie_width

VIEW = "any"
"""Stands for every view while keys are checked."""


@keywords_of(AgreeOptions)
def agree(reference: Any, generated: Any, options: AgreeOptions) -> Agreement:
    """Tell whether the verdict on several systems depends on the embedder.

    Every metric is computed in every view of every embedder, and the resulting orders of the
    systems are correlated (Le Bronnec et al., ACL 2024, table B.1; Pillutla et al., JMLR 2023,
    section 7.5). Columns that agree may still be wrong together.

    Parameters
    ----------
    reference, generated
        As for :func:`calipers.compare`; at least two systems, of texts or images.

    Returns
    -------
    Agreement
        ``agreement["precision"].spearman`` is the matrix of rank correlations; printing it shows
        scores, correlations and the verdict in words.

    Raises
    ------
    InputError
        If there are fewer than two systems or columns, an embedder is given twice or cannot be
        loaded, samples cannot be read or do not fit together, or an option is out of its range.

    Examples
    --------
    >>> import calipers
    >>> texts = [f"the {animal} sat on the {place}" for animal in ("cat", "dog", "owl", "fox")
    ...          for place in ("mat", "sofa", "roof")]
    >>> systems = {
    ...     "copies": texts,
    ...     "reversed": [" ".join(reversed(text.split())) for text in texts],
    ...     "short": [text.partition(" on")[0] for text in texts],
    ... }
    >>> agreement = calipers.agree(
    ...     texts, systems, embedders=["tfidf", "characters"], metrics=["frechet_distance"]
    ... )
    >>> agreement["frechet_distance"].spearman.round(6).tolist()
    [[1.0, 0.866025], [0.866025, 1.0]]
    """
    keys = _keys(options.metrics, options.estimator)
    named = name_embedders(options.embedders, options)
    sides = _read(reference, generated, options)
    progress = options.progress or Silent()
    try_embedders(named, sides[0].kind, progress, processes=options.processes)
    scored: list[ScoredEmbedder] = []
    for name, embedder in named.items():
        compared = CompareOptions.of(
            options,
            embedder=embedder,
            metrics=keys,
            processes=processes_of(embedder, options.processes),
            progress=_NamedProgress(progress, name),
        )
        comparison = compare(*sides, options=compared)
        scored.append(ScoredEmbedder.of(name, comparison))
    settings = {key: comparison.settings[key] for key in (*options.settings(), "pca")}
    return _build(
        scored,
        comparison.reference,
        [system.summary for system in comparison],
        {"metrics": list(scored[0].metrics), **settings},
    )


def _keys(metrics: str | Iterable[str] | None, estimator: str) -> list[str]:
    """Return the keys of the metrics; a view is not for one of them to choose."""
    check_keys(metrics)
    if metrics is None:
        counted = estimator == COUNTING
        return [name if counted else name.removesuffix("_star") for name in HEADLINE]
    keys = split_names(metrics)
    for metric in keys:
        view, name, options = split_key(metric)
        if view == TEXT or metric == TEXT:
            raise InputError(
                f"{metric!r} is computed from the texts themselves, so it does not depend on "
                "the embedder; use calipers text"
            )
        if view:
            plain = ":".join((name, *options))
            raise InputError(
                f"{metric!r} names the view {view!r}; agree computes metrics in every view of "
                f"every embedder, so name them without a view, such as {plain!r}"
            )
    choose(keys, (VIEW,), estimator=estimator)
    return keys


def _read(
    reference: Any, generated: Any, options: AgreeOptions
) -> tuple[SampleSet, tuple[System, ...]]:
    """Read every file once, and check that there are rankings to compare."""
    reading = Reader(options.field, skip_bad=options.skip_bad)
    samples = reading.one(reference, "reference")
    if samples.kind == "vectors":
        raise InputError(
            f"{samples.name}: holds vectors; agree embeds the samples with several embedders, "
            "so it needs texts or images"
        )
    systems = reading.systems(generated)
    if len(systems) < 2:
        raise InputError(
            "agree compares rankings of systems, so it needs at least two systems; found "
            f"{systems[0].name!r} only. For the scores of one system use calipers compare"
        )
    return samples, systems


@dataclass(frozen=True)
class _NamedProgress:
    """A progress that names the embedder before each task."""

    inner: Progress
    name: str

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        return self.inner.task(f"{self.name}: {description}", total)


@dataclass(frozen=True, eq=False)
class ScoredEmbedder:
    """The scores by one embedder, without samples and vectors.

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
        Warnings on the comparison as a whole.
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
    def of(cls, name: str, comparison: Comparison) -> ScoredEmbedder:
        """Keep the part of a comparison that an agreement needs."""
        settings = comparison.settings
        of_systems = [system.summary.warnings + system.warnings for system in comparison]
        return cls(
            name=name,
            views=tuple(settings["views"]),
            metrics=tuple(settings["metrics_shown"]),
            scores=tuple(_light(system.scores) for system in comparison),
            warnings=(comparison.reference.warnings, *of_systems),
            common=comparison.warnings,
            signature=settings["embedding"],
        )

    def column(self, view: str, metric: str) -> tuple[Score, ...]:
        """Return the scores of all systems by one view."""
        name = key(view, metric, self.views)
        return tuple(scores[name] for scores in self.scores)


def _build(
    scored: Sequence[ScoredEmbedder],
    reference: SetSummary,
    systems: Sequence[SetSummary],
    settings: Mapping[str, Any],
) -> Agreement:
    """Bring the scores by all embedders together.

    Parameters
    ----------
    scored
        One for each embedder, on the same sets.
    reference, systems
        The sets, as any of the comparisons describes them.
    settings
        The choices that hold for all.
    """
    columns = tuple(
        ViewColumn(embedder.name, view) for embedder in scored for view in embedder.views
    )
    names = tuple(system.name for system in systems)
    sets = (reference, *systems)
    shared = [_shared([embedder.warnings[row] for embedder in scored]) for row in range(len(sets))]
    common = _shared([embedder.common for embedder in scored])
    embedders = {
        embedder.name: {"views": list(embedder.views), **embedder.signature} for embedder in scored
    }
    tie = tie_width(min(summary.n for summary in sets))
    return Agreement(
        reference=replace(reference, warnings=shared[0]),
        systems=tuple(replace(s, warnings=w) for s, w in zip(systems, shared[1:], strict=True)),
        columns=columns,
        metrics={
            metric: _metric(metric, scored, columns, names, tie) for metric in scored[0].metrics
        },
        settings={**settings, "embedders": embedders},
        tie=tie,
        rarely_reached=ranks.rarely_reached(len(names)),
        warnings=(*common, *_of_embedders(scored, (reference.name, *names), shared, common)),
    )


def _metric(
    metric: str,
    scored: Sequence[ScoredEmbedder],
    columns: tuple[ViewColumn, ...],
    names: tuple[str, ...],
    tie: float,
) -> MetricAgreement:
    scores = tuple(embedder.column(view, metric) for embedder in scored for view in embedder.views)
    merits = [np.array([merit(score) for score in column]) for column in scores]
    size = len(columns)

    def table(measure: Any) -> Any:
        return [[measure(merits[i], merits[j]) for j in range(size)] for i in range(size)]

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
    """The warnings that the comparisons by all embedders give."""
    return tuple(text for text in warnings[0] if all(text in others for others in warnings))


def _of_embedders(
    scored: Sequence[ScoredEmbedder],
    names: Sequence[str],
    shared: Sequence[Sequence[str]],
    common: Sequence[str],
) -> list[str]:
    """The other warnings, with the name of the embedder in front."""
    others = []
    for embedder in scored:
        by = embedder.name
        others += [_named(by, "", text) for text in embedder.common if text not in common]
        for name, of_set, known in zip(names, embedder.warnings, shared, strict=True):
            others += [_named(by, f"{name}: ", text) for text in of_set if text not in known]
    return others


def _named(embedder: str, about: str, text: str) -> str:
    """Put the embedder in front of a warning, unless the warning names it."""
    return f"{about}{text}" if text.startswith(f"{embedder} ") else f"{embedder}: {about}{text}"
