"""Files that are whole or untouched, whatever comes in between."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from calipers.errors import InputError
from calipers.report import utf8
from calipers.report.whole_files import write_bytes_atomically, write_text_atomically

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from calipers.report import write_text_atomically
try:
    write_text_atomically(sys.argv[1], "new" * 1000)
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="no such limits here")
def test_a_disk_that_ends_in_the_middle_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text("old")
    result = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=60
    )
    assert result.stdout == f"{path}: cannot be written: File too large\n"
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["scores.json"]


def test_a_private_file_is_at_no_moment_open_to_others(tmp_path, monkeypatch):
    path = tmp_path / "scores.json"
    path.write_text("old")
    path.chmod(0o600)
    modes = []
    sync = os.fsync

    def seen(descriptor: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", seen)
    write_text_atomically(path, "new")
    assert modes == [0o600]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["n" * 255, "模" * 85, "\U0001f600" * 63])
def test_a_name_may_be_as_long_as_names_may_be(tmp_path, name):
    write_bytes_atomically(tmp_path / name, b"x")
    assert os.listdir(tmp_path) == [name]


def test_an_interrupt_leaves_no_trace(tmp_path, monkeypatch):
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text_atomically(tmp_path / "x", "new")
    assert os.listdir(tmp_path) == []


def test_a_full_device_is_told():
    if not os.path.exists("/dev/full"):
        pytest.skip("no such device here")
    with pytest.raises(InputError, match="/dev/full: cannot be written: No space left"):
        write_text_atomically("/dev/full", "text")


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("é模\U0001f600", "é模\U0001f600"),
        ("a\udcffb", "a\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_what_utf8_cannot_hold_is_replaced(text, encoded):
    assert utf8(text) == encoded.encode()
