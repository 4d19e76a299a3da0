"""``overlap``: compare every system with every other, without a reference."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from calipers.catalogue.settings import Settings
from calipers.commands.overlap.options import OverlapOptions
from calipers.commands.overlap.result import LEAST_CEILING, Overlap, OverlapSystem, OverlapView
from calipers.commands.overlap.shared import search_texts
from calipers.embedders import Cache, Embedder, Embeddings, RunVectors, embed
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.evaluate.approximate import search_caution, search_fields, search_of
from calipers.evaluate.embedding import (
    cache_of,
    check_columns,
    chosen_setting,
    embedder_cautions,
    notes_of_all,
    open_embedder,
    with_embedder,
    with_scaling,
)
from calipers.evaluate.engines import running_where
from calipers.evaluate.given_prompts import NOT_HELD, answers_alike
from calipers.evaluate.inputs import (
    FEW,
    LENGTH_RATIO,
    WIDE,
    Inputs,
    check_k,
    is_unread,
    read_alone,
    summarise,
)
from calipers.evaluate.scoring import neighbour_fields, signature_fields
from calipers.evaluate.shared_prompts import shared_prompts
from calipers.evaluate.spaces import PCA, neighbour_rows
from calipers.metrics.knn_support import precision_score, recall_score
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import keywords_of
from calipers.progress import Advance, Progress, Silent
from calipers.results.caution import sentences
from calipers.results.reading import unread_note
from calipers.samples import SampleSet
from calipers.samples.wording import first_names
from calipers.score import signature
from calipers.uncertainty.search_quality import SearchQuality
from calipers.unicode.written_words import BOTH, CHARACTERS, WORDS


@keywords_of(OverlapOptions)
def overlap(systems: Any, options: OverlapOptions) -> Overlap:
    """Tell for every pair of systems how much of each lies inside the other's support.

    Each system serves in turn as the reference of every other; precision and recall then tell
    whether one lies within the other, the two overlap, or they are disjoint (Le Bronnec et al., ACL
    2024, section 5.5 and table 1). Rows are prepared for each pair as :func:`calipers.compare`
    does: those of texts and images are scaled to length one, given vectors are used unchanged, and
    with ``projection="union"`` both sets are projected on the axes that keep 90 % of the variance
    of the two.

    Parameters
    ----------
    systems
        At least two: a dict from name to samples (a list of strings, an ``(n, d)`` array, a path,
        a :class:`~calipers.samples.SampleSet`), where a sequence of sample sets under one name
        stands for the seeds of that system.

    Texts that two systems share, verbatim or nearly so, are listed with their rows: shares of
    support do not show them.

    Returns
    -------
    Overlap
        ``overlap["meaning"].precision[i, j]`` is the share of system j inside the support of
        system i, ``.recall`` the same of the swapped pair; printing it shows the matrices and what
        each pair means in words. With seeds, values are means over all pairs of files.
        ``overlap.shared.pairs`` holds the shared texts.

    Raises
    ------
    InputError
        If there are fewer than two systems, samples cannot be read or do not fit together, or an
        option is out of its range.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> a = np.arange(10.0)[:, None]
    >>> overlap = calipers.overlap({"a": a, "b": a + 5}, k=2)
    >>> overlap.relations[0].b_in_a.value
    0.7
    """
    inputs = read_alone(systems, options, seed=options.seed, skip_bad=options.skip_bad)
    options = with_scaling(options, inputs.sets[0])
    check_k(inputs, options.k)
    options, chosen = with_embedder(options, inputs.sets, alone=True)
    model = open_embedder(options, inputs.sets, fit_on_all=True)
    settings, progress = Settings.of(vars(options)), options.progress or Silent()
    with limit_threads(options.threads), running_where(options, progress):
        members = _embed(inputs, model, cache_of(options), progress)
        searches: Searches = {view: [] for view in model.views}
        views = _measure(members, settings, progress, searches)
    shared = notes_of_all([file.embeddings for member in members for file in member.files])
    described = _describe(inputs, members, shared)
    return Overlap(
        systems=described,
        views=views,
        shared=search_texts(inputs, seed=options.seed),
        settings={
            "embedder": model.name,
            "views": list(model.views),
            **options.settings(),
            "pca": PCA if options.projection == "union" else None,
            "samples": inputs.sets[0].kind,
            "embedding": dict(model.signature),
            **chosen_setting(chosen),
        },
        warnings=(
            *_unread_warnings(described, model.name),
            *_size_warnings(inputs, options.k),
            *_length_warnings(_medians(described), {s.summary.word_unit for s in described}),
            *_copy_warnings(inputs),
            *_prompt_warnings(inputs),
            *_ceiling_warnings(views),
            *_search_warnings(searches),
            *sentences(embedder_cautions(options, model, inputs.sets, chosen)),
            *shared,
        ),
    )


@dataclass(frozen=True, eq=False)
class File:
    """One file of a system, and its embeddings."""

    samples: SampleSet
    embeddings: Embeddings


@dataclass(frozen=True, eq=False)
class Member:
    """One system and its files."""

    name: str
    files: tuple[File, ...]


Place = tuple[int, int]
Searches = dict[str, list[SearchQuality]]


def _pair_count(members: Sequence[Member]) -> int:
    """Count the pairs of files of one view, each once."""
    places = combinations_with_replacement(range(len(members)), 2)
    return sum(len(list(_file_pairs(members, place))) for place in places)


def _measure_view(
    members: Sequence[Member],
    view: str,
    settings: Settings,
    advance: Advance,
    searches: list[SearchQuality],
) -> OverlapView:
    """Measure every pair of files once, and bring those of two systems together."""
    shares = _every_share(members, view, settings, advance, searches)
    rows = range(len(members))
    pairs = [[len(list(_file_pairs(members, (i, j)))) for j in rows] for i in rows]
    return OverlapView(
        name=view,
        names=tuple(member.name for member in members),
        sizes=tuple(min(len(file.samples) for file in member.files) for member in members),
        precision=np.array([[_mean(shares[i, j]) for j in rows] for i in rows]),
        precision_sd=np.array([[_sd(shares[i, j], pairs[i][j]) for j in rows] for i in rows]),
        file_pairs=np.array(pairs),
        signatures=tuple(
            tuple(_signature(members[i], members[j], view, settings, pairs[i][j]) for j in rows)
            for i in rows
        ),
    )


def _every_share(
    members: Sequence[Member],
    view: str,
    settings: Settings,
    advance: Advance,
    searches: list[SearchQuality],
) -> dict[Place, list[float]]:
    """How much of j lies inside i, for all pairs of their files, sorted.

    One pass over a pair gives both directions: how much of the second lies inside the first is the
    precision with the first as reference, and the recall with the second as reference.
    """
    shares: dict[Place, list[float]] = defaultdict(list)
    for i, j in combinations_with_replacement(range(len(members)), 2):
        for left, right in _file_pairs(members, (i, j)):
            of_right, of_left = _shares(left, right, view, settings, searches)
            shares[i, j].append(of_right)
            shares[j, i].append(of_left)
            advance(1)
    return defaultdict(list, {place: sorted(values) for place, values in shares.items()})


def _file_pairs(members: Sequence[Member], place: Place) -> Iterator[tuple[File, File]]:
    """Pairs of files of two systems; within one system each two different ones, once."""
    left, right = (members[index].files for index in place)
    yield from combinations(left, 2) if place[0] == place[1] else product(left, right)


def _shares(
    left: File, right: File, view: str, settings: Settings, searches: list[SearchQuality]
) -> tuple[float, float]:
    """How much of the right file lies inside the left one, and of the left inside the right.

    Joint axes round differently when sides are swapped, so the content decides who comes first:
    the order of the systems moves no digit.
    """
    if right.samples.content_hash < left.samples.content_hash:
        return _shares(right, left, view, settings, searches)[::-1]
    if is_unread(left.embeddings) or is_unread(right.embeddings):
        return math.nan, math.nan
    try:
        sides = left.embeddings.views[view], right.embeddings.views[view]
        rows = neighbour_rows(*sides, settings)
        near = neighbourhoods(
            *rows,
            k=settings.k,
            ties=settings.ties,
            distance=settings.distance,
            threads=settings.threads,
        )
    except InputError as error:
        names = f"{left.samples.name} (as reference) and {right.samples.name} (as generated)"
        raise InputError(f"{names}: {error}") from error
    quality = search_of(*rows, near, settings, settings.k)
    searches += [] if quality is None else [quality]
    return precision_score(near, settings.k).value, recall_score(near, settings.k).value


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _sd(values: Sequence[float], pairs: int) -> float:
    return float(np.std(values, ddof=1)) if pairs > 1 else math.nan


def _signature(left: Member, right: Member, view: str, settings: Settings, pairs: int) -> str:
    pins = {
        "metric": "precision,recall",
        "k": settings.k,
        "ties": settings.ties,
        "distance": settings.distance,
        **search_fields(),
        "n": _sizes(left),
        "m": _sizes(right),
    }
    hashes = {"reference": _hashes(left), "generated": _hashes(right)}
    embeddings = left.files[0].embeddings
    shared = neighbour_fields(signature_fields(embeddings, view, settings, **hashes), settings)
    return signature({**pins, **shared, "file_pairs": pairs})


def _sizes(member: Member) -> str:
    return "+".join(map(str, sorted({len(file.samples) for file in member.files})))


def _hashes(member: Member) -> str:
    return "+".join(file.samples.content_hash[:16] for file in member.files)


def _embed(
    inputs: Inputs, model: Embedder, cache: Cache | RunVectors | None, progress: Progress
) -> tuple[Member, ...]:
    """Embed every file of every system."""

    def file_of(samples: SampleSet) -> File:
        return File(samples, embed(samples, model, cache=cache, progress=progress))

    members = tuple(
        Member(system.name, tuple(file_of(file.samples) for file in system.files))
        for system in inputs.systems
    )
    named = [(member.name, [file.embeddings for file in member.files]) for member in members]
    first = members[0]
    check_columns(f"those of {first.name},", first.files[0].embeddings, named)
    return members


def _measure(
    members: Sequence[Member], settings: Settings, progress: Progress, searches: Searches
) -> dict[str, OverlapView]:
    """Measure every pair of files in every view; notes what approximate searches found."""
    with progress.task("Comparing pairs", _pair_count(members) * len(searches)) as advance:
        return {
            view: _measure_view(members, view, settings, advance, qualities)
            for view, qualities in searches.items()
        }


def _describe(
    inputs: Inputs, members: Sequence[Member], shared: Sequence[str]
) -> tuple[OverlapSystem, ...]:
    """Describe every system, with what embedding its files brought up."""
    return tuple(
        OverlapSystem(
            summarise(
                system.files,
                name=system.name,
                notes=tuple(
                    note for f in member.files for note in f.embeddings.notes if note not in shared
                ),
                embeddings=[file.embeddings for file in member.files],
            ),
            tuple(
                summarise([file], name=file.samples.name, embeddings=[embedded.embeddings])
                for file, embedded in zip(system.files, member.files, strict=True)
            ),
        )
        for system, member in zip(inputs.systems, members, strict=True)
    )


def _unread_warnings(systems: Sequence[OverlapSystem], embedder: str) -> Iterator[str]:
    """Say what the embedder did not read of each system."""
    for system in systems:
        note = unread_note(embedder, system.name, system.summary.reading)
        if note is not None:
            yield note


def _medians(systems: Sequence[OverlapSystem]) -> dict[str, float]:
    """Return the median length of each system's texts, where they are texts."""
    return {s.name: s.summary.words["median"] for s in systems if s.summary.words is not None}


def _ceiling_warnings(views: Mapping[str, OverlapView]) -> tuple[str, ...]:
    """Say whose own files overlap too little to be a measure for others."""
    return tuple(
        f"{name}: only {100 * view.precision[i, i]:.0f} % of its files lie inside each other"
        f"{f' by {view.name}' if len(views) > 1 else ''}, too little to be used as a maximum"
        for view in views.values()
        for i, name in enumerate(view.names)
        if view.precision[i, i] < LEAST_CEILING
    )


def _search_warnings(searches: Searches) -> Iterator[str]:
    """Say how far shares err where neighbours are approximate."""
    for view, qualities in searches.items():
        if qualities:
            named = view if len(searches) > 1 else ""
            yield search_caution(qualities, view=named, pairs="pairs of files").text


def _size_warnings(inputs: Inputs, k: int) -> Iterator[str]:
    """Say where sizes differ, or are too small to mean much."""
    sizes = sorted({len(file.samples) for _, file in inputs.named})
    if len(sizes) > 1:
        yield (
            f"sets have {sizes[0]} to {sizes[-1]} samples; the shares depend on both sizes, "
            "so those of different pairs are not comparable"
        )
    if sizes[0] < FEW:
        yield f"{sizes[0]} samples are few: the shares vary a lot by chance"
    if sizes[0] < WIDE * k:
        yield f"neighbourhoods of {k} among {sizes[0]} samples cover nearly everything"


def _length_warnings(medians: Mapping[str, float], units: Collection[str]) -> Iterator[str]:
    """Warn where the texts of one system are much longer: length alone moves every share.

    `units` is what these lengths count; words and characters are not compared.
    """
    if not medians or {WORDS, CHARACTERS} <= set(units):
        return
    unit = next(iter(units)) if len(units) == 1 else BOTH
    short, long = (
        min(medians, key=lambda name: medians[name]),
        max(medians, key=medians.__getitem__),
    )
    if medians[long] > LENGTH_RATIO * medians[short]:
        yield (
            f"lengths differ: the texts of {long} have {medians[long]:g} {unit} in the median, "
            f"those of {short} {medians[short]:g}; a difference in length alone changes the shares"
        )


def _prompt_warnings(inputs: Inputs) -> Iterator[str]:
    """Say whose samples are close to each other by what they answer alone."""
    firsts = {system.name: system.files[0].samples for system in inputs.systems}
    alike: dict[str, None] = {}
    for one, other in combinations(firsts, 2):
        if answers_alike(shared_prompts(firsts[one], firsts[other], paired=False)):
            alike |= dict.fromkeys((one, other))
    if alike:
        names = " and ".join(alike) if len(alike) == 2 else first_names(list(alike), 4)
        yield (
            f"{names} answer the same prompts, and {NOT_HELD}: calipers "
            "prompts compares the answers to each prompt"
        )


def _copy_warnings(inputs: Inputs) -> Iterator[str]:
    """Say which sets are the same, sample for sample."""
    holders: dict[str, list[tuple[str, str]]] = {}
    for name, file in inputs.named:
        holders.setdefault(file.samples.content_hash, []).append((name, file.samples.source))
    for same in holders.values():
        names = list(dict.fromkeys(name for name, _ in same))
        if len(names) > 1:
            yield f"{' and '.join(names)} hold exactly the same samples"
        elif len(same) > 1:
            sources = ", ".join(source for _, source in same)
            yield f"{names[0]}: these files hold exactly the same samples: {sources}"
