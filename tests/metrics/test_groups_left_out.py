"""Scores by group without a block of rows: nearest rows keep the groups they had."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics.groups import group_scores
from calipers.numeric.blocks import Blocks

K = 3


@pytest.fixture
def near(rng):
    sets = rng.standard_normal((60, 2)), 1.5 * rng.standard_normal((50, 2))
    blocks = tuple(Blocks.balanced(n, seed=0, count=5) for n in (60, 50))
    return neighbourhoods(*sets, k=K, blocks=blocks)


def test_precision_by_the_group_of_the_row_that_was_nearest(near):
    groups = np.array([f"g{row % 3}" for row in range(60)])
    close = groups[near.reference.nearest]
    for block in range(5):
        part = near.without("reference", block, k=K)
        keep = near.reference_blocks.labels != block
        found = group_scores(part, K, groups[keep], nearest=close)
        inside = part.reference.inside[:, K - 1] > 0
        held = part.reference.held[:, K - 1] > 0
        for name in ("g0", "g1", "g2"):
            precision = inside[close == name].mean()
            assert found[f"precision:group={name}"].value == pytest.approx(precision)
            coverage = held[groups[keep] == name].mean()
            assert found[f"coverage:group={name}"].value == pytest.approx(coverage)


def test_a_group_that_went_with_its_block_takes_no_rows_to_another(near):
    block = 2
    groups = np.where(near.reference_blocks.labels == block, "gone", "here")
    close = groups[near.reference.nearest]
    assert (close == "gone").any()
    part = near.without("reference", block, k=K)
    found = group_scores(part, K, groups[groups == "here"], nearest=close)
    inside = part.reference.inside[:, K - 1] > 0
    assert found["precision:group=here"].value == pytest.approx(inside[close == "here"].mean())
    assert found["precision:group=gone"].value == pytest.approx(inside[close == "gone"].mean())
    assert "recall:group=gone" not in found


def test_without_a_block_of_generated_rows(near):
    groups = np.array([f"g{row % 2}" for row in range(60)])
    own = np.array([f"o{row % 4}" for row in range(50)])
    keep = near.generated_blocks.labels != 1
    part = near.without("generated", 1, k=K)
    close = groups[near.reference.nearest]
    found = group_scores(part, K, groups, own[keep], nearest=close[keep])
    inside = near.reference.inside[keep, K - 1] > 0
    assert found["precision:group=g1"].value == pytest.approx(inside[close[keep] == "g1"].mean())
    assert found["precision:own=o3"].value == pytest.approx(inside[own[keep] == "o3"].mean())
