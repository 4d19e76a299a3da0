"""``calipers generate`` and ``calipers tune`` with the n-gram model: files, screens, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from calipers.demo.systems import systems


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return systems(0)[0]


@pytest.fixture
def human(calipers, texts) -> str:
    """A file of real texts in the working folder, which `calipers` has made."""
    Path("human.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in texts[:200]), "utf-8"
    )
    return "human.jsonl"


def generate(calipers, *more):
    given = ("generate", "--model", "ngram:order=3", "--reference", "human.jsonl")
    return calipers(*given, *more)


def rows(path: str = "out.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


@pytest.mark.usefixtures("human")
def test_samples_are_written_and_compare_reads_them(calipers):
    result = generate(
        calipers, "--n", "50", "--decoding", "top_p=0.9", "--seed", "0", "--output", "out.jsonl"
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("50 texts by ngram:order=3 (top_p=0.9, seed 0): ")
    assert "calipers compare --reference FILE out.jsonl" in result.stdout
    found = rows()
    assert [row["id"] for row in found] == list(range(50))
    assert found[0]["decoding"] == {"method": "sample", "top_p": 0.9}
    manifest = json.loads(Path("out.jsonl.manifest.json").read_text("utf-8"))
    assert manifest["configuration"]["model"] == "ngram:order=3"
    assert manifest["samples"] == 50
    assert not Path("out.jsonl.part").exists()


@pytest.mark.usefixtures("human")
def test_a_second_run_finds_its_samples_and_another_seed_is_refused(calipers):
    first = generate(calipers, "--n", "20", "-o", "out.jsonl")
    before = Path("out.jsonl").read_bytes()
    again = generate(calipers, "--n", "20", "-o", "out.jsonl")
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "20 of them already existed." in again.stdout
    assert Path("out.jsonl").read_bytes() == before
    other = generate(calipers, "--n", "20", "--seed", "1", "-o", "out.jsonl")
    assert other.exit_code == 2
    assert "out.jsonl: holds samples of another configuration: seed is 0 there and 1 here" in (
        other.output
    )
    assert Path("out.jsonl").read_bytes() == before
    forced = generate(calipers, "--n", "20", "--seed", "1", "-o", "out.jsonl", "--force")
    assert forced.exit_code == 0
    assert Path("out.jsonl").read_bytes() != before


@pytest.mark.usefixtures("human")
def test_prompts_are_taken_from_the_reference(calipers):
    result = generate(calipers, "--prompt-words", "4", "--n", "10", "-o", "out.jsonl")
    assert result.exit_code == 0, result.output
    for row in rows():
        source = json.loads(Path("human.jsonl").read_text().splitlines()[int(row["prompt_id"])])
        assert source["text"].split()[:4] == row["prompt"].split()
        assert not row["text"].startswith(row["prompt"])


@pytest.mark.usefixtures("human")
def test_the_counts_go_to_standard_output(calipers):
    result = generate(calipers, "--n", "5", "-o", "out.jsonl", "--json", "-")
    data = json.loads(result.stdout)
    assert data["configuration"]["n"] == data["samples"] == 5


@pytest.mark.usefixtures("human")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--n", "0"], "--n must be a whole number of at least 1; found '0'"),
        (["--decoding", "top_p=1.5"], "top_p must be above 0 and at most 1; found '1.5'"),
        (["--decoding", "temperature=0"], "temperature must be a number above 0"),
        (["--decoding", "beam=4,top_k=3"], "beam and top_k cannot be combined"),
        (["--decoding", "contrastive=0.6,top_k=4"], "has no hidden states"),
        (["--model", "ngram:order=9"], "order"),
        (["--model", "ftp://host/v1#m"], "http"),
        (["--model", "https://host/v1"], "name the model behind a '#'"),
        (["--model", "./nowhere"], "nowhere"),
        (["--prompts", "nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["--prompt-words", "4000"], "no text has more than 4,000 words"),
        (["--task", "poems"], "--task must be continue or biographies or creative or none"),
        (["--price", "cheap"], "--price must be two numbers"),
        (["--output", "human.jsonl"], "was not written by calipers generate"),
        (["--chat"], "takes no conversation"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(calipers, given, words):
    before = Path("human.jsonl").read_bytes()
    more = ["--prompt-words", "3"] if given == ["--chat"] else []
    result = generate(calipers, "--n", "3", "--output", "out.jsonl", *given, *more)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert Path("human.jsonl").read_bytes() == before
    assert not Path("out.jsonl").exists()
    assert generate(calipers, "--n", "3", "--output", "out.jsonl").exit_code == 0


@pytest.mark.usefixtures("human")
@pytest.mark.slow
def test_tune_says_which_value_comes_closest(calipers):
    result = calipers(
        "tune", "--reference", "human.jsonl", "--model", "ngram:order=3", "--n", "150",
        "--over", "temperature=0.2,1.0", "--json", "out.json", "--plot", "t.png", "--no-floor",
        "--embedder", "tfidf",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "temperature=1 is closest to" in " ".join(result.stdout.split())
    assert "! the model was fitted on the reference (--fit-on FILE)" in result.stdout
    data = json.loads(Path("out.json").read_text("utf-8"))
    recall = {each["name"]: each["scores"]["recall"]["value"] for each in data["systems"]}
    assert recall["temperature=0.2"] < recall["temperature=1"]
    assert data["tuned"]["worse"] == ["temperature=0.2"]
    assert Path("t.png").stat().st_size > 10_000


@pytest.mark.usefixtures("human")
@pytest.mark.parametrize(
    ("over", "words"),
    [
        ("top_p=0.9", "at least two values"),
        ("colour=1,2", "unknown decoding parameter 'colour'"),
        ("top_p=0.9,2", "top_p must be above 0 and at most 1; found '2'"),
    ],
)
def test_tune_refuses_what_cannot_vary(calipers, over, words):
    result = calipers("tune", "-r", "human.jsonl", "--model", "ngram", "--over", over)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path, texts):
    (tmp_path / "human.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8"
    )
    command = [
        sys.executable, "-m", "calipers", "generate", "--model", "ngram:order=4", "--reference",
        "human.jsonl", "--decoding", "beam=4", "--n", "400", "--max-tokens", "30", "-q",
        "--output",
    ]  # fmt: skip
    run = subprocess.Popen([*command, "out.jsonl"], cwd=tmp_path)
    journal, until = tmp_path / "out.jsonl.part", time.monotonic() + 120
    while time.monotonic() < until and run.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") > 5:
            os.kill(run.pid, signal.SIGKILL)
            break
        time.sleep(0.02)
    killed = run.wait() == -signal.SIGKILL
    kept = journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0
    subprocess.run([*command, "out.jsonl"], cwd=tmp_path, check=True)
    subprocess.run([*command, "whole.jsonl"], cwd=tmp_path, check=True)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not journal.exists()
    if killed:
        manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text("utf-8"))
        assert manifest["new"] <= 400 - kept
