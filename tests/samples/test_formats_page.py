"""docs/formats.md: every row of its tables is done here, by what the row is called."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from calipers.samples import SampleSet, as_sample_set, read_samples
from extras import need

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
DATA = Path(__file__).parents[1] / "data"
TEXTS = ["One.", "Two.", "Three."]
ROWS = [{"text": text, "prompt": f"p{n}", "n": n} for n, text in enumerate(TEXTS)]


def sections() -> dict[str, list[list[str]]]:
    """Give the cells of each table, by the heading above it."""
    found: dict[str, list[list[str]]] = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        lines = [line for line in rest.splitlines() if line.startswith("|")]
        found[title] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return found


SECTIONS = sections()
TYPED = "Names and fields"
"""The table of names and fields, which is tested with them."""


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def text_file(folder: Path) -> Any:
    (folder / "a.txt").write_text("\n".join(TEXTS) + "\n")
    return folder / "a.txt"


def text_folder(folder: Path) -> Any:
    for n, text in enumerate(TEXTS):
        (folder / f"{n}.txt").write_text(text)
    return folder


def json_file(folder: Path) -> Any:
    (folder / "a.json").write_text(json.dumps(ROWS))
    return folder / "a.json"


def json_table(folder: Path) -> Any:
    table = {"columns": list(ROWS[0]), "data": [list(row.values()) for row in ROWS]}
    (folder / "a.json").write_text(json.dumps(table))
    return folder / "a.json"


def text_shards(folder: Path) -> Any:
    for n, row in enumerate(ROWS):
        lines(folder / f"train-0000{n}-of-00003.jsonl", [row])
    return folder


def csv_file(folder: Path) -> Any:
    (folder / "a.csv").write_text("text,prompt,n\n" + "".join(f"{t},p,1\n" for t in TEXTS))
    return folder / "a.csv"


def parquet(folder: Path) -> Any:
    pa = need("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(ROWS), folder / "a.parquet")
    return folder / "a.parquet"


def arrow(folder: Path) -> Any:
    pa = need("pyarrow")
    import pyarrow.feather as feather

    feather.write_feather(pa.Table.from_pylist(ROWS), folder / "a.arrow", "uncompressed")
    return folder / "a.arrow"


def saved_dataset(folder: Path) -> Any:
    need("datasets").Dataset.from_list(ROWS).save_to_disk(folder / "saved")
    return folder / "saved"


def array(folder: Path) -> Any:
    np.save(folder / "a.npy", np.eye(3, 2))
    return folder / "a.npy"


def shards(folder: Path) -> Any:
    for n in range(3):
        np.save(folder / f"s-{n}.npy", np.ones((1, 2)))
    return str(folder / "s-*.npy")


def images(folder: Path) -> Any:
    pillow = need("PIL.Image")
    for n in range(3):
        pillow.new("RGB", (4, 4), (n, n, n)).save(folder / f"{n}.png")
    return folder


def address(folder: Path) -> Any:
    fsspec = need("fsspec")
    storage = fsspec.filesystem("memory")
    storage.makedirs("/formats", exist_ok=True)
    with storage.open("/formats/a.parquet", "wb") as file:
        file.write(parquet(folder).read_bytes())
    return "memory://formats/a.parquet"


FILES: dict[str, Callable[[Path], Any]] = {
    "`.txt`": text_file,
    "a folder of `.txt`": text_folder,
    "`.jsonl`, `.ndjson`": lambda folder: lines(folder / "a.ndjson", ROWS),
    "`.json`": json_file,
    "a table in `.json`": json_table,
    "`.csv`, `.tsv`": csv_file,
    "`.parquet`": parquet,
    "`.arrow`, `.feather`": arrow,
    "saved `datasets`": saved_dataset,
    "`.npy`, `.npz`, `.safetensors`": array,
    "shards": shards,
    "shards of texts": text_shards,
    "images": images,
    "standard input": lambda folder: "-",
    "an address": address,
}


@pytest.mark.parametrize("row", SECTIONS["Read: files"], ids=lambda row: row[0])
def test_files(row: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped = "".join(json.dumps(each) + "\n" for each in ROWS).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(piped)))
    samples = read_samples(FILES[row[0]](tmp_path))
    assert len(samples) == 3
    if samples.kind == "texts":
        assert list(samples) == TEXTS
        assert (samples.prompts is not None) == bool(row[3])


def novelty(folder: Path) -> Path:
    rows = [{"id": n, "prompt": f"p{n}", "model": "m", "generations": ["a", "b"]} for n in range(2)]
    return lines(folder / "generations.jsonl", rows)


def alpaca(folder: Path) -> Path:
    row = {"dataset": "d", "instruction": "Q", "output": "A", "generator": "g"}
    (folder / "model_outputs.json").write_text(json.dumps([row, row]))
    return folder / "model_outputs.json"


def annotations(folder: Path) -> Path:
    row = {"instruction": "Q", "output_1": "A", "output_2": "B", "generator_1": "g"}
    (folder / "annotations.json").write_text(json.dumps([row]))
    return folder / "annotations.json"


def batch(folder: Path) -> Path:
    body = {"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}
    row = {"custom_id": "1", "response": {"status_code": 200, "body": body}, "error": None}
    return lines(folder / "batch_output.jsonl", [row])


def evaluated(folder: Path) -> Path:
    row = {
        "evaluation_id": "e",
        "sample_id": "s",
        "interaction_type": "single_turn",
        "input": {"raw": "Q", "reference": []},
        "output": {"raw": ["a", "b", "c"]},
    }
    return lines(folder / "x_samples.jsonl", [row])


OTHERS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "inspect (0.3)": (lambda folder: DATA / "inspect" / "stories.eval", 25),
    "lm-evaluation-harness (0.4)": (lambda folder: DATA / "lm_eval" / "samples_toy.jsonl", 12),
    "its filtered responses": (
        lambda folder: lines(
            folder / "a.jsonl",
            [
                json.loads(line)
                for line in (DATA / "lm_eval" / "samples_toy.jsonl").read_text().splitlines()
                if '"filter": "all"' in line
            ],
        ),
        12,
    ),
    "OpenAI batch output": (batch, 2),
    "AlpacaEval": (alpaca, 2),
    "its annotations": (annotations, 1),
    "NoveltyBench": (novelty, 4),
    "Every Eval Ever (0.2, 0.3)": (evaluated, 3),
}


@pytest.mark.parametrize("row", SECTIONS["Read: what other tools write"], ids=lambda row: row[0])
def test_what_other_tools_write(row: list[str], tmp_path: Path) -> None:
    if row[0].startswith("inspect"):
        need("pyarrow")  # the log is packed by zstd
    make, size = OTHERS[row[0]]
    options = dict(re.findall(r"--(\w+) '?([^' `]+)", row[1]))
    field = re.search(r"(@\w+)", row[1])  # behind the file's name
    samples = read_samples(f"{make(tmp_path)}{field[1] if field else ''}", **options)
    assert len(samples) == size
    assert (samples.prompts is not None) == bool(row[3])
    for kind in ("group", "cluster"):
        assert (getattr(samples, f"{kind}s") is not None) == (kind in options)


def loader() -> Any:
    torch = need("torch")
    return torch.utils.data.DataLoader(TEXTS, batch_size=2)


HELD: dict[str, Callable[[], list[Any]]] = {
    "lists and generators": lambda: [TEXTS, (text for text in TEXTS), ROWS],
    "pandas": lambda: [
        need("pandas").DataFrame(ROWS),
        need("pandas").Series(TEXTS),
    ],
    "polars": lambda: [
        need("polars").DataFrame(ROWS),
        need("polars").LazyFrame(ROWS),
        need("polars").Series(TEXTS),
    ],
    "Arrow": lambda: [
        need("pyarrow").Table.from_pylist(ROWS),
        need("pyarrow").array(TEXTS),
    ],
    "`datasets`": lambda: [
        need("datasets").Dataset.from_list(ROWS),
        need("datasets").Dataset.from_list(ROWS).to_iterable_dataset(),
    ],
    "arrays and tensors": lambda: [np.eye(3), need("torch").eye(3)],
    "torch `Dataset`, `DataLoader`": lambda: [loader()],
    "`SampleSet`, embeddings": lambda: [SampleSet.from_texts(TEXTS, name="x")],
}


@pytest.mark.parametrize("row", SECTIONS["Read: in Python"], ids=lambda row: row[0])
def test_in_python(row: list[str]) -> None:
    for held in HELD[row[0]]():
        samples = as_sample_set(held)
        assert len(samples) == 3
        assert samples.kind == "vectors" or list(samples) == TEXTS


WRITTEN = {
    "JSON": "scores.json",
    "a saved run": "run.zip",
    "HTML": "report.html",
    "Markdown, LaTeX": "table.md",
    "CSV": "scores.csv",
    "Parquet, Arrow": "scores.parquet",
    "inspect records": "scores.json",
    "Every Eval Ever 0.3.0": "stories.json",
    "Hub `.eval_results`": "hle.yaml",
    "vectors": "vectors.npy",
}


@pytest.mark.slow
@pytest.mark.parametrize("row", SECTIONS["Written"], ids=lambda row: row[0])
def test_written(row: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from calipers.cli import app

    monkeypatch.chdir(tmp_path)
    log = str(DATA / "inspect" / "stories.eval")
    lines(tmp_path / "human.jsonl", [{"text": f"A tale of {n}."} for n in range(25)])
    command = row[1].strip("`").replace("'", "")
    if command.startswith("calipers embed"):
        arguments = ["embed", "human.jsonl", *command.split()[2:], "--embedder", "tfidf"]
    else:
        arguments = ["compare", "-r", "human.jsonl", log, *command.split()]
        arguments += ["--metrics", "precision", "--no-cache"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / WRITTEN[row[0]]).stat().st_size > 0


def test_no_row_is_left_and_none_is_made_up() -> None:
    titles = [[row[0] for row in rows] for name, rows in SECTIONS.items() if name != TYPED]
    assert titles == [list(FILES), list(OTHERS), list(HELD), list(WRITTEN)]
