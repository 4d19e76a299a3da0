"""Results are looked up as dicts: keys, get, in, and a KeyError that asks for the nearest name."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InputError

TEXTS = {name: [f"{name} says {n} words here" for n in range(12)] for name in ("a", "b")}
REFERENCE = [f"people say {n} words there" for n in range(12)]


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    vectors = {
        name: np.random.default_rng(place).standard_normal((30, 3))
        for place, name in enumerate(("a", "b", "reference"))
    }
    reference = vectors.pop("reference")
    options: dict[str, Any] = {"metrics": "precision,recall", "level": None, "k": 2}
    return {
        "compare": calipers.compare(reference, vectors, **options, floor=False),
        "measure_texts": calipers.measure_texts(
            TEXTS, reference=REFERENCE, metrics="mean_length", level=None
        ),
        "sweep": calipers.sweep(reference, vectors, over="k", values=[2, 3], metrics="precision"),
        "overlap": calipers.overlap(vectors, k=2),
    }


@pytest.mark.parametrize("name", ["compare", "measure_texts", "sweep", "overlap"])
def test_a_result_is_looked_up_as_a_dict(results: dict[str, Any], name: str) -> None:
    result = results[name]
    names = ["a", "b"] if name != "overlap" else ["precomputed"]
    assert list(result.keys()) == names
    assert dict(result) == dict(result.items()) == {key: result[key] for key in names}
    assert list(result.values()) == list(result) == [result[key] for key in names]
    assert len(result) == len(names)
    assert names[0] in result
    assert "c" not in result
    assert 0 not in result
    assert result.get(names[0]) is result[names[0]]
    assert result.get("c") is None
    assert result.get("c", 3) == 3
    for caught in (KeyError, InputError):
        with pytest.raises(caught, match=r"^unknown (system|view) 'c'; (known|did you mean)"):
            result["c"]


@pytest.mark.parametrize("name", ["compare", "measure_texts", "sweep"])
def test_a_system_is_looked_up_by_its_scores(results: dict[str, Any], name: str) -> None:
    system = results[name]["a"]
    keys = list(system.keys())
    assert list(system) == keys
    assert len(system) == len(keys) > 0
    assert dict(system) == {key: system[key] for key in keys}
    assert keys[0] in system
    assert "nothing" not in system
    assert system.get("nothing") is None
    with pytest.raises(KeyError, match=rf"'{keys[0][:-1]}'; did you mean '{keys[0]}'"):
        system[keys[0][:-1]]
    with pytest.raises(KeyError, match=r"unknown .* 0;"):
        system[0]
    assert system


def test_the_error_of_a_key_is_a_sentence(results: dict[str, Any]) -> None:
    with pytest.raises(KeyError) as caught:
        results["compare"]["a"]["recal"]
    sentence = "unknown score of 'a' 'recal'; did you mean 'recall'?"
    assert str(caught.value) == sentence
    assert str(copy.copy(caught.value)) == sentence
