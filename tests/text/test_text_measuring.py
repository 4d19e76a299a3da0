"""Statistics of texts as asked for: measured once, cut to one size, signed, publicly named."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import weakref
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from calipers import text
from calipers import text as t
from calipers.catalogue.choosing import find_text
from calipers.catalogue.metric import resolve
from calipers.catalogue.texts import TEXT_METRICS
from calipers.errors import InputError
from calipers.score import Score
from calipers.text.measuring import cut, score_of, score_of_reference
from calipers.text.near_texts import hash_ngrams, minhashes
from calipers.text.tokens import tokenise
from extras import need

# A statistic of texts beside that of the reference: measured once, cut to one size, forgotten.


WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sun",
    "moon",
    "sat",
    "ran",
    "on",
    "mat",
    "and",
    "again",
    ",",
    ".",
]


def written(seed, n=30):
    """Texts of 8 to 24 words, two of them equal, and a longer one."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(8, 25))) for _ in range(n - 2)]
    return [*texts, texts[0], " ".join(texts[1:8])]


SETS = tokenise(written(0), written(1), written(2), tokenizer="whitespace")


def score(key, generated, reference=SETS[0], train=SETS[2]):
    return score_of(find_text(key), generated, reference, train=train, threads=1)


def test_the_reference_is_measured_once(named):
    calls, found = [], find_text("distinct")

    def counted(held, options):
        calls.append(held.texts)
        return resolve(found.metric.read)(held, options)

    choice = replace(found, metric=replace(found.metric, read=named(counted)))
    first = score_of(choice, SETS[1], SETS[0])
    second = score_of(choice, SETS[2], SETS[0])
    own = score_of_reference(choice, SETS[0])
    assert first.reference == second.reference == own.value
    assert [each is SETS[0] for each in calls] == [False, True, False]


def test_the_reference_is_measured_anew_for_another_training_set_or_seed():
    choice = find_text("novelty:n=2:train")
    for train in (SETS[1], SETS[2]):
        expected = score_of_reference(find_text("novelty:n=2:train"), SETS[0], train=train)
        assert score_of_reference(choice, SETS[0], train=train).value == expected.value
        assert score_of(choice, SETS[1], SETS[0], train=train).reference == expected.value
    drawn = find_text("self_bleu:sample=5")
    values = {score_of_reference(drawn, SETS[0], seed=seed).value for seed in range(4)}
    assert len(values) == 4
    few = tokenise(written(3)[:10], written(4), tokenizer="whitespace")
    cuts = {score_of(find_text("distinct"), *few, seed=seed).reference for seed in range(3)}
    held = find_text("distinct")
    assert {score_of(held, *few, seed=seed).reference for seed in range(3)} == cuts
    assert len(cuts) > 1


def test_other_options_are_measured_anew():
    choice = find_text("distinct")
    score_of_reference(choice, SETS[0])
    other = replace(choice, options={**choice.options, "n": 3})
    assert (
        score_of_reference(other, SETS[0]).value
        == score_of_reference(find_text("distinct:n=3"), SETS[0]).value
    )


@pytest.mark.parametrize(
    ("key", "against"),
    [
        ("novelty", "reference"),
        ("novelty:train", "train"),
        ("longest_copied_span", "reference"),
        ("longest_copied_span:train", "train"),
        ("near_duplicates:reference", "reference"),
        ("near_duplicates:train", "train"),
        ("near_duplicates", None),
        ("self_bleu", None),
    ],
)
def test_the_signature_says_what_the_texts_are_held_against(key, against):
    found = score(key, SETS[1])
    assert f"|against:{against}" in found.signature or against is None
    assert ("|against:" in found.signature) == (against is not None)
    if against == "train":
        own = score_of_reference(find_text(key), SETS[0], train=SETS[2])
        assert own.signature.endswith("|against:train")


@pytest.mark.parametrize("key", ["near_duplicates:train", "string_precision"])
def test_a_set_held_against_itself_is_forgotten_too(key):
    choice = find_text(key)
    (reference,) = tokenise(written(3), tokenizer="whitespace")
    score_of(choice, reference, reference, train=reference, threads=1)
    gone = weakref.ref(reference)
    del reference
    gc.collect()
    assert gone() is None


def test_what_was_measured_is_forgotten_with_the_reference():
    choice = find_text("distinct")
    reference, generated = tokenise(written(3), written(4), tokenizer="whitespace")
    score_of(choice, generated, reference)
    gone = weakref.ref(reference)
    del reference
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("smaller", ["generated", "reference"])
def test_sets_of_different_size_are_cut_to_the_smaller(smaller):
    few, many = tokenise(written(3)[:10], written(4), tokenizer="whitespace")
    generated, reference = (few, many) if smaller == "generated" else (many, few)
    found = score_of(find_text("self_bleu"), generated, reference)
    assert "cut:10" in found.signature
    sides = score_of(find_text("self_bleu"), cut(generated, 10), cut(reference, 10))
    assert (found.value, found.reference) == (sides.value, sides.reference)
    assert (found.per_sample is None) == (smaller == "reference")
    kept = score_of(find_text("self_bleu"), generated, reference, keep_sizes=True)
    assert kept.value == score_of(find_text("self_bleu"), generated).value
    assert "cut:" not in kept.signature
    assert "cut:" not in score_of(find_text("mean_length"), generated, reference).signature


def test_without_a_reference_there_is_no_gap():
    found = score_of(find_text("self_bleu"), SETS[1])
    assert found.reference is None
    assert found.gap is None


# What all statistics of one set have in common.


EVERY = {
    "distinct": text.distinct,
    "distinct per sample": partial(text.distinct, order=2, per="sample"),
    "adjusted": text.expectation_adjusted_distinct,
    "mattr": partial(text.moving_average_ttr, window=5),
    "zipf": text.zipf_coefficient,
    "repetition": text.repetition_frequency,
    "rep_n": text.rep_n,
    "self_repetition": text.self_repetition,
    "non_termination": text.non_termination,
    "non_termination by limit": partial(text.non_termination, limit=4),
    "vocabulary": text.vocabulary_size,
    "mean": text.mean_length,
    "median": text.median_length,
    "spread": partial(text.length_spread, unit="words"),
    "gzip": lambda texts, tokenizer=None: text.compression_ratio(texts),
    "zstd": lambda texts, tokenizer=None: text.compression_ratio(texts, codec="zstd"),
}
PROSE = [
    "It was the best of times, it was the worst of times.",
    "It was the age of wisdom, it was the age of foolishness!",
    "",
    "short",
    "这是 最好 的 时代 ， 这是 最坏 的 时代 。",
    "🎉 🎉 🎉 🎉 🎉",
    "a \ud800 lone surrogate stands here",
]


@pytest.fixture(params=sorted(EVERY))
def statistic(request):
    if request.param == "zstd":
        need("pyarrow")
    return EVERY[request.param]


@pytest.fixture(params=sorted(set(EVERY) - {"gzip", "zstd"}))
def unordered(request):
    return EVERY[request.param]


def test_a_score_is_closest_signed_and_within_its_range(statistic):
    score = statistic(PROSE)
    low, high = score.range
    assert low <= score.value <= high
    assert score.better == "closest"
    assert score.reason is None
    assert f"n:{len(PROSE)}" in score.signature
    assert score.per_sample is None or score.per_sample.shape == (len(PROSE),)


def test_the_order_of_the_texts_does_not_matter(unordered):
    order = np.random.default_rng(0).permutation(len(PROSE))
    one, two = unordered(PROSE), unordered([PROSE[row] for row in order])
    assert two.value == pytest.approx(one.value, rel=1e-14)
    assert one.signature == two.signature
    if one.per_sample is not None:
        np.testing.assert_allclose(two.per_sample, one.per_sample[order], rtol=1e-14)


def test_a_corpus_gives_the_same_as_its_texts(statistic):
    (corpus,) = tokenise(PROSE)
    one, two = statistic(corpus), statistic(PROSE)
    assert one.value == two.value
    assert one.signature == two.signature


@pytest.mark.parametrize("texts", [["word"], [""], ["", " "], ["same text here now"] * 3])
def test_degenerate_sets_give_a_number_or_a_reason(statistic, texts):
    score = statistic(texts)
    assert np.isfinite(score.value) == (score.reason is None)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "texts .*at least one text.* none"),
        (["a", None], "texts .*strings only; row 2 is None"),
        (["a", b"b"], "row 2 is b'b', of type bytes"),
        ("a text", "texts .*list of strings.* single string"),
    ],
)
def test_bad_texts(statistic, texts, message):
    with pytest.raises(InputError, match=message):
        statistic(texts)


def test_an_unknown_tokenizer():
    with pytest.raises(InputError, match=r"tokenizer 'whitespac'.*'whitespace'"):
        text.distinct(["a"], tokenizer="whitespac")


# Choices reach the arithmetic and the signature: one small case for each.


W = {"tokenizer": "whitespace"}


def test_a_shorter_phrase_inside_a_longer_one_is_not_overcounted():
    found = t.repeated_endings(["a b a b a b b b"], **W)
    assert (found.lengths.tolist(), found.copies.tolist()) == ([1], [3])


def test_texts_of_one_mark_have_ended():
    assert t.non_termination(["!", "?", "a"]).per_sample.tolist() == [0, 0, 1]


SIGNED = [
    (lambda: t.distinct(["a b"], per="sample", **W), "per:sample"),
    (lambda: t.expectation_adjusted_distinct(["a b"], vocabulary=9, **W), "vocabulary:9"),
    (lambda: t.moving_average_ttr(["a b c"], window=2, **W), "window:2"),
    (lambda: t.zipf_coefficient(["a a b"], top=7, **W), "top:7"),
    (lambda: t.mean_length(["a b"], unit="words"), "unit:words"),
    (lambda: t.compression_ratio(["a b"], level=3), "level:3"),
    (lambda: t.exact_duplicates(["a", "A"], fold=True), "fold:True"),
    (
        lambda: t.bleu(["a b"], ["a b"], smoothing="floor", smoothing_value=0.2),
        "smoothing_value:0.2",
    ),
    (lambda: t.rouge(["a b"], ["a b c"], part="recall"), "part:recall"),
]


@pytest.mark.parametrize(("score", "pin"), SIGNED)
def test_signatures_name_the_choices(score, pin):
    assert f"|{pin}" in score().signature


def test_case_counts_in_ter_where_it_is_asked_for():
    assert t.ter(["The CAT"], ["the cat"]).value == 0
    assert t.ter(["The CAT"], ["the cat"], case_sensitive=True).value == 100


def test_words_in_another_order_hash_apart():
    (corpus,) = tokenise(["a b", "a c", "b a"], **W)
    assert len(set(hash_ngrams(corpus, corpus.ngrams(2)).tolist())) == 3


def test_the_seed_reaches_the_permutations():
    sets, hashes = [np.arange(9, dtype=np.int32)], np.arange(9, dtype=np.uint32)
    one, two = (minhashes(sets, hashes, 16, seed) for seed in (1, 2))
    assert (one != two).any()
    assert "|seed:2|" in t.near_duplicates(["a b"], order=1, seed=2, **W).signature


def test_near_duplicates_are_better_closer_within_a_set_and_lower_against_another():
    texts = ["a b c", "a b d"]
    assert t.near_duplicates(texts, order=1, **W).better == "closest"
    assert t.near_duplicates(texts, ["a b"], order=1, **W).better == "lower"


def test_a_pool_without_tokens_has_no_value():
    texts = ["", "", "", "a b c"]
    values = [t.self_bleu(texts, others=1, seed=s, **W) for s in range(12)]
    assert any(np.isnan(v.value) and v.reason for v in values)


def test_orders_up_to_a_hundred_are_taken():
    long = " ".join(map(str, range(100)))
    assert t.distinct([long], order=100, **W).value == 1
    assert t.self_bleu([long, long], order=100, **W).value == pytest.approx(1)


def test_stemmer():
    assert t.rouge(["running dogs"], ["run dog"], kind="rouge1", stemmer=True).value == 1
    assert t.rouge(["running dogs"], ["run dog"], kind="rouge1").value == 0


def test_threads_and_seed_reach_the_metric(named):
    seen = []
    choice = find_text("self_bleu")

    spy = replace(
        choice,
        metric=replace(
            choice.metric,
            read=named(
                lambda held, _: seen.append((held.seed, held.threads)) or t.distinct(held.texts)
            ),
        ),
    )
    a, b = tokenise(["a b c"], ["a c d"], **W)
    score_of(spy, a, b, seed=3, threads=2)
    find_text_of = replace(spy)
    score_of_reference(find_text_of, b, seed=3, threads=2)
    assert set(seen) == {(3, 2)}


def test_kept_results_belong_to_both_sets():
    x, y, z = tokenise(
        [f"a b c {i % 7} {i % 3}" for i in range(30)],
        [f"a b c {i % 5} d" for i in range(30)],
        [f"q r s {i}" for i in range(30)],
        **W,
    )
    choice = find_text("string_mauve")
    assert score_of(choice, x, y).value > 0.5 > score_of(choice, x, z).value


def test_numbers_in_keys_are_short():
    assert find_text("vendi:q=2").key == "vendi:q=2"
    assert find_text("vendi:q=2.0").key == "vendi:q=2"


def test_the_seed_chooses_the_rows_that_are_kept():

    (corpus,) = tokenise([str(n) for n in range(50)], **W)
    assert cut(corpus, 5, seed=1).texts != cut(corpus, 5, seed=0).texts


def test_what_is_kept_of_the_reference_belongs_to_one_seed_and_one_training_set():
    (a, b, c) = tokenise(
        ["a b c d e f", "a b x y", "p q"] * 5,
        ["a b", "c d e f g", "h i j k l m", "n"] * 9,
        ["a b", "c d e f g"] * 5,
        **W,
    )
    choice = find_text("distinct:n=2")
    score_of(choice, a, b, seed=0)
    fresh = score_of(find_text("distinct:n=2"), a, b, seed=1)
    assert score_of(choice, a, b, seed=1).reference == fresh.reference
    choice = find_text("novelty:n=1:train")
    score_of(choice, a, b, train=c)
    fresh = score_of(find_text("novelty:n=1:train"), a, b, train=a)
    assert score_of(choice, a, b, train=a).reference == fresh.reference


# The catalogue hands its options on, and reads each score from its own part.


THIRTEEN = ["the", "a", "cat", "dog", "sun", "moon", "sat", "ran", "on", "mat", "and", "again", "."]


def thirty_texts(seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(THIRTEEN, rng.integers(8, 25))) for _ in range(30)]


GENERATED, REFERENCE, TRAIN = tokenise(*map(thirty_texts, range(3)), tokenizer="whitespace")


NOT_HERE = {"13a", "spm", "flores101", "flores200", "spBLEU-1K"}
"""What BLEU takes of these texts by itself, and tokenizers whose models are not there."""


def others():
    """Each option of each metric by another value than the default."""
    for metric in TEXT_METRICS.values():
        if metric.name.startswith("bert_score"):
            continue
        for option in metric.options:
            weighted = [f"{name}={option.example}" for name in option.weighted]
            words = [*option.words[1:], *weighted]
            for value in words or (min(option.default + 1, option.most),):
                if value not in NOT_HERE:
                    yield find_text(f"{metric.name}:{option.written(value)}").key


@pytest.mark.parametrize("key", sorted(set(others())))
def test_every_option_reaches_the_signature(key):
    given, usual = (
        score_of(find_text(each), GENERATED, REFERENCE, train=TRAIN, threads=1).signature
        for each in (key, key.partition(":")[0])
    )
    assert given != usual


@pytest.fixture(scope="module")
def strings():
    return text.string_scores(GENERATED, REFERENCE, threads=1)


@pytest.mark.parametrize("part", ["mauve", "precision", "recall", "density", "coverage"])
def test_each_string_score_is_read_from_its_own_part(part, strings):
    found = score_of(find_text(f"string_{part}"), GENERATED, REFERENCE, threads=1)
    assert found.value == getattr(strings, part).value
    assert found.signature == getattr(strings, part).signature


@pytest.mark.parametrize("part", ["precision", "recall", "f1"])
@pytest.mark.parametrize(("option", "idf"), [("", False), (":idf", True)])
def test_each_bert_score_is_read_from_its_own_part(part, option, idf, monkeypatch):
    def made(texts, references, *, idf):
        parts = ("precision", "recall", "f1")
        return SimpleNamespace(**{each: Score(0.5, signature=f"{each}|{idf}") for each in parts})

    monkeypatch.setattr("calipers.text.bertscore.bert_score", made)
    sides = tokenise(["a b"], ["a c"], tokenizer="whitespace")
    assert score_of(find_text(f"bert_score_{part}{option}"), *sides).signature == f"{part}|{idf}"


# The public names of ``calipers.text``.


def test_no_module_hides_a_function_of_its_name():
    modules = {module.name for module in pkgutil.iter_modules(text.__path__)}
    assert not modules & set(text.__all__)


def test_every_name_is_there_with_a_docstring():
    for name in text.__all__:
        assert getattr(text, name).__doc__, name
    for module in pkgutil.iter_modules(text.__path__):
        importlib.import_module(f"calipers.text.{module.name}")
    assert all(callable(getattr(text, name)) for name in text.__all__)
