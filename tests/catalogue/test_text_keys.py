"""Keys of text metrics: what they choose, their one canonical form, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.catalogue.choosing import check_extras, choose_text, find_text
from calipers.catalogue.describing import describe_text, is_text_name
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.keys import split_text_key
from calipers.catalogue.suggest import ALIASES, NUMBERED, check_known
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.errors import InputError, MissingExtraError
from calipers.text.measuring import score_of
from calipers.text.tokens import tokenise


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
        else f"{option.name}={data.draw(st.integers(2, 100))}"
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
    slow = {"ter", "bert_score_precision", "bert_score_recall", "bert_score_f1"}
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
        ("novelty", {"reference": False}, "'novelty' needs a reference (--reference FILE"),
        ("novelty:train", {}, "'novelty:train' needs a training set (--train FILE"),
        ("bleu", {}, "'bleu' needs a reference for each row (--reference FILE --aligned"),
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
    with pytest.raises(
        MissingExtraError, match=r"'near_duplicates' needs .*calipers\[duplicates\]"
    ):
        check_extras(choose_text("near_duplicates"))
    check_extras(choose_text("copies"))


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
        "heavy = {'numpy', 'rich', 'numba', 'torch', 'sklearn', 'nltk', 'sacrebleu', 'pyarrow'};"
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
    with pytest.raises(InputError, match="unknown per 'text'; known: sample, system"):
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
        ("precison", "'precision' or"),
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
    with pytest.raises(InputError, match="unknown metric 'qqqqq'; calipers metrics lists them all"):
        check_known(["qqqqq"])
    check_known(["precision", "text.anything", "form", "chi2", "all"], views=["form"])


def test_the_aliases_lead_somewhere():
    assert all(
        split_text_key(key)[0] in {*TEXT_METRICS, *METRICS}
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
