"""``compare``: from samples to embeddings, estimates, scores and a comparison in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from calipers.catalogue.choosing import Choice, check_extras, choose, find, key
from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.settings import Settings
from calipers.catalogue.suggest import check_known
from calipers.embedders.automatic import Automatic
from calipers.embedders.embedder import Embedder
from calipers.errors import InputError
from calipers.estimate.quantise import MOST_CELLS, bucket_count
from calipers.evaluate.approximate import check_approximate
from calipers.evaluate.embedding import (
    Embedded,
    cache_of,
    chosen_setting,
    embed_sides,
    embedder_cautions,
    open_embedder,
    with_embedder,
    with_scaling,
)
from calipers.evaluate.engines import check_packages, running_where
from calipers.evaluate.given_prompts import GivenPrompts, PromptVectors, given_prompts
from calipers.evaluate.inference import check_inference, with_inference
from calipers.evaluate.inputs import ComparisonInputs, check_k, comparison_inputs, size_cautions
from calipers.evaluate.intervals import AUC
from calipers.evaluate.reference import Reference
from calipers.evaluate.scoring import by_view
from calipers.evaluate.shown import shown_scores, with_shown
from calipers.evaluate.spaces import PCA
from calipers.evaluate.systems import score_systems
from calipers.evaluate.text_view import (
    VIEW,
    check_text_keys,
    split_asked,
    text_keys,
    with_text_scores,
)
from calipers.evaluate.training_set import check_train
from calipers.evaluate.verdict import with_verdict
from calipers.numeric.kept import keeping
from calipers.numeric.threads import limit_threads
from calipers.options.comparison import CompareOptions
from calipers.options.keywords import keywords_of
from calipers.progress import Silent
from calipers.results import Comparison
from calipers.results.caution import Caution, sentences, worst_first
from calipers.samples.wording import first_names

NAMED = 3
"""Systems that a caution names."""


@keywords_of(CompareOptions)
def compare(reference: Any, generated: Any, options: CompareOptions) -> Comparison:
    """Tell for each generated set how good, how diverse and how close to the reference it is.

    Parameters
    ----------
    reference
        The real samples: a list of strings or of dicts, a path, a data frame, a column of one or a
        dataset (with `field`, unless the column has a usual name), an ``(n, d)`` array or tensor
        of embeddings, what :func:`calipers.embed` gave, a
        :class:`~calipers.samples.SampleSet`, or a :class:`~calipers.Reference`, which is read and
        embedded once.
    generated
        The samples to judge: any of these, or a dict from system name to any of these, such as a
        ``DatasetDict``. A sequence of sample sets under one name stands for the seeds of that
        system.

    Returns
    -------
    Comparison
        ``comparison["model_a"].scores["precision"].value``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or do not fit together, or an option is out of its range.

    Examples
    --------
    Two models of one-dimensional data: one hits everything, one a corner of it.

    >>> import numpy as np
    >>> grid = np.linspace(0, 1, 300)[:, None]
    >>> models = {"good": grid + 0.001, "narrow": grid / 4}
    >>> comparison = compare(grid, models, metrics="precision,recall", floor=False)
    >>> comparison
    <Comparison of 'good', 'narrow' with 'reference'>
    >>> print(comparison["narrow"])
    narrow: n = 300
      precision  1.000
      recall     0.253 [0.214,0.297]
      1 more score (.scores)
    >>> comparison["good"]["recall"] > comparison["narrow"]["recall"]
    True
    """
    prepared = reference if isinstance(reference, Reference) else None
    plan = plan_comparison(reference, generated, options)
    inputs, options, model, choices, texts, asked, chosen = plan
    progress = options.progress or Silent()
    known, store = None, None
    if prepared is not None:
        known, store = prepared.embed, prepared.measured(inputs.reference.samples)
    with limit_threads(options.threads), running_where(options, progress), keeping(store):
        embedded = embed_sides(inputs, model, cache_of(options), progress, known)
        embedded = replace(embedded, given=prompts_of_run(inputs, embedded, model, options))
        shown = _shown_keys(asked, model.views, options)
        comparison, spreads = score_systems(inputs, embedded, choices, shown, options)
        comparison, of_texts = with_text_scores(comparison, inputs, texts, options)
        capped = _capped_cells(inputs, choices, options)
        first = (
            *size_cautions(inputs, keep_sizes=options.keep_sizes),
            *embedder_cautions(options, model, inputs.every, chosen),
            *unlike_prompts(inputs, embedded),
        )
        comparison = replace(
            comparison,
            warnings=(*sentences(first), *capped, *comparison.warnings),
            cautions=worst_first((*first, *comparison.cautions)),
            settings={
                "embedder": model.name,
                "views": [*model.views, *([VIEW] if texts else [])],
                "metrics": [*(choice.key for choice in choices), *text_keys(texts)],
                "metrics_shown": None if options.metrics is None else _shown(asked, texts),
                **comparison.settings,
                **options.settings(),
                "pca": PCA,
                "samples": inputs.reference.samples.kind,
                "embedding": dict(model.signature),
                **chosen_setting(chosen),
            },
        )
        all_spreads = [
            {**of_vectors, **more} for of_vectors, more in zip(spreads, of_texts, strict=True)
        ]
        comparison = with_shown(comparison)
        comparison = with_inference(comparison, inputs, embedded, choices, all_spreads, options)
        return with_verdict(comparison)


def prompts_of_run(
    inputs: ComparisonInputs, embedded: Embedded, model: Embedder, options: CompareOptions
) -> tuple[tuple[GivenPrompts | None, ...], ...]:
    """Return, for every file, the prompts shared with the reference by which it is scored."""
    if options.shared_prompts == "ignore":
        return ()
    residual = options.shared_prompts == "residual" and not options.shared
    vectors = PromptVectors(model, cache_of(options), options.progress) if residual else None
    settings = Settings.of(vars(options))
    return tuple(
        tuple(
            given_prompts(embedded.reference, rows, file.shared, file.prompts, vectors, settings)
            for file, rows in zip(system.files, files, strict=True)
        )
        for system, files in zip(inputs.systems, embedded.systems, strict=True)
    )


def unlike_prompts(inputs: ComparisonInputs, embedded: Embedded) -> Iterator[Caution]:
    """Warn where some systems are scored conditionally on their prompts and others are not."""
    ways: dict[str, list[str]] = {}
    for system, files in zip(inputs.systems, embedded.prompts, strict=True):
        for way in dict.fromkeys("" if one is None else one.signature for one in files):
            ways.setdefault(way, []).append(system.name)
    if len(ways) > 1:
        words = {
            "residual": "given their prompts",
            "others": "by answers to other prompts as they are embedded",
            "": "without regard to prompts, since they share too few with the reference",
        }
        listing = "; ".join(
            f"{first_names(names, NAMED)} {words[way]}" for way, names in ways.items()
        )
        yield Caution(
            "prompts",
            "systems scored in different ways",
            f"systems are scored in different ways, so their scores are not comparable: {listing}",
            "`shared_prompts='ignore'`",
        )


class ComparisonPlan(NamedTuple):
    """What a comparison will measure, of which sets and with which embedder, before any work.

    `asked` are the choices that a person asked for, or that stand for nothing in particular; beside
    them `choices` holds what tests show. `chosen` says how the embedder was chosen, where it was.
    """

    inputs: ComparisonInputs
    options: CompareOptions
    model: Embedder
    choices: Sequence[Choice]
    texts: Sequence[Any]
    asked: Sequence[Choice]
    chosen: Automatic | None


def plan_comparison(reference: Any, generated: Any, options: CompareOptions) -> ComparisonPlan:
    """Read both sides and check that the options fit them, before the long work.

    Raises
    ------
    InputError
        As :func:`compare`.
    MissingExtraError
        If a metric asked for by name, or an engine, needs a package that is not installed.
    """
    prepared = reference if isinstance(reference, Reference) else None
    options = options if prepared is None else prepared.completed(options)
    check_packages(options)
    asked, texts = split_asked(options.metrics, train=options.train is not None)
    inputs = comparison_inputs(
        reference if prepared is None else prepared.samples,
        generated,
        options,
        seed=options.seed,
        skip_bad=options.skip_bad,
        keep_sizes=options.keep_sizes,
        labels=options,
        paired=bool(options.paired),
    )
    options = with_scaling(options, inputs.reference.samples)
    check_inference(options, inputs)
    _check_axes(options)
    check_text_keys(asked, texts, inputs)
    _check_sizes(inputs, options)
    options, chosen = with_embedder(options, inputs.every)
    model = open_embedder(options, inputs.sets) if prepared is None else prepared.open(inputs.sets)
    if prepared is not None and prepared.chosen is not None:
        chosen = prepared.chosen.of(inputs.every)
    check_known(asked or (), views=model.views)
    selected = choose(asked, model.views, estimator=options.estimator)
    choices = selected
    if options.level is not None and all(choice.key != AUC for choice in choices):
        choices = (*choices, replace(find(AUC), named=False))  # what the tests show
    check_extras(choices, equal_sizes=inputs.one_size)
    check_approximate(choices, options.neighbours)
    return ComparisonPlan(inputs, options, model, choices, texts, selected, chosen)


def _check_axes(options: CompareOptions) -> None:
    """Refuse the axes of the reference where others are asked for too."""
    if options.axes == "reference" and (options.shared or options.projection == "union"):
        other = "shared=True" if options.shared else "projection='union'"
        raise InputError(
            f"axes='reference' compares on the axes of the reference alone; found {other}, which "
            "compares on those of several sets"
        )


def _check_sizes(inputs: ComparisonInputs, options: CompareOptions) -> None:
    """Say before the long work which set is too small."""
    if inputs.train is not None:
        check_train(inputs.train)
    check_k(inputs, options.k)
    n, *others = map(len, inputs.sets)
    bucket_count(options.buckets, n, min(others))


def _capped_cells(
    inputs: ComparisonInputs, choices: Sequence[Choice], options: CompareOptions
) -> tuple[str, ...]:
    """Say where cells are fewer than a tenth of the samples, which --buckets auto promises."""
    n, *others = map(len, inputs.sets)
    counted = any(
        choice.metric.family == "frontier" and choice.option("estimator") == COUNTING
        for choice in choices
    )
    if options.buckets != "auto" or not counted or min(n, *others) <= 10 * MOST_CELLS:
        return ()
    return (
        f"MAUVE and its family are counted over {MOST_CELLS:,} cells, fewer than a tenth of the "
        "samples, which would take k-means too long; `buckets` chooses another number",
    )


def _shown_keys(
    choices: Sequence[Choice], views: tuple[str, ...], options: CompareOptions
) -> list[str]:
    """Return the keys of the scores on embeddings that will be shown: these get intervals."""
    asked = None if options.metrics is None else _shown(choices, ())
    keys = [
        key(view, choice.name, views)
        for view, wanted in by_view(choices, views)
        for choice in wanted
    ]
    return [shown.key for shown in shown_scores(keys, views, asked, options.estimator)]


def _shown(choices: Sequence[Choice], texts: Sequence[Any]) -> list[str]:
    """Return the keys that were asked for, once each and without views, in their order."""
    return list(dict.fromkeys(choice.name for choice in choices)) + text_keys(texts)
