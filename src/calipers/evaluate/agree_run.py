"""The same comparison under several embedders: does the verdict hang on the embedder?"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.catalogue.choosing import check_keys, choose
from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.keys import split_key
from calipers.catalogue.shown import HEADLINE
from calipers.errors import InputError
from calipers.estimate.axes import Projection
from calipers.estimate.knn.balls import Distance
from calipers.estimate.knn.neighbourhoods import Ties
from calipers.estimate.quantise import Buckets
from calipers.evaluate.agree_build import Verdict, build
from calipers.evaluate.agree_embedders import name_embedders, processes_of, try_embedders
from calipers.evaluate.intake import as_systems
from calipers.evaluate.run import compare
from calipers.evaluate.text_scores import VIEW as TEXT
from calipers.progress import Advance, Progress, Silent
from calipers.results import Comparison
from calipers.results.agreement import Agreement
from calipers.samples import SampleSet, System, as_sample_set

PINNED = (
    "k",
    "ties",
    "distance",
    "projection",
    "buckets",
    "estimator",
    "c",
    "shared",
    "seed",
    "sizes",
)
VIEW = "any"
"""Stands for every view while keys are checked."""


def agree(
    reference: Any,
    generated: Any,
    *,
    embedders: Any,
    metrics: str | Iterable[str] | None = None,
    field: str | None = None,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    projection: Projection = "none",
    buckets: Buckets = "auto",
    estimator: str = COUNTING,
    c: float | None = None,
    shared: bool = False,
    seed: int = 0,
    max_samples: int | None = None,
    keep_sizes: bool = False,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Agreement:
    """Tell whether the verdict on several systems hangs on the embedder.

    Every metric is taken by every view of every embedder, and the orders in which these columns
    put the systems are correlated (Le Bronnec et al., ACL 2024, table B.1; Pillutla et al., JMLR
    2023, section 7.5). Columns that agree may still be wrong together.

    Parameters
    ----------
    reference, generated
        As for :func:`calipers.compare`; at least two systems, of texts or images.
    embedders
        At least two columns in all: a list of lines ``NAME[:option=value…]`` such as ``"minilm"``
        or ``"./gpt2:layer=6"``, of choices or of embedders, or a dict from a name to any of these.
    metrics
        Keys ``metric[:option…]`` without a view, families, or ``all``; None for precision, recall,
        coverage and MAUVE*.
    field, k, ties, distance, projection, buckets, estimator, c, shared, seed
        As for :func:`calipers.compare`.
    max_samples, keep_sizes
        As for :func:`calipers.compare`.
    cache_dir, cache
        Where embeddings are kept, and whether. If one embedder fails, those that are done are not
        embedded again.
    processes, threads
        As for :func:`calipers.compare`; embedders that run no model embed in this process.
    progress
        What shows how far it is.

    Returns
    -------
    Agreement
        ``agreement["precision"].spearman`` is the matrix of rank correlations; printing it shows
        scores, correlations and the verdict in words.

    Raises
    ------
    InputError
        If there are fewer than two systems or columns, an embedder stands twice or cannot be
        loaded, samples cannot be read or do not fit together, or an option is out of its range.
    """
    keys = _keys(metrics, estimator)
    named = name_embedders(embedders)
    sides = _read(reference, generated, field)
    watch = progress or Silent()
    try_embedders(named, sides[0].kind, watch, processes=processes)
    verdicts: list[Verdict] = []
    found: Comparison | None = None
    for name, embedder in named.items():
        found = compare(
            *sides,
            embedder=embedder,
            metrics=keys,
            k=k,
            ties=ties,
            distance=distance,
            projection=projection,
            buckets=buckets,
            estimator=estimator,
            c=c,
            shared=shared,
            seed=seed,
            max_samples=max_samples,
            keep_sizes=keep_sizes,
            cache_dir=cache_dir,
            cache=cache,
            processes=processes_of(embedder, processes),
            threads=threads,
            progress=_Named(watch, name),
        )
        verdicts.append(Verdict.of(name, found))
    assert found is not None
    settings = {key: found.settings[key] for key in (*PINNED, "max_samples")}
    return build(
        verdicts,
        found.reference,
        [system.summary for system in found],
        {"metrics": list(verdicts[0].metrics), **settings},
    )


def _keys(metrics: str | Iterable[str] | None, estimator: str) -> list[str]:
    """Give the keys of the metrics; a view is not for one of them to choose."""
    check_keys(metrics)
    if metrics is None:
        counted = estimator == COUNTING
        return [name if counted else name.removesuffix("_star") for name in HEADLINE]
    keys = metrics.replace(",", " ").split() if isinstance(metrics, str) else list(metrics)
    for each in keys:
        view, name, options = split_key(each)
        if view == TEXT or each == TEXT:
            raise InputError(
                f"{each!r} is read from the texts themselves, so no embedder changes it; "
                "calipers text measures it"
            )
        if view:
            plain = ":".join((name, *options))
            raise InputError(
                f"{each!r} asks for the view {view!r}; every view of every embedder is a column "
                f"here, so name metrics on embeddings without one, such as {plain!r}"
            )
    choose(keys, (VIEW,), estimator=estimator)
    return keys


def _read(
    reference: Any, generated: Any, field: str | None
) -> tuple[SampleSet, tuple[System, ...]]:
    """Read every file once, and see that there is something to agree about."""
    named = isinstance(reference, SampleSet | Path | str)
    first = as_sample_set(reference, name=None if named else "reference", field=field)
    if first.kind == "vectors":
        raise InputError(
            f"{first.name}: holds vectors; agree embeds the samples in several ways and needs the "
            "texts or images themselves"
        )
    systems = as_systems(generated, field=field)
    if len(systems) < 2:
        raise InputError(
            "agree asks in which order embedders put the systems, so it needs at least two; found "
            f"{systems[0].name!r} alone. For the scores of one there is calipers compare"
        )
    return first, systems


@dataclass(frozen=True)
class _Named:
    """A progress that says whose work it is."""

    inner: Progress
    name: str

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        return self.inner.task(f"{self.name}: {description}", total)
