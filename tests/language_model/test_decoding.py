"""Decodings as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.language_model.decoding import RULES, TRUNCATIONS, Decoding, read_over


@pytest.mark.parametrize(
    ("text", "canonical", "method"),
    [
        ("ancestral", "ancestral", "sample"),
        ("greedy", "greedy", "greedy"),
        ("top_k=40,temperature=0.8", "temperature=0.8,top_k=40", "sample"),
        ("top-k=40", "top_k=40", "sample"),
        (" top_p = 0.9 , top_k = 40 ", "top_p=0.9,top_k=40", "sample"),
        ("top_k=40,top_p=.90", "top_k=40,top_p=0.9", "sample"),
        ("temperature=1", "temperature=1", "sample"),
        ("beam=4,no_repeat_ngram=4", "beam=4,no_repeat_ngram=4", "beam"),
        ("length_penalty=-1,beam=4", "beam=4,length_penalty=-1", "beam"),
        ("top_k=4,contrastive=0.6", "contrastive=0.6,top_k=4", "contrastive"),
        ("adversarial", "adversarial", "adversarial"),
        ("adversarial=30.5", "adversarial=30.5", "adversarial"),
        ("random_share=0.2,adversarial", "adversarial,random_share=0.2", "adversarial"),
        ("greedy,repetition_penalty=1.2", "greedy,repetition_penalty=1.2", "greedy"),
        ("typical=0.2,min_p=0.05,epsilon=0.001", "typical=0.2,min_p=0.05,epsilon=0.001", "sample"),
        ("eta=3e-4,top_h=0.4", "eta=0.0003,top_h=0.4", "sample"),
    ],
)
def test_one_canonical_form(text: str, canonical: str, method: str) -> None:
    decoding = Decoding.parse(text)
    assert str(decoding) == canonical
    assert decoding.method == method
    assert Decoding.parse(canonical) == decoding
    assert str(Decoding.parse(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the decoding is empty; write ancestral"),
        (" , ", "the decoding is empty"),
        ("top_q=0.9", "decoding parameter 'top_q'.*'top_"),
        ("top_p", "top_p needs a value"),
        ("top_p=", "top_p .*above 0 and at most 1.* ''"),
        ("top_p=0", "top_p .*above 0 and at most 1.* '0'"),
        ("top_p=1.1", "found '1.1'"),
        ("top_p=nan", "found 'nan'"),
        ("temperature=0", "temperature .*number above 0 .greedy for 0..* '0'"),
        ("temperature=inf", "found 'inf'"),
        ("temperature=-1", "found '-1'"),
        ("top_k=0", "top_k .*at least 1.* '0'"),
        ("top_k=1.5", "found '1.5'"),
        ("beam=1", "beam .*at least 2.* '1'"),
        ("epsilon=1", "epsilon .*above 0 and below 1.* '1'"),
        ("eta=0", "eta .*above 0 and below 1.* '0'"),
        ("adversarial=1", "adversarial .*perplexity above 1.* '1'"),
        ("top_p=0.9,top_p=0.8", "gives top_p twice"),
        ("greedy,greedy", "gives greedy twice"),
        ("adversarial,adversarial=9", "gives adversarial twice"),
        ("beam=4,top_p=0.9", "beam and top_p .*length_penalty"),
        ("top_p=0.9,beam=4", "beam and top_p cannot be combined"),
        ("greedy,temperature=0.5", "greedy and temperature cannot be combined"),
        ("greedy,beam=4", "greedy and beam cannot be combined"),
        (
            "top_p=0.9,length_penalty=2",
            "length_penalty .*beam only",
        ),
        ("length_penalty=2", "length_penalty goes with beam only"),
        ("random_share=0.1", "random_share goes with adversarial only"),
        ("greedy,length_penalty=2", "greedy and length_penalty cannot be combined"),
        ("ancestral,top_p=0.9", "ancestral samples from the model as it is"),
        ("ancestral,greedy", "ancestral samples from the model as it is"),
        ("contrastive=0.6", "contrastive search needs top_k"),
        ("ancestral=1", "ancestral takes no value; found '1'"),
        ("greedy=1", "greedy takes no value; found '1'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Decoding.parse(text)


def test_what_is_in_force() -> None:
    decoding = Decoding.parse("top_p=0.9,repetition_penalty=1.1,temperature=0.5,top_k=40")
    assert decoding.temperature == 0.5
    assert decoding.truncations == (("top_p", 0.9), ("top_k", 40))
    assert decoding.get("repetition_penalty") == 1.1
    assert decoding.get("min_p") is None
    assert decoding.get("min_p", 0) == 0
    assert decoding.random
    assert Decoding.parse("ancestral").temperature == 1
    assert not Decoding.parse("beam=4").random
    assert decoding.to_dict() == {
        "method": "sample",
        "temperature": 0.5,
        "top_p": 0.9,
        "repetition_penalty": 1.1,
        "top_k": 40,
    }


def test_another_value() -> None:
    decoding = Decoding.parse("temperature=0.5,top_p=0.9")
    assert str(decoding.with_value("top_p", 0.8)) == "temperature=0.5,top_p=0.8"
    assert str(decoding.with_value("top_k", "7")) == "temperature=0.5,top_p=0.9,top_k=7"
    assert str(Decoding.parse("ancestral").with_value("top_p", 0.8)) == "top_p=0.8"
    assert str(Decoding.parse("adversarial").with_value("adversarial", 20)) == "adversarial=20"
    assert str(Decoding.parse("greedy").with_value("repetition_penalty", 2)) == (
        "greedy,repetition_penalty=2"
    )
    with pytest.raises(InputError, match="top_p must be above 0"):
        decoding.with_value("top_p", 2)
    with pytest.raises(InputError, match="beam and"):
        decoding.with_value("beam", 4)


@given(
    st.lists(st.sampled_from(TRUNCATIONS), unique=True),
    st.floats(0.001, 0.999),
    st.floats(1e-6, 100),
)
def test_every_chain_is_read_back(names: list[str], value: float, temperature: float) -> None:
    parts = [f"{name}={7 if RULES[name].whole else value}" for name in names]
    decoding = Decoding.parse(",".join([*parts, f"temperature={temperature}"]))
    assert Decoding.parse(str(decoding)) == decoding
    assert [name for name, _ in decoding.truncations] == names


def test_what_varies() -> None:
    grid = {"top_p": (0.8, 0.9), "temperature": (0.7, 1.0)}
    assert read_over("top-p=0.8,0.9, temperature=0.7,1") == grid
    assert read_over({"top_p": [0.8, 0.9], "temperature": [0.7, 1]}) == grid


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("", "over .*parameter and its values"),
        ("0.8,0.9", "over .*parameter and its values"),
        ("top_p=0.8", "at least two values of a parameter"),
        ("top_p=0.8,0.8", "gives a value of top_p twice"),
        ("top_p=0.8,0.9,top_p=1", "over names top_p twice"),
        ("top_p=0.8,1.9", "top_p .*above 0 and at most 1.* '1.9'"),
        ("top_q=0.8,0.9", "unknown decoding parameter 'top_q'"),
    ],
)
def test_what_cannot_vary(over: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_over(over)
