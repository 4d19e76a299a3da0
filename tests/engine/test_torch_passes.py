"""The passes through torch give the counts of the processor's own, whatever the tiles."""

import importlib.util
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from calipers import compare
from calipers.engine import torch_passes
from calipers.engine.device import exact_products
from calipers.engine.torch_passes import TorchPasses
from calipers.errors import InputError
from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn.passes import passes_on
from calipers.numeric.blocks import Blocks
from extras import need

torch = need("torch")

_spec = importlib.util.spec_from_file_location(
    "same_counts", Path(__file__).with_name("same_counts.py")
)
same = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(same)
ALL, gaussians = same.ALL, same.gaussians


def check_equal(sets, *, block=96, **options):
    return same.check_equal(sets, TorchPasses("cpu", threads=1, block=block), **options)


@pytest.mark.parametrize("block", [48, 96, None])
def test_counts_are_those_of_the_processor(rng, block):
    found = check_equal(gaussians(rng), k=4, k_max=6, supports=ALL, block=block)
    assert found.reference.held.sum() > 0


@pytest.mark.parametrize("ties", ["closed", "open"])
def test_ties_and_copies_count_as_on_the_processor(rng, ties):
    sets = [rng.integers(0, 3, (size, 3)).astype(np.float32) for size in (230, 150)]
    check_equal(sets, k=5, ties=ties, supports=ALL)


def test_replicates_are_kept(rng):
    sets = gaussians(rng, 240, 200)
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    found = check_equal(sets, k=4, blocks=blocks)
    assert found.reference.replicates.held_halves.sum() > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_far_from_the_origin_lose_nothing(rng, dtype):
    sets = [rows + dtype(1e4) for rows in gaussians(rng, dtype=dtype)]
    check_equal(sets, k=3, supports=ALL)


def test_cosine_distances(rng):
    check_equal(gaussians(rng), k=3, distance="cosine", supports=ALL)


def test_rows_of_one_stratum_are_no_neighbours(rng):
    sets = gaussians(rng, 240, 200)
    strata = tuple(rng.integers(0, 70, len(rows)) for rows in sets)
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    check_equal(sets, k=4, blocks=blocks, strata=strata, supports=ALL)


def test_few_rows_of_one_dimension():
    check_equal(([[0.0], [1.0], [3.0]], [[0.5], [9.0]]), k=1, supports=Supports(smaller=1))


def test_where_the_device_has_no_room_smaller_tiles_give_the_same(rng, monkeypatch):
    bounds, refused = torch_passes._DeviceRows.bounds, []

    def full(self, own, others, other):
        if max(own[1] - own[0], other[1] - other[0]) > 96:
            refused.append((own, other))
            raise torch.OutOfMemoryError("no room")
        return bounds(self, own, others, other)

    monkeypatch.setattr(torch_passes._DeviceRows, "bounds", full)
    check_equal(gaussians(rng), k=3, block=240, supports=ALL)
    assert refused


def test_no_room_for_the_smallest_tile_is_an_error(rng, monkeypatch):
    def full(self, own, others, other):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(torch_passes._DeviceRows, "bounds", full)
    told = pytest.raises(InputError, match=r"'cpu' .*memory for a tile of 48")
    with told, passes_on(TorchPasses("cpu")):
        neighbourhoods(*gaussians(rng), k=3)


def test_products_are_exact_while_a_pass_runs_and_as_before_after_it():
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with exact_products("cpu", "a test"):
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_one_thread_at_a_time_has_the_device():
    inside, leave, order = Event(), Event(), []

    def hold():
        with exact_products("cpu", "a test"):
            inside.set()
            leave.wait(10)
            order.append("first out")

    def follow():
        with exact_products("cpu", "a test"):
            order.append("second in")

    threads = [Thread(target=hold), Thread(target=follow)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    threads[1].join(0.05)
    leave.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first out", "second in"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_told(rng):
    with pytest.raises(InputError, match="finds no cuda device"), passes_on(TorchPasses("cuda")):
        neighbourhoods(*gaussians(rng), k=3)


def test_a_comparison_gives_the_same_scores_through_torch(rng, monkeypatch):
    sets = gaussians(rng, 220, 200)
    asked = {"metrics": "support,precise_recall,precise_diversity", "threads": 1}
    before = compare(*sets, **asked)
    seen = []
    monkeypatch.setattr(
        torch_passes,
        "TorchPasses",
        lambda *given: seen.append(given) or TorchPasses("cpu", threads=1, block=96),
    )
    after = compare(*sets, device="cuda", **asked)
    assert seen == [("cuda", 1)]
    values = [
        {name: score.value for name, score in found.systems[0].scores.items()}
        for found in (before, after)
    ]
    assert values[0].keys() == values[1].keys()
    assert len(values[0]) > 4
    for name, value in values[0].items():
        # Products over balls of one radius are made of float32 products, on either side
        most = 1e-6 if name.startswith("probabilistic") else 1e-12
        assert values[1][name] == pytest.approx(value, abs=most), name
