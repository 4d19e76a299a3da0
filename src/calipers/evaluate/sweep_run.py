"""Sweeps: the support metrics against k, or against the number of samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from calipers.catalogue.choosing import check_extras
from calipers.embed import Cache, Embedder
from calipers.errors import InputError
from calipers.estimate.axes import Projection
from calipers.estimate.knn.balls import Distance
from calipers.estimate.knn.neighbourhoods import Ties
from calipers.evaluate.embedder import AnyEmbedder, open_embedder, usual_warnings
from calipers.evaluate.intake import take_in
from calipers.evaluate.stages import embed_sides
from calipers.evaluate.sweep_metrics import choose_metrics
from calipers.evaluate.sweep_passes import Plan
from calipers.evaluate.sweep_systems import Wanted, sweep_systems
from calipers.evaluate.sweep_values import check_values, choose_values
from calipers.numeric.threads import limit_threads
from calipers.numeric.validation import check_choice, check_whole
from calipers.progress import Progress, Silent
from calipers.results.sweep import TOLERANCE, Over, Sweep


def sweep(
    reference: Any,
    generated: Any,
    *,
    over: Over = "k",
    values: Iterable[int] | None = None,
    metrics: str | Iterable[str] = ("precision", "recall", "density", "coverage"),
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    projection: Projection = "none",
    seeds: int = 5,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    field: str | None = None,
    embedder: AnyEmbedder = None,
    max_samples: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Tell how metrics move with k or with the number of samples, and from where on they hold.

    The figures 6 and B.1 of Le Bronnec et al. (ACL 2024) for your own samples. Over k, all values
    come from one pass over the distances. Over n, both sides are cut to n samples, in random
    orders in which a larger subsample contains the smaller ones, and each subsample is
    preprocessed by itself: the scores are those that a person with n samples would get.

    Parameters
    ----------
    reference, generated, field, embedder, device, dtype, batch_size, cache_dir, cache,
    processes
        As for :func:`calipers.compare`; the generated sets are cut to the smallest.
    over
        What to sweep: ``"k"``, or ``"n"`` for the number of samples.
    values
        The values to visit. By default k from 1 to 30, or as far as the sets allow; sizes from 100
        to all samples, two for each doubling.
    metrics
        Keys ``[view.]metric[:option…]``, in a list or in one string: over n any of the
        catalogue, over k precision, recall, density, coverage and clipped_coverage. A plain name
        means every view.
    k
        Neighbours that span a ball; where k is swept it has no effect.
    ties, distance, projection
        Whether the rim of a ball belongs to it; ``"euclidean"`` or ``"cosine"``.
    seeds
        Random orders of the samples, for a sweep over n. A system of several files takes them in
        turn, equally often.
    seed
        Of cutting and of the orders: order i is drawn from the pair (`seed`, i).
    tolerance
        How far from its end the mean of a score within [0, 1] may lie on a plateau: this much or
        its standard error, whichever is larger; 5 % of the end for other scores.
    max_samples
        Cut every set, the reference too, to this many samples.
    threads
        Number of threads (default: all cores); no effect on a score.
    progress
        What shows how far it is.

    Returns
    -------
    Sweep
        ``sweep["model_a"]["precision"].mean``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or do not fit together, an option is out of its range, or some
        set is too small for a value that was given.
    """
    check_choice("over", over, ("k", "n"))
    check_choice("ties", ties, ("closed", "open"))
    check_choice("distance", distance, ("euclidean", "cosine"))
    check_choice("projection", projection, ("none", "union"))
    for parameter, number, least in (("k", k, 1), ("seeds", seeds, 1), ("seed", seed, 0)):
        check_whole(parameter, number, least)
    check_whole("max_samples", 2 if max_samples is None else max_samples, 2)
    check_whole("threads", 1 if threads is None else threads, 1)
    _check_tolerance(tolerance)
    asked = check_values(over, values)
    intake = take_in(
        reference,
        generated,
        field=field,
        max_samples=max_samples,
        keep_sizes=False,
        seed=seed,
    )
    chosen, notes = choose_values(over, asked, intake, k=k)
    model = open_embedder(
        embedder,
        intake.sets,
        processes=processes,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
    )
    wanted = choose_metrics(metrics, model.views, over)
    # A sweep cuts both sides to one size
    check_extras((choice for each in wanted.values() for choice in each), equal_sizes=True)
    plan = Plan(over, chosen, k, ties, distance, projection, seed, seeds, tolerance, threads)
    store = Cache(None if cache_dir is None else Path(cache_dir)) if cache else None
    watch = progress or Silent()
    with limit_threads(threads):
        embedded = embed_sides(intake=intake, model=model, cache=store, progress=watch)
        found = sweep_systems(intake, embedded, wanted, plan, watch)
    settings = _settings(plan, wanted, model, max_samples)
    return replace(
        found,
        settings=settings,
        warnings=(
            *notes,
            *usual_warnings(embedder, intake.reference.samples),
            *found.warnings,
        ),
    )


def _check_tolerance(tolerance: Any) -> None:
    good = (
        isinstance(tolerance, int | float)
        and not isinstance(tolerance, bool)
        and 0 <= tolerance < inf
    )
    if not good:
        raise InputError(f"tolerance must be a number of at least 0; found {tolerance!r}")


def _settings(
    plan: Plan, wanted: Wanted, model: Embedder, max_samples: int | None
) -> dict[str, Any]:
    metrics = list(dict.fromkeys(metric.name for each in wanted.values() for metric in each))
    fixed: dict[str, Any] = {} if plan.over == "k" else {"k": plan.k, "seeds": plan.seeds}
    return {
        "values": list(plan.values),
        **fixed,
        "embedder": model.name,
        "views": list(model.views),
        "metrics": metrics,
        "ties": plan.ties,
        "distance": plan.distance,
        "projection": plan.projection,
        "seed": plan.seed,
        "tolerance": plan.tolerance,
        "max_samples": max_samples,
        "embedding": dict(model.signature),
    }
