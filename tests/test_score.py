"""One number, and the line that pins how it was made."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.score import Score, join_signature, signature


def test_a_score_is_a_number() -> None:
    assert float(Score(0.25)) == 0.25
    assert round(float(Score(1)), 3) == 1.0
    assert math.isnan(float(Score(math.nan, reason="no samples")))


def test_a_score_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Score(0.5).value = 1.0  # type: ignore[misc]


def test_an_unmeasured_part_is_none_and_not_a_number() -> None:
    score = Score(0.5)
    assert (score.interval, score.level, score.noise_floor, score.reason) == (None,) * 4
    assert (score.range, score.better, score.seeds) == ((0.0, 1.0), "higher", ())


def test_signed_adds_pins_at_the_end_and_keeps_the_rest() -> None:
    score = Score(0.5, better="lower", signature="metric:mauve")
    signed = score.signed(k=4, view="form")
    assert signed.signature == "metric:mauve|k:4|view:form"
    assert (signed.value, signed.better) == (0.5, "lower")
    assert score.signature == "metric:mauve"
    assert Score(0.5).signed(k=4).signature == "k:4"


def test_a_score_as_text_is_a_short_line() -> None:
    score = Score(0.51234, signature="metric:x", reference=0.4)
    assert str(score) == f"{score}" == "0.5123 (reference 0.4, gap 0.1123)  metric:x"
    assert f"{score:.2f}" == "0.51"
    assert str(Score(math.nan, reason="too few")) == "nan (too few)"
    assert repr(score) == "Score(0.512, x)"


def test_the_repr_names_value_interval_metric_and_view() -> None:
    score = Score(0.944, (0.89, 0.972), signature="k:4|metric:mauve_star:chi2|view:form(mean)")
    assert repr(score) == "Score(0.944 [0.890, 0.972], mauve_star:chi2, form)"
    assert repr(Score(math.nan, reason="too few texts")) == "Score(nan, too few texts)"
    assert repr(Score(math.inf)) == "Score(inf)"


def test_a_long_array_stays_out_of_the_text() -> None:
    assert "per_sample" not in repr(Score(0.5))


@given(st.floats(0, 1), st.floats(0, 1))
def test_scores_order_as_their_values(left: float, right: float) -> None:
    a, b = Score(left), Score(right, better="lower", signature="metric:other")
    for other in (right, b, np.float64(right), Fraction(right)):
        assert (a < other, a <= other, a > other, a >= other, a == other, a != other) == (
            *(left < right, left <= right, left > right, left >= right),
            *(left == right, left != right),
        )
    assert (right < a, right == a, np.float64(right) >= a) == (
        *(right < left, right == left),
        right >= left,
    )
    assert (hash(a), max(a, b).value) == (hash(left), max(left, right))


def test_nan_equals_nothing_and_lies_nowhere() -> None:
    undefined = Score(math.nan)
    assert undefined != undefined
    assert not any([undefined < 1, undefined >= 0, undefined == math.nan])


def test_a_score_is_rounded_as_a_number() -> None:
    assert (round(Score(0.944), 1), round(Score(0.944))) == (0.9, 1)


def test_a_score_is_compared_with_numbers_alone() -> None:
    assert Score(0.5) != "0.5"
    assert Score(0.5) is not None
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Score' and 'str'"):
        _ = Score(0.5) < "1"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4, "4"),
        (0.9, "0.9"),
        (5.0, "5"),
        (1e-6, "1e-06"),
        (None, "None"),
        (True, "True"),
        ("n/10", "n/10"),
        ("two words", "two_words"),
        ("a|b", "a/b"),
    ],
)
def test_a_pin_is_one_word(value: object, text: str) -> None:
    assert signature({"key": value}) == f"key:{text}"


def test_pins_keep_their_order() -> None:
    assert signature({"b": 1, "a": 2}) == "b:1|a:2"
    assert signature({}) == ""


def test_joining_leaves_out_empty_parts() -> None:
    assert join_signature("", "a:1", "", "b:2") == "a:1|b:2"
    assert join_signature() == ""


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(max_size=12)))
def test_a_signature_has_one_part_for_each_pin(pins: dict[str, str]) -> None:
    line = signature(pins)
    assert " " not in line
    assert len(line.split("|")) == max(1, len(pins))
    assert [part.partition(":")[0] for part in line.split("|") if part] == list(pins)
