import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate import quantise
from calipers.estimate.blocks import Blocks
from calipers.estimate.quantise import bucket_count


@pytest.fixture
def clusters(rng):
    centres = np.arange(5)[:, None] * 100.0
    reference = np.repeat(centres, 30, axis=0) + rng.standard_normal((150, 3))
    generated = np.repeat(centres[:2], 20, axis=0) + rng.standard_normal((40, 3))
    return reference, generated


def test_far_clusters_become_the_cells(clusters):
    cells = quantise(*clusters, buckets=5, restarts=20)
    best = cells.best
    assert sorted(best.reference) == [30] * 5
    assert sorted(best.generated) == [0, 0, 0, 20, 20]
    assert len(cells.runs) == len(cells.inertias) == 20
    assert cells.inertias[int(np.argmin(cells.inertias))] == min(cells.inertias)
    counted = np.bincount(cells.labels[0], minlength=5)
    np.testing.assert_array_equal(counted, best.reference)


def test_block_counts_add_up(clusters):
    labels = tuple(Blocks.balanced(len(rows), seed=0, count=10) for rows in clusters)
    for run in quantise(*clusters, buckets=7, restarts=3, blocks=labels).runs:
        np.testing.assert_array_equal(run.reference_blocks.sum(axis=0), run.reference)
        np.testing.assert_array_equal(run.generated_blocks.sum(axis=0), run.generated)
        assert (run.reference_blocks.sum(axis=1) == 15).all()


def test_a_seed_fixes_everything(clusters):
    one, two = (quantise(*clusters, buckets=9, seed=4) for _ in range(2))
    assert one.inertias == two.inertias
    np.testing.assert_array_equal(one.best.generated, two.best.generated)
    assert quantise(*clusters, buckets=9, seed=5).inertias != one.inertias


def test_cells_without_samples_are_left_out():
    same = np.ones((30, 2))
    cells = quantise(same, same, buckets=4, restarts=2)
    np.testing.assert_array_equal(cells.best.reference, [30])


def test_number_of_buckets():
    assert bucket_count("auto", 4000, 500) == 50
    assert bucket_count("auto", 3, 3) == 2
    assert bucket_count(17, 10, 10) == 17
    for wrong, words in ((1, "from 2; found 1"), ("ten", "found 'ten'"), (21, "at most the 20")):
        with pytest.raises(InputError, match=words):
            bucket_count(wrong, 10, 10)


def test_bad_restarts(clusters):
    with pytest.raises(InputError, match="restarts must be at least 1; found 0"):
        quantise(*clusters, restarts=0)
