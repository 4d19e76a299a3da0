"""Scores by group, whole and without blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest

from calipers import metrics
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics.groups import group_scores
from calipers.numeric.blocks import Blocks

# Scores by group.


LINE = [[0.0], [1.0], [8.0], [9.0]]
GROUPS = ["low", "low", "high", "high"]


def test_by_hand():
    found = metrics.scores_by_group(
        LINE, [[0.5], [1.5], [20.0]], GROUPS, ["new", "low", "low"], k=1
    )
    assert list(found) == [
        "recall:group=high",
        "recall:group=low",
        "coverage:group=high",
        "coverage:group=low",
        "precision:group=high",
        "precision:group=low",
        "precision:own=low",
        "precision:own=new",
    ]
    values = {key: score.value for key, score in found.items()}
    assert values["recall:group=low"] == 1  # balls of 0.5 and 1.5 reach from -0.5 to 2.5
    assert values["recall:group=high"] == 1  # only by the wide ball of 20
    assert (values["coverage:group=low"], values["coverage:group=high"]) == (1, 0)
    assert (values["precision:group=low"], values["precision:group=high"]) == (1, 0)
    assert (values["precision:own=low"], values["precision:own=new"]) == (1 / 2, 1)


def test_signature_and_samples_of_a_group():
    found = metrics.scores_by_group(LINE, [[1.5], [2.5], [3.5]], GROUPS, k=1, ties="open")
    pins = found["recall:group=high"].signature.split("|")
    for pin in ("metric:recall", "k:1", "ties:open", "group:high", "size:2", "n:4", "m:3"):
        assert pin in pins
    assert found["recall:group=low"].per_sample.tolist() == [False, True]
    assert found["recall:group=low"].value == 1 / 2
    assert found["precision:group=low"].per_sample.shape == (3,)


def test_a_group_that_no_sample_is_nearest_to():
    found = metrics.scores_by_group(LINE, [[0.5], [1.5], [2.5]], GROUPS, k=1)
    score = found["precision:group=high"]
    assert np.isnan(score.value)
    assert score.reason == "no generated sample is nearest to the group 'high'"
    assert found["recall:group=high"].value == 0


def test_groups_weigh_up_to_the_whole(rng):
    reference, generated = rng.standard_normal((90, 3)), rng.standard_normal((70, 3)) + 0.5
    labels = rng.choice(np.array(["a", "b", "c"], dtype=object), 90)
    own = rng.choice(["a", "z"], 70)
    near = neighbourhoods(reference, generated, k=5)
    whole = metrics.precision_recall(reference, generated, k=3)
    covered = metrics.density_coverage(reference, generated, k=3).coverage
    found = group_scores(near, 3, labels, own)
    for name, total in (
        ("recall:group", whole.recall),
        ("coverage:group", covered),
        ("precision:group", whole.precision),
        ("precision:own", whole.precision),
    ):
        parts = [score for key, score in found.items() if key.startswith(name)]
        hits = np.concatenate([score.per_sample for score in parts])
        assert len(hits) == len(total.per_sample)
        assert hits.mean() == pytest.approx(total.value)
        for score in parts:
            assert score.value == score.per_sample.mean()
    for label in "abc":
        np.testing.assert_array_equal(
            found[f"recall:group={label}"].per_sample, whole.recall.per_sample[labels == label]
        )


def test_groups_of_one_sample_and_one_group():
    alone = metrics.scores_by_group(LINE, LINE, ["a", "b", "c", "d"], k=1)
    assert len(alone) == 12
    assert all(score.value == 1 for score in alone.values())
    whole = metrics.scores_by_group(LINE, LINE, ["all"] * 4, k=1)
    assert len(whole) == 3


def test_labels_that_do_not_fit():
    with pytest.raises(InputError, match=r"reference groups .*NoneType"):
        metrics.scores_by_group(LINE, LINE, None, k=1)
    with pytest.raises(InputError, match=r"reference groups .*4 rows"):
        metrics.scores_by_group(LINE, LINE, ["a"], k=1)
    with pytest.raises(InputError, match=r"generated groups .* 5"):
        metrics.scores_by_group(LINE, LINE, GROUPS, ["a"] * 5, k=1)
    with pytest.raises(InputError, match=r"1 row\(s\) .*row 2"):
        metrics.scores_by_group(LINE, LINE, ["a", None, "b", "c"], k=1)


# Scores by group without a block of rows: nearest rows keep the groups they had.


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
