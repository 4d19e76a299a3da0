"""Products through torch: the sums of the processor, whatever the tiles and the free memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import compare
from calipers.engine import torch_products
from calipers.engine.device import Device
from calipers.engine.torch_products import FEWEST, TorchProducts
from calipers.errors import InputError
from calipers.estimate.axes import coordinates, preprocess, scatter_about
from calipers.estimate.measures import CentredRows, Cubic, Euclidean, ExactTiles, Gaussian, centred
from calipers.estimate.moments import Moments
from calipers.estimate.pairwise import group_sums, pair_sums, power_sums
from calipers.estimate.products import products_for, products_on
from calipers.metrics import energy_distance, frechet_distance, kid, mmd
from calipers.metrics.energy import energy_replicates
from calipers.metrics.mmd import mmd_replicates
from calipers.numeric.blocks import Blocks
from calipers.numeric.threads import Workers
from calipers.uncertainty.two_sample_mmd import mmd_test
from extras import need

torch = need("torch")

MEASURES = [Gaussian(1.7), Cubic(5), Euclidean()]


def on_device(block=96):
    return products_on(TorchProducts("cpu", block=block, fewest=0))


def sets_of(rng, n=250, m=190, d=5, dtype=np.float32, offset=0.0):
    return [(rng.standard_normal((size, d)) + offset).astype(dtype) for size in (n, m)]


def brute_sums(measure, rows):
    """Over all pairs of two different rows, by the definition."""
    wide = rows.astype(np.longdouble)
    apart = ((wide[:, None] - wide) ** 2).sum(axis=2)
    values = {
        Gaussian: lambda: np.exp(-apart / (2 * 1.7**2)),
        Cubic: lambda: (wide @ wide.T / 5 + 1) ** 3,
        Euclidean: lambda: np.sqrt(apart),
    }[type(measure)]()
    np.fill_diagonal(values, 0)
    return values


@pytest.mark.parametrize("measure", MEASURES, ids=["gaussian", "cubic", "euclidean"])
@pytest.mark.parametrize("block", [48, 100, None])
def test_sums_over_pairs_are_those_of_the_definition(rng, measure, block):
    x, y = sets_of(rng)
    rows = CentredRows.of(x), CentredRows.of(y)
    with on_device(block):
        found = pair_sums(*rows, measure)
    whole = brute_sums(measure, np.concatenate([x, y]))
    n = len(x)
    assert found.reference == pytest.approx(float(whole[:n, :n].sum()), rel=1e-12)
    assert found.generated == pytest.approx(float(whole[n:, n:].sum()), rel=1e-12)
    assert found.across == pytest.approx(float(whole[:n, n:].sum()), rel=1e-12)
    assert (found.n, found.m) == (250, 190)


@pytest.mark.parametrize("measure", MEASURES, ids=["gaussian", "cubic", "euclidean"])
def test_sums_by_group_are_those_of_the_definition(rng, measure):
    (rows,), labels = sets_of(rng, m=0)[:1], np.sort(rng.integers(7, size=250))
    labels[labels == 2] = 1  # a group without rows
    member = labels[:, None] == np.arange(7)
    with on_device():
        found = group_sums(ExactTiles(CentredRows.of(rows), measure), labels, 7, Workers.alone())
    np.testing.assert_allclose(found, member.T @ brute_sums(measure, rows) @ member, rtol=1e-11)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("measure", MEASURES, ids=["gaussian", "cubic", "euclidean"])
def test_sums_of_powers_are_those_of_the_processor(rng, measure):
    (rows,), labels = sets_of(rng, m=0)[:1], np.sort(rng.integers(7, size=250))
    tiles = ExactTiles(CentredRows.of(rows), measure)
    own = power_sums(tiles, labels, 7, Workers.alone(), (1, 2, 9))
    with on_device():
        found = power_sums(tiles, labels, 7, Workers.alone(), (1, 2, 9))
    np.testing.assert_allclose(found, own, rtol=1e-11)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_that_lie_close_lose_no_digits(rng, offset):
    x = rng.standard_normal((60, 5)) * 1e-3 + offset
    y = np.concatenate([x[:20], x[20:40] + 1e-9, rng.standard_normal((9, 5)) + offset])
    rows = centred(x, y)
    own = pair_sums(*rows, Euclidean())
    with on_device(48):
        assert pair_sums(*rows, Euclidean()).across == pytest.approx(own.across, rel=1e-11)


def test_copies_are_no_distance_apart(rng, monkeypatch):
    monkeypatch.setattr(torch_products, "NEAR_PAIRS", 64)  # a few pairs at a time
    rows = CentredRows.of(np.repeat(rng.standard_normal((3, 4)), 40, axis=0))
    with on_device(48):
        found = pair_sums(rows, rows, Euclidean())
    apart = np.sqrt(((rows.given[::40, None] - rows.given[::40]) ** 2).sum(axis=2))
    assert found.across == pytest.approx(1600 * apart.sum(), rel=1e-12)
    assert found.reference == found.across


def test_sums_that_overflow_are_nan():
    rows = CentredRows.of(np.full((60, 5), 1e60))
    with on_device():
        assert np.isnan(pair_sums(rows, rows, Cubic(5)).across)


def test_a_measure_that_the_device_does_not_know_stays_here(rng):
    rows = [CentredRows.of(points) for points in sets_of(rng, 20, 30)]

    def ones(one, other):
        return np.ones((len(one.squares), len(other.squares)))

    with on_device():
        assert pair_sums(*rows, ones).across == 600


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block", [48, 100, None])
def test_scatter_and_coordinates(rng, dtype, block):
    sets, axes = sets_of(rng, d=70, dtype=dtype, offset=3.0), rng.standard_normal((70, 9))
    centre = sets[0].mean(axis=0, dtype=np.float64)
    wide = [points.astype(np.float64) - centre for points in sets]
    with on_device(block):
        scatter = scatter_about(sets, centre, (2.0, 0.5), Workers.alone())
        found = coordinates(sets[0], centre, axes, Workers.alone())
    expected = 2 * wide[0].T @ wide[0] + 0.5 * wide[1].T @ wide[1]
    np.testing.assert_allclose(scatter, expected, rtol=1e-12, atol=1e-11)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, (wide[0] @ axes).astype(np.float32))


def test_moments(rng):
    points = sets_of(rng, d=30, offset=10.0)[0]
    expected = Moments.of(points, precise=True)
    for precise in (False, True):
        with on_device():
            found = Moments.of(points, precise=precise)
        np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-12, atol=1e-11)
        np.testing.assert_array_equal(found.mean, expected.mean)


def test_the_axes_of_two_sets(rng):
    sets = [points * np.linspace(3, 0.1, 40, dtype=np.float32) for points in sets_of(rng, d=40)]
    own = preprocess(*sets)
    with on_device():
        found = preprocess(*sets)
    assert found.explained_variance == pytest.approx(own.explained_variance, abs=1e-6)
    for ours, theirs in ((found.reference, own.reference), (found.generated, own.generated)):
        signs = np.sign((ours * theirs).sum(axis=0))
        np.testing.assert_allclose(ours * signs, theirs, atol=1e-5)


SCORES = {
    "mmd": mmd,
    "mmd of a width": lambda x, y: mmd(x, y, bandwidth=0.5),
    "kid": kid,
    "energy": energy_distance,
    "frechet": frechet_distance,
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_those_of_the_processor(rng, name, dtype):
    sets = sets_of(rng, d=12, dtype=dtype, offset=2.0)
    own = SCORES[name](*sets).value
    with on_device():
        assert SCORES[name](*sets).value == pytest.approx(own, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("replicates", [mmd_replicates, energy_replicates])
def test_replicates_are_those_of_the_processor(rng, replicates):
    sets = sets_of(rng)
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    own = replicates(*sets, blocks)
    with on_device():
        found = replicates(*sets, blocks)
    for name in ("value", "without_reference", "without_generated"):
        np.testing.assert_allclose(getattr(found, name), getattr(own, name), atol=1e-10)


@pytest.mark.parametrize("sizes", [(250, 190), (1_400, 1_100)])
def test_the_permutation_test_is_that_of_the_processor(rng, sizes):
    sets = sets_of(rng, *sizes)  # of the larger ones the processor takes products in float32
    own = mmd_test(*sets, permutations=99)
    with on_device(None):
        found = mmd_test(*sets, permutations=99)
    assert found.estimate == pytest.approx(own.estimate, abs=1e-7)
    assert found.statistic == pytest.approx(own.statistic, abs=1e-3)
    assert found.p_value == own.p_value


def full_beyond(monkeypatch, rows):
    """Have the device refuse what takes more than so many rows; tell what it refused."""
    there, refused = torch_products._there, []

    def full(device, values):
        if values.ndim == 2 and len(values) > rows:
            refused.append(values.shape)
            raise torch.OutOfMemoryError("no room")
        return there(device, values)

    monkeypatch.setattr(torch_products, "_there", full)
    return refused


def test_where_the_device_has_no_room_smaller_tiles_give_the_same(rng, monkeypatch):
    sets = sets_of(rng, 500, 430, d=9)
    own = [SCORES[name](*sets).value for name in SCORES]
    labels = np.arange(500) // 20
    tiles = ExactTiles(CentredRows.of(sets[0]), Euclidean())
    sums = group_sums(tiles, labels, 25, Workers.alone())
    refused = full_beyond(monkeypatch, 100)
    with on_device(400):
        found = [SCORES[name](*sets).value for name in SCORES]
        by_group = group_sums(tiles, labels, 25, Workers.alone())
        projected = coordinates(sets[0], np.zeros(9), np.eye(9), Workers.alone())
    assert max(refused)[0] == 400 if (400, 9) in refused else refused
    np.testing.assert_allclose(found, own, rtol=1e-9)
    np.testing.assert_allclose(by_group, sums, rtol=1e-11)
    np.testing.assert_array_equal(projected, sets[0])


def test_no_room_for_the_smallest_tile_is_told(rng, monkeypatch):
    refused = full_beyond(monkeypatch, 10)
    sets = sets_of(rng)
    for score in (mmd, frechet_distance):
        with (
            on_device(),
            pytest.raises(InputError, match="memory for a tile of 48"),
        ):
            score(*sets)
    assert refused


class FakeCuda:
    """A device with so many free bytes."""

    def __init__(self, free):
        self._free = free

    @property
    def cuda(self):
        return self

    def mem_get_info(self, name):
        return self._free, 80 * 2**30


def test_tiles_take_half_of_the_free_memory():
    device = Device(FakeCuda(2 * 2**30), "cuda")
    assert device.tile_rows(40, 100_000) == int(np.sqrt(2**30 / 40))
    assert device.tile_rows(40, 1_000) == 1_000
    assert device.block_rows(2**20, 100_000) == 1_024
    assert device.holds(2**29)
    assert not device.holds(2**29 + 1)
    assert Device(FakeCuda(1_000), "cuda").tile_rows(40, 1_000) == 48  # and then it may fail


@settings(max_examples=15)
@given(
    n=st.integers(2, 130),
    m=st.integers(2, 130),
    block=st.sampled_from([48, 96]),
    seed=st.integers(0, 1000),
)
def test_any_sizes(n, m, block, seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 3, (size, 3)).astype(np.float32) for size in (n, m))
    own = energy_distance(x, y).value
    with on_device(block):
        assert energy_distance(x, y).value == pytest.approx(own, abs=1e-12)


def test_little_work_stays_on_the_processor():
    with products_on(TorchProducts("cuda")):  # no GPU is there, so that anything else would fail
        assert products_for(FEWEST - 1) is None
        assert products_for(FEWEST).device == "cuda"
        assert mmd([[0.0], [1.0]], [[2.0], [3.0]]).value != 0
        with products_on(None):
            assert products_for(FEWEST) is None
    assert products_for(FEWEST) is None


def test_a_comparison_gives_the_same_scores_through_torch(rng, monkeypatch):
    sets = sets_of(rng, 320, 300, d=16)
    asked = {"metrics": "mmd,kid,energy_distance,frechet_distance,precision", "threads": 1}
    before = compare(*sets, **asked)
    seen = []
    made = TorchProducts("cpu", block=96, fewest=0)
    monkeypatch.setattr(torch_products, "TorchProducts", lambda *given: seen.append(given) or made)
    monkeypatch.setattr("calipers.engine.torch_passes.TorchPasses", lambda *given: None)
    after = compare(*sets, device="cuda", **asked)
    assert seen == [("cuda",)]
    assert len(before.systems[0].scores) >= 5
    for name, score in before.systems[0].scores.items():
        found = after.systems[0].scores[name]
        assert found.value == pytest.approx(score.value, abs=1e-6), name
        if score.interval is not None:
            assert found.interval == pytest.approx(score.interval, abs=1e-6), name


def test_neighbours_on_axes_are_those_of_the_processor(rng, monkeypatch):
    sets = sets_of(rng, 320, 300, d=16)
    asked = {"metrics": "precision,recall,density", "projection": "union", "threads": 1}
    before = compare(*sets, **asked)
    called = []
    monkeypatch.setattr(TorchProducts, "coordinates", lambda *given: called.append(given))
    monkeypatch.setattr(
        torch_products, "TorchProducts", lambda *given: TorchProducts("cpu", fewest=0)
    )
    monkeypatch.setattr("calipers.engine.torch_passes.TorchPasses", lambda *given: None)
    after = compare(*sets, device="cuda", **asked)
    assert not called
    for name, score in before.systems[0].scores.items():
        assert after.systems[0].scores[name].value == score.value, name
