"""Scores and curves of a pair of sets, view by view, from their embeddings.

:func:`score_pair` scores a whole pair, :func:`score_rows` some rows of it, as noise floors and
advice need them; :func:`average` brings the files of one system together. Every score is signed
with what it depends on (:func:`signature_fields`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.catalogue.choosing import Choice, key, needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.evaluate.approximate import search_of, with_search
from calipers.evaluate.given_prompts import GivenPrompts
from calipers.evaluate.intervals import AUC, FEWEST_PERMUTATIONS, measure_uncertainty
from calipers.evaluate.labels import Groups, PairClusters
from calipers.evaluate.shared_prompts import SharedPrompts
from calipers.evaluate.spaces import PCA, PairSpace, Space, pair_of
from calipers.metrics.copying import are_near_copies
from calipers.metrics.estimates import Remark
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair, Strata
from calipers.numeric.distances import Sides
from calipers.score import Score, join_signature, signature
from calipers.uncertainty.replicates import columns, spreads
from calipers.uncertainty.search_quality import SearchQuality
from calipers.uncertainty.spread import Spread, mean_spread
from calipers.uncertainty.two_sample import TwoSample, of_files

Rows = NDArray[np.intp]

SMALL = 5_000
"""Samples of a set up to which pairs are scored side by side, on a thread each."""

UNDEFINED = re.compile(r"\|undefined:(\d+)")
ABSENT = Score(np.nan, reason="one of the system's files has no sample of this group")
MAPPINGS = ("scores", "curves", "neighbours", "spreads", "tests", "curve_variances", "searches")
SEARCH = "search"
"""The key of what was found by the search for neighbours of a view."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores and curves of one pair, and locations of its samples, by key.

    `k_max` is the largest k for which balls were measured, 0 where none were; `remarks` say what is
    to be known of the estimates. Where that was asked for, `spreads` hold how much the scores move,
    `curve_variances` how much the curves move with each set, `tests` whether the sets are
    distinguishable; `searches` what an approximate search for neighbours found.
    """

    scores: Mapping[str, Score]
    curves: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    neighbours: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    k_max: int = 0
    remarks: tuple[Remark, ...] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    tests: Mapping[str, TwoSample] = field(default_factory=dict)
    curve_variances: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    searches: Mapping[str, SearchQuality] = field(default_factory=dict)

    @property
    def ranked_spreads(self) -> dict[str, Spread]:
        """Spreads of what ranks a system: of the gap to the reference, where that counts."""
        below = {
            name: score.reference is not None and score.value < score.reference
            for name, score in self.scores.items()
        }
        return {
            name: spread.times(-1.0) if below[name] else spread
            for name, spread in self.spreads.items()
        }

    def of_view(self, view: str, views: tuple[str, ...]) -> Scored:
        """Prefix every key with the view, unless it is the main one."""
        keyed: dict[str, Any] = {
            mapping: {key(view, name, views): value for name, value in values.items()}
            for mapping, values in vars(self).items()
            if mapping in MAPPINGS
        }
        return replace(self, **keyed, remarks=tuple(remark.by(view) for remark in self.remarks))


def merge(several: Iterable[Scored]) -> Scored:
    """Return the union of several parts, whose keys differ."""
    merged = Scored({})
    for scored in several:
        both = {
            mapping: {**getattr(merged, mapping), **getattr(scored, mapping)}
            for mapping in MAPPINGS
        }
        remarks = tuple(dict.fromkeys((*merged.remarks, *scored.remarks)))
        merged = Scored(**both, k_max=max(merged.k_max, scored.k_max), remarks=remarks)
    return merged


def undefined(scored: Scored, reason: str, only: str = "") -> Scored:
    """Remove the value of all keys with an ending, and of everything computed with it."""

    def others(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if not name.endswith(only)}

    def untested(test: TwoSample) -> TwoSample:
        unknown, nothing = np.nan, np.empty(0)
        test = replace(test, statistic=unknown, estimate=unknown, p_value=unknown)
        return replace(test, null=nothing, reason=reason)

    remaining: dict[str, Any] = {mapping: others(getattr(scored, mapping)) for mapping in MAPPINGS}
    scores = {
        name: score.without_value(reason) if name.endswith(only) else score
        for name, score in scored.scores.items()
    }
    tests = {name: untested(test) for name, test in scored.tests.items() if name.endswith(only)}
    remaining |= {"scores": scores, "tests": {**remaining["tests"], **tests}}
    return replace(scored, **remaining, remarks=() if not only else scored.remarks)


# One pair ----------------------------------------------------------------------------------------


def score_pair(
    reference: Embeddings,
    generated: Embeddings,
    choices: Sequence[Choice],
    settings: Settings,
    *,
    reference_hash: str,
    groups: Groups | None = None,
    clusters: PairClusters | None = None,
    shared: SharedPrompts | None = None,
    space: Space | None = None,
    level: float | None = None,
    moving: Collection[str] | None = None,
    permutations: int = FEWEST_PERMUTATIONS,
) -> Scored:
    """Score one generated set against the reference in every view.

    Parameters
    ----------
    reference_hash
        Content hash of the reference, for signatures.
    groups
        Of the samples, where scores by group are wanted too.
    clusters
        Which rows of each set belong together; None where all are independent.
    shared
        Which rows of both sets answer one prompt; None where they share none.
    space
        Where a whole run is compared; without it the pair has a space of its own.
    level
        Confidence level of the tests of whether the sets are distinguishable; None for neither
        these tests nor spreads of the scores.
    moving
        Keys of the scores whose spread is measured; None for all of them.
    permutations
        How often labels are permuted in each of these tests.
    """
    views = tuple(reference.views)
    wanted = by_view(choices, views)
    return merge(
        score_view(
            reference,
            generated,
            view,
            view_choices,
            settings,
            reference_hash=reference_hash,
            groups=groups,
            clusters=clusters,
            shared=shared,
            space=space,
            level=level,
            moving=moving,
            permutations=permutations,
        )
        for view, view_choices in wanted
    )


def score_view(
    reference: Embeddings,
    generated: Embeddings,
    view: str,
    choices: Sequence[Choice],
    settings: Settings,
    *,
    reference_hash: str,
    groups: Groups | None = None,
    clusters: PairClusters | None = None,
    shared: SharedPrompts | None = None,
    space: Space | None = None,
    level: float | None = None,
    moving: Collection[str] | None = None,
    permutations: int = FEWEST_PERMUTATIONS,
    given: GivenPrompts | None = None,
    refitted: tuple[Embeddings, Embeddings] | None = None,
) -> Scored:
    """Score one generated set against the reference in one view, as :func:`score_pair` does.

    With `given` prompts scores are those of answers to other prompts, less what their own prompt
    leads to expect; tests are of the answers as they are. Of an embedder that is fitted, `refitted`
    are both sets as one that was fitted on both of them embeds them: labels are permuted over
    these, and the area under the ROC curve that tests show is theirs.
    """
    space = space or PairSpace(reference, replicates=level is not None)
    views = tuple(reference.views)
    needs = needs_of(choice.metric for choice in choices)
    plain = pair = space.pair(view, generated, settings, needs, clusters)
    if shared is not None:
        plain = pair = replace(pair, prompts=(shared.reference, shared.generated))
    tested = plain
    if refitted is not None:
        rows, others = (side.views[view] for side in refitted)
        tested = pair_of(rows, others, settings, needs, clusters=clusters)
        tested = replace(tested, prompts=plain.prompts)
    if given is not None:
        sides = reference.views[view], generated.views[view]
        pair = _given_prompts(plain, given, given.sides(view, sides, settings), space)
    areas = [choice for choice in choices if refitted is not None and choice.name == AUC]
    as_given = [
        choice
        for choice in choices
        if choice not in areas and (given is None or is_given_prompts(choice))
    ]
    rest = [choice for choice in choices if choice not in areas and choice not in as_given]
    scored = _score(pair, as_given, groups)

    def moved(wanted: Sequence[Choice]) -> list[Choice]:
        return [
            one
            for one in wanted
            if moving is None or one.name == AUC or key(view, one.name, views) in moving
        ]

    if level is not None:
        moves, curve_variances, tests = measure_uncertainty(
            pair, moved(as_given), groups, level=level, permutations=permutations, tested=tested
        )
        moves = {
            **moves,
            **(spreads(plain, moved(rest)) if rest else {}),
            **(spreads(tested, moved(areas)) if areas else {}),
        }
        scored = replace(scored, spreads=moves, curve_variances=curve_variances, tests=tests)
    for other, wanted in ((plain, rest), (tested, areas)):
        if not wanted:
            continue
        whole = _score(other, wanted, None)
        merged = merge([whole, scored])
        names = [choice.name for choice in choices if choice.name in merged.scores]
        scored = replace(
            merged,
            scores={name: merged.scores[name] for name in [*names, *merged.scores]},
            neighbours={**merged.neighbours, **_copies(whole)},
        )
    hashes = {"scope": space.scope, "reference": reference_hash[:16]}
    fields = signature_fields(reference, view, settings, **hashes)
    prompts = fields if given is None else {**fields, "prompts": given.signature}
    signed_by = dict.fromkeys((choice.name for choice in rest), fields)
    if refitted is not None:
        signed_by[AUC] = signature_fields(refitted[0], view, settings, **hashes)
        together = signature({"fitted_on": "both_sets"})
        tests = {
            name: replace(test, signature=join_signature(test.signature, together))
            for name, test in scored.tests.items()
        }
        scored = replace(scored, tests=tests)
    signed = {
        name: score.signed(**fields_of_score(name, score, signed_by.get(name, prompts), settings))
        for name, score in scored.scores.items()
    }
    return replace(scored, scores=signed).of_view(view, views)


def is_given_prompts(choice: Choice) -> bool:
    """Whether a score is computed conditionally on the prompts.

    A copy is one whatever its prompt, and classifiers keep a prompt together anyway.
    """
    return choice.metric.family not in ("copying", "classifier")


def _given_prompts(pair: Pair, given: GivenPrompts, sides: Sides, space: Space) -> Pair:
    """Return a pair as it is scored given its prompts, from the pair as it is tested.

    `sides` are the rows less what their prompts lead to expect of them.
    """
    together = pair.clusters or given.clusters
    if given.expected:
        return pair_of(
            *sides,
            given.settings(pair.settings),
            pair.needs,
            clusters=together,
            strata=given.strata,
            replicates=not isinstance(space, PairSpace) or space.replicates,
        )
    if isinstance(space, PairSpace):
        return replace(pair, clusters=together, strata=given.strata)
    return replace(pair, strata=given.strata)  # the cells of a run are counted by its own blocks


def _copies(scored: Scored) -> dict[str, NDArray[Any]]:
    """Which samples are near copies, where that was measured."""
    return {name: rows for name, rows in scored.neighbours.items() if name == "copied"}


PARTS = partial(pair_of, replicates=False)


def score_rows(
    reference: tuple[Embeddings, Rows],
    generated: tuple[Embeddings, Rows],
    choices: Sequence[Choice],
    settings: Settings,
    *,
    pair: Callable[..., Pair] = PARTS,
    strata: Strata | None = None,
) -> dict[str, Score]:
    """Score some rows of both sets in every view, as a comparison of these rows alone.

    They are projected and quantised on their own, whatever the space of the whole run, and no
    replicates are kept; `pair` says how. `strata` are those of all rows of both sets.
    """
    row_strata = None if strata is None else (strata[0][reference[1]], strata[1][generated[1]])
    (left, rows), (right, other_rows) = reference, generated
    views = tuple(left.views)
    scores = {}
    for view, wanted in by_view(choices, views):
        sides = left.views[view][rows], right.views[view][other_rows]
        needs = needs_of(choice.metric for choice in wanted)
        made = pair(*sides, settings, needs, strata=row_strata)
        for choice in wanted:
            score = replace(choice.score(made), per_sample=None)
            scores[key(view, choice.name, views)] = score
    return scores


def by_view(choices: Iterable[Choice], views: Iterable[str]) -> Iterator[tuple[str, list[Choice]]]:
    """Return the views to be measured, each with one choice for each key.

    A metric may have been asked for in one view and in all.
    """
    listed = list(choices)
    for view in views:
        wanted = {choice.name: choice for choice in listed if choice.view in (None, view)}
        if wanted:
            yield view, list(wanted.values())


def choices_for(
    keys: Iterable[str], choices: Sequence[Choice], views: tuple[str, ...]
) -> list[Choice]:
    """Return the choices behind keys of scores, each for the views in the keys."""
    wanted = set(keys)
    return [
        replace(choice, view=view)
        for choice in choices
        for view in views
        if choice.view in (None, view) and key(view, choice.name, views) in wanted
    ]


def asked_for(choices: Iterable[Choice]) -> list[Choice]:
    """Remove the area under the ROC curve where only the tests need it."""
    return [choice for choice in choices if choice.named or choice.name != AUC]


def _score(pair: Pair, choices: Sequence[Choice], groups: Groups | None) -> Scored:
    """Score a pair in one view; curves and neighbours are kept where a score needed them."""
    scores = {choice.name: choice.score(pair) for choice in choices}
    k = pair.settings.k
    if groups is not None and asked_for(choices):
        by_group = group_scores(pair.neighbourhoods, k, groups.reference, groups.generated)
        scores |= {name: score.signed(groups=groups.signature) for name, score in by_group.items()}
    scored = Scored(scores)
    if "neighbourhoods" in vars(pair):
        near = pair.neighbourhoods
        scored = replace(scored, neighbours=_neighbours(pair), k_max=near.k_max)
        quality = search_of(pair.reference, pair.generated, near, pair.settings, k)
        if quality is not None:
            scores = with_search(scores, quality)
            scored = replace(scored, scores=scores, searches={SEARCH: quality})
    if "estimates" in vars(pair):
        scored = replace(
            scored,
            curves={name: columns(curve) for name, curve in pair.curves.by_key.items()},
            neighbours={**scored.neighbours, **_cells(pair)},
            remarks=pair.estimates.remarks,
        )
    return scored


def _neighbours(pair: Pair) -> dict[str, NDArray[Any]]:
    """Return for every sample the nearest one of the other side and the smallest ball it is in.

    With them, whether the ball of k neighbours of a reference sample holds a generated one, and
    whether a generated sample is a near copy.
    """
    near = pair.neighbourhoods
    return {
        "nearest_reference": near.reference.nearest,
        "reference_distance": near.reference.distance,
        "reference_first_k": near.reference.first,
        "nearest_generated": near.generated.nearest,
        "generated_distance": near.generated.distance,
        "generated_first_k": near.generated.first,
        "covered": near.reference.held[:, pair.settings.k - 1] > 0,
        "copied": are_near_copies(near),
    }


def _cells(pair: Pair) -> dict[str, NDArray[Any]]:
    """Return the cell of every sample in the best run, and how many cells there are.

    Nothing where the pair was not quantised.
    """
    if "cells" not in vars(pair.estimates):
        return {}
    reference, generated = pair.estimates.cells.labels
    count = np.array([len(pair.estimates.cells.best.reference)])
    return {"reference_cells": reference, "generated_cells": generated, "cell_count": count}


# Signatures --------------------------------------------------------------------------------------


def signature_fields(
    embeddings: Embeddings, view: str, settings: Settings, *, scope: str = "pair", **hashes: str
) -> dict[str, object]:
    """Return the signature fields of all scores of a view; `hashes` name the compared sets."""
    view_signature = embeddings.view_signature.get(view)
    return {
        "norm": settings.normalise,
        "pca": PCA,
        **({"axes": settings.axes} if settings.axes != "union" else {}),
        "scope": scope,
        **embeddings.signature,
        "view": view if view_signature is None else f"{view}({view_signature})",
        **hashes,
        "sampling_seed": settings.seed,
        "calipers": __version__,
    }


def neighbour_fields(fields: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """Return the fields for scores of neighbours; unprojected rows have no scope."""
    if settings.projection == "union":
        return dict(fields)
    return {
        name: "none" if name == "pca" else value
        for name, value in fields.items()
        if name not in ("scope", "axes")
    }


def fields_of_score(
    name: str, score: Score, fields: Mapping[str, object], settings: Settings
) -> dict[str, object]:
    """Return the fields of one score; a statistic of one set uses the rows as embedded."""
    if METRICS[name.partition(":")[0]].family in ("support", "copying"):
        return neighbour_fields(fields, settings)
    left_out = ("norm", "pca", "axes", "scope") if score.better == "closest" else ()
    return {name: value for name, value in fields.items() if name not in left_out}


# The files of one system -------------------------------------------------------------------------


def average(files: Sequence[Scored]) -> Scored:
    """Combine the files of a system: means of scores and curves, and the single values.

    A group that a file has no sample of has no mean, and says so.
    """
    if len(files) == 1:
        return files[0]
    names = dict.fromkeys(name for file in files for name in file.scores)
    scores = {name: _mean([file.scores.get(name, ABSENT) for file in files]) for name in names}
    curves, variances = _in_all(files, "curves"), _in_all(files, "curve_variances")
    return Scored(
        scores,
        {name: np.mean(points, axis=0) for name, points in curves.items()},
        {name: np.concatenate(rows) for name, rows in _in_all(files, "neighbours").items()},
        files[0].k_max,
        tuple(dict.fromkeys(remark for file in files for remark in file.remarks)),
        {
            name: mean_spread(spreads, scores[name].seeds)
            for name, spreads in _in_all(files, "spreads").items()
        },
        {name: of_files(tests) for name, tests in _in_all(files, "tests").items()},
        {
            name: _mean_variances(variances[name], points)
            for name, points in curves.items()
            if name in variances
        },
        {
            name: SearchQuality.mean(searches)
            for name, searches in _in_all(files, "searches").items()
        },
    )


def undefined_count(score: Score) -> int:
    """Return the number of samples without a value, which a mean leaves out, from its signature."""
    match = UNDEFINED.search(score.signature)
    return 0 if match is None else int(match.group(1))


def _in_all(files: Sequence[Scored], mapping: str) -> dict[str, list[Any]]:
    """Return what the files hold in one of their mappings, by the keys that all of them have."""
    first, *others = (getattr(file, mapping) for file in files)
    return {
        name: [value, *(other[name] for other in others)]
        for name, value in first.items()
        if all(name in other for other in others)
    }


def _mean_variances(
    variances: Sequence[NDArray[Any]], curves: Sequence[NDArray[Any]]
) -> NDArray[Any]:
    """How much a mean curve moves, point by point.

    All files share the reference; each adds a share of what its own samples move. Where files
    scatter more than that explains, their scatter takes its place, as in the intervals of scores.
    """
    reference, generated = np.mean(variances, axis=0)
    between = np.var(curves, axis=0, ddof=1)
    return np.stack([reference, np.maximum(generated, between) / len(curves)])


def _mean(scores: Sequence[Score]) -> Score:
    values = tuple(score.value for score in scores)
    rows = [score.per_sample for score in scores if score.per_sample is not None]
    first = next(score for score in scores if score is not ABSENT)
    missing = sum(undefined_count(score) for score in scores)
    undefined = {"undefined": missing} if missing else {}
    return replace(
        replace(first, signature=UNDEFINED.sub("", first.signature)).signed(
            **undefined, files=len(scores)
        ),
        value=float(np.mean(values)),
        seeds=values,
        per_sample=np.concatenate(rows) if rows else None,
        reason=next((score.reason for score in scores if score.reason), None),
        note=next((score.note for score in scores if score.note), None),
    )
