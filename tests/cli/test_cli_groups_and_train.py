"""``calipers compare --group`` and ``--train`` on files, from the command to the table and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

LABELS = ["sea", "land"] * 60


def rows(rng, labels):
    centres = {"sea": (30.0, 0.0), "land": (0.0, 30.0)}
    return np.array([centres[label] for label in labels]) + rng.standard_normal((len(labels), 2))


@pytest.fixture
def files(rng, calipers):
    """A reference with groups, a model that forgets one and repeats the training set, and that."""
    train = rows(rng, LABELS)
    np.savez("human.npz", vectors=rows(rng, LABELS), topic=np.array(LABELS))
    np.savez("train.npz", vectors=train)
    np.savez("parrot.npz", vectors=train[::2])
    return calipers


def compare(run, *more):
    job = ("compare", "-r", "human.npz", "parrot.npz", "--metrics", "recall")
    return run(*job, "--embedder", "precomputed", "--quiet", *more)


def test_from_files_to_table_json_and_archive(files):
    options = ("--group", "topic", "--train", "train.npz", "--per-sample")
    result = compare(files, *options, "--json", "run.json", "--save", "run.zip")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "By group (topic)" in result.stdout
    assert "Copies of the training set: train, n = 120" in result.stdout
    data = json.loads(Path("run.json").read_text())
    assert data["settings"]["group"] == "topic"
    assert data["reference"]["groups"] == {"land": 60, "sea": 60}
    assert data["train"]["n"] == 120
    (parrot,) = data["systems"]
    assert parrot["scores"]["recall:group=land"]["value"] == 0
    assert parrot["scores"]["recall:group=sea"]["value"] > 0.5
    assert parrot["scores"]["near_copies:train"]["value"] == 1
    assert data["reference"]["scores"]["near_copies:train"]["value"] < 0.2
    assert len(parrot["scores"]["recall:group=sea"]["per_sample"]) == 60
    assert parrot["neighbours"]["nearest_train"] == list(range(0, 120, 2))
    assert len(parrot["neighbours"]["generated_first_k"]) == 120
    assert files("show", "run.zip").stdout == result.stdout


def test_without_the_options_nothing_of_them(files):
    result = compare(files, "--field", "vectors")
    assert result.exit_code == 0
    assert "By group" not in result.stdout
    assert "Copies" not in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--group", "theme"],
            "human.npz: holds no array 'theme' of groups; the arrays are 'vectors' and 'topic'",
        ),
        (["--train", "none.npy"], "none.npy: there is no such file"),
        (["--train", "empty.npy"], "empty.npy: is empty"),
        (["--train", "nan.npy"], "nan.npy: NaN or infinite values in 1 of 3 rows: row 2"),
        (["--train", "wide.npy"], "wide: embeddings must have as many columns as the reference's"),
        (["--train", "one.npy"], "one.npy: the training set needs at least 2 samples; it has 1"),
        (["--train", "words.txt"], "the training set 'words' holds texts; both must be samples"),
    ],
)
def test_bad_files(files, options, message):
    Path("empty.npy").touch()
    Path("words.txt").write_text("a\nb\n")
    np.save("nan.npy", np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 1.0]]))
    np.save("wide.npy", np.ones((9, 5)))
    np.save("one.npy", np.ones((1, 2)))
    result = compare(files, "--group", "topic", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_labels_missing_on_some_rows_of_a_file(calipers):
    lines = [{"text": f"text {row}", **({"topic": "sea"} if row % 3 else {})} for row in range(9)]
    Path("human.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = calipers("compare", "-r", "human.jsonl", "human.jsonl", "--group", "topic")
    assert result.exit_code == 2
    assert result.stderr == (
        "calipers: human.jsonl: the group 'topic' is missing in 3 of 9 samples (lines 1, 4 and 7: "
        "there is no field 'topic'; the fields are 'text'); give every row a label, such as "
        '"none"\n'
    )
