"""MMD and the energy distance, whole and without blocks of rows."""

import sys

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.metrics.energy import energy_distance, energy_replicates
from calipers.metrics.mmd import ALIKE, kid, kid_replicates, mmd, mmd_replicates
from calipers.numeric.blocks import Blocks

MEASURES = {"mmd": mmd, "kid": kid, "energy_distance": energy_distance}
every = pytest.mark.parametrize("name", MEASURES)


@pytest.fixture
def pair(rng):
    return rng.standard_normal((70, 5)), rng.standard_normal((50, 5)) * 0.8 + 0.3


def distances(x, y):
    wide = np.asarray(x, np.longdouble), np.asarray(y, np.longdouble)
    return np.sqrt(np.array([((row - wide[1]) ** 2).sum(axis=1) for row in wide[0]]))


def brute_unbiased(kernel, x, y):
    n, m = len(x), len(y)
    within = [kernel(side, side) for side in (x, y)]
    means = [(k.sum() - np.trace(k)) / (len(k) * (len(k) - 1)) for k in within]
    return float(means[0] + means[1] - 2 * kernel(x, y).sum() / (n * m))


def brute_mmd(x, y):
    union = np.concatenate([x, y])
    width = np.median(distances(union, union)[np.triu_indices(len(union), 1)])
    return brute_unbiased(lambda a, b: np.exp(-(distances(a, b) ** 2) / (2 * width**2)), x, y)


def brute_kid(x, y):
    wide = [np.asarray(side, np.longdouble) for side in (x, y)]
    return brute_unbiased(lambda a, b: (a @ b.T / x.shape[1] + 1) ** 3, *wide)


def brute_energy(x, y):
    across, one, two = (distances(*sides).mean() for sides in ((x, y), (x, x), (y, y)))
    return float(2 * across - one - two)


BRUTE = {"mmd": brute_mmd, "kid": brute_kid, "energy_distance": brute_energy}


def test_energy_by_hand():
    # Across 1, 3, 1, 1: mean 1.5; within each set 0, 2, 2, 0: mean 1
    assert energy_distance([[0.0], [2.0]], [[1.0], [3.0]]).value == pytest.approx(1)


def test_mmd_by_hand():
    # Distances 1 (five pairs of the union) and 2: the median is 1, k = exp(−d²/2)
    found = mmd([[0.0], [1.0]], [[1.0], [2.0]], bandwidth=1.0).value
    one, four = np.exp(-0.5), np.exp(-2.0)
    assert found == pytest.approx(one + one - 2 * (one + four + 1 + one) / 4)


def test_kid_by_hand():
    # d = 1: k(0, 1) = 1, k(1, 2) = 27, k(0, ·) = 1, k(1, 1) = 8
    found = kid([[0.0], [1.0]], [[1.0], [2.0]]).value
    assert found == pytest.approx(1 + 27 - 2 * (1 + 1 + 8 + 27) / 4)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_brute_force(name, pair, dtype):
    x, y = (side.astype(dtype) for side in pair)
    assert MEASURES[name](x, y).value == pytest.approx(BRUTE[name](x, y), rel=1e-9)


@every
@pytest.mark.parametrize("gap", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("spread", [1e-6, 1e6])
def test_hostile_scales(name, rng, gap, spread):
    offset = 0 if name == "kid" else 1e6 * min(1, spread)  # KID changes with the place
    x = rng.standard_normal((40, 3)) * spread + offset
    y = rng.standard_normal((30, 3)) * spread + offset + gap * spread
    expected = BRUTE[name](x, y)
    unit = spread if name == "energy_distance" else max(1, spread**6) if name == "kid" else 1
    assert MEASURES[name](x, y).value == pytest.approx(expected, rel=1e-9, abs=1e-14 * unit)


@pytest.mark.parametrize("name", ["mmd", "energy_distance"])
def test_a_million_away_with_a_tiny_spread(name, rng):
    x = rng.standard_normal((40, 3)) * 1e-6 + 1e6  # a few digits are left of the spread
    y = rng.standard_normal((30, 3)) * 1e-6 + 1e6 + 1e-6
    assert MEASURES[name](x, y).value == pytest.approx(BRUTE[name](x, y), rel=1e-9)


@every
def test_laws(name, rng, pair):
    measure, (x, y) = MEASURES[name], pair
    value = measure(x, y).value
    turn, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    assert measure(y, x).value == pytest.approx(value, abs=1e-12)
    assert measure(rng.permutation(x), y[::-1]).value == pytest.approx(value, abs=1e-12)
    assert measure(x @ turn, y @ turn).value == pytest.approx(value, abs=1e-11)
    assert measure(x, y, threads=1).value == measure(x, y, threads=3).value
    if name != "kid":
        assert measure(x + 7, y + 7).value == pytest.approx(value, abs=1e-12)
        scale = 4 if name == "energy_distance" else 1
        assert measure(4 * x, 4 * y).value == pytest.approx(scale * value, abs=1e-12)
    assert measure(x, y + 2).value > value


def test_equal_sets(pair):
    assert energy_distance(pair[0], pair[0][::-1]).value == pytest.approx(0, abs=1e-14)
    for measure in (mmd, kid):
        assert measure(pair[0], pair[0]).value < 0


@pytest.mark.parametrize("measure", [mmd, kid])
def test_unbiased(rng, measure):
    values = np.array(
        [measure(*rng.standard_normal((2, 20, 3)), threads=1).value for _ in range(200)]
    )
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(200)
    assert (values < 0).mean() > 0.3


def test_energy_is_the_squared_gap_of_distribution_functions(rng):
    # In one dimension the energy distance is 2∫(F − G)²
    x, y = np.sort(rng.standard_normal(60)), np.sort(rng.standard_normal(40) + 0.5)
    places = np.sort(np.concatenate([x, y]))
    gaps = (
        np.searchsorted(x, places[:-1], "right") / 60
        - np.searchsorted(y, places[:-1], "right") / 40
    )
    expected = 2 * np.sum(gaps**2 * np.diff(places))
    assert energy_distance(x[:, None], y[:, None]).value == pytest.approx(expected, rel=1e-10)


def test_polynomial_kernel_is_kid(pair):
    assert mmd(*pair, kernel="polynomial").value == kid(*pair).value
    assert mmd(*pair, kernel="polynomial").signature.startswith("metric:mmd|kernel:cubic|")


def test_large_sets_take_their_bandwidth_from_a_sample(pair, monkeypatch):
    monkeypatch.setattr(sys.modules["calipers.metrics.mmd"], "MEDIAN_ROWS", 60)
    one, two = mmd(*pair), mmd(*pair, seed=1)
    assert one.value == mmd(*pair, seed=0).value
    assert one.value != two.value
    assert one.value == pytest.approx(two.value, rel=0.5)
    assert "|median_rows:60|seed:0|" in one.signature
    assert "seed" not in mmd(*pair, bandwidth=1.0).signature


def test_the_median_is_one_of_distances_not_of_squares():
    # Distances 1, 1, 2, 3, 4, 5 of the union: the median is 2.5, and not √((4 + 9)/2)
    x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [5.0]])
    assert mmd(x, y).value == mmd(x, y, bandwidth=2.5).value


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bandwidth", [1e-160, 5e-324])
def test_a_tiny_bandwidth_sees_copies_alone(bandwidth):
    x, y = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [2.0]])
    assert mmd(x, y, bandwidth=bandwidth).value == pytest.approx(-2 / 6)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.float32])
def test_a_bandwidth_of_any_kind_of_number(pair, kind):
    assert mmd(*pair, bandwidth=kind(3)).value == mmd(*pair, bandwidth=3.0).value


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e51, 1e60])
@pytest.mark.parametrize("measure", [kid, lambda x, y: mmd(x, y, kernel="polynomial")])
def test_overflow_in_many_tiles_is_nan_with_a_reason(measure, size):
    rows = np.repeat([[size], [-size]], 1500, axis=0)
    score = measure(rows, rows)
    assert np.isnan(score.value)
    assert score.reason == "the kernel overflows: the rows are too long"


def test_undefined_values_have_a_reason():
    rows = np.zeros((9, 2))
    rows[0] = 1
    for measure in (mmd, kid):
        assert measure(rows[:1], rows).reason == (
            "an unbiased estimate needs at least two rows in each set"
        )
    assert mmd(rows, rows).reason == ALIKE
    overflow = kid(np.full((4, 2), 1e90), np.full((4, 2), 1e90))
    assert np.isnan(overflow.value)
    assert overflow.reason == "the kernel overflows: the rows are too long"
    assert energy_distance(rows[:1], rows[:1]).value == 0


@every
def test_signature_and_range(name, pair):
    score = MEASURES[name](*pair)
    assert score.signature.startswith(f"metric:{name}|")
    assert score.signature.endswith("|n:70|m:50|d:5")
    assert score.better == "lower"
    assert score.range == ((0.0, np.inf) if name == "energy_distance" else (-np.inf, np.inf))


@every
def test_bad_input(name):
    with pytest.raises(InputError, match=r"columns.* 2 and 3"):
        MEASURES[name](np.zeros((4, 2)), np.zeros((4, 3)))


def test_bad_options(pair):
    with pytest.raises(InputError, match="did you mean 'gaussian'"):
        mmd(*pair, kernel="gausian")
    for wrong in (0, -1.0, np.inf, "scott", None, True):
        with pytest.raises(InputError, match=r"bandwidth .*'median' or .*above 0"):
            mmd(*pair, bandwidth=wrong)


FAMILY = {
    "mmd": (mmd, mmd_replicates),
    "kid": (kid, kid_replicates),
    "energy_distance": (energy_distance, energy_replicates),
}
every_replicate = pytest.mark.parametrize("name", FAMILY)


def blocks_of(x, y, count=6):
    return Blocks.balanced(len(x), seed=0, count=count), Blocks.balanced(
        len(y), seed=1, count=count
    )


def width(x, y):
    union = np.concatenate([x, y]).astype(np.float64)
    apart = np.sqrt(((union[:, None] - union) ** 2).sum(axis=2))
    return float(np.median(apart[np.triu_indices(len(union), 1)]))


@every_replicate
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


@every_replicate
def test_threads_change_no_bit(name, rng):
    x, y = rng.standard_normal((900, 3)), rng.standard_normal((500, 3))
    one, four = (FAMILY[name][1](x, y, blocks_of(x, y), threads=threads) for threads in (1, 4))
    assert one.value == four.value
    assert np.array_equal(one.without_reference, four.without_reference)
    assert np.array_equal(one.without_generated, four.without_generated)


@every_replicate
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
    with pytest.raises(InputError, match=r"bandwidth .*'median' or .*above 0"):
        mmd_replicates(x, y, blocks, bandwidth=-1)
    with pytest.raises(InputError, match="did you mean 'gaussian'"):
        mmd_replicates(x, y, blocks, kernel="gausian")
    with pytest.raises(ValueError, match="30 rows, but labels for 29"):
        energy_replicates(x, y, (Blocks.none(30), Blocks.none(29)))
