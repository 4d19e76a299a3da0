"""K-means through files gives the cells of one process, and goes on wherever it was stopped."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import compare
from calipers.engine import kmeans_files, kmeans_parts, results
from calipers.engine.kmeans_files import FileRounds
from calipers.engine.kmeans_parts import RoundPart, make_part
from calipers.engine.work_folder import WorkFolder
from calipers.errors import InputError
from calipers.estimate.kmeans.rounds import rounds_on
from calipers.estimate.quantise import joint_cells
from extras import need

_spec = importlib.util.spec_from_file_location(
    "same_cells", Path(__file__).with_name("same_cells.py")
)
same = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(same)
FEW = {"restarts": 1, "max_iterations": 4}


def topics(rng, n=210, m=130, d=5, dtype=np.float32):
    return same.topics(rng, n, m, d, dtype)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of 96 rows, in files that need not outlive a machine that stops."""
    monkeypatch.setattr(kmeans_parts, "LEAST_ROWS", 96)
    monkeypatch.setattr(os, "fsync", lambda file: None)


def rounds_in(folder, **options):
    return FileRounds(WorkFolder(str(folder)), threads=1, few_pairs=0, **options)


def by_others(work, parts, *more):
    """Make parts from files alone, the last first, and one twice."""
    for place in reversed(range(len(parts))):
        work(parts[place], *more)
        work(parts[0], *more)
        yield place


def check_equal(sets, folder, run=None, **options):
    with rounds_in(folder, run=run) as rounds:
        found = same.check_equal(sets, rounds, **{**FEW, **options})
    assert not Path(folder).exists()
    return found


def cluster(sets, folder, run=None, *, cells=20, **options):
    chosen = {"cells": cells, **same.USUAL, **FEW, **options}
    with rounds_in(folder, run=run) as rounds, rounds_on(rounds):
        return joint_cells(sets, [1.0] * len(sets), **chosen)


RUNNERS = pytest.mark.parametrize("run", [None, by_others], ids=["here", "by others"])


@RUNNERS
@pytest.mark.parametrize("cells", [1, 20, 90])
def test_cells_are_those_of_one_process(rng, tmp_path, run, cells):
    found = check_equal(topics(rng), tmp_path / "work", run, cells=cells)
    assert len(np.unique(found.labels[0])) == cells


@RUNNERS
def test_weights(rng, tmp_path, run):
    check_equal(topics(rng), tmp_path / "work", run, weights=[0.7, 1.6], cells=40)


@RUNNERS
def test_more_cells_than_distinct_rows_leave_centres_empty(tmp_path, run):
    rows = np.repeat(np.eye(5), 30, axis=0)[:, :4]
    found = check_equal([rows, rows], tmp_path / "work", run, cells=12)
    assert len(np.unique(found.labels[0])) == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clusters_far_from_each_other_and_from_the_origin(rng, tmp_path, dtype):
    groups = np.repeat([[0.0], [1e3]], 150, axis=0)
    rows = rng.standard_normal((300, 5)).astype(dtype) + dtype(1e4) + groups
    check_equal([rows, rows + 1], tmp_path / "work", by_others, cells=50)


@settings(max_examples=6)
@given(st.integers(2, 150), st.integers(1, 3), st.integers(0, 2**32 - 1), st.data())
def test_any_sizes_with_many_ties(tmp_path_factory, n, d, seed, data):
    rng = np.random.default_rng(seed)
    sets = [rng.integers(0, 5, (n, d)).astype(np.float32) for _ in range(2)]
    place = tmp_path_factory.mktemp("parts") / "work"
    check_equal(sets, place, by_others, cells=data.draw(st.integers(1, 2 * n)), restarts=1)


def test_rounds_that_are_given_up_at_their_limit(rng, tmp_path):
    for rounds in (1, 2):
        check_equal(topics(rng), tmp_path / "work", max_iterations=rounds)


def test_few_pairs_need_no_files(rng, tmp_path):
    place = tmp_path / "work"
    with FileRounds(WorkFolder(str(place))) as rounds:
        same.check_equal(topics(rng), rounds, **FEW)
    assert not place.exists()


def test_rows_are_written_for_others_alone_and_one_table_at_a_time(rng, tmp_path):
    place, seen = tmp_path / "work", []

    def watch(work, parts, *more):
        seen.append(len(list(place.rglob("rows.npy"))))
        yield from by_others(work, parts, *more)

    with rounds_in(place, run=watch) as rounds:
        for _ in range(2):
            same.check_equal(topics(rng), rounds, **FEW)
    assert set(seen) == {1}
    with rounds_in(place) as rounds:
        same.check_equal(topics(rng), rounds, **FEW)
        assert not list(place.rglob("rows.npy"))


class StoppedError(Exception):
    """What stands for a driver that is killed."""


def stopping_at(monkeypatch, count):
    """Have the driver die before it writes, or removes, a certain file; give what it did."""
    done = []

    def counted(method):
        original = getattr(WorkFolder, method)

        def act(self, *given, **options):
            if len(done) == count:
                raise StoppedError
            done.append(method)
            return original(self, *given, **options)

        return act

    patches = {name: counted(name) for name in ("write", "discard")}
    for name, patch in patches.items():
        monkeypatch.setattr(WorkFolder, name, patch)
    return done


@pytest.mark.slow
@RUNNERS
def test_a_run_that_is_stopped_anywhere_goes_on(rng, tmp_path, monkeypatch, run):
    """Before any file is written or removed; until all is known, nothing is made again."""
    sets, place = topics(rng, 110, 70, 3), tmp_path / "work"
    options = {"cells": 7, "restarts": 2, "max_iterations": 3}
    expected = joint_cells(sets, (1.0, 1.0), **{**same.USUAL, **options})
    with monkeypatch.context() as patch:
        whole = stopping_at(patch, -1)
        same.check_same(cluster(sets, place, run, **options), expected)
    assert whole.count("write") > 20
    known = max(place for place, what in enumerate(whole) if what == "write")
    for count in range(len(whole)):
        with monkeypatch.context() as patch:
            stopping_at(patch, count)
            with pytest.raises(StoppedError):
                cluster(sets, place, run, **options)
        with monkeypatch.context() as patch:
            rest = stopping_at(patch, -1)
            same.check_same(cluster(sets, place, run, **options), expected)
        assert not place.exists()
        again = rest.count("write") - (whole.count("write") - whole[:count].count("write"))
        assert count > known or again <= 2, count  # where the run is, and its first centres


def stopped(sets, place, count):
    """Stop a run after so many parts."""
    made = []

    def run(work, parts, *more):
        for part_place, part in enumerate(parts):
            if len(made) == count:
                raise StoppedError
            made.append(part)
            work(part, *more)
            yield part_place

    with pytest.raises(StoppedError):
        cluster(sets, place, run)


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        *((damage, "0.npz") for damage in ("cut", "changed", "empty", "removed")),
        ("cut", "centres.npz"),
        ("changed", "at.npz"),
        ("removed", "*.npz"),
    ],
)
def test_damaged_files_are_made_again(rng, tmp_path, damage, name):
    sets, place = topics(rng), tmp_path / "work"
    stopped(sets, place, 10)
    paths = sorted(place.rglob(name))
    assert paths
    for path in paths:
        content = bytearray(path.read_bytes())
        if damage == "removed":
            path.unlink()
            continue
        if damage == "changed":
            content[len(content) // 2] ^= 255
        path.write_bytes({"cut": content[:-100], "empty": b""}.get(damage, content))
    check_equal(sets, place)


@pytest.mark.parametrize("lost", ["centres", "labels", "rows"])
def test_what_is_lost_on_the_way_is_told(rng, tmp_path, lost):
    place, calls = tmp_path / "work", []

    def lose(work, parts, *more):
        if calls:
            name = {"centres": "centres.npz", "labels": "96.npz", "rows": "rows.npy"}[lost]
            for path in place.rglob(name):
                path.unlink()
        calls.append(1)
        yield from by_others(work, parts, *more)

    word = {"centres": "centres", "labels": "/0/96", "rows": "rows"}[lost]
    with pytest.raises(InputError, match=rf"{word}\.np[yz] is missing or damaged"):
        cluster(topics(rng), place, lose)


def test_a_result_that_the_driver_cannot_see(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "LATEST", 0.2)
    with pytest.raises(InputError, match="must be one that all machines share"):
        cluster(topics(rng), tmp_path, lambda work, parts, *more: iter([0]))


def test_a_second_copy_that_comes_late_leaves_nothing(rng, tmp_path):
    place, late = tmp_path / "work", []

    def run(work, parts, *more):
        late.append(parts[0])
        for part_place, part in enumerate(parts):
            work(part, *more)
            yield part_place

    cluster(topics(rng), place, run)
    make_part(late[1])
    assert not place.exists()


def test_a_second_copy_that_comes_in_a_later_round_leaves_nothing(rng, tmp_path):
    place, late = tmp_path / "work", []

    def run(work, parts, *more):
        late.append(parts[0])
        for part_place, part in enumerate(parts):
            if len(late) == 3:
                work(late[0], *more)
                assert not list(place.rglob("0/*"))
            work(part, *more)
            yield part_place

    cluster(topics(rng), place, run)
    assert len(late) > 3


def test_a_copy_that_is_done_when_its_round_is_over_writes_nothing(rng, tmp_path, monkeypatch):
    place, make, late = tmp_path / "work", RoundPart.make, []

    def slow(part, *given):
        found = make(part, *given)
        if late:
            part.files.folder.discard(late.pop().files.place)
        return found

    monkeypatch.setattr(RoundPart, "make", slow)

    def run(work, parts, *more):
        late.append(parts[0])
        work(parts[0], *more)
        assert not (place / parts[0].result).exists()
        raise StoppedError
        yield

    with pytest.raises(StoppedError):
        cluster(topics(rng), place, run)


def test_two_runs_of_the_same_samples_do_not_meet(rng, tmp_path):
    sets, place = topics(rng), tmp_path / "work"

    def meet(work, parts, *more):
        cluster(sets, place)
        yield from range(len(parts))

    with pytest.raises(InputError, match="another run"):
        cluster(sets, place, meet)


def test_other_samples_or_options_find_nothing_there(rng, tmp_path):
    sets, place = topics(rng), tmp_path / "work"
    stopped(sets, place, 10)
    kept = set(place.rglob("*.npz"))
    with rounds_in(place) as rounds:
        same.check_equal([sets[0][::-1].copy(), sets[1]], rounds, **FEW)
        same.check_equal(sets, rounds, cells=21, **FEW)
    assert kept == set(place.rglob("*.npz"))


def test_a_full_disk_keeps_what_was_finished(rng, tmp_path, monkeypatch):
    sets, place = topics(rng), tmp_path / "work"
    save, written = np.savez, []

    def full(file, **arrays):
        if len(written) == 10:
            file.write(b"part")
            raise OSError(28, "No space left on device")
        written.append(1)
        save(file, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match=r"No space left on device.*kept"):
        cluster(sets, place)
    assert list(place.rglob("*.npz"))
    assert not list(place.rglob("*.tmp"))
    monkeypatch.setattr(np, "savez", save)
    check_equal(sets, place)


def test_object_storage_through_fsspec(rng):
    need("fsspec")
    with rounds_in("memory://cells", run=by_others) as rounds:
        same.check_equal(topics(rng), rounds, **FEW)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(rng, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="written: Permission denied"):
        cluster(topics(rng), tmp_path / "work")


def test_a_comparison_gives_the_same_scores_through_files(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(kmeans_files, "MOST_BOUNDS", 0)
    made = []
    monkeypatch.setattr(
        kmeans_files, "make_part", lambda part, *given: made.append(part) or make_part(part, *given)
    )
    sets, asked = topics(rng), {"metrics": "mauve,mauve_star,prd", "threads": 1, "floor": False}
    before = compare(*sets, **asked).systems[0].scores
    after = compare(*sets, work_dir=str(tmp_path / "work"), **asked).systems[0].scores
    assert made
    assert len(before) > 2
    assert {name: score.value for name, score in after.items()} == {
        name: score.value for name, score in before.items()
    }
    assert not (tmp_path / "work").exists()


def test_parts_are_cut_by_numbers_alone():
    assert kmeans_parts.ranges(300, 5) == [(0, 96), (96, 192), (192, 288), (288, 300)]
    assert len(kmeans_parts.ranges(2_000_000, 5000)) == 38
    assert len(kmeans_parts.ranges(2_000_000, 500)) == 17
