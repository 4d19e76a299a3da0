"""What an embedder sees: texts against texts that were changed in a known way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calipers.catalogue.choosing import Choice, check_extras, choose
from calipers.embed import Cache
from calipers.evaluate import probe_choices as checked
from calipers.evaluate.embedder import AnyEmbedder, open_unfitted
from calipers.evaluate.intake import FEW, Cut, summarise
from calipers.evaluate.probe_changes import Change, change_set
from calipers.evaluate.probe_found import UNCHANGED, Found
from calipers.evaluate.probe_vectors import Halves, Sides, Vectors
from calipers.evaluate.scoring import score_pair
from calipers.metrics.pair import Settings
from calipers.numeric.threads import limit_threads
from calipers.progress import Progress, Silent
from calipers.results import SetSummary
from calipers.results.probe import ENOUGH, Probe
from calipers.score import Score


def probe(
    samples: Any,
    *,
    embedder: AnyEmbedder = None,
    changes: str | Iterable[str] | None = None,
    metrics: str | Iterable[str] | None = None,
    field: str | None = None,
    k: int = 4,
    seeds: int = 3,
    seed: int = 0,
    max_samples: int | None = None,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Probe:
    """Tell what an embedder sees: topics, word order, spelling, length?

    One random half of the texts is the reference. The other half is changed in a known way and
    scored against it; unchanged, it is the ceiling. What a view of the embedder does not see leaves
    its scores where they were (Pillutla et al., JMLR 2023, figure 16).

    Parameters
    ----------
    samples
        Texts: a list of strings, a path, or a :class:`~calipers.samples.SampleSet`.
    embedder
        As for :func:`calipers.compare`.
    changes
        Keys of :data:`calipers.evaluate.probe_changes.CHANGES`; None for all.
    metrics
        Keys without a view, of metrics that lie between 0 and 1; None for MAUVE*, precision,
        recall and the area under the ROC curve of a held-out classifier.
    field
        Where the text stands in a row; found by itself if None.
    k
        Neighbours that span a ball.
    seeds
        How many random halvings; at least 2, since their spread is the noise.
    seed
        Of the halvings, the changes and k-means.
    max_samples
        Cut the set to this many texts.
    cache_dir, cache, processes, threads
        As for :func:`calipers.compare`.
    progress
        What shows how far it is.

    Returns
    -------
    Probe
        ``found["form"]["word_shuffle"].verdict``; printing it shows a table for each view.

    Raises
    ------
    InputError
        If the samples are no texts, too few, cannot be read, or an option is out of its range.
    """
    settings = Settings(k=k, seed=seed, threads=threads)
    checked.check_numbers(settings, seeds, max_samples)
    wanted, keys = checked.choose_changes(changes), checked.choose_metrics(metrics)
    given = checked.read_texts(samples, field)
    texts = given if max_samples is None else given.subsample(max_samples, seed=seed)
    checked.check_halves(texts, len(given), k)
    watch = progress or Silent()
    halvings = [Halves.draw(len(texts), seed=seed, halving=i) for i in range(seeds)]
    model = open_unfitted(embedder, texts, processes=processes)
    choices = choose(keys, model.views)
    check_extras(choices, equal_sizes=True)
    changed = {change.name: change_set(texts, change, seed=seed) for change in wanted}
    versions = {UNCHANGED: texts, **{name: each for name, (each, _) in changed.items()}}
    altered = {name: np.array(flags) for name, (_, flags) in changed.items()}
    store = Cache(None if cache_dir is None else Path(cache_dir)) if cache else None
    vectors = Vectors(model, versions, store, watch)
    found = Found(model.views, tuple(choice.name for choice in choices), len(texts) // 2)
    with limit_threads(threads), watch.task("Scoring", seeds * len(versions)) as advance:
        for halves in halvings:
            sides = vectors.sides(halves)
            digest = texts.take(halves.reference).content_hash
            for name in versions:
                found.add(name, _score(sides, name, choices, settings, digest))
                advance(1)
            found.add_moved(
                sides, {n: np.flatnonzero(a[halves.judged]) for n, a in altered.items()}
            )
    shares = {name: float(flags.mean()) for name, flags in altered.items()}
    about = summarise([Cut(texts, len(given))], name=texts.name, notes=found.notes)
    return Probe(
        samples=about,
        views={view: found.view(view, wanted, shares) for view in model.views},
        settings={
            "embedder": model.name,
            "views": list(model.views),
            "metrics": list(found.metrics),
            "changes": [change.name for change in wanted],
            "k": k,
            "seeds": seeds,
            "seed": seed,
            "half": len(texts) // 2,
            "max_samples": max_samples,
            "embedding": dict(model.signature),
        },
        signatures=found.signatures,
        warnings=_warnings(about, shares, wanted),
    )


def _score(
    sides: Sides, name: str, choices: Sequence[Choice], settings: Settings, digest: str
) -> Mapping[str, Score]:
    version = sides.versions[name]
    return score_pair(sides.reference, version, choices, settings, reference_hash=digest).scores


def _warnings(
    about: SetSummary, shares: Mapping[str, float], changes: Sequence[Change]
) -> tuple[str, ...]:
    """Warn where halves are small, or a change alters little."""
    found = []
    if about.n // 2 < FEW:
        found.append(f"halves of {about.n // 2} texts are few: chance alone moves scores a lot")
    for change in changes:
        share = shares[change.name]
        if share < ENOUGH:
            count = "no text" if share == 0 else f"{share:.0%} of the texts"
            found.append(
                f"{change.label}: alters {count}, so nothing can be said of it (words need spaces "
                "between them, case needs capitals)"
            )
    return tuple(found)
