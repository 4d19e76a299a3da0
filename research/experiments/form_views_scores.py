"""How clearly a view tells spoilt texts, and a missing topic, from texts that are as they were.

The separation of a set is (ceiling − score) / spread: the ceiling is the score of the held-out
texts as they were, from the same split, and the spread is the standard deviation of that score
over random halves. So it says how many of the ceiling's own steps lie between the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calipers.curves import divergence_frontier
from calipers.estimate.axes import preprocess
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.estimate.quantise import quantise
from calipers.metrics.knn_support import coverage_score, precision_score, recall_score
from form_views_models import view

SCORES = ("mauve_star", "precision", "recall", "coverage")
TOPIC = "a topic missing"
FORM = (
    "news: words shuffled",
    "news: neighbours swapped",
    "stories: words shuffled",
    "stories: neighbours swapped",
    "stories: sentences shuffled",
    "stories: GPT-2 XL",
    "stories: GPT-NeoX 20B",
)
"""The sets that a view of form must tell from texts as they were."""
LEAST = 1.0
"""What a smaller separation counts as: less than one spread is nothing seen."""


@dataclass(frozen=True)
class Candidate:
    """A view: the states after a layer, how they are pooled, and whether rows get length one."""

    layer: int
    pooling: str
    norm: str = "l2"


@dataclass(frozen=True)
class Corpus:
    """Pooled states of texts as they were and of every other set, row for row, and topics."""

    name: str
    plain: np.ndarray
    others: dict[str, np.ndarray]
    whole: tuple[str, ...] = ()
    topics: np.ndarray | None = None

    def halves(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the reference, `n` at random, and the others in a random order."""
        order = np.random.default_rng([seed, len(self.plain)]).permutation(len(self.plain))
        return order[:n], order[n:]


def scores(x: np.ndarray, y: np.ndarray, norm: str, seed: int, threads: int) -> np.ndarray:
    """The scores of `SCORES` of one pair."""
    sets = preprocess(x, y, norm=norm, threads=threads)
    near = neighbourhoods(sets.reference, sets.generated, k=4, threads=threads)
    cells = quantise(sets.reference, sets.generated, seed=seed, threads=threads).best
    frontier = divergence_frontier(cells.smoothed("krichevsky-trofimov"))
    support = (precision_score(near, 4), recall_score(near, 4), coverage_score(near, 4))
    return np.array([frontier.area(5.0), *(score.value for score in support)])


def systems(
    corpus: Corpus, candidate: Candidate, rest: np.ndarray, n: int, share: float, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """The held-out rows as they were, then every set to tell from them, each of `n` rows.

    The topic that is missing changes from split to split.
    """

    def shown(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return view(vectors[rows], candidate.layer, candidate.pooling)

    held = rest[:n]
    yield "as they were", shown(corpus.plain, held)
    for name, vectors in corpus.others.items():
        spoilt = n if name in corpus.whole else round(share * n)
        parts = shown(vectors, held[:spoilt]), shown(corpus.plain, held[spoilt:])
        yield f"{corpus.name}: {name}", np.vstack(parts)
    if corpus.topics is not None:
        each = np.unique(corpus.topics)
        missing = each[seed % len(each)]
        yield TOPIC, shown(corpus.plain, rest[corpus.topics[rest] != missing][:n])


def separations(
    corpus: Corpus,
    candidate: Candidate,
    *,
    n: int,
    splits: int,
    halves: int,
    share: float,
    threads: int,
) -> dict[str, np.ndarray]:
    """Separation of each set, shape ``(splits, SCORES)``."""
    ceilings: list[np.ndarray] = []
    gaps: dict[str, list[np.ndarray]] = {}
    for seed in range(halves):
        reference, rest = corpus.halves(n, seed)
        x = view(corpus.plain[reference], candidate.layer, candidate.pooling)
        sets = systems(corpus, candidate, rest, n, share, seed)
        ceilings.append(scores(x, next(sets)[1], candidate.norm, seed, threads))
        for name, y in sets if seed < splits else ():
            found = scores(x, y, candidate.norm, seed, threads)
            gaps.setdefault(name, []).append(ceilings[-1] - found)
    spread = np.std(ceilings, axis=0, ddof=1)
    return {name: np.array(each) / np.maximum(spread, 1e-6) for name, each in gaps.items()}


def form(found: dict[str, np.ndarray]) -> np.ndarray:
    """Geometric mean of the separations of `FORM`, shape ``(splits, SCORES)``."""
    return np.exp(np.mean([np.log(np.maximum(found[name], LEAST)) for name in FORM], axis=0))


def topic(found: dict[str, np.ndarray]) -> np.ndarray:
    """Separation of a missing topic, shape ``(splits, SCORES)``."""
    return np.maximum(found[TOPIC], LEAST)
