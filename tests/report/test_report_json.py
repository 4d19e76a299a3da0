"""Strict JSON, and files that are whole or untouched."""

from __future__ import annotations

import json
import math
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.report import json_text, write_text_atomically

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_json_reads_back_as_it_was(value):
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"a": {"b": x}}])
def test_numbers_that_json_lacks_are_refused(value, wrap):
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text(wrap(value))


def test_keys_keep_their_order_and_numbers_share_a_line():
    assert json_text({"b": [1, 2.5, None], "a": {"ä": []}}) == (
        '{\n  "b": [1, 2.5, null],\n  "a": {\n    "ä": []\n  }\n}\n'
    )


def test_characters_that_utf8_cannot_hold_are_escaped():
    text = json_text({"name": "bad\udcff"})
    assert json.loads(text.encode("utf-8")) == {"name": "bad\udcff"}


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text("old")
    path.chmod(0o640)
    write_text_atomically(path, "new é\n")
    assert path.read_bytes() == "new é\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["scores.json"]


def test_a_failed_write_leaves_the_old_file_and_names_the_reason(tmp_path, monkeypatch):
    path = tmp_path / "scores.json"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"scores\.json: cannot be written: No space left"):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["scores.json"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_text_atomically(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text_atomically(pipe, "through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("name", "reason"), [("", "folder"), ("none/x.json", "No such file"), ("n" * 300, "too long")]
)
def test_impossible_paths_are_told(tmp_path, name, reason):
    with pytest.raises(InputError, match=reason):
        write_text_atomically(tmp_path / name, "text")
