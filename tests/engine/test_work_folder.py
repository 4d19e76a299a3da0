"""Files of a work folder are whole, claimed by one run, and fetched once a machine."""

import threading
import time

import numpy as np
import pytest

from calipers.engine.locks import hold, hold_new
from calipers.engine.work_folder import SHOWN, WorkFolder
from calipers.errors import InputError
from extras import need

pytest.importorskip("fcntl")
ROWS = np.arange(60, dtype=np.float32).reshape(12, 5)


@pytest.fixture(params=["disk", "storage"])
def folder(request, tmp_path):
    if request.param == "storage":
        need("fsspec")
    place = tmp_path / "work" if request.param == "disk" else f"memory:/{tmp_path}"
    folder = WorkFolder(str(place))
    yield folder
    folder.discard_copies()


def test_arrays_come_back_as_they_were(folder):
    folder.write_array("rows/a.npy", ROWS)
    folder.write_arrays("found/0-0.npz", {"x": ROWS, "y": ROWS[0].astype(int)})
    np.testing.assert_array_equal(folder.open_array("rows/a.npy"), ROWS)
    found = folder.read_arrays("found/0-0.npz")
    assert sorted(found) == ["x", "y"]
    np.testing.assert_array_equal(found["x"], ROWS)
    assert folder.names("found") == {"0-0.npz"}
    assert folder.names("nothing") == set()
    folder.discard("found")
    assert folder.read_arrays("found/0-0.npz") is None
    folder.discard("found")


@pytest.mark.parametrize(
    "array", [ROWS, ROWS.T, ROWS[::2], ROWS[:, :0], ROWS[:0], ROWS.astype(np.int64)[0]]
)
def test_a_file_holds_an_array_if_it_is_as_long_as_it_must_be(folder, array):
    assert not folder.holds("rows/a.npy", array)
    folder.write_array("rows/a.npy", array)
    assert folder.holds("rows/a.npy", array)
    assert not folder.holds("rows/a.npy", np.ones((13, 5)))


def test_a_file_that_was_cut_does_not_hold_its_array(tmp_path):
    folder = WorkFolder(str(tmp_path))
    folder.write_array("a.npy", ROWS)
    path = tmp_path / "a.npy"
    path.write_bytes(path.read_bytes()[:-1])
    assert not folder.holds("a.npy", ROWS)
    with pytest.raises(InputError, match=r"a\.npy is missing or damaged"):
        folder.open_array("a.npy")


def test_what_is_not_there_is_told_alike_on_disk_and_in_storage(folder):
    with pytest.raises(InputError, match=r"b\.npy .*missing or damaged"):
        folder.open_array("b.npy")
    assert folder.read_arrays("b.npz") is None


def test_workers_of_a_machine_fetch_a_file_once(tmp_path, monkeypatch):
    memory = need("fsspec.implementations.memory")
    folder, fetched = WorkFolder(f"memory:/{tmp_path}"), []
    folder.write_array("rows/a.npy", ROWS)
    get = memory.MemoryFileSystem.get_file

    def slowly(self, path, target, **options):
        fetched.append(path)
        with open(target, "wb") as half:
            half.write(b"half")
        time.sleep(0.05)
        get(self, path, target, **options)

    monkeypatch.setattr(memory.MemoryFileSystem, "get_file", slowly)
    found = []
    workers = [
        threading.Thread(target=lambda: found.append(folder.open_array("rows/a.npy")))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(fetched) == 1
    assert len(found) == 4
    for rows in found:
        np.testing.assert_array_equal(rows, ROWS)
    folder.discard_copies()
    assert not folder._local_copies.exists()


def test_a_machine_without_room_for_copies_says_where_they_would_lie(tmp_path, monkeypatch):
    memory = need("fsspec.implementations.memory")
    folder = WorkFolder(f"memory:/{tmp_path}")
    folder.write_array("rows/a.npy", ROWS)

    def full(self, path, target, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(memory.MemoryFileSystem, "get_file", full)
    with pytest.raises(InputError, match="No space left on device"):
        folder.open_array("rows/a.npy")
    assert not [
        path
        for path in folder._local_copies.rglob("*")
        if path.suffix != ".lock" and path.is_file()
    ]
    folder.discard_copies()


def test_a_name_is_claimed_by_one_run(tmp_path):
    folder = WorkFolder(str(tmp_path / "work"))
    with (
        folder.claimed("rows"),
        pytest.raises(InputError, match="another run"),
        folder.claimed("rows"),
    ):
        pass
    with folder.claimed("rows"):
        pass
    folder.discard_if_empty()
    assert not (tmp_path / "work").exists()


def test_what_is_shown_is_there_for_a_while(folder):
    with folder.shown() as name:
        assert folder.has(name)
        with folder.shown() as other:
            assert folder.has(name)
            assert name != other
        assert not folder.has(other)
    assert not folder.has(name)
    assert folder.names() == set()


def test_what_a_killed_run_showed_is_removed_by_the_next(tmp_path):
    folder = WorkFolder(str(tmp_path / "work"))
    folder.write(f"{SHOWN}123.lock", lambda file: None)
    with folder.shown() as name:
        assert folder.names() == {name}
    assert not (tmp_path / "work").exists()


def test_files_are_held_by_one_at_a_time(tmp_path):
    path = tmp_path / "folder" / "held"
    with hold(path):
        assert hold(path) is None
    with hold(path):
        path.unlink()
        with hold(path):  # another file by now
            assert path.exists()


def test_a_new_file_is_held_from_the_start(tmp_path):
    with hold_new(tmp_path / "held"):
        assert hold(tmp_path / "held") is None
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
