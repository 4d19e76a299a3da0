"""Records for inspect: what they hold, what they refuse, and that inspect itself reads them."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InputError
from calipers.results import Comparison
from calipers.results.inspect_scores import write_records
from calipers.samples import SampleSet, read_samples
from extras import lack, need

need("pyarrow")  # the log is packed by zstd

LOG = Path(__file__).parent.parent / "data" / "inspect" / "stories.eval"
VALUES = ["in_support", "density", "realism", "distance", "near_copy"]


def reference() -> SampleSet:
    """The stories again, each in other words, and a few that are far from all."""
    words = str.maketrans({"s": "z", "a": "e"})
    texts = [
        text if row % 3 else text.translate(words) for row, text in enumerate(read_samples(LOG))
    ]
    return SampleSet.from_texts([*texts, "Prices rose.", "Rates fell again."], name="human")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    found = calipers.compare(reference(), LOG, embedder="tfidf", normalise="none")
    assert isinstance(found, Comparison)
    return found


def test_a_record_for_each_sample_with_its_values(comparison: Comparison) -> None:
    records = comparison.inspect_records()
    (system,) = comparison.systems
    logged = read_samples(LOG).log_ids
    assert logged is not None
    assert [each["id"] for each in records] == logged.ids.tolist()
    assert [each["epoch"] for each in records] == logged.epochs.tolist()
    assert all(list(each["value"]) == VALUES for each in records)
    assert np.mean([each["value"]["in_support"] for each in records]) == pytest.approx(
        system["precision"].value
    )
    distances = system.neighbours["reference_distance"]
    assert [each["value"]["distance"] for each in records] == pytest.approx(distances)
    realism = system["realism"].per_sample
    assert realism is not None
    for each, own in zip(records, realism, strict=True):
        found = each["value"]["realism"]
        assert math.isnan(found) if math.isinf(own) else found == pytest.approx(own)


def test_the_nearest_sample_is_named_and_quoted(comparison: Comparison) -> None:
    record = comparison.inspect_records()[4]
    (system,) = comparison.systems
    row = int(system.neighbours["nearest_reference"][4])
    text = reference()[row]
    assert record["metadata"]["nearest_reference"] == {"row": row, "text": text}
    assert record["metadata"]["signature"] == system["precision"].signature
    side = "inside" if record["value"]["in_support"] else "outside"
    assert record["explanation"] == (
        f"It lies {side} the support of the reference. The nearest reference sample is at distance "
        f"{record['value']['distance']:.3g}: {text}"
    )
    bare = comparison.inspect_records(redact=True)[4]
    assert bare["metadata"]["nearest_reference"] == {"row": row}
    assert text not in json.dumps(bare)


def test_one_number_in_place_of_an_object(comparison: Comparison) -> None:
    numbers = [each["value"] for each in comparison.inspect_records(value="in_support")]
    assert set(numbers) <= {0, 1}
    assert np.mean(numbers) == pytest.approx(comparison.systems[0]["precision"].value)
    with pytest.raises(InputError, match="'stories' 'in_suport'"):
        comparison.inspect_records(value="in_suport")


def test_a_reference_that_is_a_log_is_named_by_id(comparison: Comparison) -> None:
    found = calipers.compare(LOG, LOG, embedder="tfidf")
    near = [each["metadata"]["nearest_reference"] for each in found.inspect_records()]
    assert near[0].items() >= {"row": 0, "id": "2", "epoch": 1}.items()


def test_views_seeds_and_cut_sets() -> None:
    # Vectors stand in for embeddings with two views; the log says only who is who
    from calipers.embedders import Embeddings

    rng = np.random.default_rng(3)
    logged = read_samples(LOG).log_ids
    assert logged is not None
    from dataclasses import replace

    def made(n: int) -> SampleSet:
        views = {"main": rng.normal(size=(n, 3)), "form": rng.normal(size=(n, 2))}
        return SampleSet.from_embeddings(Embeddings(views, signature={}), name="x")

    files = [replace(made(25), log_ids=logged) for _ in range(2)]
    human = made(25)
    result = calipers.compare(human, {"m": files}, embedder="precomputed", max_samples=20)
    records = [result.inspect_records("m", file=file) for file in (0, 1)]
    keys = {f"{view}{name}" for view in ("", "form.") for name in VALUES}
    for file, found in enumerate(records):
        assert len(found) == 20
        assert set(found[0]["value"]) == keys
        rows = result["m"].neighbours["form.reference_distance"][20 * file : 20 * file + 20]
        assert [each["value"]["form.distance"] for each in found] == pytest.approx(rows)
        assert "text" not in found[0]["metadata"]["nearest_reference"]
    assert [each["id"] for each in records[0]] == [each["id"] for each in records[1]]
    with pytest.raises(InputError, match=r"file .*0 to 1.*'m'.* 2"):
        result.inspect_records("m", file=2)


def test_a_saved_run_gives_the_same_records(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path / "run.zip")
    kept = Comparison.load(tmp_path / "run.zip")
    assert json.dumps(kept.inspect_records()) == json.dumps(comparison.inspect_records())


def test_files_are_whole_lists_or_lines(comparison: Comparison, tmp_path: Path) -> None:
    records = comparison.inspect_records()
    for name in ("a.json", "a.jsonl"):
        write_records(records, tmp_path / name)
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert json.dumps([json.loads(line) for line in lines]) == json.dumps(records)
    assert json.dumps(json.loads((tmp_path / "a.json").read_text())) == json.dumps(records)
    with pytest.raises(InputError, match=r"path .*\.json or \.jsonl"):
        write_records(records, tmp_path / "a.csv")


def test_what_has_no_records_says_why() -> None:
    texts = list(read_samples(LOG))
    other = calipers.compare(texts, texts[::-1], embedder="tfidf")
    with pytest.raises(InputError, match=r"\.eval or \.json"):
        other.inspect_records()
    two = calipers.compare(texts, {"a": LOG, "b": LOG}, embedder="tfidf", metrics=["mauve_star"])
    with pytest.raises(InputError, match=r"system .*2 systems: 'a', 'b'"):
        two.inspect_records()
    with pytest.raises(InputError, match=r"single samples.*`metrics`"):
        two.inspect_records("a")
    choices = calipers.compare(texts, LOG, embedder="tfidf", field="messages[*].content")
    with pytest.raises(InputError, match="'story-1' in epoch 1"):
        choices.inspect_records()


# ------------------------------------------------------------------ inspect itself

SCORER = """
from inspect_ai.scorer import mean, precomputed_scores, scorer


@scorer(metrics={{"*": [mean()]}})
def calipers():
    return precomputed_scores({path!r})
"""


def inspect_python() -> str:
    """A Python that has inspect_ai: this one, or the one that CALIPERS_INSPECT_PYTHON names."""
    for python in (os.environ.get("CALIPERS_INSPECT_PYTHON"), sys.executable):
        if (
            python
            and subprocess.run(
                [python, "-c", "import inspect_ai"], capture_output=True, check=False
            ).returncode
            == 0
        ):
            return python
    return lack("inspect_ai in the Python of CALIPERS_INSPECT_PYTHON")


def scored(log: Path, *scorer: str) -> Any:
    """Let inspect score a log; give the results and the samples of what it wrote, as JSON."""
    out = log.with_name("scored.eval")
    out.unlink(missing_ok=True)
    inspect = [inspect_python(), "-m", "inspect_ai"]
    to = ["--action", "append", "--output-file", str(out)]
    for command in (["score", str(log), *scorer, *to], ["log", "dump", str(out)]):
        done = subprocess.run(
            [*inspect, *command], capture_output=True, text=True, check=False, cwd=log.parent
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_inspect_reads_the_records(comparison: Comparison, tmp_path: Path) -> None:
    log = tmp_path / "stories.eval"
    shutil.copy(LOG, log)
    write_records(comparison.inspect_records(value="in_support"), tmp_path / "one.json")
    write_records(comparison.inspect_records(), tmp_path / "all.jsonl")
    (tmp_path / "own.py").write_text(SCORER.format(path=str(tmp_path / "all.jsonl")))

    found = scored(log, "--scorer", "precomputed_scores", "-S", f"scores={tmp_path / 'one.json'}")
    whole = comparison.inspect_records()
    by_key = {(each["id"], each["epoch"]): each for each in whole}
    left = dict(by_key)
    for sample in found["samples"]:
        record = left.pop((str(sample["id"]), sample["epoch"]), None)
        score = (sample.get("scores") or {}).get("precomputed_scores")
        assert (record is None) == (score is None)  # samples with an error or without output
        if record is not None:
            assert score["value"] == record["value"]["in_support"]
            assert score["explanation"] == record["explanation"]
            assert score["metadata"] == record["metadata"]
    assert not left
    assert [each["scorer"] for each in found["results"]["scores"]][:1] == ["includes"]

    found = scored(log, "--scorer", "own.py@calipers")
    named = {
        each["name"]: each["metrics"]["mean"]["value"]
        for each in found["results"]["scores"]
        if each["name"] in VALUES
    }
    for name in VALUES:
        epochs: dict[str, list[float]] = {}
        for (own, _), record in by_key.items():
            if not math.isnan(record["value"][name]):
                epochs.setdefault(own, []).append(record["value"][name])
        # inspect averages the epochs of a sample first
        assert named[name] == pytest.approx(np.mean([np.mean(each) for each in epochs.values()]))


def test_texts_that_were_not_read_have_no_values() -> None:
    others = [f"w{row % 7} v{row % 5}" for row in range(30)]
    options = {"metrics": "precision", "level": None, "floor": False}
    found = calipers.compare(others, LOG, embedder="tfidf", **options)
    with pytest.raises(InputError, match=r"^stories: .*tfidf .*100 %"):
        found.inspect_records()
