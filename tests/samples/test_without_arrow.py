"""Without pyarrow, the extra ``parquet``: only Arrow's own formats are missing, and say so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calipers.catalogue.choosing import check_extras, choose_text
from calipers.errors import MissingExtraError
from calipers.results.rows import write_rows
from calipers.samples import as_sample_set, read_samples
from calipers.samples.row_tables import read_table
from calipers.text import compression_ratio

SAYS = r"needs the package 'pyarrow', which is not installed.* pip install '[^']*\[parquet\]'"


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)


@pytest.mark.usefixtures("without")
def test_files_in_its_formats_say_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "a.arrow"}]}')
    with pytest.raises(MissingExtraError, match=rf"a\.parquet: a parquet file {SAYS}"):
        read_samples(path)
    with pytest.raises(MissingExtraError, match=rf"a dataset saved to disk {SAYS}"):
        read_samples(tmp_path)
    with pytest.raises(MissingExtraError, match=rf"a\.parquet: a parquet file {SAYS}"):
        read_table(path, "scores")
    with pytest.raises(MissingExtraError, match=rf"a table for data frames {SAYS}"):
        write_rows([{"a": 1}], tmp_path / "b.parquet")
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.usefixtures("without")
def test_zstd_says_so_before_the_work_and_gzip_needs_nothing() -> None:
    assert compression_ratio(["a a a a"]).value > 0
    check_extras(choose_text("compression"))
    with pytest.raises(MissingExtraError, match=rf"the metric 'compression:zstd' {SAYS}"):
        check_extras(choose_text("compression:zstd"))
    with pytest.raises(MissingExtraError, match=rf"the codec 'zstd' {SAYS}"):
        compression_ratio(["a a a a"], codec="zstd")


@pytest.mark.usefixtures("without")
def test_what_a_person_holds_needs_nothing() -> None:
    samples = as_sample_set(["a", "b"], name="x").with_groups([1, 2])
    assert samples.groups is not None
    assert (list(samples), samples.groups.tolist()) == (["a", "b"], ["1", "2"])
    assert as_sample_set([[1, 2], [3]]).kind == "tokens"


BLOCKED = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *where):
        return None if name.split(".")[0] == "pyarrow" else self.finder.find_spec(name, *where)

sys.meta_path[:] = map(Without, sys.meta_path)
from calipers.__main__ import main

main()
"""


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_comparison_runs_without_it(tmp_path: Path) -> None:
    for name, step in (("human", 7), ("model", 11)):
        rows = [
            {"text": f"text {i * step % 97} of {i % 13} “kinds”", "prompt": f"p{i}", "g": i % 2}
            for i in range(80)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    done = run(
        "compare", "--reference", tmp_path / "human.jsonl", tmp_path / "model.jsonl",
        "--field", "text", "--group", "g", "--embedder", "tfidf", "--quiet",
        "--metrics", "precision,recall,compression", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    scores = json.loads((tmp_path / "out.json").read_text("utf-8"))["systems"][0]["scores"]
    assert 0 < scores["recall"]["value"] <= 1


@pytest.mark.slow
def test_the_command_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    done = run("text", tmp_path / "a.jsonl", "--table", tmp_path / "b.parquet")
    assert done.returncode == 2
    assert "--table needs the package 'pyarrow', which is not installed" in done.stderr
    assert "[parquet]'" in done.stderr
