"""Addresses with ``://`` in the place of files, on the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from calipers.cli import app
from extras import need

fsspec = need("fsspec")


@pytest.fixture
def memory():
    storage = fsspec.filesystem("memory")
    storage.store.clear()
    yield storage
    storage.store.clear()


@pytest.mark.slow
def test_both_sides_may_lie_behind_an_address(memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa = need("pyarrow")
    import pyarrow.parquet as pq

    for name in ("ref", "a"):
        rows = [{"text": f"A tale of {n} {name}.", "n": n} for n in range(25)]
        with memory.open(f"/x/{name}.parquet", "wb") as file:
            pq.write_table(pa.Table.from_pylist(rows), file)
    job = ("compare", "-r", "memory://x/ref.parquet", "memory://x/a.parquet", "--no-cache")
    done = CliRunner().invoke(app, [*job, "--embedder", "tfidf", "--json", "scores.json"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "scores.json").read_text())
    assert found["reference"]["source"] == "memory://x/ref.parquet"
    assert [system["name"] for system in found["systems"]] == ["a"]


def test_an_address_to_nothing_is_refused_in_one_sentence(memory):
    done = CliRunner().invoke(app, ["compare", "-r", "memory://x/ref.parquet", "a.jsonl"])
    assert done.exit_code == 2
    assert "memory://x/ref.parquet: there is no such file" in done.stderr
