"""Negative controls, and the suite that sets them beside systems."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calipers import InputError, likelihood
from calipers.commands.likelihood.naive_samplers import PREFIX, naive_samples
from calipers.language_model.model import Completion, LanguageModel, TokenScores
from calipers.report.plot_kinds import draw, draw_axes
from calipers.results import load
from calipers.unicode.written_words import word_count

HUMAN = [f"the {a} saw a {b} near the {c}" for a in ("cat", "dog", "fox", "old man")
         for b in ("bird", "fish") for c in ("mill", "lake", "hill", "shore")]  # fmt: skip
MODEL = [f"{text} again" for text in HUMAN[::-1]]


class Even(LanguageModel):
    """Finds every word but the first equally likely, and writes two words at a time."""

    name, revision, signature = "even", "1", {"revision": "1"}

    def score(self, passages, *, first="skip", stride=None, decoding=None, advance=None):
        counts = [len(each.text.split()) - 1 for each in passages]
        starts = np.concatenate([[0], np.cumsum(counts)])
        return TokenScores(np.full(starts[-1], -np.log(4)), starts, 4)

    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        assert str(decoding) == "temperature=0.3"
        for each in reversed(requests):
            yield Completion(each.id, "so dull", "stop", 2)


def fit(texts):
    return Even()


@pytest.fixture(scope="module")
def controls():
    return naive_samples(HUMAN, seed=0, fit=fit)


def test_every_control_is_as_long_as_the_reference(controls):
    assert len(controls) == 4
    for name, texts in controls.items():
        assert name.startswith(PREFIX)
        assert [len(text.split()) for text in texts] == [len(text.split()) for text in HUMAN]


def test_controls_of_a_script_without_spaces_have_none():
    texts = ["今日は良い天気です。", "明日も晴れでしょう。"] * 4
    made = naive_samples(texts, seed=0, fit=fit)
    for name in ("unigrams", "repeated phrase", "spliced phrases"):
        written = made[f"{PREFIX}{name}"]
        assert [word_count(text) for text in written] == [word_count(text) for text in texts]
        assert not any(" " in text for text in written)


def test_controls_are_made_of_the_reference(controls):
    words = {word for text in HUMAN for word in text.split()}
    phrases = {
        tuple(words[i : i + 4]) for words in map(str.split, HUMAN) for i in range(len(words) - 3)
    }
    assert {word for text in controls["control: unigrams"] for word in text.split()} <= words
    for text in controls["control: spliced phrases"]:
        assert tuple(text.split()[:4]) in phrases
        assert tuple(text.split()[4:8]) in phrases
    first = controls["control: repeated phrase"][0].split()
    assert first[:4] == first[4:8]
    assert controls["control: low temperature"][0].startswith("so dull so dull")


def test_controls_depend_on_the_seed_alone(controls):
    assert naive_samples(HUMAN, seed=0, fit=fit) == controls
    assert naive_samples(HUMAN, seed=1, fit=fit) != controls


def test_a_reference_without_phrases_is_refused():
    with pytest.raises(InputError, match=r"4 words.*has 2"):
        naive_samples(["one two", "three"], seed=0, fit=fit)


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "calipers.commands.likelihood.run.find_language_model", lambda *_, **__: Even()
        )
        return likelihood(
            {"m": MODEL},
            model=Even(),
            reference=HUMAN,
            suite="generative-perplexity",
            metrics="bits_per_byte",
            tokenizer="whitespace",
            threads=1,
        )


def test_the_suite_sets_controls_beside_the_systems(found):
    assert found.systems[0].name == "m"
    assert len(found) == 5
    keys = ["bits_per_byte", "perplexity", "unigram_entropy", "precision", "recall", "mauve_star"]
    for system in found:
        assert [*system.scores] == keys
    assert found.settings["metrics"] == keys
    assert (
        found["control: repeated phrase"]["unigram_entropy"].value
        < found["m"]["unigram_entropy"].value
    )
    assert 0 <= found["m"]["precision"].value <= 1
    shown = str(found)
    for words in ("both sets as distributions", "Precision", "MAUVE*", "control: unigrams"):
        assert words in shown


def test_the_suite_is_read_from_one_table(found):
    from calipers.report.render.text import plain
    from calipers.report.text_statistics import document, summary

    first = document(found).blocks[0]
    assert summary(found).blocks[0] == first
    assert [column.head for column in first.lead] == ["system", "words"]
    heads = ["Perplexity", "Entropy", "Precision", "Recall", "MAUVE*"]
    assert [column.head for column in first.runs[0]] == heads
    shown = plain(document(found), width=80).splitlines()
    (top,) = (place for place, line in enumerate(shown) if line.startswith("system "))
    assert max(map(len, shown)) <= 80
    assert shown[top].split() == ["system", "words", *heads]
    assert shown[top + 1].split()[0] == "reference"
    assert len(shown[top + 1].split()) == 4
    rows = [line.rsplit(None, 6) for line in shown[top + 2 : top + 7]]
    assert [row[0] for row in rows] == [system.name for system in found]
    assert rows[0][4] == f"{found['m']['precision'].value:.3f}"


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "csv"])
def test_the_suite_in_every_format(found, tmp_path, monkeypatch, form):
    from typer.testing import CliRunner

    from calipers.cli.app import app

    monkeypatch.chdir(tmp_path)
    found.save("run.zip")
    done = CliRunner().invoke(app, ["show", "run.zip", f"--{form}", "out.txt"])
    assert done.exit_code == 0, done.output
    written = Path("out.txt").read_text("utf-8")
    assert "control: unigrams" in written
    assert ("Entropy" in written) == (form != "csv")


def test_the_suite_goes_around(found, tmp_path):
    found.save(tmp_path / "run.zip")
    assert load(tmp_path / "run.zip").to_dict() == found.to_dict()


def test_the_plane(found):
    axes = draw_axes("entropy-plane", found)
    assert axes.get_xlabel() == "Unigram entropy of a text, nats"
    assert axes.get_ylabel() == "Perplexity by even"
    names = {text.get_text() for text in axes.texts}
    assert {"m", "reference", "control: unigrams"} <= names
    assert len(draw("entropy-plane", found).axes) == 1


def test_controls_are_grey_in_the_plane(found):
    from matplotlib.colors import same_color

    from calipers.report.plots.style import GREY

    assert found.settings["controls"] == [system.name for system in found.systems[1:]]
    axes = draw_axes("entropy-plane", found)
    greys = [same_color(bars.lines[0].get_color(), GREY) for bars in axes.containers]
    assert greys == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((15, 60, 110, 380), ["10", "20", "50", "100", "200", "500"]),
        ((12, 20, 250), ["10", "20", "50", "100", "200"]),
        ((2, 3_000), ["1", "10", "100", "1,000"]),
        ((3, 5, 9), None),
    ],
)
def test_a_logarithmic_axis_has_plain_numbers(found, values, expected):
    data = json.loads(json.dumps(found.to_dict()))
    data["systems"] = data["systems"][: len(values)]
    del data["reference"]["scores"]["perplexity"]
    for system, value in zip(data["systems"], values, strict=True):
        system["scores"]["perplexity"] |= {"value": value, "interval": None}
    axes = draw_axes("entropy-plane", type(found).from_dict(data))
    assert axes.get_yscale() == ("linear" if expected is None else "log")
    if expected is not None:
        low, high = axes.get_ylim()
        shown = [tick for tick in axes.get_yticks() if low <= tick <= high]
        assert [axes.yaxis.get_major_formatter()(tick, 0) for tick in shown] == expected
        assert not len(axes.get_yticks(minor=True))


def test_the_plane_needs_both_numbers(found):
    data = json.loads(json.dumps(found.to_dict()))
    for system in data["systems"]:
        del system["scores"]["perplexity"]
    with pytest.raises(InputError, match="`metrics='perplexity,unigram_entropy'`"):
        draw("entropy-plane", type(found).from_dict(data))
    with pytest.raises(InputError, match=r"likelihood.*'plane'"):
        draw("plane", found)


def test_the_command_draws_it(found, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from calipers.cli.app import app

    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(json.dumps(found.to_dict()))
    done = CliRunner().invoke(app, ["plot", "entropy-plane", "run.json", "-o", "plane.svg"])
    assert done.exit_code == 0, done.output
    assert "Unigram entropy" in Path("plane.svg").read_text("utf-8")


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="`suite` makes its controls"):
        likelihood(MODEL, model=Even(), suite="generative-perplexity")
    with pytest.raises(InputError, match="suite must be generative-perplexity; found 'else'"):
        likelihood(MODEL, model=Even(), reference=HUMAN, suite="else")
