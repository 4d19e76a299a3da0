"""Keys of scores: options in any order, one canonical form, and clear words for what is wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.catalogue.choosing import choose, find
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import (
    AXES,
    COUNTING,
    DIVERGENCE,
    ESTIMATOR,
    ESTIMATORS,
    SMOOTHING,
    Options,
)
from calipers.catalogue.keys import split_key
from calipers.curves.divergences import DIVERGENCES, WEIGHTED
from calipers.errors import InputError
from calipers.estimate.estimators import ESTIMATORS as MEASURED
from calipers.estimate.histograms import probabilities

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
    assert found.options == Options(divergence, estimator)
    assert find(found.name) == found


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("mauve:ch2", "'mauve:ch2': unknown option 'ch2'; did you mean 'chi2'"),
        ("mauve:k-nn", "did you mean 'knn'"),
        ("mauve:xyz", "unknown option 'xyz'; known: .*boosted.*chi2.*laplace"),
        ("mauve:chi2:kl", "'mauve:chi2:kl' names a divergence twice, 'chi2' and 'kl'; give one"),
        ("mauve:knn:knn", "names an estimator twice"),
        ("mauve:none:laplace", "names a smoothing twice"),
        ("prd_f8:chi2", "'prd_f8' takes no divergence, only an estimator; found 'prd_f8:chi2'"),
        ("prd_f8:laplace", "takes no smoothing, only an estimator"),
        ("precision:5", "metric 'precision' takes no option; found 'precision:5'$"),
        ("precision:knn", "metric 'precision' takes no option; found 'precision:knn'$"),
        ("near_copies:train", r"takes no option; found .*; a training set \(--train FILE"),
        ("recall:group=x", r"takes no option; found .*; a field of groups \(--group FIELD"),
        ("mauve:group=x", r"takes no option; found 'mauve:group=x'; a field of groups"),
        ("mauve:knn:laplace", "smooths the counts of cells, .* 'knn' counts none; .* 'mauve:knn'$"),
        ("mauve:kde:krichevsky-trofimov", "ask for 'mauve:kde'$"),
        ("mauve_star:knn", "'mauve_star:knn': .* counts of cells; ask for 'mauve:knn'$"),
        ("mauve_star:chi2:kde", "ask for 'mauve:chi2:kde'$"),
        ("mauve_star:laplace", "has its own smoothing; ask for 'mauve:laplace'$"),
        ("mauve:interpolated_kl", r"takes a weight in \(0, 1\), as interpolated_kl=0.3"),
        ("mauve:interpolated_kl=2", "between 0 and 1, both left out; found 2"),
        ("mauve:interpolated_chi2=0", "between 0 and 1, both left out; found 0"),
        ("mauve:skew_jensen_shannon=nan", "found nan"),
        ("mauve:skew_jensen_shannon=x", "found 'skew_jensen_shannon=x'"),
        ("mauve:chi2=0.3", "takes no weight; found 'chi2=0.3'"),
        ("mauve:model", "unknown option 'model'"),
        ("mauve:KL", "unknown option 'KL'; did you mean 'kl'"),
        ("mauve::kl", "unknown option ''"),
        ("mauv:knn", "unknown metric 'mauv'; did you mean 'mauve'"),
        ("shape.mauve:chi2", "unknown view 'shape'"),
        ("frontier:chi22", "unknown option 'chi22'; did you mean 'chi2'"),
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
        f"{asked!r} smooths the counts of cells, and the estimator 'knn' (--estimator knn, "
        f"estimator='knn') counts none; ask for {plain!r}, or for {counted!r}"
    )
    assert names([plain], estimator="knn") == [plain]
    assert names([counted], estimator="knn") == [canonical]


@pytest.mark.parametrize("asked", ["all:knn", "form.all:knn", "recall,all:chi2"])
def test_all_takes_no_option(asked):
    with pytest.raises(InputError) as caught:
        choose(asked, VIEWS)
    assert str(caught.value) == (
        f"'all' takes no option; found {asked.rpartition(',')[2]!r}; "
        "ask for families such as 'frontier:knn,prd:knn', or --estimator knn"
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
    with pytest.raises(InputError, match="unknown estimator 'knnn'; did you mean 'knn'"):
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
