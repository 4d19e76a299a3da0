"""How sure the scores of one pair are: how much they move, and whether its sets differ at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from calipers.catalogue.choosing import Choice
from calipers.evaluate.groups import Labels
from calipers.evaluate.inference import Certainty
from calipers.evaluate.scored import Scored
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair
from calipers.numeric.threads import available_threads, limit_threads
from calipers.score import join_signature
from calipers.uncertainty.delete_block import DeleteBlock
from calipers.uncertainty.replicates import (
    Further,
    curve_variances,
    delete_blocks,
    is_kept,
    spreads,
)
from calipers.uncertainty.two_sample import TwoSample
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test

First = TypeVar("First")
Second = TypeVar("Second")

TESTS = {"classifier_auc": classifier_test, "mmd": mmd_test}
"""The tests of whether two sets can be told apart, by the statistic."""


def with_certainty(
    part: Scored, pair: Pair, wanted: Sequence[Choice], labels: Labels | None, asked: Certainty
) -> Scored:
    """Add how much the scores move, and whether both sets can be told apart at all."""
    kept = [choice for choice in wanted if is_kept(choice)]
    rest = [choice for choice in wanted if not is_kept(choice)]
    left_out = None if pair.blocks is None else delete_blocks(pair)
    further = _by_group(pair, labels)
    moved = spreads(pair, kept, further=further, left_out=left_out)
    curves = {} if left_out is None else curve_variances(left_out)
    more, tests = _side_by_side(
        lambda: spreads(pair, rest), lambda: _tests(pair, asked), threads=pair.settings.threads
    )
    return replace(part, spreads={**moved, **more}, tests=tests, curve_variances=curves)


def _tests(pair: Pair, asked: Certainty) -> dict[str, TwoSample]:
    """Whether both sets can be told apart at all.

    What labels are permuted over must be exchangeable: rows of one cluster are not, one random row
    of every cluster is.
    """
    sides, pins = pair.projected, ""
    if pair.clusters is not None:
        seed = pair.settings.seed
        rows = [clusters.one_each(seed) for clusters in pair.clusters]
        sides, pins = (sides[0][rows[0]], sides[1][rows[1]]), "rows:one_of_each_cluster"
    made = {
        name: test(
            *sides,
            permutations=asked.permutations,
            seed=pair.settings.seed,
            level=asked.level,
            threads=pair.settings.threads,
        )
        for name, test in TESTS.items()
    }
    return {
        name: replace(each, signature=join_signature(each.signature, pins))
        for name, each in made.items()
    }


def _side_by_side(
    first: Callable[[], First], second: Callable[[], Second], *, threads: int | None
) -> tuple[First, Second]:
    """Do both at once: neither keeps all threads busy by itself.

    BLAS is held to one thread around both, since each of them does so for itself and would give
    back what the other had set.
    """
    if available_threads(threads) == 1:
        return first(), second()
    with limit_threads(1), ThreadPoolExecutor(1) as pool:
        later = pool.submit(second)
        return first(), later.result()


def _by_group(pair: Pair, labels: Labels | None) -> Further | None:
    """What reads the scores of groups off a pair without a block."""
    if labels is None:
        return None
    nearest = labels.reference[pair.neighbourhoods.reference.nearest]

    def read(part: DeleteBlock) -> dict[str, float]:
        keep = part.kept
        ours, theirs = labels.reference, labels.generated
        close = nearest
        if part.side == "reference":
            ours = ours[keep]
        else:
            theirs = None if theirs is None else theirs[keep]
            close = nearest[keep]
        near, k = part.neighbourhoods, part.settings.k
        found = group_scores(near, k, ours, theirs, nearest=close)
        return {name: score.value for name, score in found.items()}

    return read
