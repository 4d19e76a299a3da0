"""``calipers compare --cluster`` on files, from the command to the table and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WORDS = [
    "sea",
    "land",
    "wind",
    "stone",
    "light",
    "house",
    "river",
    "bird",
    "runs",
    "falls",
    "sings",
]


def write(path, rng, count, each, **more):
    """Several continuations of each prompt, of the few words that it is about."""
    lines = []
    for place in range(count):
        own = rng.choice(WORDS, 4)
        for _ in range(each):
            text = " ".join([*rng.choice(own, 6), *rng.choice(WORDS, 2)])
            lines.append(json.dumps({"prompt": f"{path} {place}", "text": text, **more}))
    Path(path).write_text("\n".join(lines))


@pytest.fixture
def files(rng, calipers):
    write("human.jsonl", rng, 130, 1)
    write("model.jsonl", rng, 26, 5)
    return calipers


def compare(run, *more):
    job = ("compare", "-r", "human.jsonl", "model.jsonl", "--field", "text", "--metrics")
    return run(*job, "recall", "--embedder", "tfidf", "--no-floor", "--quiet", "--no-cache", *more)


def read(run, *more):
    result = compare(run, *more, "--json", "run.json", "--force")
    assert result.exit_code == 0, result.stderr
    return json.loads(Path("run.json").read_text()), result.stdout


def test_from_files_to_table_and_json(files):
    by_row, table = read(files)
    assert "130 samples of 26 in model" in " ".join(table.split())
    by_cluster, table = read(files, "--cluster", "prompt")
    assert by_cluster["settings"]["cluster"] == "prompt"
    assert by_row["settings"]["cluster"] is None
    assert "count as drawn together: 130 of 130 samples in the reference, 26 of 130" in " ".join(
        table.split()
    )
    ours, theirs = (data["systems"][0]["scores"]["recall"] for data in (by_cluster, by_row))
    assert ours["value"] == theirs["value"]
    assert ours["standard_error"] != theirs["standard_error"]
    assert ours["interval"]


def test_bad_fields(files, rng):
    result = compare(files, "--cluster", "promt")
    assert result.exit_code == 2
    assert "cluster 'promt': no set has such a field in its rows" in " ".join(result.stderr.split())
    lines = Path("model.jsonl").read_text().splitlines()
    Path("model.jsonl").write_text("\n".join([*lines, json.dumps({"text": "the sea sings"})]))
    result = compare(files, "--cluster", "prompt")
    assert result.exit_code == 2
    assert "model.jsonl: the cluster 'prompt' is missing in 1 of 131 samples" in " ".join(
        result.stderr.split()
    )


def test_the_page_tells_what_it_is_for(calipers):
    page = " ".join(calipers("compare", "--help").stdout.split())
    assert "--cluster prompt" in page
    assert "--cluster FIELD" in page
    assert "were drawn together" in page
