"""The command that was typed, kept with what it made."""

from __future__ import annotations

import json
import os
import shlex

import pytest

JOB = ("compare", "--reference", "human.jsonl", "a.jsonl")


def command_of(result) -> str | None:
    assert result.exit_code == 0, result.output
    found: str | None = json.loads(result.stdout)["settings"]["command"]
    return found


def test_the_command_is_kept_as_it_was_typed(calipers, calls):
    typed = (*JOB, "my run/b's *.jsonl", "--field", "choices[0].text", "--json", "-")
    found = command_of(calipers(*typed))
    assert shlex.split(found) == ["calipers", *typed]
    assert "'my run/b'\"'\"'s *.jsonl'" in found
    assert command_of(calipers("demo", "--json", "-")) == "calipers demo --json -"


def test_show_and_report_keep_the_command_of_the_run(calipers, calls):
    for command in ("show", "report"):
        data = json.loads(calipers(command, "run.zip", "--json", "-").stdout)
        assert "command" not in data["settings"]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://me:pass@host/v1#m", "https://...@host/v1#m"),
        ("http://token@host/v1", "http://...@host/v1"),
        ("m:prefix=sk-12345678", "m:prefix=..."),
        ("me@host", "me@host"),
    ],
)
def test_a_secret_is_blanked(calipers, calls, monkeypatch, typed, kept):
    monkeypatch.setenv("CALIPERS_ENDPOINT_KEY", "sk-12345678")
    found = command_of(calipers(*JOB, "--prefix", typed, "--json", "-"))
    assert shlex.split(found)[5:7] == ["--prefix", kept]


def test_a_file_name_that_is_no_utf8_does_no_harm(calipers, calls):
    name = os.fsdecode(b"caf\xe9.jsonl")
    found = command_of(calipers(*JOB, name, "--json", "-"))
    assert shlex.split(found)[4:6] == ["a.jsonl", "caf\ufffd.jsonl"]


def test_the_library_keeps_no_command():
    import numpy as np

    import calipers

    rng = np.random.default_rng(0)
    sets = [rng.standard_normal((40, 3)) for _ in range(2)]
    found = calipers.compare(*sets, metrics=["precision"], floor=False, level=None)
    assert found.to_dict()["settings"].get("command") is None
