"""Vectors that are written: whole or not at all, in shards, and known to a comparison."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from calipers import compare
from calipers.commands.embed.run import EmbeddedSet, embed
from calipers.embedders import Embeddings, vectors
from calipers.embedders.vectors import write_shards, write_vectors
from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples

VIEWS = {
    "meaning": np.arange(44, dtype=np.float32).reshape(11, 4),
    "form": np.arange(22, dtype=np.float64).reshape(11, 2),
}
ABOUT = EmbeddedSet(
    SampleSet.from_texts([f"t{i}" for i in range(11)], name="t"),
    Embeddings(VIEWS, {"embedder": "stub", "revision": "é"}, (), {"meaning": "mean"}),
    (),
).about(list(VIEWS))


def as_lists(views):
    return {name: array.tolist() for name, array in views.items()}


def test_the_library_reads_what_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "ROWS", 3)
    rows = {**VIEWS, "turned": np.asfortranarray(VIEWS["meaning"])}
    write_vectors(tmp_path / "x.safetensors", rows, about=ABOUT)
    found = load_file(tmp_path / "x.safetensors")
    assert as_lists(found) == as_lists(rows)
    assert found["form"].dtype == np.float64
    with safe_open(tmp_path / "x.safetensors", framework="numpy") as file:
        assert file.metadata() == ABOUT


@pytest.mark.parametrize("shards", [1, 2, 3, 11])
def test_shards_come_back_with_their_embedder(tmp_path, shards):
    write_shards(tmp_path / "v", VIEWS, shards=shards, about=ABOUT)
    names = sorted(path.name for path in (tmp_path / "v").iterdir())
    assert names[-1] == f"vectors-{shards - 1:05d}-of-{shards:05d}.safetensors"
    assert [path.name for path in tmp_path.iterdir()] == ["v"]
    write_vectors(tmp_path / "one.safetensors", VIEWS, about=ABOUT)
    for samples in (read_samples(tmp_path / "v"), read_samples(tmp_path / "one.safetensors")):
        made = samples.embedded
        assert made is not None
        assert list(made.views) == ["meaning", "form"]
        assert as_lists(made.views) == as_lists(VIEWS)
        assert made.signature == {"embedder": "stub", "revision": "é"}
        assert made.view_signature == {"meaning": "mean", "form": "own"}
    form = read_samples(tmp_path / "v", field="form")
    assert form.embedded is None
    assert form.vectors is not None
    assert form.vectors.tolist() == VIEWS["form"].tolist()


def test_sizes_of_shards_differ_by_one_at_most(tmp_path):
    write_shards(tmp_path / "v", VIEWS, shards=3, about={})
    sizes = [len(load_file(path)["form"]) for path in sorted((tmp_path / "v").iterdir())]
    assert sizes == [3, 4, 4]


def test_scores_are_those_of_the_samples(stub, tmp_path):
    """Scaling and signature too, which plain vectors would not know."""
    texts = [[f"{side} {i}" for i in range(30)] for side in "ab"]
    options = {"metrics": "precision,recall", "level": None, "floor": False}
    model = stub()
    expected = compare(*texts, embedder=model, cache=False, **options)
    for name, side in zip("ab", texts, strict=True):
        found = embed(side, embedder=model, cache=False)
        views = found.embeddings.views
        write_shards(tmp_path / name, views, shards=2, about=found.about(list(views)))
    scored = compare(tmp_path / "a", tmp_path / "b", **options)
    own, other = (each.systems[0].scores for each in (expected, scored))
    assert {key: score.value for key, score in own.items()} == {
        key: score.value for key, score in other.items()
    }
    assert scored.settings["embedder"] == "stub"
    assert scored.settings["normalise"] == "l2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: "no JSON", None),
        (lambda line: '{"views": [1], "signature": {}, "view_signature": {}}', None),
        (lambda line: "[" * 100_000, None),
        (lambda line: line, "holds the view 'meaning', but"),
    ],
)
def test_words_about_vectors_that_are_wrong(tmp_path, change, message):
    about = {key: change(line) for key, line in ABOUT.items() if key.startswith("calipers")}
    save_file({"form": VIEWS["form"]}, tmp_path / "x.safetensors", about)
    if message is None:
        assert read_samples(tmp_path / "x.safetensors").embedded is None
        return
    with pytest.raises(InputError, match=message):
        read_samples(tmp_path / "x.safetensors")


def test_shards_of_two_runs_are_not_one_set(tmp_path):
    write_shards(tmp_path / "v", VIEWS, shards=2, about=ABOUT)
    second = tmp_path / "v" / "vectors-00001-of-00002.safetensors"
    for about in ({}, {key: line.replace("é", "e") for key, line in ABOUT.items()}):
        write_vectors(second, VIEWS, about=about)
        with pytest.raises(InputError) as caught:
            read_samples(tmp_path / "v")
        assert str(caught.value).startswith(f"{second}: was embedded differently from {tmp_path}")


def test_what_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"11 rows .*12 shards"):
        write_shards(tmp_path / "v", VIEWS, shards=12, about={})
    with pytest.raises(InputError, match=r"no/v: .*No such file or directory"):
        write_shards(tmp_path / "no" / "v", VIEWS, shards=2, about={})
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match=r"there: .*already"):
        write_shards(tmp_path / "there", VIEWS, shards=2, about={})
    written = []

    def full(file, arrays, about):
        written.append(file.write(b"half"))
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(vectors, "_write_safetensors", full)
    with pytest.raises(InputError) as caught:
        write_shards(tmp_path / "v", VIEWS, shards=3, about={})
    assert str(caught.value) == f"{tmp_path / 'v'}: cannot be written: No space left on device"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


RUN = """
import sys, time
from pathlib import Path
import numpy as np
from calipers.embedders import Cache, Embedder, EncodedBatch, embed
from calipers.samples import SampleSet

class Slow(Embedder):
    name, views, identity, signature = "slow", ("v",), "slow-1", {"embedder": "slow"}
    def encode(self, texts):
        for text in texts:
            with open("seen", "a") as file:
                file.write(text + " ")
        time.sleep(float(sys.argv[1]))
        return EncodedBatch({"v": np.ones((len(texts), 2), np.float32)}, np.zeros(len(texts), bool))

embed(SampleSet.from_texts([f"t{i}" for i in range(4000)], name="t"), Slow(),
              cache=Cache(Path("cache")))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="has no SIGKILL")
def test_a_run_that_was_killed_embeds_only_what_is_missing(tmp_path):
    start = [sys.executable, "-c", textwrap.dedent(RUN)]
    killed = subprocess.Popen([*start, "0.2"], cwd=tmp_path)
    while not len(list(tmp_path.rglob("*.safetensors"))) >= 2:
        assert killed.poll() is None
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    kept = len(list(tmp_path.rglob("*.safetensors")))
    assert 2 <= kept < 4
    (tmp_path / "seen").unlink()
    subprocess.run([*start, "0"], cwd=tmp_path, check=True)
    seen = Path(tmp_path / "seen").read_text().split()
    assert seen == [f"t{i}" for i in range(1024 * kept, 4000)]
