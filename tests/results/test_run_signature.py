"""The signature of a comparison: short enough for a screen, equal where runs are comparable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.results.comparison import Comparison
from calipers.score import signature_pins

RNG = np.random.default_rng(0)
REFERENCE = RNG.normal(size=(60, 4))
ONE, OTHER = RNG.normal(size=(2, 60, 4))
FAST = {"metrics": ["precision", "recall"], "level": None}


def run(generated: object = ONE, **options: object) -> Comparison:
    return calipers.compare(REFERENCE, {"a": generated}, **{**FAST, **options})


@pytest.fixture(scope="module")
def usual() -> Comparison:
    return run()


def test_it_fits_a_line_and_says_what_was_measured(usual: Comparison) -> None:
    short = usual.signature.short
    assert len(f"signature {short}") <= 88  # 79 of a usual run, with minilm
    pins = signature_pins(short)
    assert list(pins) == ["n", "ref", "embedder", "seed", "choices", "calipers"]
    assert (pins["n"], pins["seed"]) == ("60", "0")
    assert usual.reference.content_hash.startswith(pins["ref"])
    whole = signature_pins(usual.signature.whole)
    assert whole["k"] == "4"
    assert whole["ref"] == usual.reference.content_hash


@pytest.mark.parametrize(
    "options", [{"metrics": ["precision", "coverage"]}, {"tag": "b"}, {"generated": OTHER}]
)
def test_runs_that_are_comparable_have_one_signature(
    usual: Comparison, options: dict[str, object]
) -> None:
    found = run(**options)
    assert found.signature == usual.signature
    pair = (usual["a"]["precision"], found["a"]["precision"])
    assert pair[0].signature == pair[1].signature


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"seed": 1},
        {"normalise": "l2"},
        {"distance": "cosine"},
        {"projection": "union"},
        {"generated": OTHER[:50]},
    ],
)
def test_runs_that_differ_in_what_matters_have_two(
    usual: Comparison, options: dict[str, object]
) -> None:
    found = run(**options)
    assert found.signature.short != usual.signature.short
    assert found.signature.whole != usual.signature.whole


def test_sizes_are_those_that_were_scored(usual: Comparison) -> None:
    found = calipers.compare(REFERENCE, {"a": ONE[:50], "b": OTHER[:40]}, keep_sizes=True, **FAST)
    assert found.signature.short.startswith("n:60|m:40-50|ref:")
    with_other = replace(usual, reference=replace(usual.reference, content_hash="f" * 64))
    assert "|ref:ffffff|" in with_other.signature.short


def test_it_is_written_and_follows_from_what_is_read(usual: Comparison) -> None:
    data = usual.to_dict()
    assert data["signature"] == {
        "short": usual.signature.short,
        "whole": usual.signature.whole,
    }
    assert Comparison.from_dict(data).signature == usual.signature
