"""How sure the scores of one pair are: how much they move, and whether its sets differ at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calipers.metrics.catalogue import Choice
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair
from calipers.road.certainty import Certainty
from calipers.road.groups import Labels
from calipers.road.scored import Scored
from calipers.uncertainty.classifier_test import classifier_test
from calipers.uncertainty.mmd_test import mmd_test
from calipers.uncertainty.replicates import Further, spreads
from calipers.uncertainty.without import Without

TESTS = {"classifier_auc": classifier_test, "mmd": mmd_test}
"""The tests of whether two sets can be told apart, by the statistic."""


def with_certainty(
    part: Scored, pair: Pair, wanted: Sequence[Choice], labels: Labels | None, asked: Certainty
) -> Scored:
    """Add how much the scores move, and whether both sets can be told apart at all."""
    settings, rows = pair.settings, (pair.reference, pair.generated)
    tests = {
        name: test(
            *rows,
            permutations=asked.permutations,
            seed=settings.seed,
            level=asked.level,
            threads=settings.threads,
        )
        for name, test in TESTS.items()
    }
    further = _by_group(pair, labels)
    moved = spreads(pair, wanted, further=further, tested=asked.shown)
    return replace(part, spreads=moved, tests=tests)


def _by_group(pair: Pair, labels: Labels | None) -> Further | None:
    """What reads the scores of groups off a pair without a block."""
    if labels is None:
        return None
    nearest = labels.reference[pair.neighbourhoods.reference.nearest]

    def read(part: Without) -> dict[str, float]:
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
