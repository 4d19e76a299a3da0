"""Keys of scores, of embeddings and of texts: one canonical form, and clear words for errors."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.catalogue.choosing import check_extras, choose, choose_text, find, find_text
from calipers.catalogue.describing import describe_text, is_text_name
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import (
    AXES,
    COUNTING,
    DIVERGENCE,
    ESTIMATOR,
    ESTIMATORS,
    SMOOTHING,
    EstimationOptions,
)
from calipers.catalogue.keys import split_key, split_text_key
from calipers.catalogue.likelihoods import STATISTICS
from calipers.catalogue.suggest import ALIASES, NUMBERED, check_known
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.curves.divergences import DIVERGENCES, WEIGHTED
from calipers.errors import InputError, MissingExtraError
from calipers.estimate.estimators import ESTIMATORS as MEASURED
from calipers.estimate.histograms import probabilities
from calipers.text.measuring import score_of
from calipers.text.tokens import tokenise

# Keys of scores: options in any order, one canonical form, and clear words for what is wrong.


VIEWS = ("meaning", "form")


def names(asked, **options):
    return [choice.key for choice in choose(asked, VIEWS, **options)]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("mauve:kl", "mauve"),
        ("mauve:kl:quantisation:none", "mauve"),
        ("mauve:knn:chi2", "mauve:chi2:knn"),
        ("frontier_integral:kl:knn", "frontier_integral:knn"),
        ("mauve:laplace:le_cam", "mauve:le_cam:laplace"),
        ("mauve:krichevsky-trofimov", "mauve_star"),
        ("mauve:krichevsky-trofimov:chi2", "mauve_star:chi2"),
        ("midpoint:knn:none", "midpoint:knn"),
        ("frontier_f8:krichevsky-trofimov", "frontier_f8:krichevsky-trofimov"),
        ("divergence:interpolated_kl=0.30", "divergence:interpolated_kl=0.3"),
        ("mauve_star:chi2", "mauve_star:chi2"),
        ("prd_f8:kde", "prd_f8:kde"),
        ("prd_f8:own_side:knn", "prd_f8:knn:own_side"),
        ("mauve:other_side:gaussian", "mauve:gaussian:other_side"),
        ("mauve:knn:both_sides", "mauve:knn"),
        ("ot:", "ot"),
    ],
)
def test_the_canonical_key(written, canonical):
    assert find(written).name == canonical
    assert find(canonical).name in (canonical, "ot")
    assert names([f"form.{written}"]) == [f"form.{canonical}"]


@given(
    st.permutations(["divergence", "estimator"]),
    st.sampled_from(DIVERGENCE.forms),
    st.sampled_from(ESTIMATORS),
)
def test_the_order_of_the_options_is_free(order, divergence, estimator):
    words = {"divergence": divergence, "estimator": estimator}
    written = ":".join(["midpoint", *(words[axis] for axis in order)])
    found = find(written)
    assert found.options == EstimationOptions(divergence, estimator)
    assert find(found.name) == found


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("mauve:ch2", "'mauve:ch2': .*option 'ch2'.*'chi2'"),
        ("mauve:k-nn", "did you mean 'knn'"),
        ("mauve:xyz", "option 'xyz'; known: .*boosted.*chi2.*laplace"),
        ("mauve:chi2:kl", "'mauve:chi2:kl' .*twice, 'chi2' and 'kl'"),
        ("mauve:knn:knn", "names an estimator twice"),
        ("mauve:none:laplace", "names a smoothing twice"),
        (
            "prd_f8:chi2",
            "'prd_f8' takes no divergence.*estimator.* 'prd_f8:chi2'",
        ),
        ("prd_f8:laplace", "takes no smoothing, only an estimator"),
        ("prd_f8:knn:other_side", "'prd_f8:other_side': .*points 'other_side'"),
        ("mauve:other_side", "same mean; ask for 'mauve'"),
        ("mauve_star:own_side", "averages over cells.*'mauve:own_"),
        ("mauve:knn:own_side:other_side", "names a choice of samples to average over twice"),
        ("precision:5", "metric 'precision' takes no option.* 'precision:5'$"),
        ("precision:knn", "metric 'precision' takes no option.* 'precision:knn'$"),
        ("near_copies:train", r"takes no option.* a training set \(`train`\)"),
        ("recall:group=x", r"takes no option.* a field of groups \(`group`\)"),
        ("mauve:group=x", "takes no option.* 'mauve:group=x'; a field of groups"),
        (
            "mauve:knn:laplace",
            "counts of cells, .* 'knn' .*'mauve:knn'$",
        ),
        ("mauve:kde:krichevsky-trofimov", "ask for 'mauve:kde'$"),
        ("mauve_star:knn", "'mauve_star:knn': .* counts of cells.*'mauve:knn'$"),
        ("mauve_star:chi2:kde", "ask for 'mauve:chi2:kde'$"),
        ("mauve_star:laplace", "has its own smoothing; ask for 'mauve:laplace'$"),
        ("mauve:interpolated_kl", r"\(0, 1\), as interpolated_kl=0.3"),
        ("mauve:interpolated_kl=2", "between 0 and 1.* 2"),
        ("mauve:interpolated_chi2=0", "between 0 and 1.* 0"),
        ("mauve:skew_jensen_shannon=nan", "found nan"),
        ("mauve:skew_jensen_shannon=x", "found 'skew_jensen_shannon=x'"),
        ("mauve:chi2=0.3", "takes no weight; found 'chi2=0.3'"),
        (
            "mauve:model",
            "`calipers.likelihood` measures it, with `reference`, `model` and `generator`",
        ),
        ("mauve:KL", "option 'KL'.*'kl'"),
        ("mauve::kl", "unknown option ''"),
        ("mauv:knn", "metric 'mauv'.*'mauve'"),
        ("shape.mauve:chi2", "unknown view 'shape'"),
        ("frontier:chi22", "option 'chi22'.*'chi2'"),
        ("support:knn", "takes no option"),
        (":", "unknown metric ''"),
    ],
)
def test_what_is_wrong_is_said_with_what_was_written(written, words):
    with pytest.raises(InputError, match=words):
        choose(written, VIEWS)


def test_a_view_with_a_weight_is_read_before_the_colon():
    assert split_key("form.divergence:interpolated_kl=0.3") == (
        "form",
        "divergence",
        ("interpolated_kl=0.3",),
    )
    assert names("divergence:interpolated_kl=0.3") == ["divergence:interpolated_kl=0.3"]


def test_families_views_and_options_of_families():
    assert names("copying") == ["authenticity", "near_copies"]
    assert names("form.copying") == ["form.authenticity", "form.near_copies"]
    assert names("mmd") == ["mmd", "kid", "energy_distance"]
    assert names("mmd:") == ["mmd"]
    assert names("prd:knn") == [f"{name}:knn" for name in names("prd")]
    assert names("frontier:kde") == [
        f"{name}:kde" for name in names("frontier") if not name.endswith("_star")
    ]
    assert "mauve_star:chi2" in names("frontier:chi2")
    assert names("form") == [f"form.{name}" for name in METRICS]


def test_a_key_counts_once_and_keeps_its_place():
    assert names("mauve,recall,mauve:kl,mauve:knn") == ["mauve", "recall", "mauve:knn"]
    both = choose("ot,ot_quantised", VIEWS)
    assert {choice.name for choice in both if choice.named} == {"ot_quantised"}


def test_with_another_estimator_keys_carry_it():
    assert names("mauve,prd_f8,recall", estimator="knn") == ["mauve:knn", "prd_f8:knn", "recall"]
    assert names("mauve:kde:chi2,midpoint:quantisation", estimator="knn") == [
        "mauve:chi2:kde",
        "midpoint",
    ]
    usual = names(None, estimator="gaussian")
    assert "mauve:gaussian" in usual
    assert not [name for name in usual if name.endswith("_star")]
    assert "divergence:kde" in names("all", estimator="kde")


@pytest.mark.parametrize(
    ("asked", "plain", "counted", "canonical"),
    [
        ("mauve:laplace", "mauve:knn", "mauve:quantisation:laplace", "mauve:laplace"),
        ("mauve_star", "mauve:knn", "mauve:quantisation:krichevsky-trofimov", "mauve_star"),
        (
            "divergence_star:chi2",
            "divergence:chi2:knn",
            "divergence:chi2:quantisation:krichevsky-trofimov",
            "divergence_star:chi2",
        ),
    ],
)
def test_smoothing_needs_counts_whatever_the_estimator_of_all(asked, plain, counted, canonical):
    with pytest.raises(InputError) as caught:
        choose(asked, VIEWS, estimator="knn")
    assert str(caught.value) == (
        f"{asked!r} smooths the counts of cells, but the estimator 'knn' "
        f"(`estimator='knn'`) has no counts; ask for {plain!r}, or for {counted!r}"
    )
    assert names([plain], estimator="knn") == [plain]
    assert names([counted], estimator="knn") == [canonical]


@pytest.mark.parametrize("asked", ["all:knn", "form.all:knn", "recall,all:chi2"])
def test_all_takes_no_option(asked):
    with pytest.raises(InputError) as caught:
        choose(asked, VIEWS)
    assert str(caught.value) == (
        f"'all' takes no option; found {asked.rpartition(',')[2]!r}; "
        "ask for families such as 'frontier:knn,prd:knn', or `estimator='knn'`"
    )
    assert names("form.all:") == names("form")


@pytest.mark.parametrize(
    ("asked", "what", "meant"),
    [
        ("knn", "an estimator", ["mauve:knn", "frontier:knn"]),
        ("chi2", "a divergence", ["mauve:chi2", "divergence:chi2"]),
        ("KL", "a divergence", ["mauve:kl", "divergence:kl"]),
        ("laplace", "a smoothing", ["mauve:laplace", "frontier:laplace"]),
        ("chi2:knn", "a divergence", ["mauve:chi2:knn", "divergence:chi2:knn"]),
        ("le_cam", "a divergence", ["mauve:le_cam", "divergence:le_cam"]),
        ("interpolated_kl=0.3", "a divergence", ["mauve:interpolated_kl=0.3"]),
        ("form.interpolated_kl=0.3", "a divergence", ["mauve:interpolated_kl=0.3"]),
        ("interpolated_kl", "a divergence", ["mauve:interpolated_kl=0.5"]),
    ],
)
def test_an_option_alone_is_told_from_a_metric(asked, what, meant):
    with pytest.raises(InputError) as caught:
        choose(asked, VIEWS)
    base = split_key(asked)[1]
    assert str(caught.value).startswith(
        f"{base!r} is {what}, an option of a metric; did you mean {meant[0]!r} or "
    )
    for key in meant:
        assert repr(key) in str(caught.value)
        assert names([key])


@pytest.mark.parametrize("asked", ["MAUVE", "Mauve:knn", "form.ALL", "Frontier"])
def test_another_case_is_told_by_itself(asked):
    base = split_key(asked)[1]
    with pytest.raises(InputError) as caught:
        choose(asked, VIEWS)
    assert str(caught.value) == f"unknown metric {base!r}; did you mean {base.lower()!r}?"


def test_an_unknown_estimator_is_named():
    with pytest.raises(InputError, match=r"estimator 'knnn'.*'knn'"):
        choose("mauve", VIEWS, estimator="knnn")


def test_the_words_are_those_of_the_rooms_that_read_them():
    assert {word.partition("=")[0] for word in DIVERGENCE.forms} == {
        *DIVERGENCES,
        *WEIGHTED,
    }
    for smoothing in SMOOTHING.words:
        assert probabilities(np.array([3, 1]), smoothing).sum() == pytest.approx(1)
    assert set(ESTIMATOR.forms) == {COUNTING, *MEASURED}
    words = [word for axis in AXES for word in axis.forms]
    assert len(words) == len(set(words))
    assert not {*METRICS} & {*VIEWS}
    assert {*FAMILIES} & {*METRICS} == {"ot", "mmd"}


# Keys of text metrics: what they choose, their one canonical form, and what is refused.


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("distinct", "distinct"),
        ("distinct:n=1", "distinct"),
        ("distinct:n=2", "distinct:n=2"),
        ("distinct:sample:n=2", "distinct:n=2:sample"),
        ("distinct:system", "distinct"),
        ("self_bleu:n=4:all", "self_bleu"),
        ("self_bleu:pairwise:n=3", "self_bleu:n=3:pairwise"),
        ("self_bleu:sample=1000:others=4999", "self_bleu:sample=1000:others=4999"),
        ("compression:zstd", "compression:zstd"),
        ("novelty:train:n=8", "novelty:n=8:train"),
        ("rouge:rougeL", "rouge"),
        ("rouge:recall:rouge1", "rouge:rouge1:recall"),
        ("near_duplicates:threshold=0.50", "near_duplicates:threshold=0.5"),
        ("text.self_bleu", "self_bleu"),
        ("text.novelty:n=8", "novelty:n=8"),
    ],
)
def test_a_key_has_one_canonical_form(written, canonical):
    assert find_text(written).key == canonical
    assert find_text(canonical).key == canonical


@given(st.sampled_from(sorted(TEXT_METRICS)), st.data())
def test_the_order_of_options_is_free(name, data):
    takes = TEXT_METRICS[name].options
    words = [
        data.draw(st.sampled_from(option.words))
        if option.words
        else f"{option.name}={data.draw(st.integers(2, min(100, option.most)))}"
        for option in takes
        if option.name != "threshold"
    ]
    shuffled = data.draw(st.permutations(words))
    assert find_text(":".join([name, *words])).key == find_text(":".join([name, *shuffled])).key


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("slef_bleu", "unknown text metric 'slef_bleu'; did you mean 'self_bleu'"),
        ("Self_BLEU", "did you mean 'self_bleu'?"),
        ("distinct:m=2", "'distinct:m=2': unknown option 'm=2'"),
        ("distinct:2", "a number needs its name; did you mean n=2?"),
        ("distinct:n=0", "n must be a whole number of at least 1 and at most 100; found '0'"),
        *(
            (f"{name}:n=101", "n must be a whole number of at least 1 and at most 100; found '101'")
            for name in ("distinct", "novelty", "near_duplicates", "bleu", "self_bleu", "rep_n")
        ),
        ("chrf:words=101", "words must be a whole number of at least 0 and at most 100"),
        ("distinct:n=1.5", "n must be a whole number of at least 1 and at most 100; found '1.5'"),
        ("distinct:n=", "of at least 1 and at most 100; found ''"),
        ("distinct:n=1_0", "found '1_0'"),
        ("distinct:n=99999999999999999999", "n must be a whole number of at least 1 and at most"),
        ("distinct:n=2:n=3", "chooses n twice, 'n=2' and 'n=3'; give one"),
        ("self_bleu:all:pairwise", "chooses average twice, 'all' and 'pairwise'"),
        ("compression:ZSTD", "unknown option 'ZSTD'; did you mean 'zstd'?"),
        ("compression:zsdt", "did you mean 'zstd'?"),
        ("vocabulary_size:n=2", "metric 'vocabulary_size' takes no option"),
        ("exact_duplicates:n=2", "unknown option 'n=2'; known: exact, folded"),
        (
            "near_duplicates:threshold=nan",
            "threshold must be a number of at least 0.01 and at most 1; found 'nan'",
        ),
    ],
)
def test_what_is_misspelt_is_answered_with_what_was_meant(key, message):
    with pytest.raises(InputError) as error:
        find_text(key)
    assert message in str(error.value)


def test_the_default_leaves_out_what_is_slow_or_needs_what_is_not_there():
    keys = [choice.key for choice in choose_text(None)]
    assert {"distinct:n=2", "distinct:n=2:sample", "self_bleu", "novelty"} <= {*keys}
    assert not {"bert_score_f1", "near_duplicates", "bleu", "novelty:train"} & {*keys}
    alone = [choice.key for choice in choose_text(None, reference=False)]
    assert {"novelty", "corpus_match_bleu"} & {*alone} == set()
    assert {*keys} > {*alone}
    everything = choose_text(None, train=True, aligned=True)
    assert {"bleu", "chrf", "rouge", "novelty:train"} <= {choice.key for choice in everything}


def test_families_and_all():
    copies = [choice.key for choice in choose_text("copies")]
    assert copies == ["exact_duplicates", "near_duplicates", "novelty", "longest_copied_span"]
    of_order = [choice.key for choice in choose_text("diversity:n=3")]
    assert of_order == ["distinct:n=3", "expectation_adjusted_distinct:n=3", "self_bleu:n=3"]
    every = {c.metric.name for c in choose_text("all", train=True, aligned=True)}
    slow = {"ter", "bert_score_precision", "bert_score_recall", "bert_score_f1", "mover_score"}
    assert every == {*TEXT_METRICS} - slow
    aligned = [c.metric.name for c in choose_text("aligned", aligned=True)]
    assert aligned == ["bleu", "chrf", "rouge"]
    assert [c.key for c in choose_text("aligned,ter", aligned=True)][-1] == "ter"
    assert slow <= {each["key"] for each in describe_text(["aligned"])}
    assert [c.key for c in choose_text("text")] == [c.key for c in choose_text("all")]


def test_one_that_is_named_counts_as_named_though_its_family_has_it():
    for asked in ("copies,near_duplicates", "near_duplicates copies"):
        (choice,) = [each for each in choose_text(asked) if each.metric.extra]
        assert choice.named


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ("novelty", {"reference": False}, "'novelty' needs a reference (`reference`)"),
        ("novelty:train", {}, "'novelty:train' needs a training set (`train`)"),
        ("bleu", {}, "'bleu' needs a reference for each row (`reference`, `aligned=True`)"),
        ("bleu", {"reference": False, "aligned": True}, "needs a reference for each row"),
        ("aligned", {}, "metrics must name at least one text metric"),
        ("", {}, "metrics must name at least one text metric; found none"),
        ([], {}, "found []"),
        ("all:n=2", {}, "'all' takes no option; found 'all:n=2'"),
        ("copies:zstd", {}, "'exact_duplicates:zstd': unknown option 'zstd'"),
        (["distinct", 3], {}, "metrics must be strings such as 'self_bleu'; found 3"),
        (3, {}, "metrics must be a list of keys, or one string; found 3"),
    ],
)
def test_what_cannot_be_measured_is_refused(metrics, options, message):
    with pytest.raises(InputError) as error:
        choose_text(metrics, **options)
    assert message in str(error.value)


def test_a_missing_package_is_an_error_only_where_the_metric_was_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(MissingExtraError, match=r"'near_duplicates' .*calipers\[duplicates\]"):
        check_extras(choose_text("near_duplicates"))
    check_extras(choose_text("copies"))


@pytest.mark.parametrize("asked", ["mauve:boosted", "frontier:boosted", "form.mauve:boosted"])
def test_trees_that_are_not_installed_are_told_before_the_work(monkeypatch, asked):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"boosted' needs .*calipers\[trees\]"):
        check_extras(choose(asked, ("meaning", "form")))
    with pytest.raises(MissingExtraError, match=r"boosted' needs .*calipers\[trees\]"):
        check_extras(choose("mauve", ("meaning",), estimator="boosted"))
    check_extras(choose("mauve,frontier:classifier", ("meaning", "form")))


@pytest.mark.parametrize("metric", TEXT_METRICS.values(), ids=lambda metric: metric.name)
def test_every_entry_says_what_a_person_must_know(metric):
    assert metric.family in TEXT_FAMILIES
    assert metric.better in ("higher", "lower", "closest")
    assert (metric.better == "closest") == (metric.side == "own")
    for words in (metric.tells, metric.source, metric.blind):
        assert words
        assert words == words.strip()
        assert not words.endswith(".")
    assert metric.range[0] < metric.range[1]
    assert (metric.extra is None) == (metric.package is None)
    assert all(split_text_key(key)[0] == metric.name for key in metric.shown)
    assert all(find_text(key).key == key for key in metric.shown)
    for option in metric.options:
        assert option.default == (option.words[0] if option.words else option.default)
        assert option.tells
    words = [form for option in metric.options for form in option.words]
    assert len(words) == len({*words})


def test_the_catalogue_as_data():
    every = describe_text()
    assert [each["key"] for each in every] == list(TEXT_METRICS)
    one = next(each for each in every if each["key"] == "compression")
    assert one["options"] == {"codec": ["gzip", "zstd"]}
    assert one["range"] == [0.0, None]
    (key,) = describe_text(["distinct:n=3"])
    assert key["key"] == "distinct:n=3"
    assert not key["default"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("self_bleu", "text", "text.distinct", "self_blue", "copies")),
        *((name, False) for name in ("precision", "precison", "all", "")),
    ],
)
def test_which_catalogue_a_name_means(name, expected):
    assert is_text_name(name) is expected


def test_the_catalogue_loads_nothing_heavy():
    code = (
        "import sys, calipers.catalogue.describing as d; d.describe_all(); d.describe_text();"
        "heavy = {'numpy', 'rich', 'torch', 'sklearn', 'nltk', 'sacrebleu', 'pyarrow'};"
        "print(sorted(heavy & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("bleu:tokenizer=zh", "bleu:zh"),
        ("self_bleu:average=pairwise", "self_bleu:pairwise"),
        ("distinct:per=system:n=2", "distinct:n=2"),
        ("rouge:part=recall:kind=rouge1", "rouge:rouge1:recall"),
    ],
)
def test_words_may_carry_their_name(written, key):
    assert find_text(written).key == key
    with pytest.raises(InputError, match=r"per 'text'; .*sample, system"):
        find_text("distinct:per=text")
    with pytest.raises(InputError, match="chooses per twice"):
        find_text("distinct:per=sample:sample")


@pytest.mark.parametrize(
    ("key", "moved"),
    [
        ("distinct", True),
        ("distinct:sample", False),
        ("novelty:train", False),
        ("novelty:types", True),
        ("longest_copied_span:train", False),
        ("longest_copied_span:largest", True),
        ("near_duplicates", True),
        ("near_duplicates:train", False),
        ("self_bleu", True),
        ("mean_length", False),
    ],
)
def test_what_the_number_of_texts_moves(key, moved):
    assert find_text(key).sized is moved


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("zipf", "'zipf_coefficient'"),
        ("selfbleu", "'self_bleu'"),
        ("mattr", "'moving_average_ttr'"),
        ("ead", "'expectation_adjusted_distinct'"),
        ("ttr", "'moving_average_ttr' or 'distinct'"),
        ("rougeL", "'rouge'"),
        ("rouge1", "'rouge:rouge1'"),
        ("gzip", "'compression'"),
        ("rep-4", "'rep_n'"),
        ("rep-3", "'rep_n:n=3'"),
        ("distinct-2", "'distinct:n=2'"),
        ("self-bleu", "'self_bleu'"),
        ("chrf++", "'chrf:words=2'"),
        ("compression_ratio", "'compression'"),
        ("vendi_score", "'vendi' or 'text.vendi'"),
        ("bert_score", "'bert_score_f1'"),
        ("precison", "'precision'"),
    ],
)
def test_a_name_from_elsewhere_points_to_the_key(name, meant):
    with pytest.raises(InputError) as error:
        check_known([name])
    assert f"unknown metric {name!r}; did you mean {meant}" in str(error.value)
    for key in re.findall(r"'([^']+)'", meant):
        if key != "precision":
            assert find_text(key).key == key.removeprefix("text.")


def test_an_unlike_name_is_sent_to_the_list():
    with pytest.raises(InputError, match=r"metric 'qqqqq'.*calipers metrics"):
        check_known(["qqqqq"])
    check_known(["precision", "text.anything", "form", "chi2", "all"], views=["form"])


def test_the_aliases_lead_somewhere():
    assert all(
        split_text_key(key)[0] in {*STATISTICS, *METRICS}
        for keys in ALIASES.values()
        for key in keys
    )
    assert {*NUMBERED.values()} <= {*TEXT_METRICS}


def test_the_baselines_of_the_mauve_paper_by_their_keys():
    # Pillutla et al., JMLR 2023, section 6.3, by hand: the 4-grams are abcd, bcde, bcde and fgfg;
    # two of four texts hold a token twice, but only one ends in a phrase said twice
    (texts,) = tokenise(["a b c d e", "b c d e", "a b a", "f g f g"], tokenizer="whitespace")
    assert score_of(find_text("distinct:n=4"), texts).value == 3 / 4
    assert score_of(find_text("repetition_frequency"), texts).value == 1 / 4
    assert "top:5000" in score_of(find_text("zipf_coefficient"), texts).signature
    sampled = score_of(find_text("self_bleu:sample=1000:others=4999"), texts)
    assert sampled.reason
    for key in ("distinct:n=4", "self_bleu", "repetition_frequency", "zipf_coefficient"):
        assert "section 6.3" in describe_text([key])[0]["source"]
