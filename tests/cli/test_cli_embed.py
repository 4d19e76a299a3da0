import json
from pathlib import Path

import numpy as np
import pytest

from calipers.embed import EmbedderChoice, EncodedBatch
from calipers.samples import read_samples


class Letters:
    name = "letters"
    views = ("meaning", "form")
    identity = "letters-1"
    signature = {"embedder": "letters", "max_length": "3", "device": "cpu"}  # noqa: RUF012
    view_signature = {"meaning": "counted", "form": "length"}  # noqa: RUF012

    def embed(self, texts):
        counts = [[text.count(letter) for letter in "abc"] for text in texts]
        sizes = [[len(text)] for text in texts]
        views = {"meaning": np.array(counts, np.float32), "form": np.array(sizes, np.float32)}
        return EncodedBatch(views, np.array([len(text) > 3 for text in texts]))


@pytest.fixture
def job(calipers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(EmbedderChoice, "load", lambda self: Letters())
    Path("texts.txt").write_text("abc\naab\ncccc\n")

    def run(*arguments):
        return calipers("embed", "texts.txt", *arguments)

    return run


def test_the_main_view_goes_to_npy(job):
    result = job("-o", "x.npy")
    assert np.load("x.npy").tolist() == [[1, 1, 1], [2, 1, 0], [0, 0, 4]]
    lines = result.stdout.splitlines()
    assert lines[0] == "x.npy: vectors of 3 samples"
    assert lines[1].split() == ["meaning", "3", "x", "3", "float32"]
    assert lines[2].strip().startswith("embedder:letters|max_length:3|device:cpu|view:meaning|")
    assert result.stderr.splitlines() == [
        "warning: 1 of 3 texts was cut at 3 tokens",
        "wrote x.npy, 164 bytes",
    ]


def test_all_views_go_to_npz_unless_one_is_named(job):
    job("-o", "x.npz")
    assert sorted(np.load("x.npz").files) == ["form", "meaning"]
    job("-o", "one.npy", "--view", "form")
    assert np.load("one.npy").tolist() == [[3], [3], [4]]
    assert read_samples("x.npz", field="form").vectors.shape == (3, 1)


def test_json_tells_the_rest(job):
    result = job("-o", "x.safetensors", "--json", "-", "--quiet")
    found = json.loads(result.stdout)
    assert found["n"] == 3
    assert found["views"]["form"]["shape"] == [3, 1]
    assert found["warnings"] == ["1 of 3 texts was cut at 3 tokens"]
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x.txt"], "x.txt: vectors are written as .npy, .npz, .safetensors"),
        (["-o", "no/x.npy"], "--output no/x.npy: there is no folder 'no'"),
        (["-o", "x.npy", "--view", "frm"], "unknown view 'frm'; did you mean 'form'?"),
        (["-o", "x.npy", "--layer", "0"], "--layer must be a whole number of at least 1"),
        (["-o", "x.npy", "--embedder", "minilm", "--layer", "2"], "does not take the option"),
        (["-o", "x.npy", "--cache-dir", "a", "--no-cache"], "exclude each other"),
        (["-o", "x.npy", "--fit-on", "texts.txt"], "'letters' is not fitted to any samples"),
        (["-o", "x.npy", "--endpoint", "http://h/v1"], "'minilm' is an embedder of Calipers its"),
        (["-o", "x.npy", "--fit-on", "gone.txt"], "gone.txt: there is no such file"),
        (["-o", "x.npy", "--json", "x.npy"], "--json and --output name the same file"),
    ],
)
def test_bad_input_is_one_sentence(job, arguments, message):
    result = job(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("calipers: ")
    assert not Path("x.npy").exists()


def test_a_view_that_is_not_there_is_refused_before_the_work(job, monkeypatch):
    monkeypatch.setattr(Letters, "embed", lambda self, texts: pytest.fail("too late"))
    assert "unknown view 'frm'" in job("-o", "x.npy", "--view", "frm").stderr


def test_vectors_need_no_embedding(calipers, job):
    np.save("v.npy", np.eye(3))
    result = calipers("embed", "v.npy", "-o", "x.npy")
    assert "v: holds vectors already; there is nothing to embed" in result.stderr


def test_a_fitted_embedder_is_fitted_to_what_is_named(calipers, job, monkeypatch):
    class Fitting(Letters):
        def fitted(self, samples):
            self.signature = {"embedder": f"fitted to {' '.join(samples)}"}
            return self

    monkeypatch.setattr(EmbedderChoice, "load", lambda self: Fitting())
    Path("human.txt").write_text("one\ntwo\n")
    assert "embedder:fitted to one two|" in job("-o", "x.npy", "--fit-on", "human.txt").stdout
    assert "embedder:fitted to abc aab cccc|" in job("-o", "y.npy").stdout


def test_a_suffix_may_be_in_capitals(job):
    job("-o", "x.NPY")
    assert np.load("x.NPY").shape == (3, 3)


def test_an_input_is_never_overwritten(calipers, job):
    np.save("v.npy", np.eye(3))
    assert "--output would overwrite an input" in calipers("embed", "v.npy", "-o", "v.npy").stderr


def test_the_page_fits(calipers):
    page = calipers("embed", "--help").stdout
    headings = ["Input", "Embedding", "Output", "Help", "Examples"]
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert max(map(len, page.splitlines())) <= 80
