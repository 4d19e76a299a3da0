"""Figures of one set: lengths, the vocabulary, the Zipf coefficient and the compression ratio."""

from __future__ import annotations

import gzip
import statistics
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import (
    compression_ratio,
    length_spread,
    mean_length,
    median_length,
    vocabulary_size,
    zipf_coefficient,
)
from calipers.text.tokens import tokenise
from calipers.unicode.words import regex_version
from extras import need

# Lengths and the vocabulary.


UNITS = {"words": lambda text: len(text.split()), "characters": len}
LATIN = st.text(st.characters(max_codepoint=0x17F, exclude_characters="\r\xad"), max_size=20)


def test_units_by_hand():
    texts = ["It's 5 o'clock.", "", "日本 語"]
    assert mean_length(texts, unit="words").per_sample.tolist() == [3, 0, 3]
    assert mean_length(texts, unit="characters").per_sample.tolist() == [15, 0, 4]
    tokens = mean_length(texts, tokenizer="whitespace")
    assert tokens.per_sample.tolist() == [3, 0, 2]
    assert tokens.value == 5 / 3
    assert "unit:tokens" in tokens.signature
    assert "tokenizer:whitespace" in tokens.signature


def test_units_of_scripts_without_spaces_by_hand():
    texts = ["我喜欢 iPhone。", "ฉันชอบกาแฟ", "क्षत्रिय है", "e\u0301te\u0301", "👩‍👩‍👧 ok"]
    # 我|喜|欢|iPhone, ฉั|น|ช|อ|บ|กา|แฟ, two words by their space, été, an emoji
    assert mean_length(texts, unit="words").per_sample.tolist() == [4, 7, 2, 1, 2]
    # क्ष|त्रि|य| |है, and an emoji of five code points is one
    assert mean_length(texts, unit="characters").per_sample.tolist() == [11, 9, 5, 3, 4]


def test_only_tokens_name_a_tokenizer():
    for unit in UNITS:
        score = mean_length(["a b"], unit=unit)
        assert f"metric:mean_length|unit:{unit}|cut:regex-{regex_version()}|n:1" in score.signature
        assert "tokenizer" not in score.signature


@given(st.lists(LATIN, min_size=2), st.sampled_from(sorted(UNITS)))
def test_equal_pythons_statistics(texts, unit):
    lengths = [UNITS[unit](text) for text in texts]
    assert mean_length(texts, unit=unit).value == pytest.approx(statistics.fmean(lengths))
    assert median_length(texts, unit=unit).value == statistics.median(lengths)
    assert length_spread(texts, unit=unit).value == pytest.approx(statistics.stdev(lengths))


def test_a_corpus_gives_its_texts_and_its_tokens():
    (corpus,) = tokenise(["one two, three"], tokenizer="whitespace")
    assert mean_length(corpus).value == 3
    assert mean_length(corpus, unit="characters").value == 14


def test_a_single_text_has_no_spread():
    score = length_spread(["a b"], unit="words")
    assert np.isnan(score.value)
    assert score.reason == "a single text has no spread"


def test_a_misspelt_unit():
    with pytest.raises(InputError, match=r"unit 'word'.*'words'"):
        mean_length(["a"], unit="word")


def test_vocabulary_of_this_set_alone():
    texts, others = ["a b a", "", "c a"], ["d e f"]
    corpus, _ = tokenise(texts, others, tokenizer="whitespace")
    score = vocabulary_size(corpus)
    assert score.value == 3
    assert score.per_sample.tolist() == [2, 0, 2]
    assert vocabulary_size([""], tokenizer="whitespace").value == 0


# The Zipf coefficient.


def line(counts, top):
    from scipy.stats import linregress

    counts = sorted(counts, reverse=True)[:top]
    return -linregress(np.log(np.arange(1, len(counts) + 1)), np.log(counts)).slope


def zipf(texts, **options):
    return zipf_coefficient(texts, tokenizer="whitespace", **options)


def test_by_hand():
    # 8, 4, 2 at the ranks 1, 2, 4 would have slope -1; three words at 4, 1, 1:
    x, y = np.log([1, 2, 3]), np.log([4, 1, 1])
    slope = ((x - x.mean()) @ (y - y.mean())) / ((x - x.mean()) @ (x - x.mean()))
    assert zipf(["a a a", "a b", "c"]).value == pytest.approx(-slope, rel=1e-14)


def test_a_perfect_law_gives_its_exponent():
    counts = [3600 // rank**2 for rank in (1, 2, 3, 4, 5, 6)]
    assert zipf([" ".join(f"w{at} " * count for at, count in enumerate(counts))]).value == (
        pytest.approx(2, rel=1e-12)
    )


@given(st.lists(st.integers(1, 30), min_size=2, max_size=40), st.integers(2, 50))
def test_equals_scipys_regression(counts, top):
    texts = [f"w{word} " * count for word, count in enumerate(counts)]
    assert zipf(texts, top=top).value == pytest.approx(line(counts, top), abs=1e-12)


def test_equals_scipy_on_many_words():
    rng = np.random.default_rng(1)
    words = rng.zipf(1.2, 60_000)
    texts = [" ".join(map(str, part)) for part in np.split(words, 100)]
    counts = Counter(words.tolist()).values()
    assert len(counts) > 5000
    assert zipf(texts).value == pytest.approx(line(counts, 5000), abs=1e-12)
    assert "top:5000" in zipf(texts).signature


def test_equal_frequencies_give_zero_exactly():
    score = zipf([" ".join(f"w{at}" for at in range(997))] * 3)
    assert score.value == 0
    assert np.copysign(1, score.value) == 1


@pytest.mark.parametrize(("texts", "found"), [([""], "none"), (["a a", "a"], "one")])
def test_fewer_than_two_words_have_no_line(texts, found):
    score = zipf(texts)
    assert np.isnan(score.value)
    assert score.reason == f"a line needs two different words; the texts have {found}"


def test_shuffling_words_over_texts_changes_nothing():
    words = ("a a a b b c d d d d " * 3).split()
    shuffled = np.random.default_rng(0).permutation(words)
    assert (
        zipf([" ".join(words)]).value
        == zipf([" ".join(shuffled[:7]), " ".join(shuffled[7:])]).value
    )


def test_top_must_leave_a_line():
    with pytest.raises(InputError, match=r"top .*at least 2.* 1"):
        zipf(["a b"], top=1)


# The compression ratio.


@given(st.lists(st.text(), min_size=1).filter(any), st.sampled_from([None, 1, 6, 9]))
def test_equals_a_gzip_file(texts, level):
    data = "\n".join(texts).encode()
    packed = gzip.compress(data, compresslevel=level or 9, mtime=0)
    assert compression_ratio(texts, level=level).value == len(data) / len(packed)


@pytest.mark.parametrize("level", [1, 3, 19])
def test_zstd_equals_another_binding(level):
    zstandard = need("zstandard")
    texts = [f"text number {at} says {at * at}" for at in range(300)]
    data = "\n".join(texts).encode()
    packed = zstandard.ZstdCompressor(level=level).compress(data)
    ratio = compression_ratio(texts, codec="zstd", level=level).value
    assert ratio == pytest.approx(len(data) / len(packed), rel=0.02)  # two releases of zstd


def test_zstd_packs_what_can_be_unpacked():
    need("pyarrow")
    import pyarrow

    from calipers.text.compression import packed_size

    data = b"again and again " * 100
    codec = pyarrow.Codec("zstd", compression_level=3)
    assert packed_size(data, "zstd", 3) == len(codec.compress(data))
    assert codec.decompress(codec.compress(data), len(data)).to_pybytes() == data


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_repetition_raises_it(codec):
    if codec == "zstd":
        need("pyarrow")
    varied = [f"{at * 7919 % 10007} {at * 104729 % 99991}" for at in range(500)]
    same = ["the very same text"] * 500
    assert compression_ratio(same, codec=codec).value > 20
    assert compression_ratio(varied, codec=codec).value < 5


def test_signature_pins_what_packed_it():
    need("pyarrow")
    assert (
        f"codec:gzip|level:9|library:zlib-{zlib.ZLIB_RUNTIME_VERSION}|n:1"
        in compression_ratio(["a"]).signature
    )
    assert "codec:zstd|level:3|library:pyarrow-" in compression_ratio(["a"], codec="zstd").signature


def test_nothing_to_pack():
    score = compression_ratio(["", ""])
    assert np.isnan(score.value)
    assert score.reason == "every text is empty"
    assert compression_ratio([" "]).value < 1


def test_lone_surrogates_are_packed_too():
    assert compression_ratio(["\ud800" * 100]).value > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codec": "gz"}, "codec 'gz'.*'gzip'"),
        ({"level": 10}, "level .*at most 9 for the codec 'gzip'.* 10"),
        ({"codec": "zstd", "level": 23}, "level .*at most 22 for the codec 'zstd'.* 23"),
        ({"level": 0}, "level .*at least 1.* 0"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(InputError, match=message):
        compression_ratio(["a"], **options)
