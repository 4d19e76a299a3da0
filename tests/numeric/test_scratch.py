"""Room for large arrays: in memory or in a file, with the same results."""

import errno
import os

import numpy as np
import pytest

from calipers import memory_limit
from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.estimate.quantise import quantise
from calipers.numeric import scratch as module
from calipers.numeric.blocks import Blocks
from calipers.numeric.scratch import converted, filled, scratch


@pytest.fixture
def in_files(monkeypatch):
    """Have every array lie in a file; gives the sizes that were reserved."""
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(module, "SHARE", 0.0)
    reserve, sizes = module._reserve, []
    monkeypatch.setattr(
        module, "_reserve", lambda file, size: sizes.append(size) or reserve(file, size)
    )
    return sizes


def test_an_array_that_takes_much_of_the_memory_lies_in_a_file(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    with memory_limit(8_000):
        small, large = scratch((25, 10), np.float32), scratch((26, 10), np.float32)
    assert small.base is None
    assert large.base is not None
    assert large.shape == (26, 10)
    assert large.dtype == np.float32
    large += 1
    assert large.sum() == 260


def test_the_file_is_gone_with_the_array(tmp_path, monkeypatch, in_files):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = scratch((100, 10), np.float64)
    rows[:] = 1
    assert in_files == [8_000]
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_told_before_anything_is_written(monkeypatch, in_files):
    def full(file, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "_reserve", full)
    with pytest.raises(InputError, match=r"8\.0 kB.*No space left.*TMPDIR"):
        scratch((100, 10), np.float64)


def test_rows_are_converted_block_by_block(rng, in_files):
    rows = rng.standard_normal((9_000, 3)).astype(np.float16)
    np.testing.assert_array_equal(converted(rows, np.float32), rows.astype(np.float32))


def test_results_are_the_same_where_all_arrays_lie_in_files(rng, monkeypatch):
    sets = [rng.standard_normal((300, 20)).astype(np.float32) for _ in range(2)]

    def measured():
        space = preprocess(*sets, threads=1)
        near = neighbourhoods(*sets, k=3, threads=1)
        cells = quantise(space.reference, space.generated, buckets=10, threads=1)
        return space.reference, near.reference.held, near.generated.radii, cells.centres

    before = measured()
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(module, "SHARE", 0.0)
    for one, other in zip(before, measured(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_array_of_one_number(in_files):
    made = filled((3, 2), np.inf, np.float32)
    assert in_files == [24]
    assert made.dtype == np.float32
    assert np.isposinf(made).all()


def test_what_is_kept_of_neighbours_by_block_lies_in_files_where_memory_is_short(rng, in_files):
    sets = [rng.standard_normal((size, 5)).astype(np.float32) for size in (260, 210)]
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    found = neighbourhoods(*sets, k=4, blocks=blocks, threads=1)
    by_block = 4 * 260 * blocks[0].count
    assert in_files.count(by_block) >= 3  # held, without the block, and inside
    assert found.reference.replicates is not None
