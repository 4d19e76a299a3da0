"""K-means through torch gives the labels, centres and inertias of the processor, bit for bit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import compare
from calipers.engine import torch_kmeans
from calipers.engine.torch_kmeans import TorchRounds
from calipers.errors import InputError
from calipers.estimate.kmeans.rounds import rounds_on
from calipers.estimate.quantise import quantise
from extras import need

torch = need("torch")

_spec = importlib.util.spec_from_file_location(
    "same_cells", Path(__file__).with_name("same_cells.py")
)
same = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(same)
topics = same.topics


def check_equal(sets, *, block=96, threads=1, **options):
    return same.check_equal(sets, TorchRounds("cpu", threads, block, 0), **options)


@pytest.mark.parametrize("block", [48, 96, None])
@pytest.mark.parametrize("cells", [1, 20, 150])
def test_cells_are_those_of_the_processor(rng, block, cells):
    found = check_equal(topics(rng), cells=cells, block=block)
    assert len(np.unique(found.labels[0])) == cells


def test_threads_that_settle_change_nothing(rng):
    check_equal(topics(rng), cells=60, threads=3)


def test_weights(rng):
    check_equal(topics(rng), weights=[0.7, 1.6], cells=40)


def test_ties_between_rows_and_centres(rng):
    check_equal([rng.integers(0, 4, (size, 3)).astype(np.float32) for size in (230, 150)], cells=30)


def test_more_cells_than_distinct_rows_leave_centres_empty(rng):
    found = check_equal([np.repeat(np.eye(5), 30, axis=0)[:, :4]] * 2, cells=12)
    assert len(np.unique(found.labels[0])) == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clusters_far_from_each_other_and_from_the_origin(rng, dtype):
    """Within a group float32 products cancel nearly all of the lengths."""
    groups = np.repeat([[0.0], [1e3]], 150, axis=0)
    check_equal([rng.standard_normal((300, 5)).astype(dtype) + dtype(1e4) + groups] * 2, cells=50)


@settings(max_examples=25)
@given(st.integers(2, 120), st.integers(1, 4), st.integers(0, 2**32 - 1), st.data())
def test_any_sizes_with_many_ties(n, d, seed, data):
    rng = np.random.default_rng(seed)
    cells = data.draw(st.integers(1, 2 * n))
    sets = [rng.integers(0, 5, (n, d)).astype(np.float32) for _ in range(2)]
    check_equal(sets, cells=cells, block=48, restarts=1)


def test_where_the_device_has_no_room_smaller_tiles_give_the_same(rng, monkeypatch):
    candidates, refused = torch_kmeans._DeviceSteps._candidates, []

    def full(self, span, *given):
        if span[1] - span[0] > 96:
            refused.append(span)
            raise torch.OutOfMemoryError("no room")
        return candidates(self, span, *given)

    monkeypatch.setattr(torch_kmeans._DeviceSteps, "_candidates", full)
    check_equal(topics(rng), block=480)
    assert refused


def test_no_room_for_the_smallest_tile_is_an_error(rng, monkeypatch):
    def full(self, *given):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(torch_kmeans._DeviceSteps, "_candidates", full)
    none = pytest.raises(InputError, match="memory for a tile of 48")
    with none, rounds_on(TorchRounds("cpu", few_pairs=0)):
        quantise(*topics(rng), buckets=5)


def test_tiles_that_would_list_too_many_pairs_are_halved(rng, monkeypatch):
    monkeypatch.setattr(torch_kmeans, "MOST_LISTED", 100)
    candidates, seen = torch_kmeans._DeviceSteps._candidates, []

    def watch(self, span, *given):
        many = True
        try:
            found = candidates(self, span, *given)
            many = False
        finally:
            seen.append((span[1] - span[0], many))
        return found

    monkeypatch.setattr(torch_kmeans._DeviceSteps, "_candidates", watch)
    check_equal([np.repeat(rng.standard_normal((10, 3)), 40, axis=0)] * 2, cells=30, block=480)
    assert (480, True) in seen
    assert any(size <= 48 and not many for size, many in seen)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_told(rng):
    with (
        pytest.raises(InputError, match="finds no cuda device"),
        rounds_on(TorchRounds("cuda", few_pairs=0)),
    ):
        quantise(*topics(rng), buckets=5)


def test_a_comparison_gives_the_same_scores_through_torch(rng, monkeypatch):
    sets, asked = (
        topics(rng, 220, 200),
        {"metrics": "mauve,mauve_star,prd", "threads": 1, "floor": False},
    )
    before = compare(*sets, **asked).systems[0].scores
    seen = []
    monkeypatch.setattr(
        torch_kmeans,
        "TorchRounds",
        lambda *given: seen.append(given) or TorchRounds("cpu", 1, 96, 0),
    )
    after = compare(*sets, device="cuda", **asked).systems[0].scores
    assert seen == [("cuda", 1)]
    assert len(before) > 2
    assert {name: score.value for name, score in after.items()} == {
        name: score.value for name, score in before.items()
    }
