"""``calipers compare``: what reaches the library, and where the results go."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest

from calipers.embed import EmbedderChoice, Options
from calipers.errors import InputError
from calipers.progress import Silent

JOB = ("compare", "--reference", "human.jsonl", "a.jsonl", "b=runs/b-*.jsonl")


def test_defaults_reach_compare(calipers, calls):
    assert calipers(*JOB).exit_code == 0
    (call,) = calls.compare
    assert calls.read == [("human.jsonl", None), (["a.jsonl", "b=runs/b-*.jsonl"], None)]
    assert call.pop("progress") is not None
    assert call == {
        "reference": "human.jsonl",
        "generated": ["a.jsonl", "b=runs/b-*.jsonl"],
        "embedder": Options(),
        "metrics": None,
        "group": None,
        "cluster": None,
        "train": None,
        "k": 4,
        "ties": "closed",
        "distance": "euclidean",
        "projection": "none",
        "buckets": "auto",
        "estimator": "quantisation",
        "c": None,
        "shared": False,
        "seed": 0,
        "max_samples": None,
        "keep_sizes": False,
        "level": 0.95,
        "floor": None,
        "advice": False,
        "paired": None,
        "margin": None,
        "match_length": None,
        "cache_dir": None,
        "cache": True,
        "processes": None,
        "threads": None,
    }


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--metrics", "precision,recall mauve", "--metrics", "recall"], "metrics", None),
        (["--metrics", "all"], "metrics", ("all",)),
        (["--k", "1"], "k", 1),
        (["--ties", "open"], "ties", "open"),
        (["--distance", "cosine"], "distance", "cosine"),
        (["--projection", "union"], "projection", "union"),
        (["--group", "meta.topic"], "group", "meta.topic"),
        (["--cluster", "meta.document"], "cluster", "meta.document"),
        (["--train", "train.jsonl"], "train", "train.jsonl"),
        (["--buckets", "50"], "buckets", 50),
        (["--buckets", "cube-root"], "buckets", "cube-root"),
        (["--estimator", "knn"], "estimator", "knn"),
        (["--c", "2.5"], "c", 2.5),
        (["--shared"], "shared", True),
        (["--seed", "12"], "seed", 12),
        (["--max-samples", "2"], "max_samples", 2),
        (["--keep-sizes"], "keep_sizes", True),
        (["--embedder", "precomputed"], "embedder", EmbedderChoice("precomputed")),
        (["--device", "cuda"], "embedder", Options(device="cuda")),
        (["--dtype", "auto"], "embedder", Options(dtype="auto")),
        (["--batch-size", "8"], "embedder", Options(batch_size=8)),
        (["--offline", "--allow-pickle"], "embedder", Options(offline=True, allow_pickle=True)),
        (["--processes", "3"], "processes", 3),
        (["--cache-dir", "cache"], "cache_dir", Path("cache")),
        (["--no-cache"], "cache", False),
        (["--threads", "2"], "threads", 2),
    ],
)
def test_options_reach_compare(calipers, calls, arguments, name, value):
    assert calipers(*JOB, *arguments).exit_code == 0
    expected = ("precision", "recall", "mauve") if value is None else value
    assert calls.compare[0][name] == expected


def test_bad_images_are_skipped_on_both_sides_when_asked(calipers, calls):
    calipers(*JOB)
    calipers(*JOB, "--train", "t.npy", "--skip-bad")
    assert calls.skips == [False, False, True, True, True]


def test_field_reaches_both_sides(calipers, calls):
    calipers(*JOB, "--field", "a.b[0]")
    assert [field for _, field in calls.read] == ["a.b[0]", "a.b[0]"]


def test_the_group_is_read_from_both_sides_and_not_from_the_training_set(calipers, calls):
    calipers(*JOB, "--group", "topic", "--train", "train.jsonl")
    assert calls.groups == [
        ("human.jsonl", "topic"),
        (["a.jsonl", "b=runs/b-*.jsonl"], "topic"),
        ("train.jsonl", None),
    ]


def test_the_cluster_is_read_from_both_sides_and_not_from_the_training_set(calipers, calls):
    calipers(*JOB, "--cluster", "prompt", "--train", "train.jsonl")
    assert calls.clusters == [
        ("human.jsonl", "prompt"),
        (["a.jsonl", "b=runs/b-*.jsonl"], "prompt"),
        ("train.jsonl", None),
    ]


def test_the_table_is_plain_text_where_there_is_no_terminal(calipers, calls):
    result = calipers(*JOB)
    assert "model_a" in result.stdout
    assert "0.750*" in result.stdout
    assert "warning: human: one text is empty" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_json_alone_on_standard_output(calipers, calls):
    calls.act = lambda: print("loading ...")  # noqa: T201
    result = calipers(*JOB, "--json", "-")
    data = json.loads(result.stdout)
    assert [system["name"] for system in data["systems"]] == ["model_a", "model_b"]
    assert "loading ..." in result.stderr
    assert "warning: human: one text is empty" in result.stderr


def test_json_and_save_write_files_beside_the_table(calipers, calls):
    result = calipers(*JOB, "--json", "scores.json", "--save", "run.zip")
    assert result.exit_code == 0
    assert json.loads(Path("scores.json").read_text())["reference"]["name"] == "human"
    assert Path("run.zip").read_bytes() == b"zip"
    assert "model_a" in result.stdout


def test_per_sample_reaches_the_json(calipers, calls):
    result = calipers(*JOB, "--json", "-", "--per-sample")
    assert json.loads(result.stdout)["settings"]["per"] is True


def test_quiet_leaves_standard_error_empty_and_the_table_whole(calipers, calls):
    calls.act = lambda: warnings.warn("from a library", stacklevel=1)
    result = calipers(*JOB, "--quiet")
    assert isinstance(calls.compare[0]["progress"], Silent)
    assert result.stderr == ""
    assert "warning: human" in result.stdout
    assert calipers(*JOB, "--quiet", "--json", "-").stderr == ""


def test_results_are_shown_even_if_a_file_cannot_be_written(calipers, calls, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["calipers.comparison"].Comparison, "save", full)
    result = calipers(*JOB, "--save", "run.zip", "--json", "scores.json")
    assert result.exit_code == 2
    assert "model_a" in result.stdout
    assert Path("scores.json").exists()
    assert result.stderr == (
        "wrote scores.json, 3 kB\n"
        "calipers: --save run.zip: cannot be written: No space left on device\n"
    )


def test_errors_of_the_library_are_one_paragraph_and_exit_2(calipers, calls):
    def fail():
        raise InputError("a.jsonl, line 3: not JSON \x1b[2J")

    calls.act = fail
    result = calipers(*JOB)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "calipers: a.jsonl, line 3: not JSON \ufffd[2J\n"


@pytest.mark.parametrize(
    ("arguments", "words"), [([], "every 1,024 samples"), (["--no-cache"], "nothing")]
)
def test_interrupting_says_what_was_kept_and_exits_130(calipers, calls, arguments, words):
    def interrupt():
        raise KeyboardInterrupt

    calls.act = interrupt
    result = calipers(*JOB, *arguments)
    assert result.exit_code == 130
    assert words in result.stderr


def test_faults_of_calipers_keep_their_traceback(calipers, calls):
    def fail():
        raise ZeroDivisionError("a bug")

    calls.act = fail
    result = calipers(*JOB)
    assert result.exit_code == 1
    assert isinstance(result.exception, ZeroDivisionError)
