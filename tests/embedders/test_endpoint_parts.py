"""Batches and kept vectors of an embeddings service, without a request."""

import hashlib
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.embedders.service import store as store_module
from calipers.embedders.service.endpoint import batched
from calipers.embedders.service.store import FILE, StoredVector, VectorStore


@given(
    st.lists(st.text(max_size=30), max_size=40),
    st.integers(1, 9),
    st.integers(min_value=1, max_value=50),
)
def test_batches_hold_all_texts_in_order_within_their_bounds(texts, most, characters):
    batches = list(batched(texts, most=most, characters=characters))
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 1 <= len(batch) <= most
        assert len(batch) == 1 or sum(map(len, batch)) <= characters


# ---------------------------------------------------------------- the database of paid vectors

connect = sqlite3.connect


def key_of(number):
    return hashlib.sha256(str(number).encode()).digest()


def made(numbers, width=5, model="m"):
    return {
        key_of(number): StoredVector(
            np.full(width, number, dtype=np.float32) / np.float32(3), model
        )
        for number in numbers
    }


def same(found, expected):
    return found.keys() == expected.keys() and all(
        np.array_equal(found[key].vector, expected[key].vector)
        and found[key].model == expected[key].model
        for key in expected
    )


@pytest.fixture
def store(tmp_path):
    return VectorStore(tmp_path)


def fill(store, rows=400, width=64):
    """Keep enough rows for many pages."""
    for first in range(0, rows, 40):
        assert store.keep(made(range(first, first + 40), width))


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_was_kept_is_found_and_nothing_else(store, tmp_path):
    assert store.find([key_of(1)]) == {}
    assert not store.path.exists()
    rows = made(range(1200), model="größer")
    assert store.keep(rows)
    assert same(store.find([*rows, key_of("other")]), rows)
    again = VectorStore(tmp_path).find(list(rows))
    assert same(again, rows)
    assert all(
        paid.vector.dtype == np.float32 and paid.vector.flags.owndata for paid in again.values()
    )
    assert store.notes() == ()
    assert files(tmp_path) == [FILE]


def test_a_vector_that_is_kept_again_replaces_the_first(store):
    store.keep(made([1], width=3))
    store.keep(made([1], width=4))
    assert same(store.find([key_of(1)]), made([1], width=4))


def test_the_folder_is_made(tmp_path):
    store = VectorStore(tmp_path / "deep" / "er")
    assert store.keep(made([1]))
    assert same(store.find([key_of(1)]), made([1]))


@pytest.mark.slow
def test_threads_and_processes_may_write_at_once(store, tmp_path):
    code = (
        "import sys, hashlib, numpy as np\n"
        "from pathlib import Path\n"
        "from calipers.embedders.service.store import StoredVector, VectorStore\n"
        "store = VectorStore(Path(sys.argv[1]))\n"
        "for number in range(int(sys.argv[2]), int(sys.argv[2]) + 60):\n"
        "    key = hashlib.sha256(str(number).encode()).digest()\n"
        "    vector = np.full(5, number, np.float32) / np.float32(3)\n"
        "    assert store.keep({key: StoredVector(vector, 'm')})\n"
        "assert store.notes() == (), store.notes()\n"
    )
    jobs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(start)])
        for start in (0, 30)
    ]
    with ThreadPoolExecutor(8) as pool:
        kept = pool.map(lambda number: store.keep(made([number])), range(90, 150))
        assert all(kept)
    assert [job.wait(30) for job in jobs] == [0, 0]
    assert same(store.find(list(made(range(150)))), made(range(150)))


def corrupt(path, start, size):
    content = bytearray(path.read_bytes())
    content[start : start + size] = os.urandom(len(content[start : start + size]))
    path.write_bytes(content)


def test_a_changed_vector_is_not_believed(store):
    store.keep(made([1, 2]))
    connection = connect(store.path)
    with connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(20) WHERE key = ?", (key_of(1),))
    connection.close()
    assert same(store.find([key_of(1), key_of(2)]), made([2]))
    assert store.notes() == (f"1 damaged vector in {store.path}, asked for again",)
    store.keep(made([1]))
    assert same(store.find([key_of(1), key_of(2)]), made([1, 2]))
    assert store.notes() == ()


@pytest.mark.parametrize(
    "change", ["model = 'x'", "width = 4", "crc = 'one'", "vector = 7", "vector = x''", "crc = 0"]
)
def test_every_part_of_a_row_is_checked(store, change):
    store.keep(made([1]))
    connection = connect(store.path)
    with connection:
        connection.execute(f"UPDATE vectors SET {change}")
    connection.close()
    assert store.find([key_of(1)]) == {}
    assert "1 damaged vector" in store.notes()[0]


def test_rows_that_were_swapped_are_not_believed(store):
    store.keep(made([1, 2]))
    connection = connect(store.path)
    with connection:
        connection.execute("UPDATE vectors SET key = x'00' WHERE key = ?", (key_of(1),))
        connection.execute("UPDATE vectors SET key = ? WHERE key = ?", (key_of(1), key_of(2)))
    connection.close()
    assert store.find([key_of(1), key_of(2)]) == {}


@pytest.mark.parametrize(
    "content", [b"no database at all " * 50, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_file_that_is_no_database_is_set_aside(store, tmp_path, content):
    store.path.write_bytes(content)
    assert store.find([key_of(1)]) == {}
    (note,) = store.notes()
    assert note.startswith(f"{store.path} was damaged and is now paid-vectors-1.damaged-")
    assert note.endswith(".sqlite3; 0 vectors were read from it")
    assert store.keep(made([1]))
    assert same(store.find([key_of(1)]), made([1]))
    aside = [name for name in files(tmp_path) if "damaged" in name]
    assert len(aside) == 1
    assert (tmp_path / aside[0]).read_bytes() == content


def test_what_can_still_be_read_of_a_damaged_database_is_carried_over(store, tmp_path):
    fill(store)
    size = store.path.stat().st_size
    corrupt(store.path, size // 2, 8192)
    keys = list(made(range(400)))
    found = store.find(keys)
    note = store.notes()[0]
    assert "was damaged and is now paid-vectors-1.damaged-" in note
    assert 100 < len(found) < 400
    assert same(found, {key: made(range(400), 64)[key] for key in found})
    assert same(VectorStore(tmp_path).find(keys), found)
    assert store.keep(made(range(400), 64))
    assert len(store.find(keys)) == 400
    assert store.notes() == ()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_a_database_that_was_cut_short_is_set_aside(store, tmp_path, share):
    fill(store)
    content = store.path.read_bytes()
    store.path.write_bytes(content[: int(len(content) * share)])
    keys = list(made(range(400)))
    found = store.find(keys)
    assert same(found, {key: made(range(400), 64)[key] for key in found})
    assert store.keep(made(range(400), 64))
    assert len(store.find(keys)) == 400
    assert len([name for name in files(tmp_path) if "damaged" in name]) == 1


def test_an_empty_file_is_an_empty_database(store):
    store.path.touch()
    assert store.find([key_of(1)]) == {}
    assert store.keep(made([1]))
    assert store.notes() == ()


def test_a_full_disk_is_noted_and_leaves_what_is_there(store, monkeypatch):
    rows = made(range(8), 500)
    assert store.keep(rows)

    def small(*given, **options):
        connection = connect(*given, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(store_module.sqlite3, "connect", small)
    assert not store.keep(made(range(100, 400), 500))
    assert store.notes() == (
        f"vectors could not all be read from or kept in {store.path} (database or disk is full)",
    )
    monkeypatch.undo()
    assert same(store.find(list(made(range(400)))), rows)


def test_a_read_only_database_is_still_read(store, monkeypatch):
    store.keep(made([1]))

    def reading(path, **options):
        return connect(f"{path.as_uri()}?mode=ro", uri=True, **options)

    monkeypatch.setattr(store_module.sqlite3, "connect", reading)
    assert same(store.find([key_of(1)]), made([1]))
    assert store.notes() == ()
    assert not store.keep(made([2]))
    assert "attempt to write a readonly database" in store.notes()[0]


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write")
def test_a_read_only_folder_is_still_read(store, tmp_path):
    store.keep(made([1]))
    store.path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert same(store.find([key_of(1)]), made([1]))
        assert not store.keep(made([2]))
        assert "could not all be read from or kept in" in store.notes()[0]
    finally:
        tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_is_noted(tmp_path):
    taken = tmp_path / "cache"
    taken.write_text("a file")
    store = VectorStore(taken)
    assert store.find([key_of(1)]) == {}
    assert not store.keep(made([1]))
    assert "kept in" in (note := store.notes()[0])
    assert "(File exists)" in note


def test_a_database_that_others_hold_is_noted_after_a_while(store, monkeypatch):
    store.keep(made([1]))
    monkeypatch.setattr(store_module, "TIMEOUT", 0.05)
    monkeypatch.setattr(store_module, "TIMEOUT_AGAIN", 0.01)
    store = VectorStore(store.path.parent)
    other = connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert not store.keep(made([2]))
    assert "database is locked" in store.notes()[0]
    other.execute("ROLLBACK")
    other.close()
    assert store.keep(made([2]))


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_whole_rows(store, tmp_path):
    code = (
        "import sys, os, hashlib, numpy as np\n"
        "from pathlib import Path\n"
        "from calipers.embedders.service.store import StoredVector, VectorStore\n"
        "store = VectorStore(Path(sys.argv[1]))\n"
        "for number in range(100000):\n"
        "    key = hashlib.sha256(str(number).encode()).digest()\n"
        "    vector = np.full(5, number, np.float32) / np.float32(3)\n"
        "    store.keep({key: StoredVector(vector, 'm')})\n"
        "    print(number, flush=True)\n"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    for _ in range(20):
        last = int(job.stdout.readline())
    job.kill()
    job.wait()
    assert same(store.find(list(made(range(last + 1)))), made(range(last + 1)))
    assert store.notes() == ()
