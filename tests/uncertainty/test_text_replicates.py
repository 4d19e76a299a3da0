"""The spread of text statistics: every replicate against measuring the other blocks anew."""

from __future__ import annotations

import random

import numpy as np
import pytest

from calipers.catalogue.choosing import find_text
from calipers.catalogue.texts import TEXT_METRICS
from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks
from calipers.text import compression, vendi
from calipers.text.bleu_sentences import against_all, draw
from calipers.text.measuring import score_of
from calipers.text.scoring import TextPair
from calipers.text.tokens import tokenise
from calipers.uncertainty.differences import differences
from calipers.uncertainty.spread import Component
from calipers.uncertainty.text_replicates import TextSpreads
from extras import need

N, M, SEED = 90, 70, 3
WORDS = [f"w{rank}" for rank in range(40)]

OWN = (
    "mean_length", "mean_length:words", "median_length", "length_spread", "vocabulary_size",
    "zipf_coefficient", "zipf_coefficient:top=7", "distinct", "distinct:n=3", "distinct:n=2:sample",
    "expectation_adjusted_distinct:n=2:vocabulary=300", "moving_average_ttr:window=5", "self_bleu",
    "self_bleu:n=2", "compression:zstd", "repetition_frequency", "rep_n:n=2", "self_repetition:n=2",
    "non_termination:limit=6", "exact_duplicates", "exact_duplicates:folded",
    "compression", "rke", "vendi", "vendi:q=inf", "vendi:q=2", "vendi:q=0",
)  # fmt: skip
AGAINST = (
    "novelty:n=2", "novelty:n=3:types", "longest_copied_span", "corpus_match_bleu",
    "corpus_match_bleu:n=2",
)  # fmt: skip
ALIGNED = ("bleu", "bleu:n=2:intl", "chrf", "chrf:words=2", "ter", "rouge", "rouge:rouge2:recall")


def texts_of(n, seed, *, copies=True):
    """Texts of a few words, some of them empty, short, looped or equal to others."""
    rng = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    texts = [" ".join(rng.choices(WORDS, weights, k=rng.randint(1, 14))) for _ in range(n)]
    if copies and n > 31:
        texts[:6] = ["", "w1", "w2 w3 w2 w3", texts[20], texts[20].upper(), texts[30]]
    return texts


@pytest.fixture(scope="module")
def sets():
    made = (texts_of(N, 0), texts_of(M, 1), texts_of(30, 2))
    return tokenise(*made, tokenizer="whitespace")


def rows_without(size, block):
    return np.flatnonzero(Blocks.balanced(size, seed=SEED).labels != block)


def replicates(texts, read):
    """What `read` gives of the texts without each block."""
    values = [read(texts.take(rows_without(len(texts), b))) for b in range(DEFAULT_BLOCKS)]
    return Component.jackknife("generated", values).deviations


def value_of(choice, texts, against=None):
    return choice.metric.score(TextPair(texts, against, SEED), choice.options).value


def spread_of(key, generated, reference=None, train=None):
    choice = find_text(key)
    spreads = TextSpreads(reference, train, keep_sizes=True, seed=SEED, threads=2)
    score = score_of(choice, generated, reference, train=train, keep_sizes=True, seed=SEED)
    return choice, spreads.of(choice, generated, score)


@pytest.mark.parametrize("key", OWN)
def test_statistics_of_one_set_equal_measuring_without_each_block(key, sets):
    if key.endswith(":zstd"):
        need("pyarrow")
    choice, spread = spread_of(key, sets[0])
    (part,) = spread.components
    assert part.source == "generated"
    expected = replicates(sets[0], lambda kept: value_of(choice, kept))
    np.testing.assert_allclose(part.deviations, expected, atol=1e-12, rtol=1e-9)
    assert expected.any()


@pytest.mark.parametrize("key", AGAINST)
def test_texts_against_a_set_equal_measuring_without_each_block_of_either(key, sets):
    generated, reference, _ = sets
    choice, spread = spread_of(key, generated, reference)
    (own,), (others,) = spread.of("generated"), spread.of("reference")
    expected = replicates(generated, lambda kept: value_of(choice, kept, reference))
    np.testing.assert_allclose(own.deviations, expected, atol=1e-12, rtol=1e-9)
    expected = replicates(reference, lambda kept: value_of(choice, generated, kept))
    np.testing.assert_allclose(others.deviations, expected, atol=1e-12, rtol=1e-9)
    assert expected.any()


@pytest.mark.parametrize("key", ALIGNED)
def test_rows_equal_measuring_without_each_block_of_pairs(key):
    need("sacrebleu")
    need("rouge_score")
    references = texts_of(40, 5, copies=False)
    rng = random.Random(6)
    texts = [
        " ".join(w for w in text.split() if rng.random() < 0.8) + " w1 w2" for text in references
    ]
    generated, reference = tokenise(texts, references, tokenizer="whitespace")
    choice, spread = spread_of(key, generated, reference)
    (part,) = spread.components
    assert part.source == "both"
    kept = [rows_without(40, block) for block in range(DEFAULT_BLOCKS)]
    values = [value_of(choice, generated.take(rows), reference.take(rows)) for rows in kept]
    expected = Component.jackknife("both", values).deviations
    np.testing.assert_allclose(part.deviations, expected, atol=1e-10, rtol=1e-9)
    assert expected.any()


@pytest.mark.parametrize("order", [1, 4])
def test_self_bleu_of_a_drawn_sample_equals_scoring_without_each_block(order, sets):
    texts = sets[0]
    key = f"self_bleu:n={order}:sample=25:others=60"
    _, spread = spread_of(key, texts)
    drawn = draw(len(texts), sample=25, others=60, seed=SEED)
    values = []
    for block in range(DEFAULT_BLOCKS):
        keep = rows_without(len(texts), block)
        rows, pool = np.intersect1d(drawn.rows, keep), np.intersect1d(drawn.pool, keep)
        values.append(against_all(texts, rows, pool, order=order, threads=1).mean())
    expected = Component.jackknife("generated", values).deviations
    np.testing.assert_allclose(spread.components[0].deviations, expected, atol=1e-12)


def test_near_duplicates_equal_measuring_without_each_block():
    need("datasketch")
    texts = texts_of(80, 7, copies=False)
    texts[40:60] = [f"{text} w39 w38 w37" for text in texts[:20]]
    texts[:20] = [f"{text} w39 w38 w37" for text in texts[:20]]
    (corpus,) = tokenise(texts, tokenizer="whitespace")
    choice, spread = spread_of("near_duplicates:n=2", corpus)
    expected = replicates(corpus, lambda kept: value_of(choice, kept))
    np.testing.assert_allclose(spread.components[0].deviations, expected, atol=1e-12)
    assert spread.approximate


def test_near_duplicates_of_a_reference_count_both_sides(sets):
    need("datasketch")
    generated, reference, _ = sets
    own = generated.take(np.arange(30))
    mixed = tokenise(
        [*reference.texts[:20], *own.texts], list(reference.texts), tokenizer="whitespace"
    )
    choice, spread = spread_of("near_duplicates:n=2:reference", *mixed)
    expected = replicates(mixed[0], lambda kept: value_of(choice, kept, mixed[1]))
    np.testing.assert_allclose(spread.of("generated")[0].deviations, expected, atol=1e-12)
    assert spread.by_source["reference"] > 0


def test_the_standard_error_of_a_mean_is_the_classical_one():
    """Twenty texts are twenty blocks of one: sd / √n."""
    lengths = np.arange(1, 21)
    (corpus,) = tokenise(["w " * length for length in lengths], tokenizer="whitespace")
    _, spread = spread_of("mean_length", corpus)
    assert spread.standard_error == pytest.approx(lengths.std(ddof=1) / np.sqrt(20))
    assert spread.freedom == 19
    assert not spread.approximate


def test_a_training_set_is_no_sample(sets):
    generated, reference, train = sets
    for key in ("novelty:n=2:train", "longest_copied_span:train"):
        _, spread = spread_of(key, generated, reference, train)
        assert set(spread.by_source) == {"generated"}


def test_every_metric_of_the_catalogue_has_replicates_or_is_measured_on_parts():
    by_parts = {*(name for name in TEXT_METRICS if name.startswith("string_"))}
    on_parts = {name for name, metric in TEXT_METRICS.items() if metric.replicates == "parts"}
    assert on_parts == by_parts


def test_gaps_move_with_both_sets_and_keep_the_sign(sets):
    generated, reference, _ = sets
    choice = find_text("mean_length")
    spreads = TextSpreads(reference, keep_sizes=True, seed=SEED)
    score = score_of(choice, generated, reference, keep_sizes=True)
    own, known = spreads.of(choice, generated, score), spreads.of_reference(choice)
    gap = spreads.of_gap(choice, generated, score, own)
    assert gap.variance == pytest.approx(own.variance + known.variance)
    sign = np.sign(score.value - score.reference)
    moved = {part.source: part.deviations for part in gap.components}
    np.testing.assert_allclose(moved["generated"], sign * own.components[0].deviations)
    np.testing.assert_allclose(moved["reference"], -sign * known.components[0].deviations)


def test_the_larger_set_is_cut_as_for_the_score():
    a, b = tokenise(texts_of(120, 8), texts_of(60, 9), tokenizer="whitespace")
    spreads = TextSpreads(b, seed=SEED)
    for key in ("vocabulary_size", "self_repetition:n=2", "exact_duplicates", "mean_length"):
        choice = find_text(key)
        score = score_of(choice, a, b, seed=SEED)
        own = spreads.of(choice, a, score)
        cut = a if not choice.sized else a.take(sorted(_kept(a, 60)))
        expected = replicates(cut, lambda kept, choice=choice: value_of(choice, kept))
        np.testing.assert_allclose(own.components[0].deviations, expected, atol=1e-12)
        assert spreads.of_gap(choice, a, score, own) is not None


def _kept(corpus, size):
    from calipers.numeric.subsample import subsample_rows

    return subsample_rows(len(corpus), size, seed=SEED)


def test_what_both_systems_have_in_common_cancels(sets):
    """The same texts twice, paired: no difference, and nothing that moves it."""
    _, spread = spread_of("self_bleu", sets[0])
    values, spreads = [{"self_bleu": 0.4}] * 2, [{"self_bleu": spread}] * 2
    (found,) = differences(values, spreads, prompts=[0, 0], draws=99)
    assert found.standard_error == 0
    assert found.adjusted_p_value == 1


def test_threads_and_order_of_asking_move_nothing(sets):
    generated, reference, _ = sets
    choice = find_text("self_bleu")
    score = score_of(choice, generated, reference, keep_sizes=True)
    found = [
        TextSpreads(reference, seed=SEED, keep_sizes=True, threads=threads).of(
            choice, generated, score
        )
        for threads in (1, 4)
    ]
    np.testing.assert_array_equal(
        found[0].components[0].deviations, found[1].components[0].deviations
    )


@pytest.mark.parametrize(
    ("key", "size"),
    [
        ("mean_length", 19),
        ("longest_copied_span:largest", 60),
        ("self_bleu:pairwise:others=30", 60),
        ("moving_average_ttr:window=500", 60),
        ("self_bleu", 1),
    ],
)
def test_what_is_not_known_is_left_out(key, size, sets):
    generated, reference, _ = sets
    assert spread_of(key, generated.take(np.arange(size)), reference)[1] is None


def test_a_value_that_a_block_alone_holds_has_no_spread():
    texts = ["w1 w2 w3 w4 w5 w6", *["w1"] * 39]
    (corpus,) = tokenise(texts, tokenizer="whitespace")
    assert spread_of("rep_n:n=3", corpus)[1] is None


def test_nothing_moves_where_all_texts_are_equal():
    (corpus,) = tokenise(["w1 w2 w3 w4 w5"] * 40, tokenizer="whitespace")
    for key in ("mean_length", "self_bleu", "vocabulary_size", "self_repetition", "compression"):
        assert spread_of(key, corpus)[1].standard_error == 0


def test_parts_are_approximate_and_of_a_sensible_size():
    choice = find_text("self_bleu:n=2:pairwise")
    worlds = [tokenise(texts_of(300, seed), tokenizer="whitespace")[0] for seed in range(10, 30)]
    spreads = [spread_of(choice.key, world)[1] for world in worlds[:5]]
    assert spreads[0].approximate
    error = np.sqrt(np.mean([spread.variance for spread in spreads]))
    values = [value_of(choice, world) for world in worlds]
    assert error == pytest.approx(np.std(values, ddof=1), rel=0.5)


def test_neighbour_scores_move_with_parts_of_both_sets():
    generated, reference = tokenise(texts_of(150, 1), texts_of(130, 2), tokenizer="whitespace")
    _, spread = spread_of("string_density", generated, reference)
    (part,) = spread.components
    assert (part.source, len(part.deviations), spread.approximate) == ("both", 5, True)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["vendi", "vendi:q=3", "vendi:q=inf"])
def test_vendi_to_first_order_is_close_to_finding_all_eigenvalues_anew(key, monkeypatch):
    (corpus,) = tokenise(texts_of(400, 10), tokenizer="whitespace")
    _, exact = spread_of(key, corpus)
    monkeypatch.setattr(vendi, "FEW_ANEW", 0)
    _, near = spread_of(key, corpus)
    first, second = (spread.components[0].deviations for spread in (exact, near))
    assert np.corrcoef(first, second)[0, 1] > 0.9
    assert near.standard_error == pytest.approx(exact.standard_error, rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_bytes_that_blocks_add_tell_how_much_fresh_texts_differ(codec, monkeypatch):
    key = "compression" if codec == "gzip" else "compression:zstd"
    choice = find_text(key)
    worlds = [tokenise(texts_of(3000, seed), tokenizer="whitespace")[0] for seed in range(30, 60)]
    monkeypatch.setattr(compression, "LITTLE", {"gzip": 0, "zstd": 0})
    spreads = [spread_of(key, world)[1] for world in worlds[:8]]
    assert not spreads[0].approximate
    error = np.sqrt(np.mean([spread.variance for spread in spreads]))
    values = [value_of(choice, world) for world in worlds]
    assert error == pytest.approx(np.std(values, ddof=1), rel=0.45)
