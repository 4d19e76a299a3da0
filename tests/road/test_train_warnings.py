"""The warning of a training set that is one of the compared sets."""

import numpy as np

import calipers


def test_only_a_training_set_that_is_the_reference_is_warned_of(rng):
    reference, train, generated = rng.standard_normal((3, 60, 4))
    options = {"metrics": ["recall"], "cache": False}
    other = calipers.compare(reference, {"x": generated}, train=train, **options)
    assert other.train.warnings == ()
    longer = np.concatenate([reference, train])
    assert (
        calipers.compare(reference, {"x": generated}, train=longer, **options).train.warnings == ()
    )
    same = calipers.compare(reference, {"x": generated}, train=reference, **options)
    assert len(same.train.warnings) == 1


def test_both_scores_name_the_training_set_in_their_signatures(rng):
    reference, train, generated = rng.standard_normal((3, 60, 4))
    found = calipers.compare(
        reference, {"x": generated}, train=train, metrics=["recall"], cache=False
    )
    for scores in (found["x"].scores, found.reference_scores):
        for key in ("near_copies:train", "authenticity:train"):
            assert "of:train" in scores[key].signature.split("|")
