"""The compression ratio."""

from __future__ import annotations

import gzip
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import compression_ratio


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1).filter(any), st.sampled_from([None, 1, 6, 9]))
def test_equals_a_gzip_file(texts, level):
    data = "\n".join(texts).encode()
    packed = gzip.compress(data, compresslevel=level or 9, mtime=0)
    assert compression_ratio(texts, level=level).value == len(data) / len(packed)


@pytest.mark.parametrize("level", [1, 3, 19])
def test_zstd_equals_another_binding(level):
    zstandard = pytest.importorskip("zstandard")
    texts = [f"text number {at} says {at * at}" for at in range(300)]
    data = "\n".join(texts).encode()
    packed = zstandard.ZstdCompressor(level=level).compress(data)
    ratio = compression_ratio(texts, codec="zstd", level=level).value
    assert ratio == pytest.approx(len(data) / len(packed), rel=0.02)  # two releases of zstd


def test_zstd_packs_what_can_be_unpacked():
    import pyarrow

    from calipers.text.compression import packed_size

    data = b"again and again " * 100
    codec = pyarrow.Codec("zstd", compression_level=3)
    assert packed_size(data, "zstd", 3) == len(codec.compress(data))
    assert codec.decompress(codec.compress(data), len(data)).to_pybytes() == data


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_repetition_raises_it(codec):
    varied = [f"{at * 7919 % 10007} {at * 104729 % 99991}" for at in range(500)]
    same = ["the very same text"] * 500
    assert compression_ratio(same, codec=codec).value > 20
    assert compression_ratio(varied, codec=codec).value < 5


def test_signature_pins_what_packed_it():
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
        ({"codec": "gz"}, "unknown value for codec 'gz'; did you mean 'gzip'"),
        ({"level": 10}, "level must be at most 9 for the codec 'gzip'; found 10"),
        ({"codec": "zstd", "level": 23}, "level must be at most 22 for the codec 'zstd'; found 23"),
        ({"level": 0}, "level must be a whole number of at least 1; found 0"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(InputError, match=message):
        compression_ratio(["a"], **options)
