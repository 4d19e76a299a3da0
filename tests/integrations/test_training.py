"""When a model counts as collapsed: by the interval, by hand, by law, and in comparisons."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.embedders import Embedder, EncodedBatch
from calipers.embedders.reading import ReadingCounts
from calipers.errors import InputError
from calipers.integrations.training import (
    CollapseWarning,
    MeasuredScore,
    Monitor,
    TrainingEvaluation,
    check_enough,
)
from calipers.score import Score

ENOUGH = calipers.Reference(np.zeros((100, 1)))


def monitor(**choices):
    return Monitor(ENOUGH, **{"patience": 1, **choices})


def seen(watching, *measured):
    return [
        watching.decide(step, {"recall": MeasuredScore(*each)})
        for step, each in enumerate(measured)
    ]


def test_the_interval_decides_and_not_the_point():
    found = seen(monitor(), (0.8, 0.7, 0.9), (0.5, 0.2, 0.7), (0.5, 0.4, 0.6), (0.75, 0.65, 0.85))
    assert [each.collapsed for each in found] == [False, False, True, False]
    assert [each.earlier and each.earlier.step for each in found] == [None, 0, 0, 0]


def test_the_best_is_what_reaches_least_low_and_the_first_stays():
    rows = (0.5, 0.4, 0.6), (0.95, 0.3, 1.0), (0.8, 0.7, 0.9), (0.64, 0.6, 0.68)
    assert [each.collapsed for each in seen(monitor(), *rows)] == [False, False, False, True]
    found = seen(monitor(against="first"), *rows)
    assert not any(each.collapsed for each in found)
    assert found[-1].earlier.step == 0


def test_patience_asks_for_falls_in_a_row():
    high, low = (0.8, 0.7, 0.9), (0.3, 0.2, 0.4)
    found = seen(monitor(patience=2), high, low, high, low, low, low)
    assert [each.fallen for each in found] == [False, True, False, True, True, True]
    assert [each.collapsed for each in found] == [False, False, False, False, True, True]


def test_by_default_it_takes_two_falls_in_a_row():
    found = seen(Monitor(ENOUGH), (0.8, 0.7, 0.9), (0.3, 0.2, 0.4), (0.3, 0.2, 0.4))
    assert [each.collapsed for each in found] == [False, False, True]


def test_without_an_interval_nothing_is_decided():
    found = seen(monitor(), (0.8, None, None), (0.7, 0.6, 0.8), (0.1, None, None), (0.1, 0, 0.2))
    assert [each.collapsed for each in found] == [False, False, False, True]
    assert found[1].earlier is None


Ends = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted)
Rows = st.lists(Ends.map(lambda ends: (ends[1], ends[0], ends[2])), min_size=1, max_size=12)


@given(Rows, st.integers(1, 3))
def test_no_evaluation_collapses_while_its_interval_meets_the_best(rows, patience):
    for place, each in enumerate(seen(monitor(patience=patience), *rows)):
        best = max((low for _, low, _ in rows[:place]), default=-1.0)
        assert each.fallen == (rows[place][2] < best)
        assert not each.collapsed or each.fallen
        assert not each.collapsed or place >= patience


@given(Rows)
def test_more_patience_never_warns_earlier(rows):
    once = [each.collapsed for each in seen(monitor(), *rows)]
    twice = [each.collapsed for each in seen(monitor(patience=2), *rows)]
    assert all(first or not second for first, second in zip(once, twice, strict=True))


def test_a_share_that_never_moves_has_the_interval_of_its_rows():
    score = Score(0.0, per_sample=np.zeros(100, bool))
    # Wilson: z² / (n + z²) with z = 1.96
    assert MeasuredScore.of(score, 0.95).high == pytest.approx(1.959964**2 / (100 + 1.959964**2))
    assert MeasuredScore.of(score, 0.95).low == 0
    assert MeasuredScore.of(Score(0.5, interval=(0.4, 0.6)), 0.95) == MeasuredScore(0.5, 0.4, 0.6)
    assert MeasuredScore.of(Score(0.5, per_sample=np.zeros(100)), 0.95) == MeasuredScore(0.5)
    assert MeasuredScore.of(Score(2.0, range=(0.0, np.inf)), 0.95) == MeasuredScore(2.0)


def test_what_is_logged_and_said():
    before = TrainingEvaluation(0, {"recall": MeasuredScore(0.8, 0.7, 0.9)}, "recall")
    now = TrainingEvaluation(
        20, {"recall": MeasuredScore(0.2, 0.1, 0.3)}, "recall", before, True, True, 1.5
    )
    assert now.logs() == {
        "calipers/recall": 0.2,
        "calipers/recall_low": 0.1,
        "calipers/recall_high": 0.3,
        "calipers/collapsed": 1.0,
        "calipers/seconds": 1.5,
    }
    assert str(now) == (
        "step 20: recall 0.20 [0.10, 0.30], below 0.80 [0.70, 0.90] at step 0: what the model "
        "writes covers less of the reference than before (mode collapse)"
    )
    assert str(before) == "step 0: recall 0.80 [0.70, 0.90]"
    assert (
        "calipers/recall_low"
        not in TrainingEvaluation(0, {"recall": MeasuredScore(0.8)}, "recall").logs()
    )


# Comparisons -------------------------------------------------------------------------------------


def test_comparisons_that_collapse_warn_once_and_again_after_a_recovery(tiny, human):
    watching = Monitor(human, patience=1)
    good, copies = tiny.texts(110, 2), ["stone"] * 110
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = watching.evaluate(0, good)
    assert first.measured.low > 0.5
    assert first.seconds > 0
    with pytest.warns(CollapseWarning, match=r"^step 1: recall 0\.00 .*step 0"):
        assert watching.evaluate(1, copies).collapsed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert watching.evaluate(2, copies).collapsed
        assert not watching.evaluate(3, good).collapsed
    with pytest.warns(CollapseWarning):
        watching.evaluate(4, copies)
    assert [each.step for each in watching.evaluations] == [0, 1, 2, 3, 4]


def test_scores_are_those_of_a_fresh_comparison(tiny, human):
    good = tiny.texts(110, 2)
    found = Monitor(human, "density", "coverage", options={"k": 3, "seed": 5}).evaluate(0, good)
    plain = calipers.compare(
        tiny.texts(120, 1), good, embedder="tfidf:size=10", cache=False, floor=False,
        metrics="density,coverage", k=3, seed=5,
    )["generated"]  # fmt: skip
    assert found.scores.keys() == {
        "density",
        "coverage",
        "classifier_auc",
    }  # of the test beside them
    for key, score in found.scores.items():
        assert (score.value, score.low, score.high) == (plain[key].value, *plain[key].interval)


def test_a_comparison_that_cannot_be_made_ends_no_training(tiny, human):
    watching = Monitor(human)
    with pytest.raises(InputError):
        watching.evaluate(0, [])
    watching.evaluate(0, tiny.texts(110, 2))
    with pytest.warns(CollapseWarning, match=r"^step 5 was not measured: "):
        assert watching.evaluate(5, []) is None
    assert len(watching.evaluations) == 1


def test_what_cannot_be_watched_is_refused(tiny, human):
    good = tiny.texts(110, 2)
    with pytest.raises(InputError, match=r"against 'bets'.*'best'"):
        monitor(against="bets")
    with pytest.raises(InputError, match=r"^patience .*at least 1"):
        monitor(patience=0)
    with pytest.raises(InputError, match=r"^the reference .*100 samples.* 20$"):
        Monitor(calipers.Reference(np.zeros((20, 1))))
    with pytest.raises(InputError, match=r"^reference .*calipers.Reference.*list$"):
        Monitor(good)
    with pytest.raises(InputError, match=r"^level .*None$"):
        Monitor(human, options={"level": None}).evaluate(0, good)
    with pytest.raises(InputError, match=r"^watch .*higher"):
        Monitor(human, ["mmd"], "mmd").evaluate(0, good)
    check_enough("prompts", 60, 2)
    with pytest.raises(InputError, match=r"^prompts .*60 samples.* 59$"):
        check_enough("prompts", 59, 2)


def test_texts_that_are_not_read_are_not_measured_and_end_no_training(tiny, human):
    watching = Monitor(human, patience=1)
    unknown = ["xyzzy plugh"] * 110
    with pytest.warns(CollapseWarning, match="^step 0 .*tfidf .*100 %"):
        assert watching.evaluate(0, unknown) is None
    assert watching.evaluate(1, tiny.texts(110, 2)) is not None
    with pytest.warns(CollapseWarning, match="^step 2 .*110 texts"):
        assert watching.evaluate(2, unknown) is None
    assert [each.step for each in watching.evaluations] == [1]


def test_a_reference_that_is_not_read_is_an_error():
    class Blind(Embedder):
        name = identity = "blind"
        views = ("meaning",)
        signature = {"embedder": "blind"}  # noqa: RUF012
        kept = False

        def encode(self, prepared):
            rows = np.ones((len(prepared), 3), np.float32)
            reading = ReadingCounts.of([(2, 2)] * len(rows))
            return EncodedBatch({"meaning": rows}, np.zeros(len(rows), bool), reading)

    texts = [f"w {i}" for i in range(100)]
    reference = calipers.Reference(texts, embedder=Blind(), cache=False)
    with pytest.raises(InputError, match=r"^the reference .*blind .*100 %"):
        Monitor(reference).evaluate(0, texts)
