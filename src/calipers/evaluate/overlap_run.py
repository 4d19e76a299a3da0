"""Every system against every other, without a reference: the whole road in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calipers.embed import Cache
from calipers.estimate.axes import Projection
from calipers.estimate.knn.balls import Distance
from calipers.estimate.knn.neighbourhoods import Ties
from calipers.evaluate import overlap_intake as intake
from calipers.evaluate import overlap_stages as stages
from calipers.evaluate.embedder import AnyEmbedder, open_embedder, usual_warnings
from calipers.metrics.pair import Settings
from calipers.numeric.threads import limit_threads
from calipers.numeric.validation import check_choice, check_whole
from calipers.progress import Progress, Silent
from calipers.results.overlap import Overlap
from calipers.samples import System


def overlap(
    systems: Mapping[str, Any] | Sequence[System],
    *,
    field: str | None = None,
    embedder: AnyEmbedder = None,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    projection: Projection = "none",
    seed: int = 0,
    max_samples: int | None = None,
    keep_sizes: bool = False,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Overlap:
    """Tell for every pair of systems how much of each lies inside the support of the other.

    No system is the right one. Each is held in turn as the reference of every other, and precision
    and recall then tell whether one lies within the other, they overlap, or are disjoint
    (Le Bronnec et al., ACL 2024, section 5.5 and table 1). Rows are prepared for each pair as
    :func:`calipers.compare` does: scaled to length one, then projected on the axes that keep 90 %
    of the variance of the two.

    Parameters
    ----------
    systems
        At least two: a dict from name to samples (a list of strings, an ``(n, d)`` array, a path,
        a :class:`~calipers.samples.SampleSet`), where a sequence of sample sets under one name
        stands for the seeds of that system.
    field
        Where the text stands in a row, such as ``"choices[0].text"``; found by itself if None.
    embedder
        What turns samples into vectors, as for :func:`calipers.compare`. One that must be fitted
        is fitted to all systems.
    k, ties
        Neighbours that span a ball, and whether its rim belongs to it.
    distance
        ``"euclidean"`` or ``"cosine"``.
    projection
        Where neighbours are looked for, as for :func:`calipers.compare`.
    seed
        Of cutting.
    max_samples
        Cut every set to this many samples.
    keep_sizes
        Leave the sets as large as they are; by default all are cut to the smallest.
    device, dtype, batch_size
        Of the embedder, where it is named; ``dtype="auto"`` takes bfloat16 where the hardware
        has it.
    cache_dir, cache
        Where embeddings are kept, and whether.
    processes
        How many processes embed, for a CPU of many cores; None for this one.
    threads
        Number of threads (default: all cores); moves no more than the last digits.
    progress
        What shows how far it is.

    Returns
    -------
    Overlap
        ``overlap["meaning"].precision[i, j]`` is the share of system j inside the support of
        system i, ``.recall`` the same of the swapped pair; printing it shows the matrices and what
        each pair means in words. With seeds, values are means over all pairs of files.

    Raises
    ------
    InputError
        If there are fewer than two systems, samples cannot be read or do not fit together, or an
        option is out of its range.
    """
    _check_options(k, ties, distance, projection, seed, max_samples, threads)
    entries = intake.take_in_systems(
        systems, field=field, max_samples=max_samples, keep_sizes=keep_sizes, seed=seed
    )
    intake.check_sizes(entries, k)
    sets = [cut.samples for entry in entries for cut in entry.cuts]
    model = open_embedder(
        embedder,
        sets,
        fit_on_all=True,
        processes=processes,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
    )
    store = Cache(None if cache_dir is None else Path(cache_dir)) if cache else None
    watch = progress or Silent()
    choices = Settings(
        k=k, ties=ties, distance=distance, projection=projection, seed=seed, threads=threads
    )
    with limit_threads(threads):
        members = stages.embed_systems(entries, model, store, watch)
        views = stages.measure(members, model.views, choices, watch)
    shared = stages.shared_notes(members)
    described = stages.describe(entries, members, shared)
    return Overlap(
        systems=described,
        views=views,
        settings={
            "embedder": model.name,
            "views": list(model.views),
            "k": k,
            "ties": ties,
            "distance": distance,
            "projection": projection,
            "seed": seed,
            "sizes": "kept" if keep_sizes else "equal",
            "max_samples": max_samples,
            "embedding": dict(model.signature),
        },
        warnings=(
            *intake.size_warnings(entries, k),
            *intake.length_warnings(stages.medians(described)),
            *intake.copy_warnings(entries),
            *stages.ceiling_warnings(views),
            *usual_warnings(embedder, sets[0]),
            *shared,
        ),
    )


def _check_options(
    k: int,
    ties: str,
    distance: str,
    projection: str,
    seed: int,
    max_samples: int | None,
    threads: int | None,
) -> None:
    check_whole("k", k, 1)
    check_whole("seed", seed, 0)
    check_whole("max_samples", 2 if max_samples is None else max_samples, 2)
    check_whole("threads", 1 if threads is None else threads, 1)
    check_choice("ties", ties, ("closed", "open"))
    check_choice("distance", distance, ("euclidean", "cosine"))
    check_choice("projection", projection, ("none", "union"))
