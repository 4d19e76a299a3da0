"""Every command ends with its own exit code, whoever reads it and whatever goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calipers.command import commands
from calipers.demo.systems import systems
from calipers.errors import FAULT

WORDS = ["--embedder", "tfidf", "--metrics", "precision"]
TEXTS = ["-r", "human.jsonl", "a.jsonl"]
PROMPTED = ["-r", "p_human.jsonl", "p_a.jsonl", "p_b.jsonl"]
VECTORS = ["-r", "human.npy", "a.npy"]
NGRAM = ["--model", "ngram:order=2", "-r", "human.jsonl"]
GATE = ["check", "run.zip", "--fail-if"]

OUTCOMES: dict[str, tuple[list[str], int]] = {
    "": ([], 0),
    "demo": (["demo", "--seed", "x"], 2),
    "compare": (["compare", *VECTORS, "--metrics", "precision", "--no-intervals"], 0),
    "check, failing": ([*GATE, "frechet_distance < 50"], 1),
    "check, passing": ([*GATE, "frechet_distance > 50"], 0),
    "check, refusing": ([*GATE, "nothing > 50"], 2),
    "check, open": ([*GATE, "precision < LIMIT"], 3),
    "sweep": (["sweep", *VECTORS, "--over", "k", "--values", "1,2", "--metrics", "precision"], 0),
    "overlap": (["overlap", "human.npy", "a.npy"], 0),
    "prompts": (["prompts", *PROMPTED, "--embedder", "tfidf"], 0),
    "agree": (["agree", *TEXTS, "b.jsonl", "--embedder", "tfidf", "--embedder", "chars"], 2),
    "probe": (["probe", "human.jsonl", "--embedder", "tfidf", "--changes", "x"], 2),
    "rank": (["rank", "scores.csv", "--truth", "truth.csv"], 0),
    "annotate": (["annotate", "study.sqlite", "--status"], 0),
    "text": (["text", *TEXTS, "--metrics", "distinct"], 0),
    "likelihood": (["likelihood", *TEXTS, "--model", "ngram:order=2", "--fit-on", "b.jsonl"], 0),
    "generate": (["generate", *NGRAM, "--n", "3", "-o", "FRESH.jsonl"], 0),
    "tune": (["tune", *NGRAM, "--over", "top_p=0.5,0.9", "--n", "50", *WORDS], 0),
    "judge": (["judge", *PROMPTED, "-m", "models/none", "--dry-run", "-o", "j.csv"], 0),
    "huse": (["huse", "a.jsonl", "-r", "human.jsonl", "--judgements", "truth.csv"], 2),
    "embed": (["embed", "a.jsonl", "--embedder", "tfidf", "-o", "FRESH.npy"], 0),
    "metrics": (["metrics"], 0),
    "show": (["show", "run.zip", "--details"], 0),
    "report": (["report", "run.zip", "--markdown", "-"], 0),
    "history": (["history", "run.zip", "run.zip"], 0),
    "plot": (["plot", "plane", "run.zip", "-o", "FRESH.svg"], 0),
    "run": (["run", "study.toml"], 0),
    "version": (["version"], 0),
}
"""What each command ends with where somebody reads."""

READERS = {
    "gone from standard output": "| (exec <&-)",
    "gone after a line": "| head -1 > head.txt",
    "gone from both": "2>&1 | (exec <&-)",
    "never there": ">&- 2>&- <&-",
    "a full disk for errors": "2> /dev/full > out.txt",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with what all commands read."""
    place, made = tmp_path_factory.mktemp("outcomes"), systems(0)[0]
    for name, first in (("human", 0), ("a", 60), ("b", 120)):
        rows = [{"text": text} for text in made[first : first + 60]]
        lines(place / f"{name}.jsonl", rows)
        prompted = [{"prompt": f"p{n // 4}", **row} for n, row in enumerate(rows)]
        lines(place / f"p_{name}.jsonl", prompted)
    rng = np.random.default_rng(0)
    np.save(place / "human.npy", rng.normal(size=(300, 4)))
    np.save(place / "a.npy", rng.normal(size=(300, 4)) + 0.5)
    (place / "scores.csv").write_text("system,metric,mean\na,mauve,0.1\nb,mauve,0.2\nc,mauve,0.3\n")
    (place / "study.toml").write_text(
        'reference = "human.npy"\ngenerated = "a.npy"\nmetrics = "precision"\nintervals = false\n'
    )
    (place / "truth.csv").write_text("system,score\na,1\nb,2\nc,4\n")
    made_first = [
        [
            "compare",
            *VECTORS,
            "--metrics",
            "precision,recall,frechet_distance",
            "--save",
            "run.zip",
        ],
        ["annotate", "study.sqlite", *PROMPTED, "--annotators", "ada", "--status"],
    ]
    for arguments in made_first:
        done = run(arguments, place)
        assert done.returncode == 0, done.stderr
    return place


def lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def run(arguments: list[str], folder: Path, behind: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that says how it ended, whatever stands behind it."""
    ended = folder / "ended.txt"
    ended.unlink(missing_ok=True)
    line = f'( "$@"; echo $? > ended.txt ) {behind}'
    command = [sys.executable, "-m", "calipers", *arguments]
    done = subprocess.run(
        ["bash", "-c", line, "bash", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return subprocess.CompletedProcess(command, int(ended.read_text()), done.stdout, done.stderr)


def arguments_of(name: str, folder: Path) -> list[str]:
    """Fill in the names of files that are not there yet, and a limit that is the score itself."""
    given, _ = OUTCOMES[name]
    if "LIMIT" in " ".join(given):
        from calipers.results import Comparison

        value = Comparison.load(folder / "run.zip")["a"]["precision"].value
        given = [each.replace("LIMIT", f"{value:.3f}") for each in given]
    fresh = f"fresh-{len(list(folder.iterdir()))}"
    return [each.replace("FRESH", fresh) for each in given]


def test_all_commands_are_looked_at():
    assert set(commands()) == {given[0] for given, _ in OUTCOMES.values() if given}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
@pytest.mark.parametrize("name", OUTCOMES)
def test_the_outcome_outlives_every_reader(folder, name):
    """Every reader for the gate, and for each other command two of them."""
    place = list(OUTCOMES).index(name) % len(READERS)
    every = name.startswith("check, failing")
    readers = list(READERS) if every else {list(READERS)[place], "gone from both"}
    for reader in readers:
        done = run(arguments_of(name, folder), folder, READERS[reader])
        ended = (done.returncode, "Traceback" in done.stderr)
        assert ended == (OUTCOMES[name][1], False), (reader, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("behind", ["", "| (exec <&-)"])
def test_a_file_that_is_a_pipe_without_a_reader_changes_no_outcome(folder, behind):
    for option in ("--json", "--junit", "--markdown"):
        arguments = [*GATE, "frechet_distance < 50", option, "pipe"]
        (folder / "pipe").unlink(missing_ok=True)
        os.mkfifo(folder / "pipe")
        reader = subprocess.Popen(["bash", "-c", "exec < pipe"], cwd=folder)
        assert run(arguments, folder, behind).returncode == 1
        reader.wait(30)


A_FAULT = """
import sys
from calipers import __main__, cli
from calipers.cli import command

def fail(path):
    raise {error}

sys.argv = ["calipers", "show", "run.zip"]
import calipers.results.result
calipers.results.result.Result.load = fail
__main__.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", ["ZeroDivisionError", "EOFError", "BrokenPipeError", "OSError", "RecursionError"]
)
def test_a_fault_of_calipers_is_no_failed_gate(tmp_path, error):
    (tmp_path / "run.zip").touch()
    done = subprocess.run(
        [sys.executable, "-c", A_FAULT.format(error=error)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == FAULT
    assert "Traceback" in done.stderr
    assert "this is a bug in Calipers" in done.stderr.splitlines()[-1]
