"""The whole road in one call: samples, embeddings, estimates, scores, comparison."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from calipers.catalogue.choosing import check_extras, choose
from calipers.catalogue.suggest import check_known
from calipers.embed import Cache
from calipers.estimate.axes import Projection
from calipers.estimate.knn.balls import Distance
from calipers.estimate.knn.neighbourhoods import Ties
from calipers.estimate.quantise import Buckets
from calipers.evaluate.choices import check_scope, check_settings, listed
from calipers.evaluate.embedder import AnyEmbedder, open_embedder, usual_warnings
from calipers.evaluate.inference import Sureness
from calipers.evaluate.intake import size_warnings, take_in
from calipers.evaluate.intervals import TESTS, Certainty, check_certainty, permutations_for
from calipers.evaluate.results import score_systems
from calipers.evaluate.stages import check_sizes, embed_sides
from calipers.evaluate.text_scores import (
    VIEW,
    check_beside,
    split_asked,
    text_keys,
    with_text_scores,
)
from calipers.metrics.pair import Settings
from calipers.numeric.threads import limit_threads
from calipers.progress import Progress, Silent
from calipers.results import Comparison


def compare(
    reference: Any,
    generated: Any,
    *,
    field: str | None = None,
    embedder: AnyEmbedder = None,
    metrics: str | Iterable[str] | None = None,
    group: str | None = None,
    cluster: str | None = None,
    train: Any = None,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    projection: Projection = "none",
    buckets: Buckets = "auto",
    estimator: str = "quantisation",
    c: float | None = None,
    shared: bool = False,
    seed: int = 0,
    max_samples: int | None = None,
    keep_sizes: bool = False,
    level: float | None = 0.95,
    floor: bool | None = None,
    advice: bool = False,
    paired: bool | None = None,
    margin: float | None = None,
    match_length: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Tell for each generated set how good, how diverse and how close to the reference it is.

    Parameters
    ----------
    reference
        The real samples: a list of strings, an ``(n, d)`` array of embeddings, a path, or a
        :class:`~calipers.samples.SampleSet`.
    generated
        The samples to judge: any of these, or a dict from system name to any of these. A sequence
        of sample sets under one name stands for the seeds of that system.
    field
        Where the text stands in a row, such as ``"choices[0].text"``; found by itself if None.
    embedder
        What turns samples into vectors: a name such as ``"minilm"``, ``"./my-model:layer=6"``, as
        :func:`calipers.load_embedder` takes it, or what that returns. None for ``minilm`` with
        texts and ``pixels`` with images. Embeddings that are given are taken as they are.
    metrics
        Keys ``[view.]metric[:option…]``, in a list or in one string: ``precision``,
        ``form.mauve_star:chi2``, ``frontier_integral:knn``. A plain name means every view, a
        family (``support``, ``frontier``, ``prd``, ``classifier``, ``ot``, ``mmd``, ``copying``)
        its metrics, ``all`` every metric on embeddings. None for all but those that take their own
        time. Statistics of the texts themselves stand in the view ``text``: ``text.self_bleu``,
        ``text`` for all of them. ``calipers metrics`` lists them.
    group
        Name of the field that holds the group of a sample (its topic, author, language): recall,
        coverage and precision are then given for every group too. Files are read with it; sample
        sets bring their groups along, from ``read_samples(path, group=...)`` or
        :meth:`~calipers.samples.SampleSet.with_groups`, and `group` then only names them. Every
        reference sample must have a group; generated sets may go without.
    cluster
        Name of the field that rows have in common which were drawn together: the prompt that
        several samples continue, the document of several sentences. Intervals, tests, noise floor
        and advice then count clusters and not rows, of which intervals would come out too short;
        scores do not change. Files are read with it; sample sets bring their clusters along, from
        ``read_samples(path, cluster=...)`` or :meth:`~calipers.samples.SampleSet.with_clusters`.
        In sets without the field every row counts as a cluster.
    train
        The training set of the models, in any form that `reference` may have: tells for every
        system what share of its samples are near copies of it (``near_copies:train``,
        ``authenticity:train``). It is never cut, since copies of what was cut would not be seen.
    k, ties
        Neighbours that span a ball, and whether its rim belongs to it.
    distance
        ``"euclidean"`` or ``"cosine"``: of the balls and of nearest neighbours.
    projection
        Where neighbours are looked for: ``"none"`` among rows of length one as they are,
        ``"union"`` on the principal axes that keep 90 % of the variance of both sets together, as
        in Le Bronnec et al. (ACL 2024). With the latter precision falls where texts merely repeat.
        Whole distributions (MAUVE, PRD, Fréchet, kernels) are compared on those axes either way.
    buckets
        Cells of the quantisation behind MAUVE; ``"auto"`` for a tenth of the smaller set,
        ``"cube-root"`` for the cube root of its size.
    estimator
        What the metrics of the frontier and of the precision-recall curve are read from where
        their key does not say: ``"quantisation"``, ``"knn"``, ``"kde"``, ``"classifier"``,
        ``"boosted"`` or ``"gaussian"``. Their keys then carry it, as ``mauve:knn``.
    c
        Scaling constant of MAUVE, above 0; None for the one that goes with the estimator.
    shared
        Project and quantise all systems together, so that their scores rest on the same cells.
        Adding a system then changes the scores of the others; by default it never does.
    seed
        Of cutting, k-means and block labels.
    max_samples
        Cut every set, the reference too but not the training set, to this many samples.
    keep_sizes
        Leave the generated sets as large as they are; by default all are cut to the smallest.
    level
        Confidence level of the intervals and tests, in (0, 1); None leaves both out.
    floor
        Whether to measure the noise floor: what halves of the reference score against each other,
        with each system beside it at the same size. Costs ten more scorings at half size, and ten
        for each system. None measures it for the scores of the table, and only for a reference
        below 5,000 samples; True for every score.
    advice
        Whether to tell, from nested smaller sets, what more samples would change.
    paired
        Whether row i of every generated set answers the same prompt, which makes tests between
        systems sharper; None to find out from the prompts.
    margin
        Test also whether systems are equal: whether scores between 0 and 1 are less than this far
        apart; None leaves that out.
    match_length
        Cut the texts of every set to this many words, since length alone moves every score.
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
    Comparison
        ``comparison["model_a"].scores["precision"].value``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or do not fit together, or an option is out of its range.
    """
    settings = Settings(
        k=k,
        ties=ties,
        distance=distance,
        projection=projection,
        buckets=buckets,
        c=c,
        seed=seed,
        threads=threads,
    )
    check_settings(settings)
    check_scope(
        metrics=metrics,
        estimator=estimator,
        group=group,
        cluster=cluster,
        max_samples=max_samples,
        shared=shared,
    )
    asked, texts = split_asked(metrics, train=train is not None)
    intake = take_in(
        reference,
        generated,
        field=field,
        max_samples=max_samples,
        keep_sizes=keep_sizes,
        seed=seed,
        group=group,
        cluster=cluster,
        train=train,
        match_length=match_length,
    )
    check_certainty(level, paired, margin, intake)
    check_beside(asked, texts, intake)
    check_sizes(intake, settings)
    model = open_embedder(
        embedder,
        intake.sets,
        processes=processes,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
    )
    check_known(asked or (), views=model.views)
    choices = choose(asked, model.views, estimator=estimator)
    check_extras(choices, equal_sizes=intake.one_size)
    store = Cache(None if cache_dir is None else Path(cache_dir)) if cache else None
    watch = progress or Silent()
    sure = None
    if level is not None:
        tests = len(TESTS) * len(model.views) * len(intake.systems)
        rows = len(intake.reference.samples) + max(map(len, intake.sets[1:]))
        count = permutations_for(tests, level, rows=rows)
        sure = Certainty(level, paired, margin, count)
    with limit_threads(threads):
        embedded = embed_sides(intake, model, store, watch)
        comparison, spreads = score_systems(
            intake, embedded, choices, settings, watch, shared=shared, certainty=sure
        )
        comparison, worded = with_text_scores(
            comparison, intake, texts, level=level, seed=seed, threads=threads, progress=watch
        )
        comparison = replace(
            comparison,
            warnings=(
                *size_warnings(intake, keep_sizes=keep_sizes),
                *usual_warnings(embedder, intake.reference.samples),
                *comparison.warnings,
            ),
            settings={
                "embedder": model.name,
                "views": [*model.views, *([VIEW] if texts else [])],
                "metrics": [*(choice.key for choice in choices), *text_keys(texts)],
                "metrics_shown": (
                    None
                    if metrics is None
                    else listed(each.name for each in choices) + text_keys(texts)
                ),
                "k": k,
                **comparison.settings,
                "ties": ties,
                "distance": distance,
                "projection": projection,
                "buckets": buckets,
                "estimator": estimator,
                "c": c,
                "shared": shared,
                "seed": seed,
                "sizes": "kept" if keep_sizes else "equal",
                "max_samples": max_samples,
                "match_length": match_length,
                "level": level,
                "margin": margin,
                "group": group,
                "cluster": cluster,
                "embedding": dict(model.signature),
            },
        )
        moved = [{**own, **words} for own, words in zip(spreads, worded, strict=True)]
        job = Sureness(intake, embedded, choices, settings, watch)
        return job.add(comparison, moved, sure, floor=floor, advice=advice)
