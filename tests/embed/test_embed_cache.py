"""Vectors in files: those of the cache, and those that are written for other programs."""

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from calipers.embed import Cache, EncodedBatch, cache, embed_samples
from calipers.embed.cache import default_directory
from calipers.embed.vectors import write_vectors
from calipers.errors import InputError
from calipers.samples import read_samples


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def equal(one, two):
    return all(np.array_equal(one.views[view], two.views[view]) for view in one.views)


def test_what_was_embedded_once_is_read_back(tmp_path, stub, samples):
    first = embed_samples(samples, stub(), cache=Cache(tmp_path))
    again = stub()
    second = embed_samples(samples, again, cache=Cache(tmp_path))
    assert again.calls == []
    assert equal(first, second)
    assert list(second.views) == ["zeta", "alpha"]
    assert second.notes == ()
    assert [path.suffix for path in files(tmp_path)] == [".safetensors"] * 3


def test_another_identity_does_not_find_the_same_texts(tmp_path, stub, samples):
    embed_samples(samples, stub("one"), cache=Cache(tmp_path))
    other = stub("two")
    found = embed_samples(samples, other, cache=Cache(tmp_path))
    assert other.texts_seen == len(samples)
    assert equal(found, embed_samples(samples, stub("two")))


def test_a_stopped_job_goes_on_where_it_was(tmp_path, stub, samples):
    stopped = stub(stop_at=7)
    with pytest.raises(KeyboardInterrupt):
        embed_samples(samples, stopped, cache=Cache(tmp_path))
    assert len(files(tmp_path)) == 1
    resumed = stub()
    found = embed_samples(samples, resumed, cache=Cache(tmp_path))
    assert resumed.texts_seen == len(samples) - 1024
    assert equal(found, embed_samples(samples, stub()))


def test_stopping_while_a_file_is_written_leaves_nothing_half_done(
    tmp_path, stub, samples, monkeypatch
):
    def stop(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        embed_samples(samples, stub(), cache=Cache(tmp_path))
    assert files(tmp_path) == []


def flip_a_byte(path, stub, samples):
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def cut_short(path, stub, samples):
    path.write_bytes(path.read_bytes()[:-100])


def empty(path, stub, samples):
    path.write_bytes(b"")


def other_bytes(path, stub, samples):
    path.write_bytes(b"no vectors" * 100)


def no_metadata(path, stub, samples):
    save_file({"view.zeta": np.zeros((1024, 32), np.float32)}, path)


def rows_missing(path, stub, samples):
    """A whole file, with a right hash, of too few rows."""
    owner = {"identity": "stub-1", "content": next(samples.chunks()).content_hash}
    path.unlink()
    cache.write_chunk(path, stub().embed(["a", "b"]), owner)


def other_types(path, stub, samples):
    owner = {"identity": "stub-1", "content": next(samples.chunks()).content_hash}
    wide = {view: np.zeros((1024, 2)) for view in stub.views}
    path.unlink()
    cache.write_chunk(path, EncodedBatch(wide, np.zeros(1024, np.bool_)), owner)


def of_other_texts(path, stub, samples):
    second = list(samples.chunks())[1]
    shutil.copy(Cache(path.parents[2]).path("stub-1", second.content_hash), path)


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_byte,
        cut_short,
        empty,
        other_bytes,
        no_metadata,
        rows_missing,
        other_types,
        of_other_texts,
    ],
)
def test_a_damaged_file_is_reported_and_made_again(tmp_path, stub, samples, damage):
    whole = embed_samples(samples, stub(), cache=Cache(tmp_path))
    first = Cache(tmp_path).path("stub-1", next(samples.chunks()).content_hash)
    damage(first, stub, samples)
    again = stub()
    found = embed_samples(samples, again, cache=Cache(tmp_path))
    assert equal(found, whole)
    assert again.texts_seen == 1024
    (note,) = found.notes
    assert note.startswith("1 damaged cache file, embedded again; the first: ")
    assert str(first) in note
    healed = stub()
    assert embed_samples(samples, healed, cache=Cache(tmp_path)).notes == ()
    assert healed.calls == []


def test_a_full_disk_is_said_once_and_leaves_no_rest(tmp_path, stub, samples, monkeypatch):
    def fill(path, batch, owner):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "write_chunk", fill)
    found = embed_samples(samples, stub(), cache=Cache(tmp_path))
    assert found.notes == (
        f"embeddings were not kept, because the cache folder {tmp_path} cannot be written "
        "(No space left on device)",
    )
    assert equal(found, embed_samples(samples, stub()))
    assert files(tmp_path) == []


def test_a_read_only_folder_is_still_read_from(tmp_path, stub, samples, monkeypatch):
    stopped = stub(stop_at=7)
    with pytest.raises(KeyboardInterrupt):
        embed_samples(samples, stopped, cache=Cache(tmp_path))

    def refuse(self, *args, **kwargs):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    reader = stub()
    found = embed_samples(samples, reader, cache=Cache(tmp_path))
    assert reader.texts_seen == len(samples) - 1024
    assert len(found.notes) == 1
    assert "Read-only file system" in found.notes[0]


def test_a_file_in_the_place_of_the_folder_costs_only_the_cache(tmp_path, stub, samples):
    taken = tmp_path / "cache"
    taken.write_text("a file")
    found = embed_samples(samples, stub(), cache=Cache(taken))
    assert len(found.notes) == 1
    assert "cannot be written" in found.notes[0]
    assert equal(found, embed_samples(samples, stub()))


def test_several_jobs_may_share_a_folder(tmp_path, stub, samples):
    def job(number):
        return embed_samples(samples, stub(), cache=Cache(tmp_path))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(job, range(8)))
    assert all(equal(found[0], each) and each.notes == () for each in found)
    assert len(files(tmp_path)) == 3


def test_the_folder_is_the_users_own_unless_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CALIPERS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for platform, where in {
        "linux": ".cache/calipers",
        "darwin": "Library/Caches/calipers",
        "win32": "AppData/Local/calipers",
    }.items():
        monkeypatch.setattr("sys.platform", platform)
        assert default_directory() == tmp_path / where
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_directory() == tmp_path / "xdg" / "calipers"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_directory() == tmp_path / ".cache" / "calipers"
    monkeypatch.setenv("CALIPERS_CACHE", "~/mine")
    assert Cache().directory == tmp_path / "mine"


def test_without_a_home_folder_the_message_says_what_to_do(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("CALIPERS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InputError, match="CALIPERS_CACHE or with --cache-dir, or use --no-cache"):
        Cache()


VIEWS = {"meaning": np.eye(3, 4, dtype=np.float32), "form": np.ones((3, 2), dtype=np.float32)}


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_all_views_come_back(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write_vectors(path, VIEWS, about={"meaning": "pins"})
    for view, rows in VIEWS.items():
        assert np.array_equal(read_samples(path, field=view).vectors, rows)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_one_view_as_npy(tmp_path):
    write_vectors(tmp_path / "x.NPY", {"form": VIEWS["form"]}, about={})
    assert np.array_equal(np.load(tmp_path / "x.NPY"), VIEWS["form"])


def test_safetensors_say_what_they_are(tmp_path):
    write_vectors(tmp_path / "x.safetensors", VIEWS, about={"meaning": "embedder:stub"})
    with safe_open(tmp_path / "x.safetensors", framework="numpy") as file:
        assert file.metadata() == {"meaning": "embedder:stub"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.npy", "holds one array, not 2; name one view"),
        ("x.txt", r"written as \.npy, \.npz, \.safetensors; found the suffix '\.txt'"),
        ("x", "found no suffix"),
        ("no/x.npz", "cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        write_vectors(tmp_path / name, VIEWS, about={})
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    path.write_bytes(b"old")

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_vectors(path, VIEWS, about={})
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1
