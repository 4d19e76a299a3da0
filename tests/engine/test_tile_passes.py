"""Passes through files of tiles give what one machine gives, and go on where they were stopped."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.engine import results, tile_passes, tiles
from calipers.engine.tile_passes import TilePasses
from calipers.engine.work_folder import WorkFolder, digest_of
from calipers.errors import InputError
from calipers.estimate import neighbourhoods
from calipers.estimate.knn.nearest import nearest_neighbours
from calipers.estimate.knn.passes import passes_on
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import sieves
from extras import need

_spec = importlib.util.spec_from_file_location(
    "same_counts", Path(__file__).with_name("same_counts.py")
)
same = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(same)
ALL, gaussians = same.ALL, same.gaussians


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of 48 to 96 rows."""
    monkeypatch.setattr(tiles, "LEAST_ROWS", 48)
    monkeypatch.setattr(tiles, "MOST_ROWS", 96)


def passes_in(folder, **options):
    return TilePasses(WorkFolder(str(folder)), threads=1, few_pairs=0, **options)


def measure(sets, folder, run=None, **options):
    with passes_in(folder, run=run) as passes, passes_on(passes):
        return neighbourhoods(*sets, **options)


def check_equal(sets, folder, **options):
    with passes_in(folder) as passes:
        found = same.check_equal(sets, passes, **options)
    assert not Path(folder).exists()
    return found


def test_counts_are_those_of_one_machine(rng, tmp_path):
    found = check_equal(gaussians(rng), tmp_path / "work", k=4, k_max=6, supports=ALL)
    assert found.reference.held.sum() > 0


def test_rows_of_one_stratum_are_no_neighbours(rng, tmp_path):
    sets = gaussians(rng, 240, 200)
    strata = tuple(rng.integers(0, 70, len(rows)) for rows in sets)
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    check_equal(sets, tmp_path / "work", k=4, blocks=blocks, strata=strata, supports=ALL)


@pytest.mark.parametrize("ties", ["closed", "open"])
def test_ties_and_copies_count_as_on_one_machine(rng, tmp_path, ties):
    sets = [rng.integers(0, 3, (size, 3)).astype(np.float32) for size in (230, 150)]
    check_equal(sets, tmp_path / "work", k=5, ties=ties, supports=ALL)


def test_replicates_are_kept(rng, tmp_path):
    sets = gaussians(rng, 240, 200)
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    found = check_equal(sets, tmp_path / "work", k=4, blocks=blocks, supports=ALL)
    assert found.reference.replicates.held_halves.sum() > 0


@pytest.mark.parametrize("n", [5, 47, 48, 49, 97])
def test_sets_smaller_than_a_tile_or_hardly_larger(rng, tmp_path, n):
    """A range of a single row has no neighbour in itself; k may pass the rows of a range."""
    check_equal(gaussians(rng, n, 145, 3), tmp_path / "work", k=4, supports=ALL)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_both_precisions_and_distances(rng, tmp_path, dtype, distance):
    sets = [rows + dtype(100) for rows in gaussians(rng, dtype=dtype)]
    check_equal(sets, tmp_path / "work", k=3, distance=distance)


@settings(max_examples=20)
@given(st.integers(2, 130), st.integers(2, 130), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_any_sizes_with_many_ties(tmp_path_factory, n, m, d, seed):
    rng = np.random.default_rng(seed)
    sets = [rng.integers(0, 4, (size, d)).astype(np.float32) for size in (n, m)]
    check_equal(sets, tmp_path_factory.mktemp("tiles") / "work", k=1, k_max=min(n, m) - 1)


def test_tiles_leave_out_what_lies_beyond_the_nearest_of_their_own_range(rng, tmp_path):
    (points,) = sieves(rng.standard_normal((384, 8)))
    k, expected = 3, nearest_neighbours(points, k=3)
    numbers = {}
    for order in (1, -1):  # ranges with themselves first, or last: nothing is known then
        folder = WorkFolder(str(tmp_path / str(order)))

        def run(missing, order=order, folder=folder):
            for place, tile in [*enumerate(missing)][::order]:
                tiles.make_tile(tile)
                arrays = folder.read_arrays(tile.result)
                places = sum((arrays[name] >= 0).sum() for name in arrays if "index" in name)
                numbers[order] = numbers.get(order, 0) + int(places)
                yield place

        with TilePasses(folder, run=run, threads=1, few_pairs=0) as passes:
            found = passes.nearest(points, k)
        np.testing.assert_array_equal(found.squared, expected.squared)
        np.testing.assert_array_equal(found.index, expected.index)
    pairs = 8 * 8  # ranges of 48 rows: each against itself and, from both sides, every other
    assert numbers[-1] == pairs * 48 * k
    assert 8 * 48 * k < numbers[1] < numbers[-1]


def test_few_pairs_need_no_files(rng, tmp_path):
    place = tmp_path / "work"
    with TilePasses(WorkFolder(str(place))) as passes:
        same.check_equal(gaussians(rng), passes, k=3)
    assert not place.exists()


class StoppedError(Exception):
    """What stands for a driver that is killed."""


def stopping_after(count):
    """Run tiles until so many are there."""

    def run(waiting):
        for place, tile in enumerate(waiting):
            if place == count:
                raise StoppedError
            tiles.make_tile(tile, 1)
            yield place

    return run


@pytest.mark.parametrize("count", [0, 1, 7, 13])
def test_a_run_that_was_stopped_goes_on(rng, tmp_path, monkeypatch, count):
    sets, place = gaussians(rng), tmp_path / "work"
    expected = neighbourhoods(*sets, k=4, supports=ALL)
    with pytest.raises(StoppedError):
        measure(sets, place, stopping_after(count), k=4, supports=ALL)
    kept = list(place.rglob("*.npz"))
    assert len(kept) == count
    made = []
    monkeypatch.setattr(
        tile_passes, "make_tile", lambda tile, threads: made.append(tile) or tiles.make_tile(tile)
    )
    found = measure(sets, place, k=4, supports=ALL)
    same.check_same(found, expected)
    ranges = [len(tiles.grid(len(rows))) for rows in sets]
    whole = sum(n * (n + 1) // 2 for n in ranges) + ranges[0] * ranges[1]
    assert len(made) == whole - count
    assert not place.exists()


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "removed"])
def test_damaged_results_are_made_again(rng, tmp_path, damage):
    sets, place = gaussians(rng), tmp_path / "work"
    with pytest.raises(StoppedError):
        measure(sets, place, stopping_after(9), k=4)
    for path in sorted(place.rglob("*.npz"))[::2]:
        content = bytearray(path.read_bytes())
        if damage == "removed":
            path.unlink()
            continue
        if damage == "changed":
            content[len(content) // 2] ^= 255
        path.write_bytes({"cut": content[:-100], "empty": b""}.get(damage, content))
    check_equal(sets, place, k=4)


def test_other_samples_or_options_find_nothing_there(rng, tmp_path):
    sets, place = gaussians(rng), tmp_path / "work"
    with pytest.raises(StoppedError):
        measure(sets, place, stopping_after(9), k=4)
    kept = set(place.rglob("*.npz"))
    other = sets[0].copy()
    other[3, 2] += 1e-3
    with passes_in(place) as passes:
        same.check_equal((other, sets[1]), passes, k=4)
        same.check_equal(sets, passes, k=3)
    assert kept == set(place.rglob("*.npz"))  # and what another run made stays


def test_two_runs_of_the_same_samples_do_not_meet(rng, tmp_path):
    sets, place = gaussians(rng), tmp_path / "work"

    def meet(waiting):
        measure(sets, place, k=4)
        yield from range(len(waiting))

    with pytest.raises(InputError, match="another run"):
        measure(sets, place, meet, k=4)


def test_rows_that_are_missing_on_the_way(rng, tmp_path):
    sets, place = gaussians(rng), tmp_path / "work"

    def lose(waiting):
        next(place.rglob("panels.npy")).unlink()
        tiles.make_tile(waiting[0])
        yield 0

    with pytest.raises(InputError, match=r"panels\.npy is missing or damaged"):
        measure(sets, place, lose, k=4)
    assert place.exists()
    check_equal(sets, place, k=4)


def test_a_result_that_the_driver_cannot_see(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "LATEST", 0.0)
    with pytest.raises(InputError, match="must be one that all machines share"):
        measure(gaussians(rng), tmp_path, lambda waiting: iter([0]), k=4)


def test_a_result_that_network_disks_show_late(rng, tmp_path, monkeypatch):
    """The driver's machine may hold for a while that a file is not there."""
    read, hidden = WorkFolder.read_arrays, set()

    def late(self, name):
        if name not in hidden:
            hidden.add(name)
            return None
        return read(self, name)

    monkeypatch.setattr(WorkFolder, "read_arrays", late)
    check_equal(gaussians(rng), tmp_path / "work", k=4)
    assert hidden


def test_results_that_come_damaged_again_and_again(rng, tmp_path):
    def cut(waiting):
        for place, tile in enumerate(waiting):
            tiles.make_tile(tile, 1)
            path = tmp_path / "work" / tile.result
            path.write_bytes(path.read_bytes()[:-50])
            yield place

    with pytest.raises(InputError, match=r"0-0\.npz .*3 times"):
        measure(gaussians(rng), tmp_path / "work", cut, k=4)


@pytest.mark.parametrize("name", ["points", "panels", "low", "rim", "marks"])
def test_rows_that_a_stopped_run_left_cut_are_written_again(rng, tmp_path, name):
    sets, place = gaussians(rng), tmp_path / "work"
    with pytest.raises(StoppedError):
        measure(sets, place, stopping_after(17), k=4)
    for path in place.rglob(f"{name}.npy"):
        path.write_bytes(path.read_bytes()[:-100])
    check_equal(sets, place, k=4)


def test_a_full_disk_keeps_what_was_finished(rng, tmp_path, monkeypatch):
    sets, place = gaussians(rng), tmp_path / "work"
    save, written = np.savez, []

    def full(file, **arrays):
        if len(written) == 5:
            file.write(b"part")
            raise OSError(28, "No space left on device")
        written.append(1)
        save(file, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match=r"No space left on device.*kept"):
        measure(sets, place, k=4)
    assert len(list(place.rglob("*.npz"))) == 5
    assert not list(place.rglob("*.tmp"))
    monkeypatch.setattr(np, "savez", save)
    check_equal(sets, place, k=4)


@pytest.mark.parametrize("remote", [False, True])
def test_a_worker_that_comes_too_late_leaves_nothing(rng, tmp_path, remote):
    """One that nobody waits for may go on to its end after the run is over."""
    if remote:
        need("fsspec")
    place, made = "memory://late" if remote else str(tmp_path / "work"), []

    def run(waiting):
        for position, tile in enumerate(waiting):
            made.append((tile.result, tile.make(1)))
            tiles.make_tile(tile, 1)
            yield position

    with passes_in(place, run=run) as passes:
        same.check_equal(gaussians(rng), passes, k=4)
    folder = WorkFolder(place)
    for name, arrays in made[::20]:
        with pytest.raises(InputError, match="cannot be written"):
            folder.write_arrays(name, arrays, make_folder=False)
        assert not folder.has(name)
    assert not (tmp_path / "work").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(rng, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="written: Permission denied"):
        measure(gaussians(rng), tmp_path / "work", k=4)


def test_object_storage_through_fsspec(rng, tmp_path):
    need("fsspec")
    sets = gaussians(rng)
    place = "memory://work"
    with passes_in(place) as passes:
        same.check_equal(sets, passes, k=4, supports=ALL)
    folder = WorkFolder(place)
    assert not folder.has("anything")
    with pytest.raises(InputError, match="nowhere://x: Protocol not known"):
        WorkFolder("nowhere://x").has("anything")


def test_hashes_see_shape_type_and_content():
    rows = np.arange(6, dtype=np.float32)
    made = {
        digest_of(rows),
        digest_of(rows.astype(np.float64)),
        digest_of(rows.reshape(2, 3)),
        digest_of(rows[::-1]),
        digest_of(rows, 1),
        digest_of("a", "b"),
        digest_of("ab"),
    }
    assert len(made) == 7
