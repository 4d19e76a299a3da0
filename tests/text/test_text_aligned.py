"""BLEU, chrF and TER are sacrebleu's own; ROUGE is rouge-score's; bad rows are named."""

import math
from importlib.util import find_spec
from itertools import zip_longest

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from calipers.errors import InputError
from calipers.text import bleu, chrf, rouge, ter
from calipers.text.tokens import tokenise
from calipers.unicode.words import regex_version

ALL = [bleu, chrf, ter, rouge]

text = st.lists(st.sampled_from(["the", "cat", "Sat", "on.", "mats", "é"]), max_size=8).map(
    " ".join
)
rows = (
    st.integers(1, 3)
    .flatmap(
        lambda width: st.lists(
            st.tuples(text, st.lists(text, min_size=1, max_size=width)), min_size=1, max_size=6
        )
    )
    .filter(lambda found: any("".join(references) for _, references in found))
)


def sides(found):
    texts, references = [one for one, _ in found], [several for _, several in found]
    return texts, references, [list(stream) for stream in zip_longest(*references)]


def mostly_read(text):
    """Whether half of the letters and digits are those that rouge-score keeps."""
    letters = [sign for sign in text.lower() if sign.isalnum()]
    return bool(letters) and 2 * sum(sign.isascii() for sign in letters) >= len(letters)


def same(ours, metric, texts, references, single=None):
    """Equal to sacrebleu's corpus_score and sentence_score, values and signature."""
    streams = [list(stream) for stream in zip_longest(*references)]
    assert ours.value == metric.corpus_score(texts, streams).score
    assert str(metric.get_signature()) in ours.signature
    own = [
        (single or metric).sentence_score(one, several).score
        for one, several in zip(texts, references, strict=True)
    ]
    assert ours.per_sample.tolist() == own


def test_more_references_for_one_text_than_for_another():
    texts = ["the cat sat on the mat", "it rains"]
    references = [["a cat sat on the mat", "the cat is on the mat", "cats sit"], "rain falls"]
    streams = [["a cat sat on the mat", "rain falls"], ["the cat is on the mat", None]]
    streams.append(["cats sit", None])
    peers = {bleu: sacrebleu.BLEU(), chrf: sacrebleu.CHRF(), ter: sacrebleu.TER()}
    for ours, theirs in peers.items():
        found = ours(texts, references)
        assert found.value == theirs.corpus_score(texts, streams).score
        assert "nrefs:var" in found.signature
    scorer = RougeScorer(["rougeL"])
    expected = [
        scorer.score_multi([one] if isinstance(one, str) else one, words)["rougeL"].fmeasure
        for one, words in zip(references, texts, strict=True)
    ]
    found = rouge(texts, references)
    assert found.per_sample.tolist() == expected
    assert "nrefs:var" in found.signature


def test_bleu_worked_by_hand():
    found = bleu(["the cat sat on a mat"], ["the cat sat on the mat"])
    assert found.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))
    short = bleu(["a b c d"], ["a b c d e"])
    assert short.value == pytest.approx(100 * math.exp(1 - 5 / 4))


@settings(max_examples=30)
@given(rows)
def test_bleu_is_that_of_sacrebleu(found):
    texts, references, _ = sides(found)
    single = sacrebleu.BLEU(effective_order=True)
    same(bleu(texts, references), sacrebleu.BLEU(), texts, references, single)


@pytest.mark.parametrize("tokenizer", ["13a", "intl", "zh", "char", "none"])
@pytest.mark.parametrize(("smoothing", "value"), [("floor", 0.5), ("add-k", None), ("none", None)])
def test_bleu_hands_its_options_over(tokenizer, smoothing, value):
    texts, references = ["The cat, sat on!", "世界 a b"], [["the cat sat on"], ["世界 a c"]]
    theirs = {"tokenize": tokenizer, "smooth_method": smoothing, "smooth_value": value}
    theirs |= {"lowercase": True, "max_ngram_order": 3}
    options = {"tokenizer": tokenizer, "smoothing": smoothing, "smoothing_value": value}
    same(
        bleu(texts, references, order=3, lowercase=True, **options),
        sacrebleu.BLEU(**theirs),
        texts,
        references,
        sacrebleu.BLEU(**theirs, effective_order=True),
    )


@settings(max_examples=30)
@given(rows, st.sampled_from([0, 2]), st.integers(1, 3))
def test_chrf_is_that_of_sacrebleu(found, word_order, beta):
    texts, references, _ = sides(found)
    metric = sacrebleu.CHRF(word_order=word_order, beta=beta)
    same(chrf(texts, references, word_order=word_order, beta=beta), metric, texts, references)


@settings(max_examples=20)
@given(rows, st.booleans(), st.booleans())
def test_ter_is_that_of_sacrebleu(found, normalised, punctuation):
    texts, references, _ = sides(found)
    metric = sacrebleu.TER(normalized=normalised, no_punct=not punctuation)
    ours = ter(texts, references, normalised=normalised, punctuation=punctuation)
    same(ours, metric, texts, references)
    assert ours.better == "lower"


@settings(max_examples=40)
@given(
    rows,
    st.sampled_from(["rouge1", "rouge2", "rougeL", "rougeLsum"]),
    st.sampled_from([("f1", "fmeasure"), ("precision", "precision"), ("recall", "recall")]),
    st.booleans(),
)
def test_rouge_is_that_of_rouge_score(found, kind, part, stemmer):
    texts, references, _ = sides(found)
    scorer = RougeScorer([kind], use_stemmer=stemmer)
    expected = [
        getattr(scorer.score_multi(several, one)[kind], part[1])
        if any(mostly_read(known) for known in several)
        else np.nan
        for one, several in zip(texts, references, strict=True)
    ]
    options = {"kind": kind, "part": part[0], "stemmer": stemmer}
    ours = rouge(texts, references, tokens="ascii", **options)
    np.testing.assert_array_equal(ours.per_sample, expected)
    known = np.array(expected)[~np.isnan(expected)]
    if len(known):
        assert ours.value == np.mean(known)
    else:
        assert np.isnan(ours.value)
        assert ours.reason


ASCII = st.text(alphabet="abAB12 '._-\n", max_size=20)


@given(ASCII, ASCII, st.sampled_from(["rouge1", "rouge2", "rougeL", "rougeLsum"]), st.booleans())
def test_rouge_of_ascii_is_that_of_rouge_score_by_default(one, known, kind, stemmer):
    scorer = RougeScorer([kind], use_stemmer=stemmer)
    ours = rouge([one], [known], kind=kind, stemmer=stemmer).per_sample[0]
    if any(map(str.isalnum, known)):
        assert ours == scorer.score(known, one)[kind].fmeasure
    else:
        assert np.isnan(ours)


@pytest.mark.parametrize(
    ("text", "reference", "one", "longest"),
    [
        # кот, на; of 5 and 4 tokens
        ("кот спал на тёплой крыше", "кот сел на стол", 4 / 9, 4 / 9),
        # a precision of 4/6 and a recall of 4/5: 我|喜|咖|啡 (one 欢 is missing in the reference)
        ("我喜欢咖啡吗", "我喜咖啡。好", 8 / 11, 8 / 11),
        # ฉั|น|ช|อ|บ|กา|แฟ and ฉั|น|ดื่|ม|กา|แฟ share four
        ("ฉันชอบกาแฟ", "ฉันดื่มกาแฟ", 8 / 13, 8 / 13),
        ("क्षत्रिय आया।", "क्षत्रिय गया।", 0.5, 0.5),
        ("L'ÉTÉ", "l’e\u0301te\u0301", 1, 1),
        ("Don't stop", "don t STOP", 1, 1),
        ("بعد الظهر", "الظهر بعد", 1, 0.5),
        ("나는 학교에 간다", "나는 집에 간다", 2 / 3, 2 / 3),
        ("می\u200cخواهم", "می خواهم", 0, 0),
    ],
)
def test_rouge_of_any_script_by_hand(text, reference, one, longest):
    assert rouge([text], [reference], kind="rouge1").value == pytest.approx(one)
    assert rouge([text], [reference], kind="rougeL").value == pytest.approx(longest)


def test_rouge_says_how_it_cut():
    assert f"|tokens:unicode-regex-{regex_version()}|" in rouge(["a"], ["a"]).signature
    assert "|tokens:ascii|" in rouge(["a"], ["a"], tokens="ascii").signature
    assert np.isnan(rouge(["👍"], ["👍 …"]).value)


@pytest.mark.parametrize(
    ("reference", "tokenizer"),
    [
        ("The cat sat on the mat today.", "13a"),
        ("Кошка сидела на ковре.", "13a"),
        ("고양이가 매트 위에 앉았다.", "13a"),
        ("猫今天坐在垫子上。", "zh"),
        ("ネコは今日もマットの上に座っていた。", "char"),
        ("แมวนั่งบนเสื่อวันนี้", "char"),
        ("ឆ្មាអង្គុយលើកន្ទេល", "char"),
    ],
)
def test_bleu_cuts_by_the_script_of_the_references(reference, tokenizer):
    if tokenizer == "char" and "は" in reference and find_spec("MeCab"):
        tokenizer = "ja-mecab"
    texts = [reference, "english text"]
    ours = bleu(texts, [reference] * 2)
    theirs = sacrebleu.BLEU(tokenize=tokenizer)
    assert ours.value == theirs.corpus_score(texts, [[reference] * 2]).score
    assert str(theirs.get_signature()) in ours.signature


def test_ter_cuts_chinese_by_characters_and_refuses_thai():
    ours = ter(["我喜欢咖啡"], ["我喜欢茶"])
    theirs = sacrebleu.TER(normalized=True, asian_support=True)
    # two edits over four characters
    assert ours.value == theirs.corpus_score(["我喜欢咖啡"], [["我喜欢茶"]]).score == 50
    assert str(theirs.get_signature()) in ours.signature
    thai = ter(["ฉันชอบกาแฟ"], ["ฉันชอบชา"])
    assert np.isnan(thai.value)
    assert "use chrf" in thai.reason


def test_chrf_with_words_says_that_a_script_has_none():
    assert "use chrf" in chrf(["我喜欢"], ["我喜欢茶"], word_order=2).note
    assert chrf(["我喜欢"], ["我喜欢茶"]).note is None
    assert chrf(["I like"], ["I like tea"], word_order=2).note is None


def test_rouge_of_ascii_counts_no_zero_where_a_reference_is_in_another_script():
    found = rouge(["the cat", "你好", "é"], ["the cat", "你好", "É 猫"], tokens="ascii")
    np.testing.assert_array_equal(found.per_sample, [1, np.nan, np.nan])
    assert found.value == 1
    assert "|undefined:2|" in found.signature
    several = rouge(["a b"], [["你好", "a b"]], tokens="ascii")
    assert several.value == 1
    assert "undefined" not in several.signature


def test_of_several_references_rouge_takes_the_best_by_its_f_measure():
    texts, references = ["a b c d"], [["a b c d e f g h", "a"]]
    # F is 2/3 against the first and 2/5 against the second
    assert rouge(texts, references, part="precision").value == 1
    assert rouge(texts, references, part="recall").value == 0.5


@pytest.mark.parametrize("metric", ALL)
def test_one_reference_each_may_be_a_string(metric):
    texts, known = ["the cat sat", "on a mat"], ["the cat", "on the mat"]
    plain, listed = metric(texts, known), metric(texts, [[one] for one in known])
    assert (plain.value, plain.signature) == (listed.value, listed.signature)
    corpora = tokenise(texts, known)
    assert metric(*corpora).value == plain.value
    assert metric(np.array(texts), np.array(known)).value == plain.value


@pytest.mark.parametrize("metric", ALL)
def test_references_without_a_word_leave_the_value_undefined(metric):
    found = metric(["", "a"], ["", " "])
    assert np.isnan(found.value)
    assert found.reason.startswith("no reference holds")
    assert len(found.per_sample) == 2


def test_rouge_of_ascii_has_no_value_in_other_scripts():
    found = rouge(["你好世界"], ["你好世界"], tokens="ascii")
    assert np.isnan(found.value)
    assert found.reason == (
        "no reference holds mostly letters a-z and digits, which are all that ROUGE reads: "
        "0 % of the letters here"
    )


@pytest.mark.parametrize("kind", ["rouge1", "rougeL"])
def test_rouge_does_not_call_texts_equal_that_share_their_digits_alone(kind):
    texts, references = (
        ["在1999年他搬到了北京", "Он родился в 1999 году"],
        ["1999 雨下得很大", "1999 - год дождей"],
    )
    assert 0 < rouge(texts, references, kind=kind).value < 0.5
    ascii_alone = {"tokens": "ascii"}
    found = rouge(texts, references, kind=kind, **ascii_alone)
    assert np.isnan(found.value)
    assert np.isnan(found.per_sample).all()
    texts, references = [*texts, "it rained in 1999"], [*references, "in 1999 it rained"]
    beside = rouge(texts, references, kind="rouge1", **ascii_alone)
    np.testing.assert_array_equal(beside.per_sample, [np.nan, np.nan, 1])
    assert beside.note == (
        "reads the letters a-z and digits only, 55 % of the letters here; 2 texts with references "
        "that it cannot read left out"
    )


def test_rouge_says_nothing_of_accents_and_much_of_half_a_text():
    french = "le café ferme ce soir à huit heures et demie comme chaque jour"
    assert rouge([french], [french], tokens="ascii").note is None
    half = "the rain дождь over the town город"
    assert rouge([half], [half]).note is None
    assert rouge([half], [half], tokens="ascii").note == (
        "reads the letters a-z and digits only, 64 % of the letters here"
    )


def test_bleu_of_short_texts_says_that_it_is_zero_whatever_they_are():
    found = bleu(["yes it is", "no"], ["yes it is", "no"])
    assert found.value == 0
    assert (
        found.note == "no text has 4 tokens, for which sacrebleu gives 0; a lower order reads them"
    )
    assert bleu(["yes it is", "no"], ["yes it is", "no"], order=1).note is None
    assert bleu(["", ""], ["yes it is", "no"]).note is None  # nothing was written
    assert bleu(["yes it is so"], ["yes it is"]).note is None


@pytest.mark.parametrize("metric", ALL)
def test_emoji_and_surrogates_pass(metric):
    score = metric(["\ud800 👩‍👩‍👧 a b c d"], ["\ud800 👩‍👩‍👧 a b c d"])
    assert score.value == (0 if metric is ter else pytest.approx(score.range[1]))


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("texts", "references", "message"),
    [
        ([], [], "texts .*at least one text.* none"),
        ("a", ["a"], "texts .*list of strings.* single string"),
        ([1], ["a"], "row 1 is 1, of type int"),
        (["a"], "a", "references .*row for each text.* single str"),
        (list("abcd"), ["a"], "4 in all.* 1: rows 2 to 4"),
        (["a", "b"], ["a"], "found 1: row 2 has no references"),
        (["a"], ["a", "b", "c"], "1 in all.* 3: rows 2 and 3 have no text"),
        (["a", "b", "c"], [["a", "b", "c"]] * 2, r"turn them: list\(zip\(\*references\)\)"),
        (["a", "b"], ["a", None], "row 2 is of type NoneType"),
        (["a", "b"], [["a"], [None]], "row 2 holds one of type NoneType"),
        (["a", "b"], [["a"], []], "at least one reference; row 2 has none$"),
        (list("abc"), [["a", "b"], [], []], "at least one reference; rows 2 and 3 have none$"),
        (["a", "b"], [[], []], "at least one reference.* none in any row"),
    ],
)
def test_bad_rows_are_named(metric, texts, references, message):
    with pytest.raises(InputError, match=message):
        metric(texts, references)


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (bleu, {"tokenizer": "13A"}, "tokenizer of sacrebleu '13A'.*'13a'"),
        (bleu, {"tokenizer": "flores"}, "did you mean 'flores200'|'flores101'"),
        (rouge, {"tokens": "latin"}, "unknown value for tokens 'latin'"),
        (bleu, {"smoothing": "expo"}, "did you mean 'exp'"),
        (bleu, {"smoothing_value": 1}, "not to 'exp'; found 1"),
        (bleu, {"smoothing": "floor", "smoothing_value": 0}, "must be a number above 0; found 0"),
        (bleu, {"order": 0}, "order .*from 1 to 100.* 0"),
        (chrf, {"char_order": 0}, "char_order .*from 1 to 100.* 0"),
        (chrf, {"word_order": -1}, "word_order .*from 0 to 100.* -1"),
        (bleu, {"order": 101}, "order .*from 1 to 100.* 101"),
        (chrf, {"char_order": 10**9}, "char_order .*from 1 to 100"),
        (chrf, {"word_order": 101}, "word_order .*from 0 to 100.* 101"),
        (bleu, {"lowercase": "no"}, "lowercase .*True or False.* 'no'"),
        (chrf, {"lowercase": 1}, "lowercase .*True or False.* 1"),
        (chrf, {"whitespace": None}, "whitespace .*True or False.* None"),
        (ter, {"normalised": "no"}, "normalised .*True or False.* 'no'"),
        (ter, {"punctuation": 0}, "punctuation .*True or False.* 0"),
        (ter, {"asian": "ja"}, "asian .*True or False.* 'ja'"),
        (ter, {"case_sensitive": []}, r"case_sensitive .*True or False.* \[\]"),
        (rouge, {"stemmer": "porter"}, "stemmer .*True or False.* 'porter'"),
        (chrf, {"beta": 0}, "beta .*at least 1"),
        (rouge, {"kind": "rougeN"}, "unknown value for kind 'rougeN'"),
        (rouge, {"part": "f"}, "part 'f'.*'f1'"),
    ],
)
def test_bad_options(metric, options, message):
    with pytest.raises(InputError, match=message):
        metric(["a"], ["a"], **options)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (ter, "ter lays out .* row 2 needs 2,000 x 2,000"),
        (rouge, "rougeL lays out .* row 2 needs 10,000 x 10,000"),
    ],
)
def test_texts_too_long_for_a_table_are_refused(work, message):
    long = " ".join(["ab"] * (2_000 if work is ter else 10_000))
    with pytest.raises(InputError, match=message):
        work(["a", long], ["a", long])


def test_the_table_of_ter_is_that_of_the_words_compared():
    letters = "猫" * 1_001
    with pytest.raises(InputError, match="row 1 needs 1,001 x 1,001"):
        ter([letters], [letters], normalised=True, asian=True)
    with pytest.raises(InputError, match="row 1 needs 1,001 x 1,001"):
        ter([letters], [letters])  # by characters, as Chinese is
    assert ter([letters], [letters], normalised=False).value == 0
    with pytest.raises(InputError, match="row 1 needs 1,200 x 1,200"):
        ter(["a,b!" * 300], ["a,b!" * 300], normalised=True)
    marks = " ".join(["a", *"." * 1_500])
    assert ter([marks], [marks], punctuation=False).value == 0


def test_options_may_be_flags_of_numpy():
    assert bleu(["A b c d"], ["a b c d"], lowercase=np.True_).value == pytest.approx(100)


def test_the_mean_over_texts_stands_beside_each():
    found = rouge(["a b", "c"], ["a b", "d"], kind="rouge1")
    assert found.per_sample.tolist() == [1, 0]
    assert (found.value, found.better, found.range) == (0.5, "higher", (0, 1))
    assert found.signature.startswith("metric:rouge1|by:rouge-score|part:f1|stemmer:none|nrefs:1|")


WEIGHTED = [(1, 1, 1, 1), (4, 3, 2, 1), (0, 0, 1, 1), (1, 0, 0, 0), (0.1, 0.2, 0.3, 0.4)]


@pytest.mark.parametrize("weights", WEIGHTED)
def test_weighted_bleu_of_a_corpus_is_that_of_nltk(weights):
    """The same tokens, no smoothing; several references, of which the closest length counts."""
    nltk_bleu = pytest.importorskip("nltk.translate.bleu_score")
    texts = [
        "the old man sat on the wall and said that it was late",
        "a cat sat on a mat near the old red door",
        "nobody saw the boat that left the harbour at night",
    ]
    references = [
        ["the old man sat on a wall and said that it was very late", "he sat on the wall"],
        ["the cat sat on a mat near the old door", "a cat sat on a mat beside the old red door"],
        ["nobody saw that the boat left the harbour at night", "the boat left the harbour"],
    ]
    found = bleu(texts, references, tokenizer="none", smoothing="none", weights=weights)
    theirs = nltk_bleu.corpus_bleu(
        [[reference.split() for reference in row] for row in references],
        [text.split() for text in texts],
        weights=tuple(weight / sum(weights) for weight in weights),
    )
    assert found.value == pytest.approx(100 * theirs, rel=1e-12)
    assert 0 < found.value < 100


def test_weighted_bleu_worked_by_hand():
    """p1 = 5/6, p2 = 3/5 at the length of the reference: 100 (5/6)^(3/4) (3/5)^(1/4)."""
    texts, references = ["the cat sat on a mat"], ["the cat sat on the mat"]
    found = bleu(texts, references, order=2, weights=(3, 1))
    assert found.value == pytest.approx(100 * (5 / 6) ** 0.75 * (3 / 5) ** 0.25, rel=1e-12)
    assert "weights:0.75/0.25" in found.signature
    assert found.per_sample[0] == pytest.approx(found.value)


def test_equal_weights_are_plain_bleu_for_the_corpus_and_for_each_text():
    texts = ["the cat sat on a mat", "no", "", "a b c", "he saw the old red door at night"]
    references = ["the cat sat on the mat", "no", "yes", "a b d", "he saw an old red door"]
    plain, weighted = (bleu(texts, references, weights=w) for w in (None, (2, 2, 2, 2)))
    assert weighted.value == pytest.approx(plain.value, rel=1e-12)
    np.testing.assert_allclose(weighted.per_sample, plain.per_sample, rtol=1e-12)


def test_an_order_of_weight_zero_does_not_count_though_nothing_of_it_matches():
    texts, references = ["a b c d"], ["b a d c"]
    assert bleu(texts, references, order=2, smoothing="none").value == pytest.approx(0)
    assert bleu(texts, references, order=2, smoothing="none", weights=(1, 0)).value == 100
    assert bleu(texts, references, order=2, smoothing="none", weights=(0, 1)).value == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((1, 1), "as many as the order of n-grams .n., 4; found 2"),
        ((0, 0, 0, 0), "not all 0"),
        ((1, -1, 1, 1), "at least 0.*-1"),
        ((1, float("nan"), 1, 1), "at least 0"),
    ],
)
def test_wrong_weights_of_bleu_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        bleu(["a b"], ["a b"], weights=weights)


def test_the_key_of_bleu_takes_weights_in_any_spelling():
    from calipers.catalogue.choosing import find_text

    choice = find_text("bleu:weights=.50/1.0:n=2")
    assert choice.key == "bleu:n=2:weights=0.5/1"
    assert find_text(choice.key).key == choice.key
    for wrong in ("bleu:weights=", "bleu:weights=1/a", "bleu:weights=1/-1", "bleu:weights=0/0"):
        with pytest.raises(InputError, match="weights"):
            find_text(wrong)


def test_replicates_of_weighted_bleu_are_its_value_without_each_block():
    """The interval is of the weighted score: leaving out rows by hand gives the same numbers."""
    from calipers.catalogue.choosing import find_text
    from calipers.text.aligned import bleu_replicates, read_bleu
    from calipers.text.replicates import MeasuredTexts
    from calipers.text.scoring import TextPair

    rng = np.random.default_rng(0)
    words = np.array(["the", "old", "man", "sat", "on", "a", "wall", "and", "said"])
    texts = [" ".join(rng.choice(words, 12)) for _ in range(40)]
    references = [" ".join(rng.choice(words, 12)) for _ in range(40)]
    options = find_text("bleu:weights=4/3/2/1").options
    measured = MeasuredTexts(
        texts=tokenise(texts)[0], against=tokenise(references)[0], options=options, value=0.0
    )
    found = bleu_replicates(measured).rows
    for block in (0, 7, 19):
        rows = np.flatnonzero(measured.labels != block)
        assert len(rows) == 38
        left = TextPair(*(tokenise([side[row] for row in rows])[0] for side in (texts, references)))
        assert found[block] == pytest.approx(read_bleu(left, options).value, rel=1e-12)
