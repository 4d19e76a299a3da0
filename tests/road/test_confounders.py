"""The record as a whole: what is measured, what is said, and that nothing is said of equals."""

import csv
import json
import time

import numpy as np
import pytest

from calipers.demo.systems import systems
from calipers.road.confounders import Confounders, ReferenceTexts, confounders
from calipers.road.confounders_copies import Duplicates
from calipers.samples import SampleSet

KEYS = {
    "lengths",
    "truncation",
    "duplicates",
    "copies",
    "prompts",
    "beginnings",
    "scripts",
    "language",
    "same",
}


def sample_set(texts):
    return SampleSet.from_texts(texts, name="x")


@pytest.mark.parametrize("seed", range(4))
def test_the_demo_systems(seed):
    reference, generated = systems(seed)
    known = ReferenceTexts.of(sample_set(reference))
    said = {
        name: confounders(known, [sample_set(texts)]).warnings for name, texts in generated.items()
    }
    assert said["held_out"] == said["markov_chain"] == ()
    assert any("begin as a reference text does" in text for text in said["near_copies"])


def test_the_record_is_plain_data_with_every_number(rng):
    reference, generated = systems(0)
    found = confounders(sample_set(reference), [sample_set(generated["held_out"])])
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(data) == KEYS
    assert set(data["lengths"]) == {"words", "characters"}
    assert data["copies"] == {"generated": 0.0, "expected": 0.0, "n": 338, "m": 338}
    assert data["scripts"]["reference"] == {"Latin": 1.0}


def test_a_reference_read_once_gives_the_same():
    reference, generated = systems(1)
    texts, system = sample_set(reference), sample_set(generated["near_copies"])
    known = ReferenceTexts.of(texts)
    first, again = confounders(known, [system]), confounders(known, [system])
    assert first == again == confounders(texts, [system])


@pytest.mark.parametrize(
    "samples",
    [
        SampleSet.from_vectors(np.eye(4), name="x"),
        SampleSet.from_images(np.zeros((3, 4, 4), np.uint8), name="x"),
    ],
)
def test_images_have_none_of_it_and_embeddings_their_repeats(samples):
    found = confounders(samples, [samples])
    repeats = None if samples.vectors is None else Duplicates(0.0, 0.0, 4, "rows")
    assert found == Confounders(duplicates=repeats, same=samples.vectors is not None)
    assert found.warnings == ()
    assert set(found.to_dict()) == KEYS


def test_rows_that_repeat_are_told_beside_those_of_the_reference(rng):
    reference, generated = rng.standard_normal((2, 300, 5)).round(1) + 0.0
    generated[:, 0] += np.arange(300)
    generated[150:] = generated[:150]
    generated[0, 1], generated[150, 1] = 0.0, -0.0
    sets = [SampleSet.from_vectors(rows, name="x") for rows in (reference, generated)]
    found = confounders(sets[0], sets[1:])
    assert (found.duplicates.generated, found.duplicates.reference) == (0.5, 0.0)
    (warning,) = found.warnings
    assert warning.startswith("50 % of its rows repeat an earlier one of the set, 0 % of as many")
    assert "coverage, recall, MAUVE" in warning
    assert "precision" in warning
    assert confounders(sets[1], sets[1:]).warnings == ()
    assert confounders(sets[1], [SampleSet.from_vectors(generated + 1, name="y")]).warnings == ()


@pytest.mark.parametrize(
    "texts", [["a"], ["", "a"], ["a b", "", "?"], ["\x00\x01", "é" * 5000], ["🙂 🙂", "zwei"]]
)
def test_odd_and_tiny_sets_are_measured_without_a_warning(texts):
    for other in (["b", ""], texts[::-1], ["longer text of some more words"]):
        found = confounders(sample_set(texts), [sample_set(other)])
        json.dumps(found.to_dict(), allow_nan=False)
        assert found.warnings == ()


def ag_news(folder):
    with (folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        return [f"{row[1]}. {row[2]}" for row in csv.reader(file)]


def writing_prompts(folder, name):
    with (folder / "writing_prompts" / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def test_halves_of_human_texts_are_never_warned_of(data_folder):
    for texts in (ag_news(data_folder), writing_prompts(data_folder, "human")):
        for seed in range(5):
            rows = np.random.default_rng(seed).permutation(len(texts))
            one, other = ([texts[row] for row in half] for half in np.array_split(rows, 2))
            for size in (60, 500, len(texts)):
                found = confounders(sample_set(one[:size]), [sample_set(other[:size])])
                assert found.warnings == ()


def test_the_prompts_in_the_writing_prompts_are_found(data_folder):
    human = ReferenceTexts.of(sample_set(writing_prompts(data_folder, "human")))
    for name in ("gpt2-xl", "gpt-neox-20b"):
        found = confounders(human, [sample_set(writing_prompts(data_folder, name))])
        assert found.beginnings.generated > 0.98
        assert found.beginnings.expected < 0.3
        assert found.beginnings.words == 25
        assert "of its texts begin as a reference text does" in found.warnings[-1]


def test_the_check_costs_less_than_a_second(rng):
    words = [f"w{number}" for number in range(5000)]
    sides = [
        sample_set([" ".join(row) for row in rng.choice(words, (4000, 100))]) for _ in range(2)
    ]
    start = time.perf_counter()
    confounders(sides[0], [sides[1]])
    assert time.perf_counter() - start < 1.5, "0.17 s on an idle machine"
