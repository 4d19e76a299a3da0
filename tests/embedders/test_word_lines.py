"""The compiled reader of lines of word vectors, against Python on lines of any bytes."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.embedders.words.word_vector_files import read_plainly

NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SIGNS = st.sampled_from(b"0123456789.-+eE \t\r:/x\xb0\xff")


def read(lines, width):
    """What is read: each line's start and word, and its numbers where they are."""
    text = b"".join(line + b"\n" for line in lines)
    vectors = np.full((len(lines), width), np.nan, np.float32)
    starts, stops, done = read_plainly(np.frombuffer(text, np.uint8), vectors)
    assert starts.tolist() == [0, *np.cumsum([len(line) + 1 for line in lines], dtype=int)]
    words = [text[i:j] for i, j in zip(starts[:-1], stops, strict=True)]
    assert words == [re.split(rb"[ \t]", line)[0] for line in lines]
    return vectors, done


def numbers_of(line, width):
    """The numbers of a line of the plain form, by Python; None for another form."""
    plain = rb"[^ \t]*((?:[ \t]" + NUMBER + rb"){%d}) ?\r?" % width
    matched = re.fullmatch(plain, line)
    if not matched:
        return None
    with np.errstate(over="ignore"):
        return np.array([float(field) for field in matched[1].split()]).astype(np.float32)


def check(lines, width):
    vectors, done = read(lines, width)
    for line, vector, fine in zip(lines, vectors, done.tolist(), strict=True):
        if fine:
            expected = numbers_of(line, width)
            assert expected is not None, line
            assert vector.tobytes() == expected.tobytes(), line
    return done


@given(st.lists(st.lists(SIGNS, max_size=30).map(bytes), max_size=5), st.integers(0, 3))
def test_lines_of_any_signs_are_read_as_python_reads_them_or_left(lines, width):
    check(lines, width)


@st.composite
def decimals(draw):
    """Numbers of up to 15 digits with powers of ten that float32 holds, in any spelling."""
    sign = draw(st.sampled_from(["", "-", "+"]))
    digits = draw(st.text("0123456789", min_size=1, max_size=15))
    point = draw(st.integers(0, len(digits)))
    power = draw(st.one_of(st.just(""), st.integers(-20, 20).map("e{}".format)))
    return f"{sign}{'0' * draw(st.integers(0, 12))}{digits[:point]}.{digits[point:]}{power}"


@given(st.lists(st.lists(decimals(), min_size=3, max_size=3), min_size=1, max_size=8))
def test_usual_numbers_are_read_wherever_they_stand(rows):
    lines = [" ".join(["w", *row]).encode() for row in rows]
    # Midpoints between two numbers of float32, to within the reader's error, are left to Python
    exact = np.array([[float(number) for number in row] for row in rows])
    sure = (exact * (1 - 2**-47)).astype("f4") == (exact * (1 + 2**-47)).astype("f4")
    assert check(lines, 3)[sure.all(axis=1)].all()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 61])
@pytest.mark.parametrize("width", [0, 1, 2, 13])
def test_any_number_of_lines_and_numbers(count, width):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((count, width)).astype(np.float32)
    lines = [" ".join(["a", *map(repr, row.tolist())]).encode() for row in rows]
    vectors, done = read(lines, width)
    assert done.all()
    assert vectors.tobytes() == rows.tobytes()


@pytest.mark.parametrize("length", range(1, 45))
def test_numbers_of_any_length_end_where_the_text_ends(length):
    rng = np.random.default_rng(length)
    digits = bytes(rng.choice(list(b"0123456789"), length).tolist())
    numbers = [digits, b"." + digits, b"-0." + digits, digits[:3] + b"." + digits]
    for number in numbers:
        with np.errstate(over="ignore"):
            expected = np.array(float(number)).astype(np.float32)
        vectors, done = read([b"a " + number], 1)
        assert done[0] == np.isfinite(expected)
        assert not done[0] or vectors[0, 0] == expected


@pytest.mark.parametrize("text", [b"a 1", b"a 1\n", b"a 1\nb 2\nc 3\n", b"a 1\nb 2", b""])
def test_another_number_of_lines_is_refused(text):
    with pytest.raises(ValueError, match="2 whole lines"):
        read_plainly(np.frombuffer(text, np.uint8), np.empty((2, 1), np.float32))
