"""Draws of two sets of paragraphs, what the tests of `compare` say of them, and their scores.

A draw is a reference of n paragraphs and n others, of which something was changed or nothing. Both
tests of every view are corrected together by Holm, with as many permutations as `compare` takes by
default. Texts are embedded once; an embedder that is fitted on the reference is fitted on that of
each draw, and for the tests on both sets.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from calibration_store import Record, Task, record_of
from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.settings import Settings
from calipers.embedders import Embedder
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.pipeline import embed
from calipers.evaluate.intervals import TESTS, permutations_for
from calipers.evaluate.spaces import pair_of
from calipers.metrics.exchangeable import exchangeable
from languages_texts import (
    GEMMA,
    KEPT_APART,
    NGRAM,
    PARAGRAPHS,
    SHUFFLED,
    by_ngrams,
    kept_apart,
    order_of,
    paragraphs,
    read_texts,
    shuffled,
)

SIZES = (200, 50)
"""Paragraphs on each side: the size that counts, and one that shows how much there is to spare."""
LEVEL = 0.95
SCORES = ("precision", "recall", "coverage")
SAME, DROPPED = "as they were", "a subject missing"
REPEATED = {"one text, 10 %": 0.1, "one text, 50 %": 0.5}
CHANGES = (SHUFFLED, NGRAM, GEMMA, DROPPED, *REPEATED)
SUBJECTS = 3
Views = dict[str, np.ndarray]


@dataclass(frozen=True)
class Places:
    """Where things are.

    Attributes
    ----------
    data
        Has languages/ and writing_prompts/.
    machines
        The texts of Gemma, a file for each language.
    keep
        Where vectors are kept.
    subjects
        The embedder whose main view tells subjects apart.
    """

    data: Path
    machines: Path
    keep: Path
    subjects: str


def case_of(language: str, embedder: str, change: str) -> str:
    return f"{language}|{embedder}|{change}"


@cache
def texts_of(places: Places, language: str, pool: str) -> list[str]:
    """The texts of a pool: the paragraphs, those with a change, or what a model wrote."""
    plain = paragraphs(places.data, language)
    if pool == SAME:
        return plain
    if pool == SHUFFLED:
        return shuffled(plain, language)
    if pool == NGRAM:
        return by_ngrams(kept_apart(plain, language), language)
    return read_texts(places.machines / f"gemma-{language}.jsonl")


@cache
def opened(embedder: str) -> Embedder:
    return load_embedder(embedder)


@cache
def vectors(places: Places, language: str, embedder: str, pool: str) -> Views:
    """All views of a pool by an embedder that is not fitted, embedded once and kept."""
    texts, model = texts_of(places, language, pool), opened(embedder)
    key = hashlib.sha256("\n".join([model.identity, *texts]).encode()).hexdigest()[:24]
    path = places.keep / f"{key}.npz"
    if not path.is_file():
        places.keep.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")  # several processes may make it
        with part.open("wb") as file:
            np.savez(file, **embed(texts, model).views)
        part.replace(path)
    with np.load(path) as file:
        return dict(file)


@cache
def subjects(places: Places, language: str) -> np.ndarray:
    """For each of three subjects, the third of the paragraphs that belongs to it most clearly.

    k-means of the rows at length one; a row belongs to a subject by how much nearer it lies to its
    centre than to the nearest other one. Shape ``(subjects, PARAGRAPHS / 3)``.
    """
    rows = next(iter(vectors(places, language, places.subjects, SAME).values())).astype(float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    centres = KMeans(SUBJECTS, n_init=10, random_state=0).fit(rows).cluster_centers_
    far = np.linalg.norm(rows[:, None] - centres[None], axis=2)
    others = [np.delete(far, each, axis=1).min(axis=1) for each in range(SUBJECTS)]
    nearer = far.T - np.array(others)
    return np.argsort(nearer, axis=1, kind="stable")[:, : PARAGRAPHS // SUBJECTS]


def rows_of(
    places: Places, language: str, change: str, n: int, number: int
) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """The rows of the reference, and those of the other set by the pools that they come from."""
    rng = np.random.default_rng([number, n, *f"{language}{change}".encode()])
    order = rng.permutation(PARAGRAPHS)
    reference, held_out = order[:n], order[n:]
    if change == DROPPED:
        missing = subjects(places, language)[number % SUBJECTS]
        return reference, [(SAME, held_out[~np.isin(held_out, missing)][:n])]
    if change in REPEATED:
        copies = round(REPEATED[change] * n)
        rows = [*held_out[: n - copies], *[held_out[n]] * copies]
        return reference, [(SAME, np.array(rows))]
    if change in (NGRAM, GEMMA):
        known = rng.permutation(order_of(language)[KEPT_APART:])[:n]
        written = len(texts_of(places, language, change))
        return known, [(change, rng.permutation(written)[:n])]
    return reference, [(change, held_out[:n])]


def sides(
    places: Places, language: str, embedder: str, change: str, n: int, number: int
) -> tuple[list[Views], list[Views]]:
    """Both sets of a draw, by view: as they are scored, and as they are tested."""
    reference, parts = rows_of(places, language, change, n, number)
    drawn = [[(SAME, reference)], parts]
    if not opened(embedder).needs_fitting:
        known = [
            {
                view: np.concatenate(
                    [vectors(places, language, embedder, pool)[view][rows] for pool, rows in side]
                )
                for view in vectors(places, language, embedder, SAME)
            }
            for side in drawn
        ]
        return known, known
    texts = [
        [texts_of(places, language, pool)[row] for pool, rows in side for row in rows]
        for side in drawn
    ]
    fitted = [opened(embedder).fitted(on) for on in (texts[0], texts[0] + texts[1])]
    scored, tested = ([dict(model.embed(side).views) for side in texts] for model in fitted)
    return scored, tested


def measured(scored: list[Views], tested: list[Views], seed: int) -> Record:
    """p-values of every test by every view, and the scores, as `compare` has them."""
    left, right = scored
    settings = Settings(threads=1, seed=seed)
    rows = sum(len(next(iter(side.values()))) for side in (left, right))
    permutations = permutations_for(len(TESTS) * len(left), LEVEL, rows=rows)
    found: Record = {"p": {}, "scores": {}}
    for view in left:
        choices = choose(SCORES, ("rows",))
        needs = needs_of(choice.metric for choice in choices)
        pair = pair_of(left[view], right[view], settings, needs, replicates=False)
        for choice in choices:
            found["scores"][f"{view}.{choice.name}"] = round(float(choice.score(pair).value), 5)
        if tested is not scored:
            pair = pair_of(*(side[view] for side in tested), settings, needs, replicates=False)
        for name, test in TESTS.items():
            result = test(
                *exchangeable(pair).sides,
                permutations=permutations,
                seed=seed,
                level=LEVEL,
                threads=1,
            )
            found["p"][f"{view}.{name}"] = result.p_value
    return found


def one_draw(places: Places, task: Task) -> Record:
    """What is measured of one draw."""
    _, case, n, number = task
    language, embedder, change = case.split("|")
    both = sides(places, language, embedder, change, n, number)
    pinned = hashlib.sha256(opened(embedder).identity.encode()).hexdigest()[:8]
    return record_of(task, made_by=pinned, **measured(*both, seed=number))
