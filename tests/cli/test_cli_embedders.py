"""``calipers embed``, ``agree`` and ``probe`` from files to the screen, and what they refuse."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from calipers.commands.probe.options import CHANGES as OFFERED
from calipers.commands.probe.perturbations import CHANGES
from calipers.embedders import Embedder, EmbedderChoice, EncodedBatch, catalogue
from calipers.errors import InputError
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


def test_shards_are_a_new_folder(job):
    result = job("-o", "v", "--shards", "2")
    assert result.stdout.splitlines()[0] == "v: vectors of 3 samples"
    assert sorted(path.name for path in Path("v").iterdir()) == [
        "vectors-00000-of-00002.safetensors",
        "vectors-00001-of-00002.safetensors",
    ]
    made = read_samples("v").embedded
    assert made.signature == Letters.signature
    assert made.views["meaning"].tolist() == [[1, 1, 1], [2, 1, 0], [0, 0, 4]]
    assert (
        "v: is there already; name a folder that is not" in job("-o", "v", "--shards", "2").stderr
    )


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
        (["-o", "x.txt"], "x.txt: the file for vectors must end in .npy, .npz, .safetensors"),
        (["-o", "v", "--shards", "0"], "--shards must be a whole number of at least 1; found '0'"),
        (["-o", "no/x.npy"], "--output no/x.npy: there is no folder 'no'"),
        (["-o", "x.npy", "--view", "frm"], "unknown view 'frm'; did you mean 'form'?"),
        (["-o", "x.npy", "--layer", "0"], "--layer must be a whole number of at least 1"),
        (["-o", "x.npy", "--embedder", "minilm", "--layer", "2"], "does not take the option"),
        (["-o", "x.npy", "--cache-dir", "a", "--no-cache"], "cannot be combined"),
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
    page = calipers("embed", "--help-all").stdout
    headings = ["Input", "Embedding", "Output", "Help", "Examples"]
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert max(map(len, page.splitlines())) <= 80


class Numbers(Embedder):
    """Reads the numbers of a text, from the place that its name tells."""

    views = ("numbers",)

    def __init__(self, name, options):
        self.name = name
        self.identity = f"{name} {options.max_length}"
        self.signature = {"embedder": name}
        self.start = int(name[-1])

    def encode(self, texts):
        rows = np.array([[float(x) for x in text.split()] for text in texts], np.float32)
        return EncodedBatch({"numbers": rows[:, self.start :]}, np.zeros(len(texts), bool))


@pytest.fixture
def agreeing(calipers, rng, monkeypatch):
    """Two embedders, a reference, and three systems in the working folder."""
    module = ModuleType("stub_numbers")
    module.TAKES = frozenset({"max_length"})
    module.load = Numbers
    monkeypatch.setitem(sys.modules, "stub_numbers", module)
    for name in ("from0", "from1"):
        monkeypatch.setitem(catalogue.NAMED, name, "stub_numbers")
    for name, scale in {"human": 1.0, "a": 0.3, "b": 1.0, "c": 3.0}.items():
        rows = rng.normal(1, (1, scale, 1), (60, 3))
        Path(f"{name}.txt").write_text("\n".join(" ".join(f"{x:.4f}" for x in r) for r in rows))
    systems = ("a.txt", "b.txt", "c.txt", "--embedders", "from0,from1", "--threads", "1")
    return ("agree", "-r", "human.txt", *systems, "--no-cache")


def test_scores_correlations_sentences_and_notes(calipers, agreeing):
    result = calipers(*agreeing)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Agreement of 2 embedders (2 columns) on 3 systems")
    assert "Rank correlation with from0 numbers" in result.stdout
    assert "- Precision: " in result.stdout
    assert "The ranking " in result.stdout
    assert "warning: a, b, c: 60 samples are few" in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.slow
def test_agree_json_to_a_file_and_alone_on_standard_output(calipers, agreeing):
    assert "Agreement of" in calipers(*agreeing, "--json", "agreement.json").stdout
    alone = calipers(*agreeing, "--json", "-")
    data = json.loads(alone.stdout)
    assert data == json.loads(Path("agreement.json").read_text())
    assert [column["label"] for column in data["columns"]] == ["from0 numbers", "from1 numbers"]
    assert data["metrics"]["recall"]["spearman"][0][0] == 1.0
    assert "warning: a, b, c: 60 samples are few" in alone.stderr
    assert calipers(*agreeing, "--json", "-", "--quiet").stderr == ""


@pytest.mark.slow
def test_agree_options_reach_the_library(calipers, agreeing):
    options = (
        "--k",
        "2",
        "--ties",
        "open",
        "--distance",
        "cosine",
        "--seed",
        "3",
        "--projection",
        "union",
        "--c",
        "2",
    )
    more = ("--buckets", "7", "--max-samples", "40", "--metrics", "recall,mauve:chi2", "--shared")
    result = calipers(*agreeing, *options, *more, "--max-length", "9", "--json", "-")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    expected = {"k": 2, "ties": "open", "distance": "cosine", "seed": 3, "max_samples": 40}
    expected["projection"] = "union"
    assert expected.items() <= data["settings"].items()
    assert {"c": 2.0, "buckets": 7, "shared": True}.items() <= data["settings"].items()
    assert list(data["metrics"]) == ["recall", "mauve:chi2"]


@pytest.mark.slow
def test_lists_may_be_repeated_and_options_follow_a_name(calipers, agreeing):
    lists = ("--embedders", "from0", "--embedders", "from1, from1:max-length=3")
    result = calipers(*agreeing[:6], *lists, "--no-cache", "--threads", "1", "--json", "-")
    assert result.exit_code == 0, result.output
    labels = [column["label"] for column in json.loads(result.stdout)["columns"]]
    assert labels == ["from0 numbers", "from1 numbers", "from1:max-length=3 numbers"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt", "--embedders", "from0,from1"], "needs at least two systems; found 'a' only"),
        (["a.txt", "b.txt", "--embedders", "from0"], "at least two; found 1: from0"),
        (["a.txt", "b.txt", "--embedders", "from0,from0"], "the embedder 'from0' is given twice"),
        (["a.txt", "b.txt", "--embedders", "from0,,from1"], "names with commas between them"),
        (["a.txt", "b.txt", "--embedders", "from0:layr=1"], "did you mean 'layer'?"),
        (
            ["a.txt", "b.txt", "--embedders", "from0:layer=1"],
            "'from0' does not take the option 'layer'",
        ),
        (["a.txt", "b.txt"], "Missing option '--embedders'"),
        (["a.txt", "gone.txt", "--embedders", "from0,from1"], "gone.txt: there is no such file"),
        (
            ["a.txt", "b.txt", "--embedders", "from0,from1", "--metrics", "form.recall"],
            "'form.recall' names the view 'form'",
        ),
        (
            ["a.txt", "b.txt", "--embedders", "from0,from1", "--k", "0"],
            "--k must be a whole number of at least 1; found '0'",
        ),
        (
            ["a.txt", "b.txt", "--embedders", "from0,from1", "--json", "a.txt"],
            "--json would overwrite an input: a.txt",
        ),
    ],
)
def test_agree_bad_input(calipers, agreeing, arguments, message):
    result = calipers("agree", "-r", "human.txt", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_file_that_cannot_be_written_does_not_cost_the_table(calipers, agreeing, monkeypatch):
    def fail(*_):
        raise InputError("agreement.json: the disk is full")

    monkeypatch.setattr("calipers.cli.outputs.write_text_atomically", fail)
    result = calipers(*agreeing, "--json", "agreement.json")
    assert result.exit_code == 2
    assert "Agreement of" in result.stdout
    assert "the disk is full" in result.stderr


class SomeLetters:
    """Counts some letters, small and large ones alike."""

    name = identity = "letters"
    views = ("counts",)
    signature = {"embedder": "letters"}  # noqa: RUF012

    def __init__(self, name, options):
        pass

    def embed(self, texts):
        rows = [[text.lower().count(letter) for letter in "aeiost"] + [1] for text in texts]
        return EncodedBatch({"counts": np.array(rows, np.float32)}, np.zeros(len(texts), bool))


@pytest.fixture
def probed(calipers, rng, monkeypatch):
    module = ModuleType("stub_letters")
    module.TAKES = frozenset()
    module.load = SomeLetters
    monkeypatch.setitem(sys.modules, "stub_letters", module)
    monkeypatch.setitem(catalogue.NAMED, "letters", "stub_letters")
    words = [
        "Stones",
        "rattle",
        "along",
        "Iron",
        "shores.",
        "Tides",
        "Eat",
        "sand.",
        "Oaks",
        "stir",
    ]
    lines = [" ".join(rng.choice(words, rng.integers(6, 30))) for _ in range(80)]
    Path("texts.txt").write_text("\n".join(lines))
    return ("probe", "texts.txt", "--embedder", "letters", "--threads", "1", "--no-cache")


@pytest.mark.slow
def test_the_table(calipers, probed):
    result = calipers(*probed)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("What letters detects in texts · 3 random splits into 40 + 40")
    scored = [line for line in result.stdout.splitlines() if " % " in line]
    rows = {line[:18].strip(): line for line in scored}
    assert rows["words shuffled"].endswith("blind")
    assert rows["lower case"].endswith("blind")
    assert "note: by counts, no vector changes with: words shuffled" in result.stdout
    assert "warning: halves of 40 texts are few" in result.stdout
    assert "\x1b" not in result.stdout


def test_probe_json_to_a_file_and_alone_on_standard_output(calipers, probed):
    fast = (*probed, "--changes", "typos", "--seeds", "2")
    assert "What letters detects" in calipers(*fast, "--json", "probe.json").stdout
    alone = calipers(*fast, "--json", "-")
    data = json.loads(alone.stdout)
    assert data == json.loads(Path("probe.json").read_text())
    assert list(data["views"]["counts"]) == ["typos"]
    assert "warning: halves of 40 texts are few" in alone.stderr
    assert calipers(*fast, "--json", "-", "--quiet").stderr == ""


def test_probe_options_reach_the_library(calipers, probed):
    options = ("--k", "2", "--seeds", "4", "--seed", "3", "--max-samples", "60")
    lists = ("--changes", "typos, word_swaps", "--changes", "truncation", "--metrics", "coverage")
    result = calipers(*probed, *options, *lists, "--json", "-")
    assert result.exit_code == 0, result.output
    chosen = json.loads(result.stdout)["settings"]
    expected = {"k": 2, "seeds": 4, "seed": 3, "max_samples": 60, "half": 30}
    assert expected.items() <= chosen.items()
    assert chosen["changes"] == ["typos", "word_swaps", "truncation"]
    assert chosen["metrics"] == ["coverage"]


def test_the_help_offers_what_there_is(calipers):
    assert tuple(CHANGES) == OFFERED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.txt"], "gone.txt: there is no such file"),
        (["texts.txt", "--changes", "typo"], "unknown change 'typo'; did you mean 'typos'?"),
        (["texts.txt", "--changes", "typos,"], "--changes must name changes; found 'typos,'"),
        (["texts.txt", "--seeds", "1"], "--seeds must be a whole number of at least 2; found '1'"),
        (["texts.txt", "--k", "40"], "k = 40 needs at least 41 texts in each half"),
        (["texts.txt", "--max-samples", "3"], "--max-samples must be a whole number of at least 4"),
        (["texts.txt", "--metrics", "mmd:"], "'mmd' does not lie between 0 and 1"),
        (["vectors.npy"], "vectors: a probe needs texts, but this set holds vectors"),
        (["texts.txt", "--json", "texts.txt"], "--json would overwrite an input: texts.txt"),
        ([], "Missing argument 'TEXTS'"),
    ],
)
def test_probe_bad_input(calipers, probed, arguments, message):
    np.save("vectors.npy", np.ones((60, 3)))
    result = calipers("probe", *arguments, "--embedder", "letters")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["agree", "probe"])
def test_the_page_fits_a_terminal(calipers, command):
    assert max(map(len, calipers(command, "--help").stdout.splitlines())) <= 80
