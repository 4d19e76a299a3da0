"""Texts that hold end-of-text marks: where they end, what is scored, and what is said of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calipers import InputError, likelihood
from calipers.evaluate.end_of_text import until_end
from calipers.language_model.model import LanguageModel, TokenScores
from calipers.language_model.ngram import fit_ngram
from calipers.samples import SampleSet

END = "<|endoftext|>"


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [
        ("a b", "", ("a b", False)),
        (f"a b{END}c d{END}", "", ("a b", True)),
        ("a b </s> c", "", ("a b ", True)),
        ("a<eos>b</s>", "", ("a", True)),
        # What begins texts may be what ends them
        (f"{END}a b{END}c", "", ("a b", True)),
        (f" </s>\n{END} a b", "", (" a b", False)),
        (f"{END}{END}", "", ("", True)),
        (END, "", ("", True)),
        ("", "", ("", False)),
        ("a b<|im_end|>\n<|im_start|>user", "", ("a b", True)),
        ("a b <|eot_id|>c", "", ("a b ", True)),
        ("a b<end_of_turn>\n", "", ("a b", True)),
        ("<|end|>a b<|endoftext|>", "", ("a b", True)),
        # Behind a prompt a mark ends the text at once
        (f"{END}a b", "p", ("", True)),
        (f"p{END}a b", "p", ("p", True)),
        (f"{END}p a{END}b", "p", ("p a", True)),
        # What stands in the prompt ends nothing
        ("one </s> two and </s> three", "one </s> two", ("one </s> two and ", True)),
    ],
)
def test_a_text_ends_before_its_first_mark(text, prompt, expected):
    assert until_end(text, prompt) == expected


def test_marks_of_the_model_end_texts_too():
    assert until_end("a b<STOP>c") == ("a b<STOP>c", False)
    assert until_end("a b<STOP>c", marks=("<STOP>",)) == ("a b", True)
    # Of two that begin alike the longer one
    assert until_end("<|end|>x a", marks=("<|end|>x",)) == (" a", False)


class Ends(LanguageModel):
    """A word has one bit, a mark that stands in a text eight, the token that ends texts three."""

    name, revision, signature, scores_end = "ends", "1", {"revision": "1"}, True

    def __init__(self):
        self.read = []

    def score(self, passages, *, first="skip", stride=None, decoding=None, advance=None):
        logs, starts = [], [0]
        for each in passages:
            self.read.append((each.text, each.ended))
            words = [8 if END in word else 1 for word in each.text.split()]
            logs += [*words, *([3] if each.ended else [])][first == "skip" and not each.prompt :]
            starts.append(len(logs))
        return TokenScores(-np.log(2) * np.array(logs, float), np.array(starts), 4)

    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        raise InputError("writes nothing")


TEXTS = [f"a b {END} c", "a b c d", f"a b c{END}"]


def run(texts=TEXTS, **options):
    model = options.pop("model", None) or Ends()
    options = {"metrics": "perplexity,bits_per_byte", "tokenizer": "whitespace", **options}
    return likelihood({"m": texts}, model=model, threads=1, **options)


@pytest.mark.parametrize(
    ("convention", "bits", "tokens"),
    [
        ("keep", 1 + 8 + 1 + 3 + 1 + 8, 3 + 3 + 2),
        ("cut", 1 + 3 + 2, 1 + 3 + 2),
        ("count", 1 + 3 + 3 + 2 + 3, 2 + 3 + 3),
    ],
)
def test_conventions_by_hand(convention, bits, tokens):
    found = run(end_of_text=convention)
    score = found["m"]["perplexity"]
    assert score.value == pytest.approx(2 ** (bits / tokens))
    assert found.settings["end_of_text"] == convention
    assert ("end_of_text" in score.signature) == (convention != "keep")
    if convention != "keep":
        size = len("a b ") + len("a b c d") + len("a b c")
        assert found["m"]["bits_per_byte"].value == pytest.approx(bits / size)
        assert f"end_of_text:{convention}" in score.signature
        assert f"end-of-text {convention}" in str(found)


def test_marks_are_kept_with_a_warning_and_cut_with_a_note():
    kept, cut, counted = (run(end_of_text=way)["m"] for way in (None, "cut", "count"))
    (warning,) = (text for text in kept.warnings if "mark" in text)
    assert warning.startswith("2 texts with a mark that ends texts (<|endoftext|>, </s>, ")
    assert "`end_of_text='cut'` ends texts there" in warning
    assert not any("mark" in text for text in cut.warnings)
    assert cut.summary.warnings == (
        "2 texts end before an end-of-text mark: what follows is left out (`end_of_text='cut'`)",
    )
    assert "left out, and the mark counts as one token (`end_of_text='count'`)" in " ".join(
        counted.summary.warnings
    )
    both = run(reference=TEXTS, level=None)
    assert any(text.startswith("the reference has 2 texts with a mark") for text in both.warnings)
    empty = run([f"{END}", "c d", f"{END} {END}", f"a{END}"], end_of_text="cut")["m"]
    assert "2 texts of these are empty: the mark comes first" in empty.summary.warnings[0]
    begun = run([f"{END}a b", "c d"], end_of_text="cut")["m"]
    assert begun.summary.warnings == ("1 text begins with an end-of-text mark, which is left out",)


class Stops(Ends):
    """The same, where texts end in a mark of its own."""

    end_marks = ("<STOP>",)


def test_texts_are_cut_at_the_marks_of_the_model_that_measures(tmp_path):
    texts = ["a b <STOP> c d", "a b c"]
    kept, cut = (run(texts, model=Stops(), end_of_text=way)["m"] for way in ("keep", "cut"))
    assert any(
        "1 text with a mark that ends texts (<STOP>, <|end" in each for each in kept.warnings
    )
    assert not any("with a mark" in each for each in run(texts)["m"].warnings)
    model = Stops()
    run(texts, model=model, end_of_text="cut")
    assert [text for text, _ in model.read] == ["a b ", "a b c"]
    # Two models: the marks of either end texts, and a file of log-probabilities keeps them
    run(texts, model=Ends(), generator=model, reference=["a b", "b c d"],
        metrics="mauve:model", end_of_text="cut")  # fmt: skip
    assert {("a b ", False), ("b c d", False)} <= {*model.read}
    path = tmp_path / "kept.npz"
    first = run(texts, model=Stops(), end_of_text="cut", log_probabilities=path)["m"]
    again = run(texts, model=str(path), end_of_text="cut")["m"]
    assert again["perplexity"].value == first["perplexity"].value == cut["perplexity"].value


def test_texts_without_marks_have_the_same_numbers_by_every_convention():
    plain = [text.replace(END, " ") for text in TEXTS]
    found = [run(plain, end_of_text=way)["m"] for way in ("keep", "cut", "count")]
    assert len({each["perplexity"].value for each in found}) == 1
    assert len({each.summary.content_hash for each in found}) == 1
    assert len({each["perplexity"].signature for each in found}) == 3
    assert not any(each.summary.warnings for each in found)
    assert not any("mark" in text for each in found for text in each.warnings)


def test_lengths_are_matched_behind_the_cut():
    """A mark is no word, and a text that is cut before its mark does not end."""
    model = Ends()
    found = run(end_of_text="count", match_length=2, model=model)
    assert model.read == [("a b", True), ("a b", False), ("a b", False)]
    assert "end_of_text:count|match_length:2" in found["m"]["perplexity"].signature
    assert "cut to 2 words" in " ".join(str(found).split())


def test_where_lengths_differ_a_warning_says_so():
    long, short = ["a b c d e f"] * 20, ["a b c"] * 20
    differing = run(short, reference=long)["m"]
    assert any("a difference in length alone" in text for text in differing.warnings)
    alike = run(short, reference=long, match_length=3)["m"]
    assert not any("a difference in length alone" in text for text in alike.warnings)
    assert alike["perplexity"].gap == 0
    behind = run([f"a b c {END} d e f"] * 20, reference=long, end_of_text="cut")["m"]
    assert any("a difference in length alone" in text for text in behind.warnings)


def test_texts_given_prompts_end_behind_them():
    model = Ends()
    own = SampleSet.from_texts([END + "a", f"p </s> q r{END}s"], name="m", prompts=["p", "p </s>"])
    run(own, end_of_text="cut", given_prompt=True, model=model)
    assert model.read == [("", False), (" q r", False)]


def test_both_sides_are_cut():
    model = Ends()
    human = [f"a b{END}c"] * 3
    found = run(reference=human, end_of_text="cut", model=model)
    assert found.reference_scores["perplexity"].value == pytest.approx(2)
    assert not any(END in text for text, _ in model.read)
    assert found.reference.warnings[0].startswith("3 texts end before an end-of-text mark")


def test_ends_that_count_on_one_side_alone_are_told_of():
    words = "in 2 texts of {} the end counts as a token, and in none of "
    plain = ["a b c", "a b", "a"]
    for ours, theirs, side in (
        (TEXTS, plain, "its own"),
        (plain, TEXTS, "the reference"),
        (TEXTS, TEXTS, None),
        (plain, plain, None),
    ):
        found = run(ours, reference=theirs, end_of_text="count", level=None)["m"]
        told = [text for text in found.warnings if "the end counts as a token" in text]
        assert [text.startswith(words.format(side)) for text in told] == [True] * bool(side)


def test_texts_in_one_context_end_too():
    texts = ["a b c", f"d e{END}f"] * 8
    key = "conditional_surprise:texts=4"
    values = {
        way: run(texts, metrics=key, end_of_text=way, level=None)["m"][key].value
        for way in ("cut", "count")
    }
    assert values["cut"] == pytest.approx((3 / 5 + 2 / 3) / 2)
    assert values["count"] == pytest.approx((3 / 5 + 5 / 3) / 2)


def test_what_is_kept_is_kept_by_its_convention(tmp_path):
    path = tmp_path / "kept.npz"
    first = run(end_of_text="count", log_probabilities=path)
    again = run(end_of_text="count", model=str(path))
    assert again["m"]["perplexity"].signature == first["m"]["perplexity"].signature
    assert again["m"]["perplexity"].value == first["m"]["perplexity"].value
    for other in ("cut", "keep"):
        with pytest.raises(InputError, match=r"same prompts.*`end_of_text`"):
            run(end_of_text=other, model=str(path))


def test_what_cannot_be_done_is_one_sentence():
    class Silent(Ends):
        name, scores_end = "silent", False

    with pytest.raises(InputError) as caught:
        run(end_of_text="count", model=Silent())
    assert str(caught.value) == (
        "`end_of_text='count'` scores the token that ends texts, of which silent tells no "
        "log-probability; use `end_of_text='cut'`"
    )
    with pytest.raises(InputError, match=r"m: `end_of_text='cut'` .*nothing"):
        run([END, f" {END}a"[:14]], end_of_text="cut")
    with pytest.raises(InputError, match=r"end_of_text .*cut or count or keep.* 'drop'"):
        run(end_of_text="drop")


def test_the_ngram_model_scores_the_end_of_texts():
    texts = ["the cat sat", "the dog sat", "a dog ran far"]
    model = fit_ngram(texts, order=2)
    options = {"metrics": "mean_log_probability", "first_token": "bos", "model": model}
    cut = run(["the cat" + END], end_of_text="cut", **options)["m"]["mean_log_probability"]
    both = run(["the cat" + END], end_of_text="count", **options)["m"]["mean_log_probability"]
    tokens = model.tokenise("the cat")
    end = model.next_probabilities(model.context_after(tokens))[0]
    assert both.value - cut.value == pytest.approx(math.log(end))
    sparse = run(
        ["the cat" + END, "a dog ran far"],
        end_of_text="count",
        model=model,
        metrics="decoder",
        decoding="top_p=0.9",
    )["m"]
    assert 0 <= sparse["sparsemax_score"].value <= 1


def test_the_suite_cuts_by_itself(monkeypatch):
    monkeypatch.setattr(
        "calipers.commands.likelihood.run.find_language_model", lambda *_, **__: Low()
    )
    rng = np.random.default_rng(0)
    words = ["the", "of", "sun", "moon", "river", "stone", "over", "under", "light", "dark"]
    human = [" ".join(rng.choice(words, 9)) + f"{END}the sun" for _ in range(30)]
    options = {"reference": human, "suite": "generative-perplexity", "metrics": None}
    found = run(human[::-1], model=Low(), **options)
    assert found.settings["end_of_text"] == "cut"
    for system in found:
        assert system.summary.words["median"] == 9
        for key in ("perplexity", "unigram_entropy", "precision", "mauve_star"):
            assert "end_of_text:cut" in system[key].signature
    model = Low()
    run(human[::-1], model=model, end_of_text="count", **options)
    assert all(ended for _, ended in model.read)  # controls end as the texts that they stand for


class Low(Ends):
    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        from calipers.language_model.model import Completion

        for request in requests:
            yield Completion(request.id, "so dull so dull so dull", "stop", 6)
