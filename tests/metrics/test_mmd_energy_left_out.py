import numpy as np
import pytest

from calipers.errors import InputError
from calipers.metrics.energy import energy_distance, energy_replicates
from calipers.metrics.mmd import kid, kid_replicates, mmd, mmd_replicates
from calipers.numeric.blocks import Blocks

FAMILY = {
    "mmd": (mmd, mmd_replicates),
    "kid": (kid, kid_replicates),
    "energy_distance": (energy_distance, energy_replicates),
}
every = pytest.mark.parametrize("name", FAMILY)


def blocks_of(x, y, count=6):
    return Blocks.balanced(len(x), seed=0, count=count), Blocks.balanced(
        len(y), seed=1, count=count
    )


def width(x, y):
    union = np.concatenate([x, y]).astype(np.float64)
    apart = np.sqrt(((union[:, None] - union) ** 2).sum(axis=2))
    return float(np.median(apart[np.triu_indices(len(union), 1)]))


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_is_the_metric_without_the_block(name, rng, dtype):
    metric, replicates = FAMILY[name]
    x, y = rng.standard_normal((75, 4)).astype(dtype), rng.standard_normal((52, 4)).astype(dtype)
    one, other = blocks_of(x, y)
    options = {"bandwidth": width(x, y)} if name == "mmd" else {}  # that of all rows, throughout
    found = replicates(x, y, (one, other))
    assert found.value == pytest.approx(metric(x, y).value, abs=1e-12)
    for block in range(6):
        kept = x[one.labels != block], y[other.labels != block]
        assert found.without_reference[block] == pytest.approx(
            metric(kept[0], y, **options).value, abs=1e-11
        )
        assert found.without_generated[block] == pytest.approx(
            metric(x, kept[1], **options).value, abs=1e-11
        )


def test_blocks_by_hand():
    # Distances across 1, 3, 1, 1, within 2 and 2; without the row at 0: 1, 1 across
    x, y = np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]])
    alone = Blocks(np.array([0, 1]), 2)
    found = energy_replicates(x, y, (alone, alone))
    assert found.value == 1
    assert found.without_reference.tolist() == [2 * 1 - 1, 2 * 2 - 1]
    assert found.without_generated.tolist() == [2 * 2 - 1, 2 * 1 - 1]


@every
def test_threads_change_no_bit(name, rng):
    x, y = rng.standard_normal((900, 3)), rng.standard_normal((500, 3))
    one, four = (FAMILY[name][1](x, y, blocks_of(x, y), threads=threads) for threads in (1, 4))
    assert one.value == four.value
    assert np.array_equal(one.without_reference, four.without_reference)
    assert np.array_equal(one.without_generated, four.without_generated)


@every
@pytest.mark.filterwarnings("error")
def test_without_blocks_and_with_empty_ones(name, rng):
    x, y = rng.standard_normal((9, 3)), rng.standard_normal((8, 3))
    replicates = FAMILY[name][1]
    none = replicates(x, y, (Blocks.none(9), Blocks.none(8)))
    assert none.value == pytest.approx(FAMILY[name][0](x, y).value, abs=1e-12)
    assert none.without_reference.shape == none.without_generated.shape == (0,)
    found = replicates(x, y, blocks_of(x, y, count=20))
    assert found.without_reference.shape == (20,)
    np.testing.assert_allclose(found.without_reference[9:], none.value, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_too_few_rows_left_is_nan(rng):
    x, y = rng.standard_normal((4, 2)), rng.standard_normal((5, 2))
    blocks = Blocks(np.array([0, 0, 0, 1]), 2), Blocks(np.zeros(5, np.int64), 1)
    for name, (_, replicates) in FAMILY.items():
        found = replicates(x, y, blocks)
        assert np.isnan(found.without_reference[0]) == (name != "energy_distance")
        assert np.isfinite(found.without_reference[1])
        assert np.isnan(found.without_generated[0])


@pytest.mark.filterwarnings("error")
def test_undefined_and_overflowing(rng):
    same, blocks = np.ones((6, 2)), blocks_of(np.ones(6), np.ones(6), count=3)
    found = mmd_replicates(same, same, blocks)
    assert np.isnan([found.value, *found.without_reference, *found.without_generated]).all()
    rows = rng.standard_normal((6, 2))
    rows[:2] = 1e60
    blocks = Blocks(np.array([0, 0, 1, 1, 2, 2]), 3), Blocks.none(4)
    found = kid_replicates(rows, rows[2:], blocks)
    assert np.isnan(found.value)
    assert np.isfinite(found.without_reference).tolist() == [True, False, False]


def test_options(rng):
    x, y = rng.standard_normal((2, 30, 3))
    blocks = blocks_of(x, y)
    assert mmd_replicates(x, y, blocks, bandwidth=0.7).value == pytest.approx(
        mmd(x, y, bandwidth=0.7).value, abs=1e-12
    )
    cubic = mmd_replicates(x, y, blocks, kernel="polynomial")
    assert cubic.value == kid_replicates(x, y, blocks).value
    with pytest.raises(InputError, match="bandwidth must be 'median' or a number above 0"):
        mmd_replicates(x, y, blocks, bandwidth=-1)
    with pytest.raises(InputError, match="did you mean 'gaussian'"):
        mmd_replicates(x, y, blocks, kernel="gausian")
    with pytest.raises(ValueError, match="30 rows, but labels for 29"):
        energy_replicates(x, y, (Blocks.none(30), Blocks.none(29)))
