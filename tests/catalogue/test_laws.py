"""The catalogue drives the laws: what it says of a metric holds for the metric's scores."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from calipers.catalogue.choosing import (
    Choice,
    check_extras,
    choose,
    choose_likelihood,
    choose_text,
    find,
    find_likelihood,
    find_text,
)
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import DEFAULTS, DIVERGENCE, ESTIMATORS, EstimationOptions
from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, LIKELIHOODS
from calipers.catalogue.metric import resolve
from calipers.catalogue.needs import Needs
from calipers.catalogue.settings import Settings
from calipers.catalogue.texts import TEXT_METRICS
from calipers.errors import MissingExtraError
from calipers.language_model.likelihood import InContext, ScoredCorpus
from calipers.language_model.model import TokenScores
from calipers.metrics.pair import Pair
from calipers.text.measuring import score_of
from calipers.text.tokens import tokenise
from calipers.uncertainty.text_replicates import TextSpreads
from extras import missing_package, need

SETTINGS = Settings(k=3, buckets=12, restarts=2, threads=1)
# One key for every word of every option, and two together
KEYS = [
    *METRICS,
    *(f"mauve:{word}" for word in DIVERGENCE.forms if word != "kl"),
    *(f"frontier_integral:{word}" for word in (*ESTIMATORS[1:], "laplace", "good-turing")),
    *(f"divergence:{word}" for word in ("total_variation", "chi2:kde", "jensen_shannon:knn")),
    *(f"midpoint:{word}" for word in ("chi2", "le_cam:gaussian", "braess-sauer")),
    *(f"{metric}:kde" for metric in ("prd_f8", "prd_f1_8", "total_variation", "max_recall")),
    *(
        f"prd_f8:{word}"
        for word in ("support", "coverage", "support:held_out", "coverage:held_out")
    ),
    *(f"renyi_area:{word}" for word in ("order=2", "order=inf", "inclusive", "knn:order=0.5")),
    "renyi_f8:classifier:order=2:inclusive",
    *(f"prd_area:{word}:held_out" for word in ("knn", "kde", "classifier")),
    *("max_precision:support", "max_recall:coverage:held_out", "total_variation:knn:held_out"),
    "frontier_f8:chi2:classifier",
    "divergence_star:reverse_kl",
]
UNDEFINED = {
    "mauve:reverse_kl": "the frontier of reverse_kl is infinite",
    "max_recall:kde": "mass everywhere",
}
"""Scores that the two sets below leave without a value, and what is said of them."""

INFINITE = {"divergence": "kl is infinite"}


def needed(choice, *, equal_sizes=False):
    """Skip where a metric needs a package that is not installed."""
    try:
        check_extras([replace(choice, named=True)], equal_sizes=equal_sizes)
    except MissingExtraError as error:
        need(missing_package(error))


every = pytest.mark.parametrize("key", KEYS)
SMALL = ["ot_quantised", "mauve_ot"]


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(3)
    near = rng.standard_normal((140, 8))
    return Pair(near, rng.standard_normal((120, 8)) * 0.8 + 0.3, SETTINGS)


@pytest.fixture(scope="module")
def equal():
    rows = np.random.default_rng(4).standard_normal((130, 8))
    return Pair(rows, rows.copy(), SETTINGS)


@pytest.fixture(scope="module")
def apart(equal):
    return Pair(equal.reference, equal.generated[::-1] * 0.9 + 3, SETTINGS)


@every
def test_a_score_is_what_the_catalogue_says(key, pair):
    choice = find(key)
    score, metric = choice.score(pair), choice.metric
    assert choice.key == choice.name == key
    assert score.signature.startswith(f"metric:{key}|")
    assert score.better == metric.better
    assert score.range == metric.range_of(choice.options)
    assert math.isfinite(score.value) == (score.reason is None)
    if not math.isnan(score.value):
        assert score.range[0] <= score.value <= score.range[1]
    for pin in ("n:140", "m:120"):
        assert pin in score.signature.split("|")


@every
def test_only_what_is_known_to_fail_has_no_value(key, pair):
    needed(find(key))
    score = find(key).score(pair)
    if key in UNDEFINED:
        assert math.isnan(score.value)
        assert UNDEFINED[key] in score.reason
    elif key in INFINITE:
        assert math.isinf(score.value)
        assert INFINITE[key] in score.reason
    else:
        assert math.isfinite(score.value)
        assert score.reason is None


@pytest.mark.parametrize("name", [name for name, m in METRICS.items() if m.equal is not None])
def test_a_set_against_itself_scores_what_the_catalogue_says(name, equal):
    needed(find(name), equal_sizes=True)
    score = METRICS[name].score(equal)
    assert score.value == pytest.approx(METRICS[name].equal, abs=1e-6)


@pytest.mark.parametrize(
    "name", [name for name, m in METRICS.items() if m.ranked and m.family != "copying"]
)
def test_a_gap_is_on_the_worse_side_of_equality(name, equal, apart):
    needed(find(name), equal_sizes=True)
    near, far = METRICS[name].score(equal), METRICS[name].score(apart)
    if name in ("precise_recall", "precise_diversity"):  # of samples within the other set: none are
        assert np.isnan(far.value)
        assert "inside the reference's support; found 0" in far.reason
        return
    if METRICS[name].better == "closest":
        assert near.gap == pytest.approx(0, abs=1e-9)
        assert far.gap > 0.01
        return
    near, far = near.value, far.value
    assert far < near if METRICS[name].better == "higher" else far > near


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.needs != Needs()])
def test_a_metric_measures_no_more_than_it_needs(name, pair):
    metric = METRICS[name]
    alone = Pair(pair.reference, pair.generated, SETTINGS, metric.needs)
    assert metric.score(alone).value == pytest.approx(metric.score(pair).value, abs=1e-9)


@pytest.mark.parametrize("name", METRICS)
def test_an_entry_is_complete(name):
    metric = METRICS[name]
    assert metric.name == name
    assert metric.family in FAMILIES
    for text in (metric.tells, metric.source, metric.blind):
        assert text == text.strip() != ""
        assert not text.endswith(".")
    assert len(metric.tells) <= 90
    assert metric.range[0] < metric.range[1]


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_takes_the_words_of_its_options_and_no_others(name):
    metric = METRICS[name]
    for axis in ("divergence", "estimator", "smoothing"):
        word = {"divergence": "chi2", "estimator": "knn", "smoothing": "laplace"}[axis]
        taken = metric.takes(axis)
        try:
            assert (find(f"{name}:{word}").options != DEFAULTS) == taken
        except ValueError:
            assert not taken


def test_families_divide_the_metrics():
    chosen = [choice for family in FAMILIES for choice in choose(family, ("v",))]
    assert sorted(choice.name for choice in chosen) == sorted(METRICS)
    assert {choice.name for choice in choose("all", ("v",))} == set(METRICS)


def test_a_failing_score_leaves_the_reason_and_the_others_alone(pair):
    few = Pair(pair.reference[:4], pair.generated[:4], Settings(k=2, threads=1))
    score = find("classifier_auc").score(few)
    assert math.isnan(score.value)
    assert score.reason
    assert score.better == "lower"
    assert math.isfinite(find("precision").score(few).value)


@pytest.mark.parametrize("key", SMALL)
def test_without_its_package_a_metric_says_which_command_brings_it(key, pair, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    assert METRICS[key].extra == "transport"
    fresh = Pair(pair.reference, pair.generated, SETTINGS)
    score = METRICS[key].score(fresh)
    assert math.isnan(score.value)
    assert "pip install 'calipers[transport]'" in score.reason
    with pytest.raises(ImportError, match=r"pip install 'calipers\[transport\]'"):
        check_extras([Choice(METRICS[key], None)])
    check_extras(choose("ot", ("v",)))


def test_the_plug_in_cost_needs_its_package_for_unequal_sizes_only(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    check_extras(choose("ot:", ("v",)), equal_sizes=True)
    with pytest.raises(ImportError, match=r"'ot' .*package 'ot'"):
        check_extras(choose("ot:", ("v",)), equal_sizes=False)


def test_metrics_that_need_no_package_do_without_it(pair, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    fresh = Pair(pair.reference, pair.generated, SETTINGS)
    for metric in METRICS.values():
        if metric.family == "ot" and metric.extra is None:
            assert math.isfinite(metric.score(fresh).value), metric.name


def test_options_change_the_value(pair):
    chosen = ["kl", "chi2", "le_cam", "interpolated_kl=0.5", "squared_hellinger"]
    values = {
        METRICS["mauve"].score(pair, EstimationOptions(divergence=word)).value for word in chosen
    }
    assert len(values) == len(chosen)


BY_DISTANCE = [
    name
    for name, metric in METRICS.items()
    if metric.family in ("support", "copying") or name == "frechet_distance"
]
BY_CELLS = [name for name, metric in METRICS.items() if metric.family in ("frontier", "prd")]
"""K-means starts from random rows, so these depend on the order of the rows."""


def turned(pair, change):
    return Pair(*(change(rows) for rows in (pair.reference, pair.generated)), SETTINGS)


def same(name, found, expected, *, rel=None, within=1e-6):
    assert found.value == pytest.approx(expected.value, abs=within, rel=rel), name


@pytest.mark.parametrize("name", [name for name in BY_DISTANCE if not name.startswith("top")])
def test_the_order_of_the_rows_moves_nothing(name, pair, rng):
    moved = Pair(rng.permutation(pair.reference), pair.generated[::-1], SETTINGS)
    within = 1e-6 if name.startswith("probabilistic") else 1e-9
    same(name, METRICS[name].score(moved), METRICS[name].score(pair), within=within)


@pytest.mark.parametrize("name", [*BY_DISTANCE, *BY_CELLS])
def test_a_rotation_moves_nothing(name, pair, rotated):
    same(name, METRICS[name].score(rotated), METRICS[name].score(pair))


@pytest.mark.parametrize("name", [*BY_DISTANCE, *BY_CELLS])
def test_the_scale_moves_only_distances(name, pair, scaled):
    for factor, larger in scaled.items():
        expected = METRICS[name].score(pair)
        if name == "frechet_distance":
            expected = replace(expected, value=expected.value * factor**2)
        same(name, METRICS[name].score(larger), expected, rel=1e-6, within=0)


@pytest.fixture(scope="module")
def rotated(pair):
    rotation, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((8, 8)))
    return turned(pair, lambda rows: rows @ rotation)


@pytest.fixture(scope="module")
def scaled(pair):
    return {
        factor: turned(pair, lambda rows, factor=factor: rows * factor) for factor in (0.125, 64.0)
    }


@pytest.mark.parametrize(
    "metric",
    [*METRICS.values(), *TEXT_METRICS.values(), *LIKELIHOODS.values()],
    ids=lambda m: f"{m.kind}.{m.name}",
)
def test_every_function_that_an_entry_names_is_there(metric):
    assert callable(resolve(metric.read))
    for name in (metric.replicates, metric.ranged):
        assert name in ("counts", "parts", "none", None) or callable(resolve(name))
    assert metric.label
    assert metric.meaning_of(())
    assert "{" not in metric.meaning_of(())
    if metric.alias_of is not None:
        assert METRICS[metric.alias_of].read == metric.read


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
MODELS = {"bert_score_precision", "bert_score_recall", "bert_score_f1", "mover_score"}
"""Those that run a model have their laws elsewhere."""

MORE = [
    "distinct",
    "distinct:n=3:sample",
    "self_bleu:n=2:pairwise",
    "compression:zstd",
    "mean_length:characters",
    "moving_average_ttr:window=5",
    "zipf_coefficient:top=5",
    "novelty:n=2:types",
    "near_duplicates:reference",
    "longest_copied_span:largest",
    "vendi:q=inf",
    "string_mauve:subsequence",
    "non_termination:limit=9",
    "rouge:rouge1:recall",
    "chrf:words=2",
    "ter",
]
TEXT_KEYS = [
    choice.key
    for choice in [
        *choose_text("all", train=True, aligned=True),
        *choose_text(MORE, train=True, aligned=True),
    ]
    if choice.metric.name not in MODELS
]


def written(seed, n=30):
    """Texts of 8 to 24 words, two of them equal, and a longer one."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(8, 25))) for _ in range(n - 2)]
    return [*texts, texts[0], " ".join(texts[1:8])]


SETS = tokenise(written(0), written(1), written(2), tokenizer="whitespace")


# Edits between unrelated texts are slow to find: once is enough while working
MORE_THAN_ONCE = [
    pytest.param(key, marks=pytest.mark.slow) if key == "ter" else key for key in TEXT_KEYS
]


def text_score(key, generated, reference=SETS[0], train=SETS[2]):
    needed(find_text(key))
    return score_of(find_text(key), generated, reference, train=train, threads=1)


@cache
def generated_score(key):
    return text_score(key, SETS[1])


@pytest.mark.parametrize("key", TEXT_KEYS)
def test_a_statistic_of_texts_lies_in_its_range_and_is_signed(key):
    found, metric = generated_score(key), find_text(key).metric
    assert found.reason is None
    assert metric.range[0] <= found.value <= metric.range[1]
    assert metric.range[0] <= found.range[0] <= found.value <= found.range[1] <= metric.range[1]
    if find_text(key).has_gap or metric.side != "own":
        assert found.better == ("closest" if find_text(key).has_gap else metric.better)
    assert found.signature.startswith("metric:")
    assert "calipers:" in found.signature
    if found.per_sample is not None:
        assert len(found.per_sample) == len(SETS[1])


@pytest.mark.parametrize("key", MORE_THAN_ONCE)
def test_a_statistic_of_texts_gives_the_same_again(key):
    first, second = generated_score(key), text_score(key, SETS[1])
    assert first.value == second.value
    assert first.reference == second.reference
    assert first.signature == second.signature


@pytest.mark.parametrize("key", MORE_THAN_ONCE)
def test_the_order_of_the_texts_moves_nothing(key):
    """Aligned metrics are held against the same references in the same new order."""
    if find_text(key).metric.ordered:
        pytest.skip("it says that the order moves it")
    turned = np.random.default_rng(5).permutation(30)
    texts, others, known = written(1), written(0), written(2)
    generated, reference, train = tokenise(
        [texts[row] for row in turned],
        [others[row] for row in turned],
        known,
        tokenizer="whitespace",
    )
    found, before = text_score(key, generated, reference, train), generated_score(key)
    assert found.value == pytest.approx(before.value, abs=1e-12)
    if before.reference is not None:
        assert found.reference == pytest.approx(before.reference, abs=1e-12)


@pytest.mark.parametrize("key", TEXT_KEYS)
def test_equal_sets_of_texts_have_no_gap(key):
    found = text_score(key, SETS[0])
    assert (found.gap is not None) == find_text(key).has_gap
    if found.gap is not None:
        assert found.gap == 0


DEGENERATE = {
    "empty": ["", "", ""],
    "one": ["a"],
    "equal": ["a", "a", "a", "a"],
    "odd": ["", "🙂 \ud800", "日本語の文", " "],
}
EVERYWHERE = (
    "corpus_match_bleu distinct:n=3:sample moving_average_ttr moving_average_ttr:window=5 "
    "near_duplicates near_duplicates:reference near_duplicates:train novelty novelty:train "
    "overused_phrases rep_n self_bleu self_repetition string_coverage string_density string_mauve "
    "string_mauve:subsequence string_precision string_recall"
)
EQUAL = (
    f"{EVERYWHERE} distinct:n=2 distinct:n=2:sample novelty:n=2:types self_bleu:n=2:pairwise "
    "zipf_coefficient zipf_coefficient:top=5"
)
WITHOUT_VALUE = {
    "empty": f"{EQUAL} bleu chrf chrf:words=2 compression compression:zstd distinct "
    "expectation_adjusted_distinct longest_copied_span longest_copied_span:largest "
    "longest_copied_span:train non_termination rouge rouge:rouge1:recall ter",
    "one": f"{EQUAL} length_spread",
    "equal": EQUAL,
    "odd": EVERYWHERE,
}
"""Statistics that need more than a degenerate set has, by the set."""


@pytest.mark.parametrize("key", TEXT_KEYS)
@pytest.mark.parametrize("kind", DEGENERATE)
def test_a_degenerate_set_of_texts_has_a_value_or_a_reason(key, kind):
    texts, others = DEGENERATE[kind], DEGENERATE[kind][::-1]
    generated, reference, train = tokenise(texts, others, others, tokenizer="whitespace")
    found = text_score(key, generated, reference, train)
    if key in WITHOUT_VALUE[kind].split():
        assert np.isnan(found.value)
        assert found.reason
    else:
        low, high = find_text(key).metric.range
        assert low <= found.value <= high
        assert found.reason is None


def test_these_are_all_statistics_of_texts():
    assert {find_text(key).metric.name for key in TEXT_KEYS} == {*TEXT_METRICS} - MODELS


# What language models say of texts ---------------------------------------------------------------

LIKELIHOOD_KEYS = [
    choice.key
    for choice in [
        *choose_likelihood("all", decoding=True, generator=True),
        *choose_likelihood(
            "conditional_surprise:texts=3,decan:texts=3,perplexity:texts,unigram_entropy:bits,"
            "epsilon_perplexity:epsilon=0.01"
        ),
    ]
]


def judged(corpus, seed, fresh=1.0):
    """A corpus whose tokens have probabilities by chance, near those of two models."""
    rng = np.random.default_rng(seed)
    logs = -rng.gamma(2, fresh, len(corpus.tokens))
    q = np.exp(-rng.gamma(2, fresh, len(logs)))
    squares = q**2 + (1 - q) ** 2 * rng.uniform(0.1, 1, len(q))
    scores = TokenScores(logs, corpus.starts, 50)
    decoder = TokenScores(np.log(q), corpus.starts, 50, q, squares)
    rows = np.arange(len(corpus))
    near = np.minimum(logs + rng.normal(0, 0.1, len(logs)), 0)
    generator = TokenScores(near, corpus.starts, 50)
    contexts = {3: InContext(rng.gamma(5, 1, len(rows)), rows // 3)}
    return ScoredCorpus(
        **vars(corpus), scores=scores, decoder=decoder, generator=generator, contexts=contexts
    )


JUDGED = [
    judged(corpus, seed, fresh)
    for corpus, seed, fresh in zip(SETS, range(3), (1, 1.2, 1), strict=True)
]


def likelihood_score(key, generated, reference=JUDGED[0]):
    return score_of(find_likelihood(key), generated, reference, threads=1)


@pytest.mark.parametrize("key", LIKELIHOOD_KEYS)
def test_a_likelihood_lies_in_its_range_and_is_signed(key):
    choice = find_likelihood(key)
    found, metric = likelihood_score(key, JUDGED[1]), choice.metric
    assert found.reason is None
    assert metric.range[0] <= found.value <= metric.range[1]
    assert found.better == ("closest" if choice.has_gap else metric.better)
    assert (found.gap is None) == (not choice.has_gap)
    assert found.signature.startswith(
        f"metric:{choice.key if not choice.has_gap else metric.name}|"
    )


@pytest.mark.parametrize("key", LIKELIHOOD_KEYS)
def test_the_order_of_texts_moves_no_likelihood(key):
    order = np.random.default_rng(5).permutation(len(JUDGED[1]))
    moved = JUDGED[1].take(order)
    found, expected = likelihood_score(key, moved), likelihood_score(key, JUDGED[1])
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    if expected.per_sample is not None:
        assert found.per_sample == pytest.approx(expected.per_sample[order])


@pytest.mark.parametrize("key", LIKELIHOOD_KEYS)
def test_replicates_of_a_likelihood_are_its_values_without_a_block(key):
    from calipers.text.replicates import MeasuredTexts

    choice = find_likelihood(key)
    if choice.metric.name in ("conditional_surprise", "decan"):
        return  # its blocks are batches
    score = likelihood_score(key, JUDGED[1])
    against = None if choice.has_gap else JUDGED[0]
    options = {option.name: choice.option(option.name) for option in choice.metric.options}
    measured = MeasuredTexts(
        JUDGED[1], against, options=options, value=score.value, per_sample=score.per_sample
    )
    replicates = resolve(choice.metric.replicates)(measured)
    rows = np.flatnonzero(measured.labels != 0)
    rest = likelihood_score(key, JUDGED[1].take(rows))
    near = 1e-3 if key == "epsilon_perplexity" else 1e-9  # whose best ε is that of all texts
    assert replicates.texts[0] == pytest.approx(rest.value, rel=near)


@pytest.mark.parametrize("key", LIKELIHOOD_KEYS)
def test_the_spread_of_a_likelihood_is_known(key):
    choice, score = find_likelihood(key), likelihood_score(key, JUDGED[1])
    spreads = TextSpreads(JUDGED[0], None, threads=1)
    spread = spreads.of(choice, JUDGED[1], score)
    assert spread is not None
    assert 0 < spread.standard_error < abs(score.value) + 1
    assert not spread.approximate
    gap = spreads.of_gap(choice, JUDGED[1], score, spread)
    assert (gap is None) == (not choice.has_gap)


def test_families_divide_the_likelihoods():
    assert {metric.family for metric in LIKELIHOODS.values()} == {*LIKELIHOOD_FAMILIES}
    found = [
        c.metric.name for f in LIKELIHOOD_FAMILIES for c in choose_likelihood(f, generator=True)
    ]
    slow = [metric.name for metric in LIKELIHOODS.values() if metric.slow]
    assert sorted([*found, *slow]) == sorted(LIKELIHOODS)
    assert not {*LIKELIHOODS} & {*TEXT_METRICS}


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_an_entry_of_a_likelihood_is_complete(name):
    metric = LIKELIHOODS[name]
    assert metric.kind == "likelihoods"
    for text in (metric.tells, metric.source, metric.blind):
        assert text == text.strip() != ""
        assert not text.endswith(".")
    assert len(metric.tells) <= 90
    assert metric.range[0] < metric.range[1]
