"""What needs a package that is not installed says so before anything is embedded or written."""

import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

import calipers
from calipers.embedders.embedder import Embedder
from calipers.errors import MissingExtraError

TEXTS = {name: [f"{name} text {row} of some words" for row in range(12)] for name in "abc"}
ROWS = {
    name: [{"text": f"{name} {row}", "prompt": f"prompt {row // 2}"} for row in range(12)]
    for name in "abc"
}


class Unused(Embedder):
    """An embedder that must not be asked for a vector."""

    name = "unused"
    views = ("meaning",)
    reads = frozenset({"texts"})
    identity = "unused"

    def __init__(self):
        self.signature = {"embedder": "unused"}
        self.view_signature = {"meaning": ""}

    def encode(self, samples):
        raise AssertionError("embedded before it was said which package is missing")


def without_torch(folder, monkeypatch):
    """Make the folder of a model that torch would load."""
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "tokenizer.json").write_text("{}")
    save_file({"weights": np.zeros(2, np.float32)}, folder / "model.safetensors")
    for package in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, package, None)


def measured(command, **options):
    """Run a command on three sets of texts."""
    a, *others = TEXTS.values()
    systems = dict(zip("bc", others, strict=True))
    options = {"embedder": Unused(), "cache": False, **options}
    if command == "overlap":
        return calipers.overlap({"a": a, **systems}, **options)
    if command == "sweep":
        return calipers.sweep(a, systems, over="n", **options)
    if command == "prompts":
        return calipers.prompts(ROWS["a"], {"b": ROWS["b"]}, field="text", **options)
    return getattr(calipers, command)(a, systems, **options)


ENGINES = [
    ({"neighbours": "approximate"}, "usearch", "approximate"),
    ({"engine": "ray"}, "ray", "ray"),
    ({"work_dir": "memory://work"}, "fsspec", "ray"),
]


@pytest.mark.parametrize(("options", "package", "extra"), ENGINES, ids=lambda value: str(value))
@pytest.mark.parametrize("command", ["compare", "sweep", "overlap"])
def test_engines(command, options, package, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*calipers\[{extra}\]"):
        measured(command, **options)


@pytest.mark.parametrize(
    ("metrics", "package", "extra"),
    [
        ("precision,mauve_ot", "ot", "transport"),
        ("precision,text.near_duplicates", "datasketch", "duplicates"),
        ("precision,text.compression:zstd", "pyarrow", "parquet"),
    ],
)
def test_metrics(metrics, package, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*calipers\[{extra}\]"):
        measured("compare", metrics=metrics)


@pytest.mark.parametrize("command", ["compare", "sweep", "overlap", "prompts"])
def test_models(command, tmp_path, monkeypatch):
    without_torch(tmp_path, monkeypatch)
    with pytest.raises(MissingExtraError, match=r"calipers\[models\]"):
        measured(command, embedder=str(tmp_path))


@pytest.mark.parametrize(("options", "package", "extra"), ENGINES, ids=lambda value: str(value))
def test_tune_writes_nothing(options, package, extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*calipers\[{extra}\]"):
        calipers.tune(
            TEXTS["a"],
            model="ngram:order=2",
            n=5,
            over="temperature=0.5,1.0",
            samples=tmp_path / "samples",
            embedder=Unused(),
            **options,
        )
    assert list((tmp_path / "samples").glob("*")) == []


def test_generate_and_likelihood_read_nothing_else(tmp_path, monkeypatch):
    without_torch(tmp_path, monkeypatch)
    with pytest.raises(MissingExtraError, match=r"calipers\[models\]"):
        calipers.generate(model=str(tmp_path), n=2, output=tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    with pytest.raises(MissingExtraError, match=r"calipers\[models\]"):
        calipers.likelihood(TEXTS["a"], model=str(tmp_path))
