"""``sweep``: score systems over values of k, samples, text length, cells or axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calipers.catalogue.choosing import Choice, check_extras, check_keys, choose, key, split_names
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.keys import split_key
from calipers.commands.sweep.options import SweepOptions
from calipers.commands.sweep.passes import BY_K, Stage, SweepPlan, make_curve, score_replicates
from calipers.commands.sweep.result import Curve, Over, Sweep, SweptSystem
from calipers.embedders import Embedder
from calipers.errors import InputError, unknown_name
from calipers.estimate.estimators import ESTIMATORS
from calipers.evaluate.approximate import check_approximate, search_caution
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
from calipers.evaluate.engines import running_where
from calipers.evaluate.given_prompts import NOT_HELD, answers_alike
from calipers.evaluate.inputs import (
    ComparisonInputs,
    InputSet,
    InputSystem,
    comparison_inputs,
    length_cautions,
    read_of,
    summarise,
    trust_cautions,
    where,
)
from calipers.evaluate.reference import Reference
from calipers.evaluate.scoring import by_view
from calipers.evaluate.spaces import PCA
from calipers.numeric.threads import limit_threads
from calipers.numeric.validation import is_whole
from calipers.options.keywords import keywords_of
from calipers.progress import Advance, Progress, Silent
from calipers.results import SetSummary
from calipers.results.caution import sentences
from calipers.results.reading import SetReading, too_little, unread_cautions
from calipers.samples.truncation import match_length
from calipers.samples.wording import KINDS
from calipers.uncertainty.search_quality import SearchQuality

SUPPORT = ("precision", "recall", "density", "coverage")
DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "k": SUPPORT,
    "n": SUPPORT,
    "length": ("precision", "recall", "density", "coverage", "mauve_star", "frechet_distance"),
    "buckets": ("mauve_star",),
    "axes": ("mauve:knn", "mauve:kde", "mauve:gaussian"),
}
"""Metrics by default, by what is varied."""

FIRST = {"length": 8, "buckets": 8, "axes": 2}
MOST_AXES = 128
LARGEST_K = 30
SMALLEST_N = 100
# Two sizes for each doubling
STEP = math.sqrt(2)


Wanted = dict[str, list[Choice]]
"""Metrics by view."""


@keywords_of(SweepOptions)
def sweep(reference: Any, generated: Any, options: SweepOptions) -> Sweep:
    """Tell how metrics change with k, samples, text length, cells or axes, and where they settle.

    The figures 6 and B.1 of Le Bronnec et al. (ACL 2024), and 8, 9 and 17 of Pillutla et al. (JMLR
    2023), for your own samples. Over k, all values come from one pass over the distances. Over n,
    both sides are cut to n samples, in random orders in which a larger subsample contains the
    smaller ones, and each subsample is preprocessed on its own: the scores are those that a person
    with n samples would get. Over length, all texts are cut to so many words, as ``match_length``
    does, and embedded anew. Over buckets, both sets are quantised into so many cells, from several
    starts of k-means. Over axes, likelihood ratios are estimated on so many leading axes.

    Parameters
    ----------
    reference, generated
        As for :func:`calipers.compare`; the generated sets are cut to the smallest.

    Returns
    -------
    Sweep
        ``sweep["model_a"]["precision"].mean``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or do not fit together, an option is out of its range, some set
        is too small for a value that was given, or a metric does not depend on what is varied.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, model = np.random.default_rng(0).normal(size=(2, 100, 2))
    >>> sweep = calipers.sweep(
    ...     real, {"model": model}, over="k", values=[1, 4, 16], metrics="precision"
    ... )
    >>> sweep["model"]["precision"].mean.tolist()
    [0.78, 0.95, 0.99]
    """
    asked = _check_values(options.over, options.values)
    prepared = reference if isinstance(reference, Reference) else None
    options = options if prepared is None else prepared.completed(options)
    given = reference if prepared is None else prepared.samples
    inputs = comparison_inputs(
        given, generated, options, seed=options.seed, skip_bad=options.skip_bad
    )
    options = with_scaling(options, inputs.reference.samples)
    chosen, notes = _choose_values(options.over, asked, inputs, k=options.k)
    options, automatic = with_embedder(options, inputs.sets)
    model = open_embedder(options, inputs.sets) if prepared is None else prepared.open(inputs.sets)
    if prepared is not None and prepared.chosen is not None:
        automatic = prepared.chosen.of(inputs.sets)
    names = DEFAULTS[options.over] if options.metrics is None else options.metrics
    wanted = _choose_metrics(names, model.views, options.over)
    # A sweep cuts both sides to one size
    every = [choice for choices in wanted.values() for choice in choices]
    check_extras(every, equal_sizes=True)
    check_approximate(every, options.neighbours)
    plan, progress = SweepPlan(chosen, options), options.progress or Silent()
    with limit_threads(options.threads), running_where(options, progress):
        known = None if prepared is None else prepared.embed
        embedded = embed_sides(inputs, model, cache_of(options), progress, known)
        cut = () if options.over != "length" else _cut_to_lengths(inputs, model, plan, progress)
        if options.over == "axes":
            plan = _within_columns(embedded, plan)
        swept = _sweep_systems(inputs, embedded, cut, wanted, plan, progress)
    return replace(
        swept,
        settings={
            **_settings(plan, wanted, model),
            "samples": inputs.reference.samples.kind,
            **chosen_setting(automatic),
        },
        warnings=(
            *notes,
            *sentences(embedder_cautions(options, model, inputs.sets, automatic)),
            *swept.warnings,
        ),
    )


def _settings(plan: SweepPlan, wanted: Wanted, model: Embedder) -> dict[str, Any]:
    options = plan.options
    metrics = list(dict.fromkeys(metric.name for choices in wanted.values() for metric in choices))
    fixed: dict[str, Any] = {"k": options.k} if options.over in ("n", "length") else {}
    fixed |= {"seeds": options.seeds} if plan.repeats else {}
    return {
        "values": list(plan.values),
        **fixed,
        "embedder": model.name,
        "views": list(model.views),
        "metrics": metrics,
        **options.settings(),
        "pca": PCA if options.over != "k" or options.projection == "union" else None,
        "embedding": dict(model.signature),
    }


def _choose_values(
    over: Over, values: Sequence[int] | None, inputs: ComparisonInputs, *, k: int
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the values to sweep, ascending, and what is to be said of them.

    By default k goes from 1 to 30, or as far as the smallest set allows, and the sizes go from 100
    (or a quarter of a small set) to all samples of the smallest set; the others double.

    Raises
    ------
    InputError
        If values were given that some set is too small for.
    """
    smallest = inputs.smallest
    if over in ("length", "buckets", "axes"):
        chosen = _doubling(over, values, inputs)
        return chosen, tuple(_uncut(chosen, inputs)) if over == "length" else ()
    least, most = (1, len(smallest.samples) - 1) if over == "k" else (k + 1, len(smallest.samples))
    if most < least:
        raise InputError(_too_small(smallest, k if over == "n" else 1))
    if values is not None:
        if values[0] < least:
            raise InputError(f"n must be at least k + 1 = {least}; found {values[0]}")
        if values[-1] > most:
            raise InputError(_beyond(over, values[-1], smallest))
        return tuple(values), ()
    if over == "n":
        return tuple(_sizes(least, most)), ()
    cut_short = f"k ends at {most}, since {_described(smallest)}"
    return tuple(range(1, min(LARGEST_K, most) + 1)), (cut_short,) if most < LARGEST_K else ()


def _doubling(
    over: Over, values: Sequence[int] | None, inputs: ComparisonInputs
) -> tuple[int, ...]:
    """Return lengths, numbers of cells or of axes: those given, or by doubling from a first one.

    Raises
    ------
    InputError
        If there are no texts to cut, or there are more cells than samples.
    """
    samples, size = inputs.reference.samples, len(inputs.smallest.samples)
    counts = samples.word_counts()
    if over == "length" and counts is None:
        raise InputError(
            f"`over='length'` cuts texts to a number of words, but {where(samples)} holds "
            f"{KINDS[samples.kind]}"
        )
    if values is None:
        ends = {"buckets": size // 5, "axes": MOST_AXES}
        last = int(np.median(counts)) if over == "length" and counts is not None else ends[over]
        first = FIRST[over]
        made = [first * 2**step for step in range(last.bit_length()) if first * 2**step < last]
        made.append(last)
        if len(set(made)) < 2 or last <= first:
            raise InputError(
                f"`over={over!r}` starts at {first} and would end at {last}; name at least two "
                "values with `values`"
            )
        return tuple(made)
    if over == "buckets" and values[0] < 2:
        raise InputError(f"buckets must be at least 2; found {values[0]}")
    if over == "buckets" and values[-1] > size:
        raise InputError(
            f"{values[-1]} cells need as many samples in every set; {_described(inputs.smallest)}"
        )
    return tuple(values)


def _uncut(values: Sequence[int], inputs: ComparisonInputs) -> Iterator[str]:
    """Say from which length on no text is cut, where two values or more are equal for that."""
    files = [inputs.reference, *(file for system in inputs.systems for file in system.files)]
    counts = [file.samples.word_counts() for file in files]
    longest = max((int(n.max()) for n in counts if n is not None and len(n)), default=0)
    whole = [value for value in values if value >= longest]
    if len(whole) > 1:
        yield (
            f"no text has more than {longest:,} words: from length {whole[0]:,} on nothing is cut, "
            "so the scores there are the same by construction"
        )


def _cut_to_lengths(
    inputs: ComparisonInputs, model: Embedder, plan: SweepPlan, progress: Progress
) -> tuple[Embedded, ...]:
    """Embed both sides with all texts cut to every length."""
    cache = cache_of(plan.options)
    return tuple(
        embed_sides(_at_length(inputs, words), model, cache, progress) for words in plan.values
    )


def _at_length(inputs: ComparisonInputs, words: int) -> ComparisonInputs:
    """Cut all texts of both sides to so many words."""

    def cut(file: InputSet) -> InputSet:
        return replace(file, samples=match_length(file.samples, words))

    systems = tuple(
        replace(system, files=tuple(map(cut, system.files))) for system in inputs.systems
    )
    return replace(inputs, reference=cut(inputs.reference), systems=systems, train=None)


def _within_columns(embedded: Embedded, plan: SweepPlan) -> SweepPlan:
    """Leave out default numbers of axes that no view has, and refuse given ones.

    Raises
    ------
    InputError
        If a value that was given lies above the number of columns of some view, or fewer than two
        default ones do not.
    """
    columns = min(rows.shape[1] for rows in embedded.reference.views.values())
    within = tuple(value for value in plan.values if value <= columns)
    if within == plan.values:
        return plan
    if plan.options.values is not None or len(within) < 2:
        raise InputError(
            f"`over='axes'` needs at most {columns} axes, as many as there are columns; found "
            f"{plan.values[-1]}"
        )
    return replace(plan, values=within)


def _check_values(over: Over, values: Any) -> tuple[int, ...] | None:
    """Bring values that were given into order, or say what is wrong with them."""
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"values must be a list of whole numbers; found {values!r}")
    given = list(values)
    for value in given:
        if not is_whole(value, 1):
            raise InputError(
                f"values of {over} must be whole numbers of at least 1; found {value!r}"
            )
    different = sorted({int(value) for value in given})
    if len(different) < 2:
        raise InputError(f"values must hold at least two different numbers; found {different}")
    return tuple(different)


def _sizes(least: int, most: int) -> Iterator[int]:
    """Sizes in equal ratios, of two significant digits but for the last."""
    first = max(least, min(SMALLEST_N, most // 4))
    count = round(math.log(most / first) / math.log(STEP))
    raw = [first * (most / first) ** (i / count) for i in range(count)] if count else []
    rounded = {max(first, _two_digits(size)) for size in raw}
    yield from sorted(size for size in rounded if size < most)
    yield most


def _two_digits(size: float) -> int:
    return int(float(f"{size:.2g}"))


def _beyond(over: Over, value: int, smallest: InputSet) -> str:
    if over == "k":
        return _too_small(smallest, value)
    return f"n = {value} needs {value} samples in every set; {_described(smallest)}"


def _too_small(smallest: InputSet, k: int) -> str:
    return f"k = {k} needs at least {k + 1} samples in every set; {_described(smallest)}"


def _described(file: InputSet) -> str:
    """Name a set and its size: by its file where it came from one."""
    size = len(file.samples)
    given = f"{file.n_given}, cut to {size}" if size < file.n_given else str(size)
    return f"{where(file.samples)} has {given} sample" + ("s" if given != "1" else "")


def _choose_metrics(
    names: str | Iterable[str], views: tuple[str, ...], over: Over
) -> dict[str, list[Choice]]:
    """Turn keys ``[view.]metric[:option…]`` into metrics by view; a plain name means every view.

    Raises
    ------
    InputError
        If a view or metric is unknown, or k is swept and the metric is not in `BY_K`.
    """
    check_keys(names)
    names = split_names(names)
    if over == "k":
        names = [key for name in names for key in _read_from_balls(str(name), views)]
    chosen = choose(names, views)
    kept = _that_depend(over, names, chosen) if over in DEPENDS else chosen
    return dict(by_view(kept, views))


def _that_depend(over: Over, names: Sequence[str], chosen: Sequence[Choice]) -> list[Choice]:
    """The metrics that depend on what is varied: all of them, but of those that all stands for."""
    kept = [choice for choice in chosen if DEPENDS[over](choice)]
    asked_all = any(split_key(str(name))[1] == "all" for name in names)
    if not asked_all and len(kept) < len(chosen):
        wrong = next(choice.name for choice in chosen if not DEPENDS[over](choice))
        raise InputError(
            f"metric {wrong!r} does not depend on what `over={over!r}` varies; possible are "
            f"{POSSIBLE[over]}"
        )
    return kept


def _counts_cells(choice: Choice) -> bool:
    return choice.metric.family == "frontier" and choice.option("estimator") == COUNTING


def _estimates_ratios(choice: Choice) -> bool:
    return choice.option("estimator") in ESTIMATORS


DEPENDS: Mapping[str, Callable[[Choice], bool]] = {
    "buckets": _counts_cells,
    "axes": _estimates_ratios,
}
"""Which metrics depend on what is varied, where not all do."""
POSSIBLE = {
    "buckets": "mauve_star, mauve and the family frontier by quantisation",
    "axes": "those by an estimator of likelihood ratios, such as mauve:knn, mauve:kde, "
    "mauve:classifier and mauve:gaussian",
}


def _read_from_balls(name: str, views: tuple[str, ...]) -> list[str]:
    """The key itself, or those that all stands for; refused where no ball of any k tells it."""
    view, metric, words = split_key(name)
    if view and view not in views:
        raise unknown_name("view", view, views)
    if metric == "all":
        return [f"{view}.{metric_name}" if view else metric_name for metric_name in BY_K]
    if metric in (*METRICS, *FAMILIES) and (metric not in BY_K or words):
        raise InputError(
            f"metric {':'.join((metric, *words))!r} cannot be computed in a sweep over k; "
            f"possible are {', '.join(BY_K)}"
        )
    if metric not in BY_K:
        raise unknown_name("metric", metric, [*BY_K, "all"])
    return [name]


def _sweep_systems(
    inputs: ComparisonInputs,
    embedded: Embedded,
    cut: Sequence[Embedded],
    wanted: Wanted,
    plan: SweepPlan,
    progress: Progress,
) -> Sweep:
    """Sweep every system, as embedded or as cut to every value; settings are left to the caller."""
    notes = embedded.own_notes([embedded.reference])
    about = summarise(
        [inputs.reference],
        name=inputs.reference.samples.name,
        notes=notes,
        embeddings=[embedded.reference],
    )
    embedder = embedded.reference.signature.get("embedder", "the embedder")
    steps = len(wanted) * sum(plan.steps(len(system.files)) for system in inputs.systems)
    systems = []
    with progress.task("Sweeping", steps) as advance:
        for place, (system, files) in enumerate(zip(inputs.systems, embedded.systems, strict=True)):
            searches: dict[str, list[SearchQuality]] = {view: [] for view in wanted}
            stages = [(each.reference, each.systems[place]) for each in cut or [embedded]]
            curves = _curves(stages, wanted, plan, about, advance, searches)
            file_notes = embedded.own_notes(files)
            sides = (("its", read_of(files)), ("the reference's", about.reading))
            curves = _as_read(curves, too_little(embedder, sides))
            made = _system(system, curves, about, file_notes, plan, searches, sides[0][1])
            unread = sentences(unread_cautions(embedder, sides))
            shared = _shared_prompts(system)
            systems.append(replace(made, warnings=(*unread, *shared, *made.warnings)))
    return Sweep(
        over=plan.options.over,
        reference=about,
        systems=tuple(systems),
        settings={},
        warnings=embedded.shared_notes,
    )


def _shared_prompts(system: InputSystem) -> Iterator[str]:
    """Say that a sweep compares answers as they are, where a comparison does not."""
    counts = [file.shared.count for file in system.files if file.shared is not None]
    if any(answers_alike(file.shared) for file in system.files):
        yield (
            f"it and the reference answer the same prompts ({max(counts):,} shared), and "
            f"{NOT_HELD}: scores are not those of calipers compare, which holds it constant"
        )


def _curves(
    stages: Sequence[Stage],
    wanted: Wanted,
    plan: SweepPlan,
    about: SetSummary,
    advance: Advance,
    searches: dict[str, list[SearchQuality]],
) -> dict[str, Curve]:
    reference, files = stages[-1]
    views = tuple(reference.views)
    curves = {}
    for view, metrics in wanted.items():
        measured = score_replicates(stages, view, metrics, plan, advance, searches[view])
        for metric, rows in measured.items():
            curves[key(view, metric, views)] = make_curve(
                metric,
                rows,
                view,
                plan,
                reference=reference,
                reference_hash=about.content_hash,
                files=files,
            )
    return curves


def _as_read(curves: dict[str, Curve], reason: str | None) -> dict[str, Curve]:
    """Return curves as they are, or without values where too little was read for them."""
    if reason is None:
        return curves
    return {
        name: replace(curve, replicates=np.full_like(curve.replicates, np.nan), reason=reason)
        for name, curve in curves.items()
    }


def _system(
    system: InputSystem,
    curves: dict[str, Curve],
    reference: SetSummary,
    notes: tuple[str, ...],
    plan: SweepPlan,
    searches: dict[str, list[SearchQuality]],
    reading: SetReading | None,
) -> SweptSystem:
    summary = replace(summarise(system.files, name=system.name, notes=notes), reading=reading)
    largest = plan.values[-1] if plan.options.over == "k" else plan.options.k
    same = summary.content_hash == reference.content_hash
    return SweptSystem(
        summary=summary,
        curves=curves,
        seeds=system.seeds,
        warnings=sentences(
            (
                *length_cautions(reference, summary),
                *trust_cautions(reference, summary, largest, same=same),
                *(
                    search_caution(qualities, view=view if len(searches) > 1 else "")
                    for view, qualities in searches.items()
                    if qualities
                ),
            )
        ),
    )
