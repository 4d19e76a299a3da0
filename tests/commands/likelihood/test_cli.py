"""``calipers likelihood`` from files to the screen, what it refuses, and its metrics' pages."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, LIKELIHOODS
from calipers.cli.options import complete_likelihood_metrics
from calipers.errors import InputError
from calipers.language_model.model import LanguageModel, TokenScores

HUMAN = [f"the {a} saw a {b} near the {c}" for a in ("cat", "dog", "fox", "old man")
         for b in ("bird", "fish") for c in ("mill", "lake", "hill")]  # fmt: skip
MODEL = ["it was a good day and then it was a good day", "it was so"] * 12


class Even(LanguageModel):
    """Finds every word but the first equally likely, by the name that was asked for."""

    revision = "1"

    def __init__(self, name):
        self.name, self.signature = name, {"revision": "1"}

    def score(self, passages, *, first="skip", stride=None, decoding=None, advance=None):
        counts = [max(0, len(each.text.split()) - (first == "skip")) for each in passages]
        starts = np.concatenate([[0], np.cumsum(counts)])
        q = None if decoding is None else np.full(starts[-1], 0.25)
        return TokenScores(np.full(starts[-1], -np.log(4)), starts, 4, q, q)

    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        raise InputError("writes nothing")


@pytest.fixture
def files(calipers, monkeypatch):
    """Files in the working folder, and a model that need not be loaded."""

    def find(name, options, *, fit_on=None, max_requests=None, chat=False):
        if name.startswith("ngram") and fit_on is None:
            raise InputError(f"{name} is fitted on texts: give them with --reference FILE")
        return Even(name)

    monkeypatch.setattr("calipers.commands.likelihood.run.find_language_model", find)
    for name, texts in (("human", HUMAN), ("a", MODEL), ("b-0", HUMAN[:20]), ("b-1", MODEL[:20])):
        Path(f"{name}.jsonl").write_text(
            "".join(json.dumps({"text": text, "model": "tiny"}) + "\n" for text in texts), "utf-8"
        )
    return ("--model", "even", "--tokenizer", "whitespace", "--threads", "1")


def data_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_table(calipers, files):
    result = calipers("likelihood", "a.jsonl", "b=b-*.jsonl", "-r", "human.jsonl", *files)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Reference: human, n = 20/24 · model even · tokenizer white")
    for words in ("Perplexity", "Bits per byte", "Unigram entropy", "gap", "mean over 2 seed"):
        assert words in result.stdout
    assert "calipers metrics likelihood lists them" in " ".join(result.stdout.split())
    assert "\x1b" not in result.stdout


def test_the_documented_call(calipers, files):
    job = ("likelihood", "a.jsonl", "--model", "./gpt2", "--json", "out.json")
    assert calipers(*job).exit_code == 0
    data = json.loads(Path("out.json").read_text())
    (system,) = data["systems"]
    assert system["scores"]["perplexity"]["value"] == pytest.approx(4)
    assert data["settings"]["model"] == "./gpt2"
    assert data["settings"]["first_token"] == "skip"  # this model has no token that begins texts
    gap = data_of(calipers(*job[:4], "-r", "human.jsonl", "--json", "-"))
    assert gap["systems"][0]["scores"]["perplexity"]["gap"] == pytest.approx(0)
    assert gap["reference"]["scores"]["perplexity"]["value"] == pytest.approx(4)


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "csv"])
def test_every_format(calipers, files, form):
    job = ("likelihood", "a.jsonl", "-r", "human.jsonl", "--decoding", "top_p=0.9", *files)
    assert calipers(*job, f"--{form}", "out.txt", "--save", "run.zip").exit_code == 0
    written = Path("out.txt").read_text("utf-8")
    for key in ("perplexity", "sparsemax"):
        assert key in written.casefold()
    shown = calipers("show", "run.zip", f"--{form}", "again.txt")
    assert shown.exit_code == 0, shown.output
    assert Path("again.txt").read_text("utf-8") == written


def test_where_texts_end(calipers, files):
    texts = ["it was so<|endoftext|>it was not", "it was so good"] * 9
    Path("m.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    job = ("likelihood", "m.jsonl", "--metrics", "mean_log_probability", *files)
    data = data_of(calipers(*job, "--end-of-text", "cut", "--json", "-"))
    assert data["settings"]["end_of_text"] == "cut"
    score = data["systems"][0]["scores"]["mean_log_probability"]
    assert score["value"] == pytest.approx(-2.5 * np.log(4))
    assert "end_of_text:cut" in score["signature"]
    kept = data_of(calipers(*job, "--json", "-"))
    assert kept["settings"]["end_of_text"] == "keep"
    assert "`end_of_text='cut'` ends texts there" in " ".join(kept["systems"][0]["warnings"])
    refused = calipers(*job, "--end-of-text", "count")
    assert refused.exit_code == 2
    assert "even tells no log-probability; use --end-of-text cut" in " ".join(
        refused.stderr.split()
    )


def test_values_of_texts(calipers, files):
    job = ("likelihood", "a.jsonl", "--metrics", "bits_per_byte", *files)
    data = data_of(calipers(*job, "--per-sample", "--json", "-"))
    values = data["systems"][0]["scores"]["bits_per_byte"]["per_sample"]
    assert values[:2] == pytest.approx([2 * 11 / 44, 2 * 2 / 9])


def test_scores_are_kept_and_read_back(calipers, files):
    job = ("likelihood", "a.jsonl", "-r", "human.jsonl", "--tokenizer", "whitespace")
    first = calipers(*job, "--model", "even", "--log-probabilities", "k.npz", "--json", "-")
    again = calipers(*job, "--model", "k.npz", "--json", "-")
    assert data_of(first)["systems"] == data_of(again)["systems"]
    refused = calipers(*job, "--model", "even", "--log-probabilities", "k.npz")
    assert refused.exit_code == 2
    assert "--log-probabilities k.npz" in refused.stderr
    forced = calipers(*job, "--model", "even", "--log-probabilities", "k.npz", "--force")
    assert forced.exit_code == 0
    other = calipers("likelihood", "b-0.jsonl", "--model", "k.npz")
    assert other.exit_code == 2
    assert "b-0.jsonl: k.npz: holds log-probabilities of other texts" in other.stderr


def test_a_model_that_wrote_the_texts_is_told_of(calipers, files):
    told = calipers("likelihood", "a.jsonl", "--model", "models/tiny")
    assert "written by 'tiny', the model that measures them" in " ".join(told.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.jsonl"], "Missing option '--model'"),
        (["--model", "even"], "Missing argument 'OUTPUTS'"),
        (["no.jsonl", "--model", "even"], "no.jsonl: there is no such file"),
        (["a.jsonl", "--model", " "], "--model must name a language model; found ' '"),
        (["a.jsonl", "--model", "no.npz"], "no.npz: there is no such file"),
        (["a.jsonl", "--model", "ngram"], "ngram is fitted on texts"),
        (["a.jsonl", "--model", "even", "--decoding", "top_p=2"], "top_p must be above 0"),
        (["a.jsonl", "--model", "even", "--decoding", "beam=3"], "from a distribution"),
        (["a.jsonl", "--model", "even", "--first-token", "x"], "--first-token must be skip or bos"),
        (
            ["a.jsonl", "--model", "e", "--end-of-text", "x"],
            "--end-of-text must be cut or count or",
        ),
        (["a.jsonl", "--model", "even", "--stride", "0"], "--stride must be a whole number of at"),
        (["a.jsonl", "--model", "even", "--generator", "b"], "give --reference too"),
        (["a.jsonl", "--model", "even", "--metrics", "prplexity"], "did you mean 'perplexity'"),
        (["a.jsonl", "--model", "even", "--fit-on", "human.jsonl"], "for a model that is fitted"),
        (["a.jsonl", "--model", "even", "--given-prompt"], "a.jsonl: --given-prompt"),
        (["a.jsonl", "--model", "e", "--log-probabilities", "a.jsonl"], "a file that ends in .npz"),
        (["a.jsonl", "--model", "even", "--per-sample"], "--per-sample needs --json FILE"),
        (["-", "-r", "-", "--model", "even"], "standard input (-) can be read only once"),
        (["rows.npy", "--model", "even"], "rows.npy: text metrics need texts"),
        (["a.jsonl", "--model", "even", "--device", "gpu"], "unknown device 'gpu'"),
    ],
)
def test_bad_input_is_one_sentence(calipers, files, arguments, message):
    np.save("rows.npy", np.ones((4, 2)))
    result = calipers("likelihood", *arguments)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_the_help_names_every_family_and_gives_examples(calipers):
    page = calipers("likelihood", "--help-all").stdout
    for family in LIKELIHOOD_FAMILIES:
        assert f"\n  {family} " in page
    assert "calipers likelihood model.jsonl --reference human.jsonl --model ./gpt2" in page


def test_completion():
    assert complete_likelihood_metrics("perp") == ["perplexity"]
    assert complete_likelihood_metrics("perplexity,mau") == ["perplexity,mauve:model"]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_metrics_lists_them(calipers, monkeypatch, columns):
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: size)
    for arguments in (("metrics", "likelihood"), ("metrics",)):
        lines = calipers(*arguments).stdout.splitlines()
        assert max(map(cell_len, lines)) <= columns
        for metric in LIKELIHOODS.values():
            assert [line for line in lines if line[2:].split(" ")[0] in metric.keys], metric.name


def test_the_page_of_a_metric(calipers):
    page = " ".join(calipers("metrics", "perplexity").stdout.split())
    for words in (
        "in tables: Perplexity",
        "calipers likelihood --model MODEL --metrics perplexity",
        "tokens (default), texts - over all tokens at once",
        "closest to the reference's own value is best",
        "Not detected",
    ):
        assert words in page, words
    models = " ".join(calipers("metrics", "mauve:model").stdout.split())
    assert "of both sets by two models (--reference, --generator)" in models
    assert "Pillutla et al., JMLR 2023, section 7.3.3" in models


def test_the_catalogue_as_json(calipers):
    every = json.loads(calipers("metrics", "--json", "-").stdout)
    keys = [each["key"].partition(":")[0] for each in every["likelihood"]]
    assert keys == list(LIKELIHOODS)
    one = json.loads(calipers("metrics", "perplexity,self_bleu", "--json", "-").stdout)
    assert [each["key"] for each in one["likelihood"]] == ["perplexity"]
    assert [each["key"] for each in one["text"]] == ["self_bleu"]


def test_a_likelihood_is_no_metric_of_other_commands(calipers, files):
    told = calipers("text", "a.jsonl", "--metrics", "perplexity")
    assert told.exit_code == 2
    assert "unknown text metric 'perplexity'" in told.stderr
    assert "calipers likelihood measures it" in " ".join(told.stderr.split())


PAGE = (Path(__file__).parents[3] / "docs" / "likelihood.md").read_text("utf-8")


def test_every_key_of_the_page_is_known():
    from calipers.catalogue.choosing import find_likelihood

    keys = set(re.findall(r"`([a-z_0-9]+(?::[\w=.]+)*)`", PAGE))
    known = {key for key in keys if key.partition(":")[0] in LIKELIHOODS}
    assert {key.partition(":")[0] for key in known} == {*LIKELIHOODS}
    assert all(find_likelihood(key) for key in known)
