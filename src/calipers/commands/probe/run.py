"""``probe``: test which changes of texts an embedder detects, by changing texts on purpose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice, check_extras, check_keys, choose, key, split_names
from calipers.catalogue.keys import split_key
from calipers.catalogue.settings import Settings
from calipers.commands.probe.options import ProbeOptions
from calipers.commands.probe.perturbations import CHANGES, Change, change_set
from calipers.commands.probe.result import ENOUGH, Move, Probe, ProbedChange, ProbedView
from calipers.embedders import Cache, Embedder, Embeddings, RunVectors, embed
from calipers.errors import InputError, unknown_name
from calipers.evaluate.embedding import (
    cache_of,
    chosen_setting,
    embedder_cautions,
    open_unfitted,
    with_embedder,
    with_scaling,
)
from calipers.evaluate.inputs import FEW, InputSet, Reader, read_of, summarise
from calipers.evaluate.scoring import score_pair
from calipers.evaluate.spaces import PCA
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import keywords_of
from calipers.progress import Advance, Progress, Silent
from calipers.results import SetSummary
from calipers.results.caution import sentences
from calipers.results.reading import REMEDY, SetReading, too_little, unread_note
from calipers.samples import SampleSet
from calipers.score import Score
from calipers.uncertainty.ties import tie_width

METRICS = ("mauve_star", "precision", "recall", "classifier_auc")
"""What a view is probed by: scores that `compare` shows, and a classifier, which detects more.

MAUVE*, precision and recall of 250 stories hardly move where sentences are reordered; held-out rows
can still be separated, and a view in which a classifier detects a change is not blind to it.
"""

MOVED = 1e-4
"""A vector has changed where it differs by more than this share of its length."""

UNCHANGED = "unchanged"
ANY_VIEW = "any"
"""Stands for every view while keys are checked."""

Rows = NDArray[np.intp]


@keywords_of(ProbeOptions)
def probe(samples: Any, options: ProbeOptions) -> Probe:
    """Test which changes of texts an embedder detects, such as topics, word order or length.

    One random half of the texts is the reference. The other half is changed in a known way and
    scored against it; unchanged, it is the ceiling. A change that a view of the embedder does not
    detect leaves its scores unchanged (Pillutla et al., JMLR 2023, figure 16).

    Parameters
    ----------
    samples
        Texts: a list of strings, a path, or a :class:`~calipers.samples.SampleSet`.

    Returns
    -------
    Probe
        ``result["form"]["word_shuffle"].verdict``; printing it shows a table for each view.

    Raises
    ------
    InputError
        If the samples are not texts, are too few or cannot be read, or an option is out of its
        range.

    Examples
    --------
    >>> import calipers
    >>> texts = [f"the {animal} sat on the {place}" for animal in ("cat", "dog", "owl", "fox")
    ...          for place in ("mat", "sofa", "roof")]
    >>> probe = calipers.probe(texts * 4, embedder="characters", changes=["word_shuffle"])
    >>> probe["form"]["word_shuffle"].verdict
    'sees'
    """
    k, seeds, seed, most = options.k, options.seeds, options.seed, options.max_samples
    chosen, keys = _choose_changes(options.changes), _choose_metrics(options.metrics)
    given = _read_texts(samples, options.field)
    texts = given if most is None else given.subsample(most, seed=seed)
    _check_halves(texts, len(given), k)
    options, progress = with_scaling(options, texts), options.progress or Silent()
    settings = Settings.of(vars(options))
    options, automatic = with_embedder(options, [texts])
    model = open_unfitted(options, texts)
    choices = choose(keys, model.views)
    check_extras(choices, equal_sizes=True)
    versions, altered = {UNCHANGED: texts}, {}
    for change in chosen:
        versions[change.name], flags = change_set(texts, change, seed=seed)
        altered[change.name] = np.array(flags)
    vectors = Vectors(model, versions, cache_of(options), progress)
    halvings = []
    with limit_threads(options.threads), progress.task("Scoring", seeds * len(versions)) as advance:
        for number in range(seeds):
            halves = Halves.draw(len(texts), seed=seed, halving=number)
            rows = {name: np.flatnonzero(flags[halves.judged]) for name, flags in altered.items()}
            digest = texts.take(halves.reference).content_hash
            sides = vectors.sides(halves)
            read = read_of([sides.reference, sides.versions[UNCHANGED]])
            _check_read(texts.name, model.name, read)
            halvings.append(_score_halving(sides, rows, choices, settings, digest, advance))
    results = Halvings(model.views, tuple(choice.name for choice in choices), halvings)
    shares = {name: float(flags.mean()) for name, flags in altered.items()}
    summary = summarise([InputSet(texts, len(given))], name=texts.name, notes=halvings[-1].notes)
    summary, unread = replace(summary, reading=read), unread_note(model.name, texts.name, read)
    tie = tie_width(len(texts) // 2)
    return Probe(
        samples=summary,
        views={
            view: ProbedView(
                view,
                {
                    change.name: results.change(view, change, altered=shares[change.name], tie=tie)
                    for change in chosen
                },
            )
            for view in model.views
        },
        settings={
            "embedder": model.name,
            "views": list(model.views),
            "metrics": list(results.metrics),
            "changes": [change.name for change in chosen],
            "half": len(texts) // 2,
            **options.settings(),
            "pca": PCA,
            "embedding": dict(model.signature),
            **chosen_setting(automatic),
        },
        signatures={name: score.signature for name, score in halvings[0].scores[UNCHANGED].items()},
        warnings=(
            *([unread] if unread else ()),
            *sentences(embedder_cautions(options, model, [texts], automatic)),
            *_warnings(summary, shares, chosen),
        ),
    )


def _choose_changes(names: str | Iterable[str] | None) -> list[Change]:
    """Find changes by name, in a list or in one string; None for all.

    Raises
    ------
    InputError
        If there is none of that name, or none is named.
    """
    if names is None:
        return list(CHANGES.values())
    listed = split_names(names)
    for name in listed:
        if name not in CHANGES:
            raise unknown_name("change", str(name), CHANGES)
    if not listed:
        raise InputError("changes must name at least one change; found none")
    return [CHANGES[name] for name in dict.fromkeys(listed)]


def _choose_metrics(metrics: str | Iterable[str] | None) -> list[str]:
    """Return the keys of the metrics, which must lie between 0 and 1 for a verdict to be read.

    Raises
    ------
    InputError
        If a key is unknown, names a view, or has no such scale.
    """
    check_keys(metrics)
    asked = METRICS if metrics is None else split_names(metrics)
    for name in asked:
        view = split_key(name)[0]
        if view:
            raise InputError(
                f"{name!r} names the view {view!r}, but a probe computes every view; leave "
                "the view out"
            )
    choices = choose(asked, (ANY_VIEW,))
    for choice in choices:
        scale = choice.metric.range_of(choice.options)
        if scale != (0.0, 1.0) or choice.metric.better == "closest":
            raise InputError(
                f"{choice.name!r} does not lie between 0 and 1, so the size of its changes "
                f"cannot be judged; use others, such as {', '.join(METRICS)}"
            )
    return [choice.name for choice in choices]


def _read_texts(samples: Any, field: str | None) -> SampleSet:
    """Read the texts of a probe.

    Raises
    ------
    InputError
        If they cannot be read, or are no texts.
    """
    texts = Reader(field).one(samples, "texts")
    if texts.kind != "texts":
        raise InputError(f"{texts.name}: a probe needs texts, but this set holds {texts.kind}")
    return texts


def _check_read(name: str, embedder: str, read: SetReading | None) -> None:
    """Refuse texts of which the embedder knows too few words to detect a change."""
    reason = too_little(embedder, [("its", read)])
    if reason is not None:
        raise InputError(f"{name}: {reason}; {REMEDY}")


def _check_halves(texts: SampleSet, given: int, k: int) -> None:
    """Refuse a set whose halves are too small for balls of k neighbours."""
    if len(texts) // 2 < k + 1:
        shorter = f", cut to {len(texts)}" if len(texts) < given else ""
        raise InputError(
            f"{texts.name}: k = {k} needs at least {k + 1} texts in each half, {2 * k + 2} in all; "
            f"it has {given}{shorter}"
        )


@dataclass(frozen=True)
class Halves:
    """One random halving: rows of the reference half, and rows that are changed and evaluated."""

    reference: Rows
    judged: Rows

    @classmethod
    def draw(cls, n: int, *, seed: int, halving: int) -> Halves:
        """Divide n rows into two halves of equal size, leaving one row out where n is odd."""
        order = np.random.default_rng([seed, halving]).permutation(n)
        half = n // 2
        return cls(np.sort(order[:half]), np.sort(order[half : 2 * half]))


@dataclass(frozen=True, eq=False)
class Sides:
    """The vectors of one halving: of the reference half, and of each version of the other half."""

    reference: Embeddings
    versions: Mapping[str, Embeddings]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of the texts and of their changed versions, each embedded once where possible.

    An embedder that is fitted to the reference is fitted to each reference half anew.

    Attributes
    ----------
    versions
        By name the sets that are judged, row by row the same texts; the first is unchanged.
    """

    model: Embedder
    versions: Mapping[str, SampleSet]
    cache: Cache | RunVectors | None
    progress: Progress

    def sides(self, halves: Halves) -> Sides:
        """Return the vectors of one halving."""
        unchanged = next(iter(self.versions))
        if not self.model.needs_fitting:
            whole = self._whole
            return Sides(
                _taken(whole[unchanged], halves.reference),
                {name: _taken(version, halves.judged) for name, version in whole.items()},
            )
        reference = self.versions[unchanged].take(halves.reference)
        model = self.model.fitted(reference)
        judged = {name: texts.take(halves.judged) for name, texts in self.versions.items()}
        return Sides(
            self._embed(reference, model),
            {name: self._embed(texts, model) for name, texts in judged.items()},
        )

    @cached_property
    def _whole(self) -> dict[str, Embeddings]:
        return {name: self._embed(texts, self.model) for name, texts in self.versions.items()}

    def _embed(self, samples: SampleSet, model: Embedder) -> Embeddings:
        return embed(samples, model, cache=self.cache, progress=self.progress)


def _taken(embeddings: Embeddings, rows: Rows) -> Embeddings:
    views = {name: view[rows] for name, view in embeddings.views.items()}
    reading, cut = embeddings.reading, embeddings.truncated
    return replace(
        embeddings,
        views=views,
        truncated=None if cut is None else cut[rows],
        reading=None if reading is None else reading.take(rows),
    )


@dataclass(frozen=True, eq=False)
class ScoredHalving:
    """The scores of one halving.

    Attributes
    ----------
    scores
        By the version that was judged, then by key.
    moved
        By change and view, the share of the altered texts whose vector changed.
    notes
        Of embedding the unchanged texts.
    """

    scores: Mapping[str, Mapping[str, Score]]
    moved: Mapping[tuple[str, str], float]
    notes: tuple[str, ...]


def _score_halving(
    sides: Sides,
    altered: Mapping[str, Rows],
    choices: Sequence[Choice],
    settings: Settings,
    digest: str,
    advance: Advance,
) -> ScoredHalving:
    """Score every version; `altered` are the judged rows that each change alters."""
    scores = {}
    for name, version in sides.versions.items():
        scored = score_pair(sides.reference, version, choices, settings, reference_hash=digest)
        scores[name] = scored.scores
        advance(1)
    unchanged = sides.versions[UNCHANGED]
    moved = {
        (name, view): _moved_share(unchanged, sides.versions[name], view, rows)
        for name, rows in altered.items()
        for view in unchanged.views
    }
    return ScoredHalving(scores, moved, unchanged.notes)


def _moved_share(unchanged: Embeddings, changed: Embeddings, view: str, altered: Rows) -> float:
    """Return the share of the altered texts whose vector changed; NaN without any."""
    if not len(altered):
        return float("nan")
    before = np.asarray(unchanged.views[view][altered], float)
    after = np.asarray(changed.views[view][altered], float)
    scale = np.maximum(np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1))
    return float((np.linalg.norm(after - before, axis=1) > MOVED * scale).mean())


@dataclass(frozen=True, eq=False)
class Halvings:
    """All halvings of a probe, by view of the embedder and metric."""

    views: tuple[str, ...]
    metrics: tuple[str, ...]
    scored: Sequence[ScoredHalving]

    def change(self, view: str, change: Change, *, altered: float, tie: float) -> ProbedChange:
        """Collect the results of one change in one view.

        Parameters
        ----------
        altered
            The share of texts that it altered.
        tie
            The sampling error of a score.
        """
        shares = [halving.moved[change.name, view] for halving in self.scored]
        defined = [share for share in shares if not np.isnan(share)]
        return ProbedChange(
            name=change.name,
            label=change.label,
            does=change.does,
            altered=altered,
            moved=float(np.mean(defined)) if defined else float("nan"),
            moves=tuple(self._move(view, metric, change.name, tie) for metric in self.metrics),
        )

    def _move(self, view: str, metric: str, version: str, tie: float) -> Move:
        name = key(view, metric, self.views)
        ceiling = tuple(halving.scores[UNCHANGED][name].value for halving in self.scored)
        values = tuple(halving.scores[version][name].value for halving in self.scored)
        return Move(metric, self.scored[0].scores[version][name].better, ceiling, values, tie)


def _warnings(
    samples: SetSummary, shares: Mapping[str, float], changes: Sequence[Change]
) -> tuple[str, ...]:
    """Warn where halves are small, or a change alters little."""
    warnings = []
    if samples.n // 2 < FEW:
        warnings.append(f"halves of {samples.n // 2} texts are few: scores vary a lot by chance")
    for change in changes:
        share = shares[change.name]
        if share < ENOUGH:
            count = "no text" if share == 0 else f"{share:.0%} of the texts"
            warnings.append(
                f"{change.label}: changes {count}, too few to be measured (words must be "
                "separated by spaces, and only capitals can become lower case)"
            )
    return tuple(warnings)
