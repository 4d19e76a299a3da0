"""From texts to likelihoods beside the reference's own, by a model whose numbers can be counted."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

import calipers
from calipers import InputError, likelihood
from calipers.commands.likelihood.result import LikelihoodComparison
from calipers.embedders.reading import ReadingCounts
from calipers.language_model.kept import KeptScores
from calipers.language_model.likelihood import score_in_context
from calipers.language_model.model import LanguageModel, TokenScores
from calipers.results import load
from calipers.samples import SampleSet

CHANCES = {"a": 0.5, "b": 0.25, "c": 0.25}


class ThreeWords(LanguageModel):
    """Each token is a word by itself; after the same word, its probability is 1/2.

    The other two words then share the other half in the proportion of `chances`. Without anything
    before it, a word has its own chance.
    """

    def __init__(self, name="three-words", chances=CHANCES, *, whole=True, vocabulary=3):
        self.name, self.revision, self.chances, self.whole = name, "1", chances, whole
        self.signature = {"revision": "1"}
        self.vocabulary = vocabulary
        self.asked = []

    def after(self, before):
        """The distribution of the next word, by word."""
        if before not in self.chances:
            return dict(self.chances)
        rest = sum(chance for word, chance in self.chances.items() if word != before)
        return {
            word: 0.5 if word == before else 0.5 * chance / rest
            for word, chance in self.chances.items()
        }

    def score(self, passages, *, first="skip", stride=None, decoding=None, advance=None):
        self.asked.append((len(passages), first, stride, decoding))
        logs, decoded, squares, starts, unscored = [], [], [], [0], []
        for passage in passages:
            before = (passage.prompt.split() or [None])[-1]
            skipped = before is None and first == "skip"
            unscored.append(len((passage.text.split() or [""])[0]) if skipped else 0)
            for word in passage.text.split():
                if word not in self.chances:
                    raise InputError(f"the word {word!r} is unknown")
                if before is not None or first == "bos":
                    chances = self.after(before)
                    logs.append(np.log(chances[word]))
                    kept = self.cut(chances, decoding)
                    decoded.append(kept.get(word, 0.0))
                    squares.append(sum(chance**2 for chance in kept.values()))
                before = word
            starts.append(len(logs))
            if advance is not None:
                advance(1)
        sparse = decoding is not None
        return TokenScores(
            np.array(logs, float),
            np.array(starts),
            self.vocabulary,
            np.array(decoded, float) if sparse else None,
            np.array(squares, float) if sparse and self.whole else None,
            np.array(unscored),
        )

    def cut(self, chances, decoding):
        """Leave all but the likeliest out, where top_k is in force."""
        size = 3 if decoding is None else int(decoding.get("top_k", 3))
        kept = dict(sorted(chances.items(), key=lambda pair: -pair[1])[:size])
        return {word: chance / sum(kept.values()) for word, chance in kept.items()}

    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        raise InputError("the three words are not written")


HAND = ["a b", "c c c", ""]


def written(seed, n, chances=CHANCES):
    rng = np.random.default_rng(seed)
    words, weights = list(chances), list(chances.values())
    return [" ".join(rng.choice(words, rng.integers(3, 15), p=weights)) for _ in range(n)]


HUMAN = written(0, 60)
FLAT = dict.fromkeys("abc", 1 / 3)
MODEL = written(1, 60, {"a": 0.8, "b": 0.1, "c": 0.1})


def run(generated, metrics=None, *, model=None, **options):
    return likelihood(
        generated,
        model=model or ThreeWords(),
        metrics=metrics,
        tokenizer="whitespace",
        threads=1,
        **options,
    )


def test_perplexities_equal_a_count_by_hand():
    # Skipped are the first words; b comes after a with 1/4, c after c with 1/2: 4 bits for " b" and
    # " c c", and nothing of what was skipped counts
    found = run({"m": HAND}, "predictability,perplexity:texts")["m"]
    assert found["perplexity"].value == pytest.approx(2 ** (4 / 3))
    assert found["perplexity:texts"].value == pytest.approx((4 + 2) / 2)
    assert found["perplexity"].per_sample[:2] == pytest.approx([4, 2])
    assert np.isnan(found["perplexity"].per_sample[2])
    assert found["bits_per_byte"].value == pytest.approx(4 / 6)
    assert found["bits_per_byte"].per_sample[:2] == pytest.approx([2 / 2, 2 / 4])
    assert found["byte_perplexity"].value == pytest.approx(2 ** (4 / 6))
    assert found["word_perplexity"].value == pytest.approx(2 ** (4 / 3))
    assert found["mean_log_probability"].value == pytest.approx(-2 * math.log(2))


def test_a_first_word_is_scored_behind_the_beginning():
    found = run({"m": HAND}, "perplexity,bits_per_byte", first_token="bos")["m"]
    # a (1/2), b after a (1/4), c (1/4), c after c (1/2) twice: 1 + 2 + 2 + 1 + 1 bits
    assert found["perplexity"].value == pytest.approx(2 ** (7 / 5))
    assert found["bits_per_byte"].value == pytest.approx(7 / 8)
    assert "first_token:bos" in found["perplexity"].signature


class Beginning(ThreeWords):
    """The same, where a token begins texts."""

    scores_first = True


def test_first_tokens_are_scored_unasked_where_every_model_can():
    one, two = Beginning(), ThreeWords("gen")
    found = run({"m": HAND}, "bits_per_byte", model=one)
    assert found["m"]["bits_per_byte"].value == pytest.approx(7 / 8)
    assert found.settings["first_token"] == "bos"
    assert "first_token:bos" in found["m"]["bits_per_byte"].signature
    run({"m": MODEL}, "models", model=one, generator=two, reference=HUMAN)
    assert {first for _, first, *_ in (*one.asked[1:], *two.asked)} == {"skip"}
    run({"m": HAND}, "bits_per_byte", model=one, first_token="skip")
    assert one.asked[-1][1] == "skip"


@pytest.mark.parametrize("first", ["skip", "bos"])
def test_bits_per_byte_without_a_block_leave_out_the_bytes_of_what_was_not_scored(first):
    """Every block of texts alike, so that each value without one is the value of all."""
    found = run({"m": ["a b", "c c c"] * 40}, "predictability", first_token=first)["m"]
    for key in ("bits_per_byte", "byte_perplexity", "word_perplexity"):
        low, high = found[key].interval
        assert low - 1e-9 <= found[key].value <= high + 1e-9
    part = run({"m": ["a b"] * 20 + ["c c c"] * 20}, "bits_per_byte", first_token=first)["m"]
    whole = part["bits_per_byte"]
    assert whole.interval[0] < whole.value < whole.interval[1]


def test_both_sides_and_the_gap():
    found = run({"m": MODEL}, reference=HUMAN)
    score = found["m"]["perplexity"]
    assert score.value == pytest.approx(run({"m": MODEL})["m"]["perplexity"].value)
    assert score.reference == pytest.approx(run({"m": HUMAN})["m"]["perplexity"].value)
    assert score.gap == abs(score.value - score.reference)
    assert score.better == "closest"
    assert score.interval[0] < score.value < score.interval[1]
    assert found.reference_scores["perplexity"].value == score.reference


def test_the_interval_is_that_of_means_of_blocks():
    """For texts of one length, perplexity is exp of a mean of values of the texts."""
    texts = [" ".join(text.split()[:3]) for text in written(2, 200) if len(text.split()) > 3]
    found = run({"m": texts}, "perplexity")["m"]["perplexity"]
    logs = np.log(found.per_sample)
    expected = found.value * logs.std(ddof=1) / math.sqrt(len(logs))
    assert found.standard_error == pytest.approx(expected, rel=0.35)


def test_unigram_entropy():
    found = run({"m": HAND}, "unigram_entropy,unigram_entropy:bits")["m"]
    assert found["unigram_entropy"].value == pytest.approx(math.log(2) / 2)
    assert found["unigram_entropy:bits"].value == pytest.approx(0.5)
    assert "tokenizer:whitespace" in found["unigram_entropy"].signature


def test_the_decoder_by_hand():
    # b after a: of a 1/2, b 1/4, c 1/4 top-2 keeps a and b: 2/3 and 1/3; c after c: 1/2, a 1/3
    # becomes 3/5 and 2/5 (twice)
    found = run({"m": HAND}, "decoder,epsilon_perplexity:epsilon=0.5", decoding="top_k=2")["m"]
    sparsemax = [1 / 3 + (1 - 5 / 9) / 2, *[3 / 5 + (1 - 13 / 25) / 2] * 2]
    assert found["sparsemax_score"].value == pytest.approx(np.mean(sparsemax))
    q = np.array([1 / 3, 3 / 5, 3 / 5])
    expected = math.exp(-np.mean(np.log((q + 0.5) / (1 + 0.5 * 3))))
    assert found["epsilon_perplexity:epsilon=0.5"].value == pytest.approx(expected)
    assert found["epsilon_perplexity"].value <= expected
    assert "decoding:top_k=2" in found["sparsemax_score"].signature


def test_decoder_metrics_come_by_default_only_with_a_decoding():
    assert "sparsemax_score" not in run({"m": MODEL})["m"].scores
    assert "sparsemax_score" in run({"m": MODEL}, decoding="greedy")["m"].scores
    found = run({"m": MODEL}, "decoder")["m"]
    assert "decoding:ancestral" in found["decoder_divergence"].signature


def test_what_a_model_does_not_tell_is_a_reason():
    model = ThreeWords(whole=False, vocabulary=0)
    found = run({"m": MODEL}, "decoder", model=model, decoding="top_k=2")["m"]
    assert "no whole distributions" in found["sparsemax_score"].reason
    assert "how many tokens it chooses from" in found["epsilon_perplexity"].reason
    assert found["decoder_divergence"].reason is None
    alone = run({"m": ["a", "b"]}, "predictability")["m"]
    assert {score.reason for score in alone.scores.values()} == {"no token of the texts was scored"}
    assert all(math.isnan(score.value) for score in alone.scores.values())


def test_two_models_agree_where_they_are_one():
    found = run(
        {"m": MODEL}, "models", reference=HUMAN, generator=ThreeWords("gen"), first_token="bos"
    )["m"]
    assert found["mauve:model"].value == pytest.approx(1)
    assert found["frontier_integral:model"].value == pytest.approx(0, abs=1e-12)
    assert found["midpoint:model"].value == pytest.approx(0, abs=1e-12)


def test_two_models_far_apart_stay_finite():
    """Whole texts differ by hundreds of nats."""
    long = {"m": [" ".join(text.split() * 60) for text in MODEL]}
    human = [" ".join(text.split() * 60) for text in HUMAN]
    far = ThreeWords("gen", {"a": 0.98, "b": 0.01, "c": 0.01})
    found = run(long, "models", reference=human, generator=far, first_token="bos")["m"]
    assert 0 <= found["mauve:model"].value < 1
    assert 0 < found["frontier_integral:model"].value <= 1
    assert 0 < found["midpoint:model"].value <= math.log(2) + 1e-9
    for score in found.scores.values():
        assert math.isfinite(score.value)
        assert score.gap is None
        assert score.interval is not None
    assert "estimator:model" in found["mauve:model"].signature
    assert "generator:name=gen" in found["mauve:model"].signature


def test_a_generator_that_cannot_write_its_own_texts_is_a_reason():
    found = run(
        {"m": MODEL}, "models", reference=HUMAN, generator=ThreeWords("gen"), decoding="top_k=1"
    )["m"]
    assert "must be possible under Q" in found["mauve:model"].reason
    assert math.isnan(found["mauve:model"].value)


def test_a_few_impossible_texts_are_left_out_and_told_of():
    """One text in forty is read in another way than it was written."""
    texts = ["a a a a", "b b b", "c c c c c", "a a"] * 10
    options = {"reference": HUMAN, "generator": ThreeWords("gen"), "decoding": "top_k=1"}
    whole = run({"m": texts}, "models", **options)["m"]
    found = run({"m": [*texts, "a b"]}, "models", **options)["m"]
    assert "impossible:1" in found["mauve:model"].signature
    assert found["mauve:model"].reason is None
    assert "impossible" not in whole["mauve:model"].signature
    assert "1 text left out" in " ".join(found.warnings)


def test_texts_that_the_generator_did_not_write_are_told_of():
    """All of them are likelier under the model, so that the estimate of KL(Q‖R) is negative."""
    stranger = ThreeWords("gen", {"a": 0.01, "b": 0.01, "c": 0.98})
    options = {"reference": HUMAN, "first_token": "bos"}
    found = run({"m": ["a a a a"] * 40}, "models", generator=stranger, **options)["m"]
    for name in ("mauve:model", "frontier_integral:model", "midpoint:model"):
        assert math.isnan(found[name].value)
        assert "no divergence is below 0: the generated texts are likelier" in found[name].reason
        assert "|clipped:-" in found[name].signature
    (told,) = [one for one in found.cautions if one.kind == "scorer"]
    assert told.brief == "not from the model it stands for"
    assert told.text in found.warnings


def test_a_divergence_that_is_negative_by_chance_counts_as_0_and_is_told_of():
    """Equal models but for a trifle: texts of the one may be a little likelier under the other."""
    other = ThreeWords("gen", {"a": 0.52, "b": 0.29, "c": 0.19})
    texts = ["a a b", "c", "a b", "a a a a", "b c"] * 8
    options = {"reference": texts, "generator": other, "first_token": "bos"}
    found = run({"m": texts}, "models", **options)["m"]
    score = found["mauve:model"]
    assert 0.99 < score.value <= 1
    (nats,) = re.findall(r"\|clipped:(-[0-9.e-]+)\|", score.signature + "|")
    assert -0.05 < float(nats) < 0
    (told,) = [one for one in found.cautions if "counts as 0" in one.brief]
    assert f"at {nats} nats" in told.text
    same = run({"m": MODEL}, "models", **options | {"generator": ThreeWords("gen")})["m"]
    assert not [one for one in same.cautions if one.brief == told.brief]


def test_conditional_surprise_falls_where_texts_are_alike():
    """The model expects the word that came last; texts that begin as others end surprise less."""
    alike, mixed = ["a a a"] * 40, ["a a a", "b b b", "c c c", "b b b"] * 10
    key = "conditional_surprise:texts=4"
    found = run({"alike": alike, "mixed": mixed}, key, level=0.9)
    assert found["alike"][key].value == pytest.approx(3 / 5)  # a bit for each of three words
    assert found["mixed"][key].value > found["alike"][key].value
    assert found["mixed"][key].interval is not None
    assert found["mixed"][key].per_sample.shape == (40,)


def test_decan_is_surprise_times_coherence():
    """Section 3 of arXiv 2606.01811, by hand: three words of a bit each, in five bytes."""
    key = "decan:texts=4"
    metrics = f"{key},conditional_surprise:texts=4,bits_per_byte"
    found = run({"alike": ["a a a"] * 40}, metrics, first_token="bos")["alike"]
    assert found["bits_per_byte"].value == pytest.approx(3 / 5)
    assert found[key].value == pytest.approx(3 / 5 * 2 ** (-3 / 5))
    mixed = run({"m": MODEL}, metrics, first_token="bos")["m"]
    rates = run({"m": MODEL}, "bits_per_byte", first_token="bos")["m"]["bits_per_byte"].per_sample
    last = mixed["conditional_surprise:texts=4"].value
    assert mixed[key].value == pytest.approx(last * 2 ** -rates.mean())
    assert mixed[key].interval is not None
    few = run({"m": HAND}, "decan")["m"]["decan"]
    assert "a context takes 8 texts" in few.reason


def test_each_text_comes_last_once_behind_others_of_its_batch():
    model = ThreeWords()
    found = score_in_context(model, ["a b", "", "b c", "c a", "b b", "c"], 2, seed=0)
    ((size, *_),) = model.asked
    assert size == 4  # of five texts that are not empty two pairs
    assert np.isnan(found.bits[1])
    assert sorted(np.bincount(found.batches[found.batches >= 0])) == [2, 2]
    with pytest.raises(InputError, match=r"9 texts .*found 5"):
        score_in_context(model, ["a b", "", "b c", "c a", "b b", "c"], 9, seed=0)
    few = run({"m": HAND}, "conditional_surprise")["m"]["conditional_surprise"]
    assert "a context takes 8 texts" in few.reason


def prompted(texts, prompts, name="m"):
    return SampleSet.from_texts(texts, name=name, prompts=prompts)


def test_given_prompts_are_read_and_not_scored():
    model = ThreeWords()
    own = prompted(["b", "a c"], ["a", "a"])
    found = run({"m": own}, "perplexity,bits_per_byte", model=model, given_prompt=True)["m"]
    # b after a: 2 bits; the second begins with its prompt, and c after a: 2 bits
    assert found["perplexity"].value == pytest.approx(4)
    assert found["bits_per_byte"].value == pytest.approx(4 / 4)  # " b" and " c"
    with pytest.raises(InputError, match="needs the field 'prompt'"):
        run({"m": HAND}, given_prompt=True)


def test_sets_of_the_same_texts_are_scored_once():
    model = ThreeWords()
    run({"m": MODEL, "same": MODEL}, reference=HUMAN, model=model)
    assert len(model.asked) == 2


def test_what_was_kept_takes_the_place_of_the_model(tmp_path):
    path = tmp_path / "kept.npz"
    options = {"reference": HUMAN, "decoding": "top_k=2"}
    first = run({"m": MODEL}, log_probabilities=path, **options)
    again = run({"m": MODEL}, model=str(path), reference=HUMAN)
    for key, score in first["m"].scores.items():
        assert again["m"][key].value == score.value
        assert again["m"][key].signature == score.signature
    assert again.settings["model"] == "three-words"
    assert again.settings["decoding"] == "top_k=2"
    assert again.settings["first_token"] == "skip"
    with np.load(path, allow_pickle=False) as arrays:
        assert not any(text.encode() in bytes(arrays["about"]) for text in MODEL)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (MODEL[::-1], {}, "of other texts .sets of 60, 60., not of these 60"),
        (MODEL, {"first_token": "bos"}, "was made with `first_token='skip'`"),
        (MODEL, {"stride": 3}, "was made without `stride`"),
        (MODEL, {"decoding": "top_k=1"}, "was made with no decoding.* `decoding='top_k=1'`"),
    ],
)
def test_what_does_not_fit_the_file_is_refused(tmp_path, texts, options, message):
    path = tmp_path / "kept.npz"
    run({"m": MODEL}, reference=HUMAN, log_probabilities=path)
    with pytest.raises(InputError, match=message):
        run({"m": texts}, model=path, **options)


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "kept.npz"
    with pytest.raises(InputError, match="there is no such file"):
        KeptScores(path)
    np.savez(path, about=np.frombuffer(b'{"kind": "else"}', np.uint8))
    with pytest.raises(InputError, match=r"log-probabilities.*damaged"):
        KeptScores(path)
    np.savez(path, about=np.array([{}], object), allow_pickle=True)
    with pytest.raises(InputError, match=r"log-probabilities.*damaged"):
        KeptScores(path)
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InputError, match=r"log-probabilities.*damaged"):
        KeptScores(path)


def test_a_model_that_measures_its_own_texts_is_told_of(tmp_path):
    path = tmp_path / "out.jsonl"
    rows = [{"id": i, "text": text, "model": "models/Three-Words"} for i, text in enumerate(MODEL)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = run(str(path))
    (system,) = found
    assert system.cautions[0].kind == "scorer"
    assert "written by 'models/Three-Words'" in system.warnings[-1]
    given = run({"m": MODEL}, reference=HUMAN, generator=ThreeWords())
    assert given["m"].cautions[0].kind == "scorer"
    path.write_text("\n".join(json.dumps(row | {"revision": "2"}) for row in rows))
    assert "scorer" not in {caution.kind for caution in run(str(path)).systems[0].cautions}
    assert not [
        c
        for c in run(str(path), model=ThreeWords("other")).systems[0].cautions
        if c.kind == "scorer"
    ]


def test_marks_that_end_texts_are_told_of():
    chances = {**CHANCES, "</s>": 0.1}
    found = run({"m": ["a b </s> c", "a"]}, model=ThreeWords(chances=chances))["m"]
    assert "1 text with a mark that ends texts" in " ".join(found.warnings)


class Fitted(ThreeWords):
    """Stands in for a model that was fitted."""


def test_an_ngram_model_is_fitted_on_the_reference_unless_told_otherwise(monkeypatch):
    fitted = []

    def find(name, options, *, fit_on=None, max_requests=None, chat=False):
        fitted.append((name, fit_on))
        return Fitted("ngram")

    monkeypatch.setattr("calipers.commands.likelihood.run.find_language_model", find)
    found = calipers.likelihood(
        {"m": MODEL}, model="ngram:order=2", reference=HUMAN, tokenizer="whitespace"
    )
    assert fitted[-1] == ("ngram:order=2", HUMAN)
    assert found.cautions[0].kind == "scorer"
    assert "fitted to the very reference" in found.warnings[-1]
    found = calipers.likelihood(
        {"m": MODEL}, model="ngram", fit_on=HUMAN[:30], tokenizer="whitespace"
    )
    assert fitted[-1] == ("ngram", HUMAN[:30])
    assert not found.cautions
    with pytest.raises(InputError, match=r"`fit_on`"):
        calipers.likelihood({"m": MODEL}, model="./gpt2", fit_on=HUMAN)


class Liar(ThreeWords):
    """Scores fewer texts than it was given."""

    def score(self, passages, **options):
        return super().score(passages[:-1], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": ""}, "model .*name a language model.* ''"),
        ({"model": 3}, "found 3"),
        ({"generator": ThreeWords()}, "`generator` compares two models"),
        ({"metrics": "mauve:model"}, "reference and the model"),
        ({"metrics": "perplexty"}, "likelihood metric 'perplexty'.*'perpl"),
        ({"metrics": "self_bleu"}, "calipers text measures it"),
        ({"metrics": "recall"}, "calipers compare"),
        ({"metrics": ""}, "metrics .*at least one likelihood metric.* none"),
        ({"decoding": "beam=4"}, "each token from a distribution"),
        ({"decoding": "top_p=2"}, "top_p .*above 0 and at most 1.* '2'"),
        ({"first_token": "eos"}, "first_token .*skip or bos.* 'eos'"),
        ({"stride": 0}, "stride .*at least 1.* 0"),
        ({"log_probabilities": "x.txt"}, "file that ends in .npz.* 'x.txt'"),
        ({"device": "gpu"}, "unknown device 'gpu'"),
        ({"model": Liar()}, "generated: .*'three-words'"),
        ({"given_prompt": 1}, "given_prompt .*True or False.* 1"),
    ],
)
def test_bad_input_is_one_sentence(options, message):
    with pytest.raises(InputError, match=message):
        likelihood(MODEL, **{"model": ThreeWords(), "threads": 1, **options})


def test_a_text_that_the_model_refuses_is_named_by_its_set():
    with pytest.raises(InputError, match="m: the word 'x' is unknown"):
        run({"m": ["a x"]})


def test_results_go_around(tmp_path):
    found = run({"m": MODEL}, reference=HUMAN, level=None)
    found.save(tmp_path / "run.zip")
    loaded = load(tmp_path / "run.zip")
    assert isinstance(loaded, LikelihoodComparison)
    assert loaded.to_dict(per_sample=True) == found.to_dict(per_sample=True)
    data = found.to_dict()
    assert [each["name"] for each in data["systems"]] == ["m"]
    (tmp_path / "run.json").write_text(json.dumps(data))
    assert load(tmp_path / "run.json").to_dict() == data
    assert str(loaded) == str(found)
    assert "model three-words" in str(found)
    assert repr(found).startswith("<LikelihoodComparison of 'm' with 'reference'")
    assert "Perplexity" in found._repr_html_()
    assert {row["key"] for row in found._rows()} == {*found["m"].scores}


def test_a_cut_to_so_many_words():
    texts = ["a b c a", "b b"]
    found = run({"m": texts}, "perplexity", match_length=2)["m"]["perplexity"]
    assert found.value == run({"m": ["a b", "b b"]}, "perplexity")["m"]["perplexity"].value


def test_the_stand_in_is_a_language_model():
    assert isinstance(ThreeWords(), LanguageModel)


class Unread(ThreeWords):
    """Tells that it does not know the word c."""

    def reading(self, texts):
        return ReadingCounts.of((len(text.split()), text.split().count("c")) for text in texts)


def test_texts_of_words_that_the_model_does_not_know_have_no_scores():
    texts = ["a b a b a", "b a b a a", "a a b b a"]
    found = run({"read": texts, "lost": ["c c a c"] * 3}, reference=texts, model=Unread())
    read, lost = found
    assert np.isfinite(read["perplexity"].value)
    assert np.isnan(lost["perplexity"].value)
    assert lost["perplexity"].reason.startswith("three-words does not know 75 % of its words")
    assert np.isfinite(lost["unigram_entropy"].value)
    assert lost.cautions[0].kind == "unread"
    assert lost.cautions[0].remedy == "`model`"
    assert lost.summary.reading.unread_words == 9
    assert found.reference.reading.unread_words == 0
    assert not any(caution.kind == "unread" for caution in read.cautions)
    assert type(found).from_dict(found.to_dict()).to_dict() == found.to_dict()
