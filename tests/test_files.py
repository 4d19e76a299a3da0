"""What is neither a regular file nor a folder is refused by every reader, and never waited for."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import calipers
from calipers.commands.plot.cli import read_input
from calipers.embedders import load_embedder
from calipers.embedders.models.find import content_hash
from calipers.embedders.words.word_vector_files import read_word_vectors
from calipers.errors import InputError
from calipers.files import at_home, check_there, fitting_in_memory
from calipers.results import Comparison
from calipers.samples import read_samples, read_systems
from calipers.text.bertscore import given_baseline
from calipers.text.tokenizers import find_tokenizer
from extras import need

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
SCORES = {"a": {"m": 1.0}, "b": {"m": 2.0}}
READERS = {
    **{
        f"samples {suffix}": (lambda pipe, suffix=suffix: read_samples(_named(pipe, suffix)))
        for suffix in (
            *(".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet"),
            *(".npy", ".npz", ".safetensors", ".jsonl.gz", ""),
        )
    },
    "systems": lambda pipe: read_systems([f"a={_named(pipe, '.jsonl')}"]),
    "pattern": lambda pipe: read_systems([f"a={_named(pipe, '.jsonl').parent}/*.jsonl"]),
    "training set": lambda pipe: calipers.compare(
        np.eye(20), {"a": np.eye(20)}, train=str(_named(pipe, ".npy"))
    ),
    "scores": lambda pipe: calipers.rank(_named(pipe, ".json"), truth=[]),
    "saved scores": lambda pipe: calipers.rank(_named(pipe, ".zip"), truth=[]),
    "truth": lambda pipe: calipers.rank(SCORES, truth=_named(pipe, ".csv")),
    "judgements": lambda pipe: calipers.rank(SCORES, judgements=_named(pipe, ".parquet")),
    "saved run": lambda pipe: Comparison.load(str(_named(pipe, ".zip"))),
    "plot": lambda pipe: read_input(str(_named(pipe, ".zip")), "plane"),
    "word vectors": read_word_vectors,
    "embedder": lambda pipe: load_embedder(str(pipe)),
    "tokenizer": lambda pipe: find_tokenizer(f"hf:{pipe}"),
    "baseline": lambda pipe: given_baseline(str(pipe), 3),
    "dataset": lambda pipe: read_samples(_dataset(pipe)),
    "model": lambda pipe: content_hash(_named(pipe, ".model").parent),
}


def _named(pipe: Path, suffix: str) -> Path:
    """Give the pipe's name a suffix."""
    return pipe.rename(pipe.with_name(f"pipe{suffix}"))


def _dataset(pipe: Path) -> Path:
    """Make the pipe a data file of a dataset."""
    (pipe.parent / "state.json").write_text('{"_data_files": [{"filename": "pipe"}]}')
    return pipe.parent


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """End a test that waits for a pipe, which would be for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError("waited for a pipe")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_refused_by_every_reader(tmp_path: Path, reader: str) -> None:
    if reader == "dataset":
        need("pyarrow")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rule = "must be a regular file or a folder, but it is a pipe; save its data to a file, or pipe"
    with pytest.raises(InputError, match=rf"{tmp_path}/pipe.*: {rule} samples to standard input"):
        READERS[reader](pipe)


def test_sockets_devices_and_links_to_them_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.jsonl")
        with pytest.raises(InputError, match=r"s\.jsonl: must be .* it is a socket"):
            read_samples("s.jsonl")
    Path("zero.npy").symlink_to("/dev/zero")
    for path in ("/dev/zero", "zero.npy"):
        with pytest.raises(InputError, match=f"{path}: must be .* it is a device"):
            read_samples(path)


def test_links_to_files_and_folders_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").symlink_to("a.txt")
    assert len(read_samples(tmp_path / "b.txt")) == 2
    (tmp_path / "folder").symlink_to(tmp_path)
    check_there(tmp_path / "folder")


def test_a_pipe_of_the_shell_is_told_what_to_do_instead() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(InputError, match=f"/dev/fd/{reading}: .* write - in its place"):
            read_samples(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        os.close(writing)


def test_paths_that_lead_nowhere_are_told() -> None:
    with pytest.raises(InputError, match=r"^a{199}…: there is no such file$"):
        check_there("a" * 5000)
    with pytest.raises(InputError, match="there is no such file"):
        check_there("a\0b")
    for name in ("~nobody-here/a", Path("~nobody-here/a")):
        with pytest.raises(InputError, match="'~nobody-here'"):
            at_home(name)
    with pytest.raises(InputError, match="there is no home folder"):
        read_systems(["a=~nobody-here/*.jsonl"])
    with pytest.raises(InputError, match="there is no home folder"):
        find_tokenizer("hf:~nobody-here/a")
    with pytest.raises(InputError, match=r"folder .*name on the hub"):
        load_embedder("a" * 5000)
    with pytest.raises(InputError, match="no tokenizer"):
        find_tokenizer("./" + "a" * 5000)
    with pytest.raises(InputError, match="there is no such file"):
        calipers.rank("a" * 5000 + ".csv", truth=[])


def test_too_little_memory_names_the_file_and_its_size(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.eye(3))
    with (
        pytest.raises(
            InputError,
            match=rf"{path}: .*200 bytes .*memory .*Unable",
        ),
        fitting_in_memory(path),
    ):
        np.empty(2**50, np.float64)


@pytest.mark.parametrize(
    ("suffix", "place"),
    [
        (".jsonl", "calipers.samples.readers.json_files.read_rows"),
        (".npy", "numpy.load"),
        (".npz", "numpy.load"),
        (".parquet", "pyarrow.parquet.ParquetFile"),
    ],
)
def test_memory_that_runs_out_while_samples_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, place: str
) -> None:
    if suffix == ".parquet":
        need("pyarrow")
    path = tmp_path / f"a{suffix}"
    if suffix == ".npz":
        np.savez(path, a=np.eye(3))
    elif suffix == ".npy":
        np.save(path, np.eye(3))
    else:
        path.write_text(json.dumps({"text": "a"}))

    def full(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 7.00 GiB")

    monkeypatch.setattr(place, full)
    with pytest.raises(InputError, match=rf"a{suffix}: the file of .* 7\.00 GiB"):
        read_samples(path)
