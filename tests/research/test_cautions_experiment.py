"""The experiment on how far confounders move scores: what it plants, and how it sums up."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def cautions(experiments):
    import cautions

    return cautions


def found(cautions, *points):
    return [
        cautions.Movement(strength, "news", np.array([[0.0, moved, 0.01, 0.0]]))
        for strength, moved in points
    ]


def test_the_points_rise_and_neighbours_that_fall_are_pooled(cautions):
    rising = found(cautions, (0.1, 0.2), (0.2, 0.4), (0.5, 0.8))
    assert cautions.coefficients(rising) == [(0.0, 0.0), (0.1, 0.2), (0.2, 0.4), (0.5, 0.8)]
    fallen = found(cautions, (0.1, 0.2), (0.2, 0.5), (0.4, 0.3), (0.5, 0.8))
    assert cautions.coefficients(fallen) == [(0.0, 0.0), (0.1, 0.2), (0.3, 0.4), (0.5, 0.8)]
    two = found(cautions, (0.1, 0.2), (0.1, 0.4), (0.5, 0.8))
    assert cautions.coefficients(two) == [(0.0, 0.0), (0.1, 0.3), (0.5, 0.8)]


def test_what_is_planted_is_as_strong_as_it_says(cautions, rng):
    texts = [f"One text {i} here. It goes on for {i} more. And ends. Or not" for i in range(40)]
    sets = cautions.Sets(texts, [text.upper() for text in texts])
    changed = sets.changed(lambda _: "", 0.25)
    assert changed.generated.count("") == 10
    repeated = cautions.repeated(sets, 0.5, rng)
    assert len({*repeated.generated}) == 20
    assert len({*cautions.repeated(sets, 1.0, rng).generated}) == 1
    assert cautions.first_share("a b c d", 0.5) == "a b"
    whole = cautions.sentences(texts[0])
    assert len(whole) == 3
    assert cautions.first_sentences(whole, 3.0) == "One text 0 here."
    shorter = cautions.longer("news", sets, [text[: len(text) // 2] for text in texts], 2.0)
    assert shorter.strength == pytest.approx(1, abs=0.3)
