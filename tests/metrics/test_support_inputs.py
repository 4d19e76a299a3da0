"""What people may hand in by mistake, and what every metric over neighbourhoods says of it."""

import numpy as np
import pytest

from calipers import metrics
from calipers.errors import InputError
from calipers.numeric import threads as pools

EVERY = {
    "support": metrics.support,
    "precision_recall": metrics.precision_recall,
    "density_coverage": metrics.density_coverage,
    "realism": metrics.realism,
    "clipped_density_coverage": metrics.clipped_density_coverage,
    "probabilistic_precision_recall": metrics.probabilistic_precision_recall,
    "precision_recall_cover": metrics.precision_recall_cover,
    "sphere_precision_recall": metrics.sphere_precision_recall,
    "authenticity": metrics.authenticity,
    "near_copies": metrics.near_copies,
    "scores_by_group": lambda p, q, **more: metrics.scores_by_group(p, q, ["a"] * len(p), **more),
}
every = pytest.mark.parametrize("measure", EVERY.values(), ids=EVERY)
ROWS = np.arange(36.0).reshape(12, 3) ** 2


@every
def test_arrays_that_do_not_fit(measure):
    with pytest.raises(InputError, match="same number of columns; found 3 and 2"):
        measure(ROWS, ROWS[:, :2])
    with pytest.raises(InputError, match="generated must have shape"):
        measure(ROWS, ROWS[:, 0])
    holes = ROWS.copy()
    holes[4, 1] = np.nan
    with pytest.raises(InputError, match=r"reference must hold finite numbers.* from 1: 5"):
        measure(holes, ROWS)
    with pytest.raises(InputError, match="generated must hold real numbers"):
        measure(ROWS, [["a"] * 3] * 12)


@every
def test_sets_of_one_sample(measure):
    with pytest.raises(InputError, match="samples in each set; the generated set has 1"):
        measure(ROWS, ROWS[:1])
    with pytest.raises(InputError, match="samples in each set; the reference set has 1"):
        measure(ROWS[:1], ROWS)


@every
def test_unknown_distances(measure):
    with pytest.raises(InputError, match="value for distance 'manhattan'"):
        measure(ROWS, ROWS, distance="manhattan")
    with pytest.raises(InputError, match="cosine"):
        measure(ROWS * 0, ROWS, distance="cosine")


@every
def test_kinds_of_arrays(measure):
    rows = ROWS[:, ::-1] % 7
    plain = np.ascontiguousarray(rows, dtype=np.float64)
    plain.setflags(write=False)
    expected = _values(measure(plain, plain + 1))
    for given in (rows.tolist(), rows.astype(np.int16), rows.astype(np.float16), rows):
        np.testing.assert_allclose(_values(measure(given, np.array(given) + 1)), expected, 1e-6)


@every
def test_as_many_threads_as_asked_for(measure, monkeypatch):
    asked = set()
    monkeypatch.setattr(pools, "available_threads", lambda threads: asked.add(threads) or 1)
    measure(ROWS, ROWS + 1, threads=3)
    assert asked == {3}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("precision_recall", {"k": 12}, "k = 12 needs at least 13 samples"),
        ("precision_recall", {"k": 0}, "k must be a whole number of at least 1; found 0"),
        ("realism", {"k": 1.5}, "k must be a whole number of at least 1; found 1.5"),
        ("clipped_density_coverage", {"k": 0}, "k must be a whole number"),
        ("clipped_density_coverage", {"ties": "both"}, "value for ties 'both'"),
        ("probabilistic_precision_recall", {"k": 40}, "k = 40 needs at least 41 samples"),
        ("probabilistic_precision_recall", {"factor": 0}, "factor must be above 0 and at most"),
        ("probabilistic_precision_recall", {"factor": "x"}, "factor must be above 0 and at most"),
        ("probabilistic_precision_recall", {"factor": 1e200}, "factor must be above 0 and at most"),
        ("precision_recall", {"threads": 0}, "threads must be a whole number of at least 1"),
        ("probabilistic_precision_recall", {"factor": np.nan}, "factor must be above 0 .* nan"),
        ("precision_recall_cover", {"k": 0}, "k must be a whole number"),
        ("precision_recall_cover", {"factor": 1.5}, "factor must be a whole number"),
        ("precision_recall_cover", {"factor": 0}, "factor must be a whole .* at least 1; found 0"),
        ("precision_recall_cover", {"factor": 4}, "k = 12 needs at least 13 samples"),
        ("sphere_precision_recall", {"ties": "none"}, "value for ties 'none'"),
        ("scores_by_group", {"k": 12}, "k = 12 needs at least 13 samples"),
    ],
)
def test_options_out_of_range(name, options, message):
    with pytest.raises(InputError, match=message):
        EVERY[name](ROWS, ROWS, **options)


def _values(found):
    if hasattr(found, "value"):
        return [found.value]
    scores = found if isinstance(found, dict) else vars(found)
    return [score.value for score in scores.values()]
