"""Bad arguments: told before anything is read, with the option, the rule and the value."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calipers.errors import FAULT

JOB = ("compare", "--reference", "human.jsonl", "a.jsonl")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "0"], "--k must be a whole number of at least 1; found '0'"),
        (["--k", "-3"], "--k must be a whole number of at least 1; found '-3'"),
        (["--k", "four"], "--k must be a whole number of at least 1; found 'four'"),
        (["--k", ""], "--k must be a whole number of at least 1; found ''"),
        (["--seed", "-1"], "--seed must be a whole number of at least 0; found '-1'"),
        (["--seed", "1.5"], "--seed must be a whole number of at least 0; found '1.5'"),
        (["--max-samples", "1"], "--max-samples must be a whole number of at least 2; found '1'"),
        (["--batch-size", "0"], "--batch-size must be a whole number of at least 1; found '0'"),
        (["--threads", "0"], "--threads must be a whole number of at least 1; found '0'"),
        (["--max-memory", "0"], "--max-memory must be a size above 0, such as 8GB"),
        (["--max-memory", "much"], "8,000,000,000 bytes), 500MB or 8GiB"),
        (["--ties", "ajar"], "--ties must be closed or open; found 'ajar'"),
        (["--dtype", "int8"], "--dtype must be float32 or auto; found 'int8'"),
        (["--distance", "l1"], "--distance must be euclidean or cosine; found 'l1'"),
        (["--projection", "pca"], "--projection must be none or union; found 'pca'"),
        (["--group", " "], "--group must name a field; found ' '"),
        (["--cluster", " "], "--cluster must name a field; found ' '"),
        (["--train", "-", "-"], "standard input (-) can be read only once"),
        (["--train", "t.jsonl", "--json", "./t.jsonl"], "--json would overwrite an input"),
        (["--buckets", "1"], "must be auto, cube-root or a whole number of at least 2; found '1'"),
        (["--buckets", "many"], "found 'many'"),
        (["--metrics", " , "], "--metrics must name at least one metric; found ' , '"),
        (["--per-sample"], "--per-sample needs --json FILE or --table FILE"),
        (["--save", "-"], "--save writes a zip file, which cannot go to standard output"),
        (["--json", "no/x.json"], "--json no/x.json: there is no folder 'no'"),
        (["--save", "no/run.zip"], "--save no/run.zip: there is no folder 'no'"),
        (["--json", "."], "--json must name a file; . is a folder"),
        (["--json", "n" * 300], "cannot be written: File name too long"),
        (["--json", "./x", "--save", "x"], "--json and --save name the same file: ./x"),
        (["--json", "human.jsonl"], "--json would overwrite an input: human.jsonl"),
        (["--save", "./a.jsonl"], "--save would overwrite an input: ./a.jsonl"),
        (["--cache-dir", "c", "--no-cache"], "--cache-dir and --no-cache cannot be combined"),
        (["--cache-dir", "file"], "--cache-dir must name a folder; file is a file"),
        (["recall"], "recall: there is no such file. Metrics are given as one list"),
        (["-", "-"], "standard input (-) can be read only once"),
    ],
)
def test_message(calipers, calls, arguments, message):
    Path("file").touch()
    result = calipers(*JOB, *arguments)
    assert message in result.stderr
    assert result.stderr.startswith("calipers: ")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert calls.read == calls.compare == []


def test_an_input_found_by_a_pattern_is_not_overwritten(calipers, calls):
    Path("runs").mkdir()
    Path("runs/b-1.jsonl").touch()
    result = calipers(*JOB, "b=runs/*.jsonl", "--json", "runs/b-1.jsonl")
    assert "--json would overwrite an input" in result.stderr


def test_an_input_behind_a_link_is_not_overwritten(calipers, calls):
    Path("human.jsonl").touch()
    Path("link").symlink_to("human.jsonl")
    assert "overwrite an input" in calipers(*JOB, "--json", "link").stderr


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told_before_the_work(calipers, calls):
    Path("locked").mkdir(mode=0o500)
    result = calipers(*JOB, "--json", "locked/x.json")
    assert "cannot be written: Permission denied" in result.stderr
    assert calls.compare == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare"], "--reference"),
        (["compare", "a.jsonl"], "--reference"),
        (["compare", "--reference", "human.jsonl"], "GENERATED"),
        (["compare", "-r", "human.jsonl", "a.jsonl", "--metric", "recall"], "--metrics"),
        (["compear"], "compare"),
        (["show"], "RUN.zip"),
        (["demo", "extra"], "extra"),
    ],
)
def test_usage_errors_exit_2_and_point_the_way(calipers, calls, arguments, message):
    result = calipers(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "--help" in result.stderr
    assert result.stdout == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_may_take_the_json(calipers, calls):
    os.mkfifo("pipe")
    reading = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert calipers(*JOB, "--json", "pipe").exit_code == 0
    assert os.read(reading, 10**6).startswith(b'{\n  "calipers"')
    os.close(reading)


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "-r", "a.txt", "b.txt"),
        ("sweep", "-r", "a.txt", "--over", "k", "b.txt"),
        ("overlap", "a.txt", "b.txt"),
        ("agree", "-r", "a.txt", "--embedders", "tfidf,pixels", "b.txt"),
        ("probe", "a.txt"),
        ("text", "a.txt"),
        ("embed", "a.txt", "-o", "a.npy"),
        ("rank", "a.csv", "--truth", "b.csv"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_reads_samples_keeps_to_the_limit(calipers, command):
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("a line of text\n" * 500)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("system,metric,mean\n" + "a,b,0.5\n" * 500)
    result = calipers(*command, "--max-memory", "10kB")
    assert result.exit_code == 2
    assert "10.0 kB" in result.stderr
    assert "as --max-memory says" in result.stderr


@pytest.mark.parametrize("command", ["show", "report", "plot"])
def test_every_command_that_reads_a_zip_has_the_limit(calipers, command):
    assert "--max-memory SIZE" in calipers(command, "--help-all").stdout


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError("Unable to allocate 7.00 GiB for an array"), "Unable to allocate 7.00 GiB"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), "9 bytes"),
        (MemoryError(), "not enough memory in the task 'Scoring'; use fewer samples"),
    ],
)
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_too_little_memory_names_the_task_and_the_size(calipers, calls, error, told, quiet):
    def run_out():
        with calls.compare[0]["progress"].task("Scoring", 3):
            raise error

    calls.act = run_out
    result = calipers(*JOB, *quiet)
    assert result.exit_code == 2
    assert result.stderr.startswith("calipers: not enough memory in the task 'Scoring'")
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_other_errors_keep_their_traceback(calipers, calls):
    def fail():
        raise RuntimeError("a fault")

    calls.act = fail
    result = calipers(*JOB)
    assert result.exit_code == FAULT
    assert "RuntimeError: a fault" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "--reference", "a.pipe", "b.jsonl"),
        ("rank", "a.pipe", "--truth", "b.csv"),
        ("show", "a.pipe"),
        ("report", "a.pipe"),
        ("plot", "plane", "a.pipe", "--output", "o.png"),
        ("text", "a.pipe"),
        ("probe", "a.pipe"),
    ],
    ids=" ".join,
)
def test_a_pipe_in_the_place_of_a_file_ends_the_command(arguments, tmp_path):
    os.mkfifo(tmp_path / "a.pipe")
    result = subprocess.run(
        [sys.executable, "-m", "calipers", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 2
    assert result.stderr.startswith("calipers: a.pipe: must be a regular file or a folder, but it")
