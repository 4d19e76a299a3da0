"""Strict JSON whose keys docs/json.md names, and files that are whole or untouched."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.report import json_text
from calipers.report.render.json import LINE, LONG
from calipers.results import Comparison, SetSummary, SystemResult
from calipers.results.comparison import Advice
from calipers.results.tests import SignificanceTest
from calipers.score import NoiseFloor, Score
from calipers.whole_files import utf8, write_bytes_atomically, write_text_atomically

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
    assert json_text({"b": [1, 2.5, None], "a": {"ä": [], "c": [[1, None], None]}}) == (
        '{\n  "b": [1, 2.5, null],\n  "a": {"ä": [], "c": [[1, null], null]}\n}\n'
    )
    assert json_text({"a": {"b": {"c": 1}}}) == '{\n  "a": {\n    "b": {"c": 1}\n  }\n}\n'
    assert json_text({"a": {"b": "x" * LINE}}).count("\n") == 5
    assert ", " not in json_text([0] * LONG)


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
    with pytest.raises(InputError, match=r"scores\.json: .*No space left"):
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


PAGE = Path(__file__).parents[2] / "docs" / "json.md"


def documented(heading: str) -> set[str]:
    """The keys in the first columns of the tables of one section."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.S | re.M)
    assert section, heading
    cells = [line.split("|")[1] for line in section[1].splitlines() if line.startswith("| `")]
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


@pytest.fixture(scope="module")
def data():
    """Everything that a comparison can hold, as a program reads it."""
    score = Score(
        0.5,
        interval=(0.4, 0.6),
        level=0.95,
        seeds=(0.4, 0.6),
        reference=0.7,
        per_sample=np.array([True, False]),
        floor=NoiseFloor(0.9, 0.01, 0.8, 0.02, 1, 10),
        details=({"search": "true neighbours found", "value": 0.98, "low": 0.97, "high": 0.99},),
        note="reads the letters a-z only",
    )
    about = SetSummary("human", "human.jsonl", 2, 2, {"mean": 3.0, "median": 3.0}, "ab" * 32)
    neighbours = {"nearest_reference": np.array([0, 1])}
    system = SystemResult(about, {"recall": score}, {}, ("s0", "s1"), neighbours=neighbours)
    test = SignificanceTest("human", "reference", "mmd", 0.1, None, 0.04, 0.04)
    advice = Advice("human", "recall", (1, 2), (0.4, 0.5), 0.6, -0.1, 0.01, True)
    whole = Comparison(about, (system,), {}, train=about, tests=(test,), advice=(advice,))
    return json.loads(json.dumps(whole.to_dict(per_sample=True), allow_nan=False))


def test_every_key_of_a_comparison_is_documented_and_none_else(data):
    score = data["systems"][0]["scores"]["recall"]
    assert documented("Comparison") == set(data)
    assert documented("Sets") == set(data["systems"][0])
    assert set(data["reference"]) < documented("Sets")
    assert set(data["train"]) < documented("Sets")
    assert documented("Scores") == set(score)
    assert documented("Noise floor") == set(score["floor"])
    assert documented("Tests") == {field.name for field in fields(SignificanceTest)}
    assert set(data["tests"]) == {"between_systems", "against_reference"}
    assert documented("Advice") == set(data["advice"][0])


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from calipers.whole_files import write_text_atomically
try:
    write_text_atomically(sys.argv[1], "new" * 1000)
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
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
    with pytest.raises(InputError, match=r"/dev/full: .*No space left"):
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
