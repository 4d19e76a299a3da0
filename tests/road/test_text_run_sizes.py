"""How a run over texts cuts, signs and warns."""

import sys

import pytest

from calipers import measure_texts, text
from calipers.errors import MissingExtraError
from calipers.samples import SampleSet

HUMAN = [
    f"the {a} saw a {b} near the old {c}"
    for a in ("cat", "dog", "fox")
    for b in ("bird", "fish")
    for c in ("mill", "lake", "hill", "oak")
]
DULL = [f"it was a {a} day and it was {b}" for a in ("good", "bad") for b in ("so", "then")] * 6


def run(generated, metrics="distinct:n=2", **options):
    return measure_texts(generated, metrics=metrics, tokenizer="whitespace", threads=1, **options)


def test_the_smallest_set_may_be_the_reference():
    found = run({"dull": DULL}, reference=HUMAN[:6])
    assert (found["dull"].summary.n, found.reference.n) == (6, 6)


def test_sizes_that_are_kept_are_measured_whole():
    found = run({"dull": DULL}, ["vocabulary_size"], reference=HUMAN[:6], keep_sizes=True)
    score = found["dull"]["vocabulary_size"]
    assert score.value == text.vocabulary_size(DULL, tokenizer="whitespace").value
    assert score.reference == text.vocabulary_size(HUMAN[:6], tokenizer="whitespace").value
    assert "cut:" not in score.signature
    assert found.settings["sizes"] == "kept"


def test_seeds_of_different_sizes_are_warned_of():
    found = run(
        {"m": [SampleSet.from_texts(DULL, name="m"), SampleSet.from_texts(DULL[:9], name="m")]},
        reference=HUMAN,
        keep_sizes=True,
    )
    assert any("9 to 24 texts" in warning for warning in found.warnings)


def test_sides_keep_the_same_rows_by_any_seed():
    rows = [f"{n} {n + 1} {n + 2} {n + 3}" for n in range(20)]
    found = run({"m": rows}, ["rouge:rouge1"], reference=rows, aligned=True, max_samples=5, seed=7)
    assert found["m"]["rouge:rouge1"].value == 1


def test_scores_of_both_sides_are_signed_by_what_was_drawn():
    found = run({"m": DULL}, reference=HUMAN[:6], seed=3)
    for score in (found["m"]["distinct:n=2"], found.reference_scores["distinct:n=2"]):
        assert f"reference:{found.reference.content_hash[:16]}" in score.signature
        assert score.signature.endswith("sampling_seed:3")


def test_copies_in_the_reference_are_warned_of():
    found = run({"m": HUMAN}, reference=[*HUMAN[:23], HUMAN[0]])
    assert any("repeat an earlier one" in w for w in found.reference.warnings)


def test_a_metric_without_any_value_has_its_reason_and_no_count():
    found = run({"m": ["a b"] * 5 + ["a c"] * 5}, ["rep_n:n=9"])
    assert not any("left out" in w for w in found["m"].warnings)


def test_every_seed_file_counts_in_what_is_left_out():
    found = run(
        {
            "m": [
                SampleSet.from_texts(HUMAN[:12], name="m"),
                SampleSet.from_texts(["a b"] * 3 + HUMAN[:9], name="m"),
            ]
        },
        ["rep_n"],
    )
    assert any("rep_n 3" in w for w in found["m"].warnings)


def test_named_metrics_ask_for_their_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(MissingExtraError, match="near_duplicates"):
        run({"m": ["a"]}, ["near_duplicates"])
