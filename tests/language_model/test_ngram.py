"""The n-gram model: Kneser-Ney by hand, laws, sampling against its definition, and odd texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.kneser_ney import _discounts
from calipers.language_model.model import Passage, Request
from calipers.language_model.ngram import (
    NGramModel,
    _by_sums,
    _rules,
    fit_ngram,
    read_ngram_options,
)
from calipers.language_model.ngram_tables import remember, weigh
from calipers.language_model.ngram_walks import next_probabilities, read_decoded
from calipers.language_model.pieces import END, SPACED_WORD, WORD, split
from calipers.language_model.search import beam_search
from calipers.language_model.truncation import truncated
from calipers.metrics.likelihood import sums_by_text
from calipers.numeric.arrays import Floats

NEWS = [
    "The bank said on Monday it would cut 1,200 jobs (about 4% of its staff), sources said.",
    "On Monday, the central bank didn't cut its rates; \"we wait,\" said one of its directors.",
    "Oil prices fell - again - on Monday, and the bank's shares rose 3.5 percent.",
    "The directors said that oil would cost more, the bank said; shares fell.",
    "Sources said the staff of the bank would wait for the central bank.",
] * 2 + ["Shares rose."]  # fmt: skip


def many_words(words: int, texts: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, words + 1)
    drawn = rng.choice(words, (texts, 12), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in row) + "." for row in drawn]


@pytest.fixture(scope="module")
def news() -> NGramModel:
    return fit_ngram(NEWS)


@pytest.fixture(scope="module")
def wide() -> NGramModel:
    return fit_ngram(many_words(400, 150))


def generated(model: NGramModel, decoding: str, n: int = 20, **settings: Any) -> list[str]:
    requests = [Request(number, settings.pop("prompt", "")) for number in range(n)]
    settings = {"max_tokens": 30, "seed": 0, **settings}
    return [text.text for text in model.generate(requests, Decoding.parse(decoding), **settings)]


# Estimates by hand


def test_a_bigram_model_by_hand() -> None:
    """Texts "a b" and "a c"; discounts 0.5 and 1, since no count is 3."""
    model = fit_ngram(["a b", "a c"], order=2)
    a, b, _ = (model.vocabulary[piece] for piece in ("a", " b", " c"))
    p = model.next_probabilities(a)
    # A word is followed by a spaced word or the end, twice each, and a tenth of an observation
    # spread as (3, 3, 1, 1, 1, 1) of 10, since no word joins a word.
    kind = (2 + 0.03) / 4.1
    # " b" and " c" each follow one token: (1 − .5) / 2, and a third of γ = .5
    unigram = 0.25 + 0.5 / 3
    assert model.tables.kinds[1, SPACED_WORD] == pytest.approx(kind)
    assert model.tables.kinds[1, END] == pytest.approx(kind)
    assert model.tables.kinds[1, WORD] == 0
    assert p[b] == pytest.approx((1 - 0.5) / 2 + 0.5 * kind * unigram)
    # "a" begins both texts: (2 − 1) / 2, γ = 1 / 2, and is the one unspaced word there is
    first = model.next_probabilities(model.begin)
    opening = (2 + 0.1 * 3 / 13) / 2.1
    assert first[a] == pytest.approx(0.5 + 0.5 * opening * 0.75)
    assert model.next_probabilities(b)[0] == pytest.approx(0.5 + 0.5 * kind)


def test_the_perplexity_of_a_vocabulary_of_three_words_by_hand() -> None:
    model = fit_ngram(["a b", "a c"], order=2)
    p_a = 0.5 + 0.5 * (2 + 0.3 / 13) / 2.1 * 0.75
    p_b = 0.25 + 0.5 * 2.03 / 4.1 * 5 / 12
    whole = model.score([Passage("a b")], first="bos")
    np.testing.assert_allclose(np.exp(whole.log_probability), [p_a, p_b])
    assert math.exp(-whole.log_probability.mean()) == pytest.approx((p_a * p_b) ** -0.5)
    part = model.score([Passage("a b")])
    np.testing.assert_allclose(np.exp(part.log_probability), [p_b])
    np.testing.assert_allclose(
        np.exp(model.score([Passage(" b", prompt="a")]).log_probability), [p_b]
    )


def test_a_trigram_interpolates_with_bigrams_of_tokens_before() -> None:
    model = fit_ngram(["a b a b", "c b"], order=3)
    tokens = model.tokenise("a b")
    bigram = model.next_probabilities(int(tokens[1]))
    trigram = model.next_probabilities(model.context_after(tokens))
    # "a b" is followed by " a", once: (1 − .5) / 1 and γ = .5
    np.testing.assert_allclose(trigram[0], 0.5 * bigram[0])
    after = model.vocabulary[" a"]
    np.testing.assert_allclose(trigram[after], 0.5 + 0.5 * bigram[after])
    # " b" is followed by the end behind " a" and "c", two tokens, and by " a" behind "a", one: of
    # 3 and with discounts of 1 and .5, γ = .5
    kinds, unigram = model.tables.kinds[1], model.tables.unigram
    np.testing.assert_allclose(bigram[0], 1 / 3 + 0.5 * kinds[END])
    np.testing.assert_allclose(bigram[after], 0.5 / 3 + 0.5 * kinds[SPACED_WORD] * unigram[after])


def plain_kneser_ney(model: NGramModel, texts: list[str], history: list[int]) -> np.ndarray:
    """The probabilities of the next token, written down plainly over dictionaries of tuples."""
    order, begin, tables = model.order, model.begin, model.tables
    sequences = [[begin, *model.tokenise(text).tolist(), 0] for text in texts]
    raw = [
        Counter(
            tuple(tokens[place : place + n])
            for tokens in sequences
            for place in range(len(tokens) - n + 1)
        )
        for n in range(1, order + 1)
    ]
    adjusted = []
    for n in range(1, order + 1):
        if n == order:
            adjusted.append(dict(raw[n - 1]))
            continue
        before = Counter(longer[1:] for longer in raw[n])
        adjusted.append({g: raw[n - 1][g] if g[0] == begin else before[g] for g in raw[n - 1]})
    discounts = [_discounts(np.array(list(adjusted[n].values()))) for n in range(1, order)]

    def unigram(token: int) -> float:
        own = {g[0]: a for g, a in adjusted[0].items() if g[0] not in (0, begin)}
        discount = _discounts(np.array(list(own.values())))
        same = {w: a for w, a in own.items() if tables.kind[w] == tables.kind[token]}
        total = sum(same.values())
        gamma = sum(discount[min(a, 3)] for a in same.values()) / total if same else 1
        count = own.get(token, 0)
        seen = (count - discount[min(count, 3)]) / total if count else 0
        return float(seen + gamma / (len(same) + 1)) if token else 1.0

    def probability(context: tuple[int, ...], token: int) -> float:
        if not context:
            form, kind = tables.form[history[-1]], tables.kind[token]
            return float(tables.kinds[form, kind]) * unigram(token)
        grams = {g: a for g, a in adjusted[len(context)].items() if g[:-1] == context}
        lower = probability(context[1:], token)
        if not grams:
            return lower
        discount, total = discounts[len(context) - 1], sum(grams.values())
        gamma = sum(discount[min(a, 3)] for a in grams.values()) / total
        count = grams.get((*context, token), 0)
        return (count - discount[min(count, 3)]) / total + gamma * lower

    context = tuple(history[-(order - 1) :]) if order > 1 else ()
    return np.array([probability(context, token) for token in range(len(tables.kind))])


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_the_tables_equal_a_plain_kneser_ney(order: int) -> None:
    rng = np.random.default_rng(order)
    texts = [
        " ".join(rng.choice(["a", "b", "c,", "(d)", "e"], rng.integers(0, 9))) for _ in range(40)
    ]
    model = fit_ngram(texts, order=order)
    for history in (texts[3], texts[7][:5], "a b zz a", "e e e e e e", "(", ""):
        tokens = model.tokenise(history)
        expected = plain_kneser_ney(model, texts, [model.begin, *tokens.tolist()])
        found = model.next_probabilities(model.context_after(tokens))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert expected.sum() == pytest.approx(1)


def test_discounts_of_chen_and_goodman_by_hand() -> None:
    counts = np.repeat([1, 2, 3, 4], [10, 5, 3, 2])
    np.testing.assert_allclose(_discounts(counts), [0, 0.5, 1.1, 3 - 4 * 0.5 * 2 / 3])
    np.testing.assert_allclose(_discounts(np.array([1, 1, 2])), [0, 0.5, 1, 1.5])


# Laws


WORDS = ["a", "b", "ccc", "é", "don't", "(x)", "1,5", "日本語", "-", '"', "\n"]


@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=6
    ),
    order=st.integers(1, 5),
    prompt=st.lists(st.sampled_from([*WORDS, "zz", "?"]), max_size=4).map(" ".join),
)
def test_probabilities_sum_to_one(texts: list[str], order: int, prompt: str) -> None:
    model = fit_ngram(texts, order=order)
    contexts = {model.context_after(model.tokenise(text)) for text in [*texts, prompt]}
    contexts |= {int(c) for c in range(len(model.tables.back))}
    for context in contexts:
        p = model.next_probabilities(context)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1, abs=1e-12)
    scores = model.score([Passage(prompt), *map(Passage, texts)], first="bos")
    assert np.isfinite(scores.log_probability).all()
    assert (scores.log_probability <= 0).all()


@given(st.text())
@settings(max_examples=30)
def test_tokens_end_to_end_are_the_text(text: str) -> None:
    model = fit_ngram([text])
    assert "".join(split(text)) == text.rstrip()
    assert model.detokenise(model.tokenise(text).tolist()) == text.rstrip()


def test_scores_are_the_probabilities_of_the_definition(news: NGramModel) -> None:
    text = "The bank said that wombats fell (again), on Tuesday."
    tokens = news.tokenise(text)
    expected = [
        news.next_probabilities(news.context_after(tokens[:place]))[token]
        for place, token in enumerate(tokens)
    ]
    scores = news.score([Passage(text)], first="bos")
    np.testing.assert_array_equal(scores.log_probability, np.log(expected))
    cut = next(place for place in range(len(text)) if text[place:].startswith(" fell"))
    late = news.score([Passage(text[cut:], prompt=text[:cut])], first="bos")
    np.testing.assert_array_equal(late.log_probability, np.log(expected[5:]))
    assert scores.vocabulary == len(news.next_probabilities(0))


def test_counts_of_scored_tokens(news: NGramModel) -> None:
    passages = [
        Passage(""),
        Passage("Word"),
        Passage("   "),
        Passage("two words"),
        Passage("", prompt="the bank"),
        Passage("bank", prompt="the "),
        Passage("nk said", prompt="the ba"),
    ]
    assert news.score(passages).tokens.tolist() == [0, 0, 0, 1, 0, 1, 2]
    assert news.score(passages).unscored.tolist() == [0, 4, 0, 3, 0, 0, 0]
    assert news.score(passages, first="bos").unscored.tolist() == [0] * 7
    assert news.score(passages, first="bos").tokens.tolist() == [0, 1, 0, 2, 0, 1, 2]
    assert len(news.score([])) == 0
    joined = news.score([Passage("bank", prompt="the ")]).log_probability
    np.testing.assert_array_equal(joined, news.score([Passage("the bank")]).log_probability)


def test_unknown_words_share_what_was_never_seen(news: NGramModel) -> None:
    seen, unseen = (
        news.score([Passage(f"The bank said {word}")]).log_probability[-1]
        for word in ("on", "wombat")
    )
    assert seen > unseen > -20
    other = news.score([Passage("The bank said quokka")]).log_probability[-1]
    assert other == unseen
    double = news.score([Passage("The bank said  on")]).log_probability[-1]
    assert double == seen  # known but for the number of spaces


def test_fitting_does_not_depend_on_the_order_of_texts(news: NGramModel) -> None:
    turned = fit_ngram(NEWS[::-1])
    texts = [Passage(text) for text in [*NEWS, "Oil said wombats."]]
    np.testing.assert_allclose(
        news.score(texts).log_probability, turned.score(texts).log_probability, rtol=1e-12
    )
    assert news.revision != turned.revision
    assert news.revision == fit_ngram(NEWS).revision
    assert news.signature == {
        "model": "ngram:order=3",
        "revision": news.revision,
        "dtype": "float64",
    }


def test_higher_orders_fit_better_where_they_were_fitted() -> None:
    texts = many_words(40, 60)
    fits = [
        fit_ngram(texts, order=order).score([*map(Passage, texts)]).log_probability.mean()
        for order in range(1, 6)
    ]
    assert fits == sorted(fits)


# Sampling against its definition

DECODINGS = [
    "ancestral",
    "greedy",
    "temperature=0.5",
    "temperature=1.7",
    "temperature=0.01",
    "top_k=1",
    "top_k=5",
    "top_k=100",
    "top_k=100000",
    "top_p=0.1",
    "top_p=0.5",
    "top_p=0.9",
    "top_p=1",
    "min_p=0.01",
    "min_p=0.3",
    "typical=0.2",
    "typical=0.9",
    "epsilon=0.002",
    "epsilon=0.9",
    "eta=0.002",
    "eta=0.3",
    "top_h=0.3",
    "top_h=0.8",
    "top_h=1",
    "temperature=0.7,top_p=0.9",
    "top_p=0.95,typical=0.8,top_k=120",
    "typical=0.8,top_k=7,min_p=0.1",
    "temperature=1.3,eta=0.004,top_p=0.8",
    "no_repeat_ngram=2,top_k=30",
    "repetition_penalty=1.3,top_p=0.9",
]


BY_SUMS = [text for text in DECODINGS if _by_sums(Decoding.parse(text))]
"""Those that are not drawn by the definition itself."""


@pytest.mark.parametrize("decoding", DECODINGS)
def test_decoded_probabilities_equal_the_definition(
    decoding: str, news: NGramModel, wide: NGramModel
) -> None:
    parsed = Decoding.parse(decoding)
    for model, text in ((news, "The bank said that wombats fell."), (wide, "w0 w3 w390 w1 zz w7.")):
        scores = model.score([Passage(text)], first="bos", decoding=parsed)
        tokens = model.tokenise(text)
        for place, token in enumerate(tokens):
            context = model.context_after(tokens[:place])
            p = model.next_probabilities(context)[: model.known + 1]
            expected = truncated(p, parsed, history=tokens[:place])
            theirs = expected[token] if token <= model.known else 0
            assert scores.decoded is not None
            assert scores.squares is not None
            assert scores.decoded[place] == pytest.approx(theirs, rel=1e-9, abs=1e-12)
            assert scores.squares[place] == pytest.approx((expected**2).sum(), rel=1e-9)


@pytest.mark.parametrize("decoding", BY_SUMS)
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_kept_sets_equal_the_definition(decoding: str, order: int) -> None:
    """Every token after every kind of context, ties at the border included."""
    parsed = Decoding.parse(decoding)
    for texts in (NEWS, many_words(400, 60), ["a b", "c d e"]):
        model = fit_ngram(texts, order=order)
        weights = weigh(model.tables, model.known, parsed.temperature)
        memory = remember(model.tables, weights)
        every = np.arange(model.known + 1)
        for text in (texts[0][:20], texts[-1][:20], "", "zzz", texts[0] + " w0 zzz"):
            context = model.context_after(model.tokenise(text))
            decoded, squares = read_decoded(
                model.tables, weights, memory, *_rules(parsed), np.full(len(every), context), every
            )
            expected = truncated(model.next_probabilities(context)[: model.known + 1], parsed)
            np.testing.assert_array_equal(np.flatnonzero(decoded), np.flatnonzero(expected))
            np.testing.assert_allclose(decoded, expected, rtol=1e-9)
            np.testing.assert_allclose(squares, (expected**2).sum(), rtol=1e-9)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_frequencies_equal_the_definition(
    decoding: str, news: NGramModel, wide: NGramModel
) -> None:
    parsed, draws = Decoding.parse(decoding), 3000 if decoding in BY_SUMS else 300
    if (
        parsed.temperature < 0.05
        or {"no_repeat_ngram", "repetition_penalty"} & dict(parsed.parameters).keys()
    ):
        draws = 300
    for model, prompt in ((news, "Sources said the"), (wide, "w0 w1"), (wide, "")):
        context = model.context_after(model.tokenise(prompt))
        expected = truncated(
            model.next_probabilities(context)[: model.known + 1],
            parsed,
            history=model.tokenise(prompt),
        )
        written = model.generate(
            [Request(number, prompt) for number in range(draws)], parsed, max_tokens=1, seed=5
        )
        numbers = [model.vocabulary.get(text.text, 0) for text in written]
        counts = np.bincount(numbers, minlength=len(expected))
        assert not counts[expected == 0].any()
        common = expected * draws >= 5
        observed = np.append(counts[common], counts[~common].sum())
        rest = np.append(expected[common], expected[~common].sum()) * draws
        observed, rest = observed[rest > 1e-6], rest[rest > 1e-6]
        if len(rest) > 1:
            assert chisquare(observed, rest * observed.sum() / rest.sum()).pvalue > 1e-5


def test_a_sample_depends_on_its_number_alone(news: NGramModel) -> None:
    decoding = Decoding.parse("top_p=0.95")
    requests = [Request(number, "The bank" if number % 3 else "") for number in range(40)]
    settings = {"max_tokens": 600, "seed": 2}
    whole = {t.id: vars(t) for t in news.generate(requests, decoding, **settings)}
    turned = {t.id: vars(t) for t in news.generate(requests[::-1], decoding, **settings)}
    alone = {
        request.id: vars(text)
        for request in requests[::7]
        for text in news.generate([request], decoding, **settings)
    }
    assert whole == turned
    assert alone == {number: whole[number] for number in alone}
    short = next(iter(news.generate([requests[1]], decoding, max_tokens=3, seed=2)))
    assert whole[1]["text"].startswith(short.text)
    other = {t.id: vars(t) for t in news.generate(requests, decoding, max_tokens=600, seed=3)}
    assert sum(whole[number]["text"] != other[number]["text"] for number in whole) > 20


def test_texts_of_more_than_one_block(news: NGramModel) -> None:
    (text,) = news.generate([Request(0)], Decoding.parse("greedy"), max_tokens=3, seed=0)
    assert text.tokens == 3
    assert text.finish_reason == "length"
    looped = fit_ngram(["go " * 5000], order=2)
    (text,) = looped.generate([Request(0)], Decoding.parse("greedy"), max_tokens=700, seed=0)
    assert (text.tokens, text.finish_reason) == (700, "length")
    assert text.text == "go" + " go" * 699


def test_texts_come_out_as_people_write_them(news: NGramModel) -> None:
    texts = generated(news, "ancestral", 300)
    joined = "\n".join(texts)
    marks = sum(joined.count(mark) for mark in ",.;)(")
    artefacts = (" ,", " .", "  ", "( ", " )", " ;", "\n ")
    assert sum(joined.count(artefact) for artefact in artefacts) < 0.01 * marks
    assert " (" in joined
    assert "didn't" in joined
    known = {piece.strip() for piece in news.vocabulary}
    assert all(piece.strip() in known for text in texts for piece in split(text))


def test_a_prompt_is_continued(news: NGramModel) -> None:
    (text,) = news.generate(
        [Request(0, "The bank ")], Decoding.parse("greedy"), max_tokens=2, seed=0
    )
    assert text.text == "said on"
    assert text.prompt_tokens == 3
    (text,) = news.generate(
        [Request(0, "The bank")], Decoding.parse("greedy"), max_tokens=2, seed=0
    )
    assert text.text == " said on"


def test_the_end_counts_as_a_token_and_is_not_written() -> None:
    model = fit_ngram(["go"] * 50)
    (text,) = model.generate([Request(3)], Decoding.parse("greedy"), max_tokens=9, seed=0)
    assert (text.id, text.text, text.tokens, text.finish_reason) == (3, "go", 2, "stop")


def test_beam_search_over_the_model(news: NGramModel) -> None:
    (beam,) = news.generate([Request(0)], Decoding.parse("beam=4"), max_tokens=12, seed=0)
    (greedy,) = news.generate([Request(0)], Decoding.parse("greedy"), max_tokens=12, seed=0)

    def likelihood(text: str) -> float:
        return float(news.score([Passage(text)], first="bos").log_probability.mean())

    assert likelihood(beam.text) > -2
    assert likelihood(beam.text) >= likelihood(greedy.text)
    (once,) = news.generate(
        [Request(0)], Decoding.parse("beam=3,no_repeat_ngram=1"), max_tokens=20, seed=0
    )
    words = split(once.text)
    assert len(set(words)) == len(words)


BEAMS = [
    "beam=2",
    "beam=4",
    "beam=4,no_repeat_ngram=3",
    "beam=3,no_repeat_ngram=1",
    "beam=5,length_penalty=0",
    "beam=4,repetition_penalty=1.3",
    "beam=2,repetition_penalty=1.2,no_repeat_ngram=2",
    "beam=40",
]


@pytest.mark.parametrize("written", BEAMS)
@pytest.mark.parametrize("order", [1, 3, 5])
def test_beams_find_what_listing_the_whole_vocabulary_finds(written: str, order: int) -> None:
    """The search that asks for every token's probability, on texts full of equal counts."""
    model = fit_ngram([*NEWS, *many_words(90, 60, seed=order)], order=order)
    decoding = Decoding.parse(written)

    def every_token(histories: Sequence[Sequence[int]]) -> Floats:
        contexts = [model.context_after(np.asarray(history, np.int64)) for history in histories]
        rows = next_probabilities(model.tables, np.array(contexts, np.int64))
        with np.errstate(divide="ignore"):
            return np.log(rows[:, : model.known + 1])

    no_repeat = decoding.get("no_repeat_ngram")
    prompts = ("", "The bank said w1", "nobody knew", "", "On Monday")
    requests = [Request(number, prompt=prompt) for number, prompt in enumerate(prompts)]
    texts = list(model.generate(requests, decoding, max_tokens=14, seed=0))
    for prompt, text in zip(prompts, texts, strict=True):
        expected = beam_search(
            every_token,
            model.tokenise(prompt).tolist(),
            beams=int(decoding.get("beam")),
            max_tokens=14,
            end=0,
            length_penalty=float(decoding.get("length_penalty", 1.0)),
            no_repeat_ngram=None if no_repeat is None else int(no_repeat),
            repetition_penalty=decoding.get("repetition_penalty"),
        )
        assert text.text == model.detokenise(expected.tokens)
        assert text.tokens == len(expected.tokens)


def test_adversarial_texts_have_the_perplexity_that_is_asked_for(wide: NGramModel) -> None:
    decoding = Decoding.parse("adversarial=60")
    texts = list(
        wide.generate([Request(number) for number in range(5)], decoding, max_tokens=40, seed=0)
    )
    scores = wide.score([Passage(text.text) for text in texts], first="bos")
    assert [text.tokens for text in texts] == [40] * 5
    assert scores.tokens.tolist() == [40] * 5
    perplexities = np.exp(-sums_by_text(scores.log_probability, scores.starts) / 40)
    np.testing.assert_allclose(perplexities, 60, rtol=0.02)
    assert len({text.text for text in texts}) == 5


# Bad input, odd input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("order=7", "order of the n-gram model .*from 1 to 5.* '7'"),
        ("order=0", "found '0'"),
        ("order=two", "found 'two'"),
        ("order", "found ''"),
        ("order=2,order=3", "gives order twice"),
        ("ordr=3", "unknown option of the n-gram model 'ordr'.*'order'"),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_ngram_options(text)


def test_options() -> None:
    assert read_ngram_options("") == {}
    assert read_ngram_options(" order = 5 ") == {"order": 5}


@pytest.mark.parametrize("order", [0, 6, 2.5, True, "3"])
def test_wrong_orders(order: Any) -> None:
    with pytest.raises(InputError, match="whole number from 1 to 5; found"):
        fit_ngram(["a"], order=order)


def test_wrong_requests(news: NGramModel) -> None:
    def ask(decoding: str = "ancestral", tokens: Any = 5, **request: Any) -> None:
        news.generate([Request(0, **request)], Decoding.parse(decoding), max_tokens=tokens, seed=0)

    with pytest.raises(InputError, match=r"hidden states.*contrastive"):
        ask("contrastive=0.6,top_k=4")
    with pytest.raises(InputError, match=r"adversarial .*perplexity"):
        ask("adversarial")
    with pytest.raises(InputError, match=r"max_tokens .*at least 1"):
        ask(tokens=0)
    with pytest.raises(InputError, match="takes no conversation"):
        ask(messages=({"role": "user", "content": "Write."},))
    with pytest.raises(InputError, match=r"first .*'skip' or 'bos'.*'eos'"):
        news.score([Passage("a")], first="eos")
    with pytest.raises(InputError, match="draws no token"):
        news.score([Passage("a b")], decoding=Decoding.parse("beam=2"))
    with pytest.raises(InputError, match="texts must hold at least one text"):
        fit_ngram([])
    with pytest.raises(InputError, match="row 2 is None"):
        fit_ngram(["a", None])  # type: ignore[list-item]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "texts",
    [
        [""],
        ["", "  \n "],
        ["word"],
        ["word", "other", ""],
        ["один два три", "日本語を書く。", "สวัสดีครับ", "हिन्दी में", "👩‍👩‍👧 ok", "\ud800 x"],
        ["a\tb\n\nc  d"],
    ],
    ids=["empty", "blank", "word", "words", "scripts", "spaces"],
)
def test_odd_texts(texts: list[str], order: int) -> None:
    model = fit_ngram(texts, order=order)
    for decoding in (
        "ancestral",
        "temperature=0.3",
        "top_p=0.5",
        "greedy",
        "typical=0.5",
        "beam=2",
    ):
        for text in model.generate(
            [Request(number) for number in range(9)],
            Decoding.parse(decoding),
            max_tokens=20,
            seed=0,
        ):
            assert 1 <= text.tokens <= 20
    scores = model.score([*map(Passage, texts), Passage("new words 新")], first="bos")
    assert np.isfinite(scores.log_probability).all()
    if not model.known:
        with pytest.raises(InputError, match="empty texts"):
            model.generate([Request(0)], Decoding.parse("adversarial=5"), max_tokens=3, seed=0)


def test_words_of_scripts_without_spaces_are_their_characters() -> None:
    assert split("日本語 ok") == ["日", "本", "語", " ok"]
    assert split("हिन्दी में") == ["हिन्दी", " में"]
    assert "".join(split("สวัสดี")) == "สวัสดี"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("データを使う。", ["データ", "を", "使", "う", "。"]),
        ("ไปเดิน แล้ว", ["ไป", "เดิ", "น", " แล้", "ว"]),
        ("ខ្មែរ", ["ខ្មែ", "រ"]),
        ("မြန်မာ", ["မြန်", "မာ"]),
        ("ok👍🏽 👨‍👩‍👧🇩🇪", ["ok", "👍🏽", " 👨‍👩‍👧", "🇩🇪"]),
    ],
)
def test_pieces_of_many_scripts(text: str, pieces: list[str]) -> None:
    assert split(text) == pieces


@pytest.mark.parametrize("text", ["春眠不覚暁処処聞啼鳥", "ฉันไปโรงเรียนทุกวัน", "ខ្ញុំទៅសាលារៀន"])
def test_no_space_is_written_where_the_script_has_none(text: str) -> None:
    model = fit_ngram([text[place:] + text[:place] for place in range(0, len(text), 2)], order=3)
    requests = [Request(number) for number in range(20)]
    decoding = Decoding.parse("ancestral")
    for completion in model.generate(requests, decoding, max_tokens=40, seed=0):
        assert completion.text
        assert " " not in completion.text
        assert set(completion.text) <= set(text)


@pytest.mark.slow
def test_long_texts() -> None:
    text = " ".join(f"w{number % 997}" for number in range(100_000))
    model = fit_ngram([text, "x" * 100_000, " " * 100_000 + "y"])
    assert model.score([Passage(text)]).tokens.tolist() == [99_999]
    (written,) = model.generate(
        [Request(0)], Decoding.parse("top_p=0.9"), max_tokens=50_000, seed=0
    )
    assert written.tokens <= 50_000


def test_equal_texts_whatever_the_threads(news: NGramModel, monkeypatch: Any) -> None:
    texts = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        texts.append(generated(news, "top_k=7,temperature=0.8", 200))
    assert texts[0] == texts[1]


def test_contexts_of_all_orders_are_followed() -> None:
    model = fit_ngram(many_words(5, 80), order=4)
    for words in product(("w0", " w1", " w2"), (" w0", " w3"), (" w1", " w4"), (" w2",)):
        tokens = model.tokenise("".join(words))
        longest = model.context_after(tokens)
        chain = []
        while longest >= 0:
            chain.append(longest)
            longest = int(model.tables.shorter[longest])
        assert chain[-1] == tokens[-1]


@pytest.mark.parametrize("decoding", ["no_repeat_ngram=2", "beam=2,no_repeat_ngram=2"])
def test_words_of_a_prompt_that_no_text_can_hold_are_never_banned(decoding: str) -> None:
    model = fit_ngram(["the cat sat on the mat", "a dog sat on the log"], order=2)
    prompt = Request(0, "zebra zebra zebra")  # the third one repeats a pair of unknown words
    (found,) = model.generate([prompt], Decoding.parse(decoding), max_tokens=5, seed=0)
    assert "zebra" not in found.text
    assert found.tokens <= 5
