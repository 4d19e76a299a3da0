"""Support metrics: by hand, against prdc, and what they say of bad input."""

import numpy as np
import pytest

from calipers import metrics
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics import knn_support
from calipers.metrics.spheres import sphere_precision_score
from calipers.numeric import threads as pools
from extras import need


def test_four_points_by_hand():
    # Radii of 0, 1, 3, 7 are 1, 1, 2, 4; of 2, 4, 5, 20 they are 2, 1, 1, 15.
    reference, generated = [[0.0], [1], [3], [7]], [[2.0], [4], [5], [20]]
    support = metrics.precision_recall(reference, generated, k=1)
    assert support.precision.value == 3 / 4  # 20 lies in no ball
    assert support.recall.value == 4 / 4  # 7 only thanks to the wide ball of the outlier 20
    spread = metrics.density_coverage(reference, generated, k=1)
    assert spread.density.value == (2 + 2 + 2 + 0) / 4
    assert spread.coverage.value == 3 / 4  # the ball of 0 is empty
    opened = metrics.precision_recall(reference, generated, k=1, ties="open")
    assert opened.precision.value == 3 / 4
    spread = metrics.density_coverage(reference, generated, k=1, ties="open")
    assert spread.density.value == (1 + 2 + 1 + 0) / 4


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize(("n", "m", "d"), [(300, 200, 8), (150, 400, 50)])
def test_equals_prdc(rng, k, n, m, d):
    prdc = need("prdc")
    reference = rng.standard_normal((n, d))
    generated = rng.standard_normal((m, d)) * 0.9
    theirs = prdc.compute_prdc(reference, generated, nearest_k=k)
    support = metrics.precision_recall(reference, generated, k=k, ties="open")
    spread = metrics.density_coverage(reference, generated, k=k, ties="open")
    assert support.precision.value == theirs["precision"]
    assert support.recall.value == theirs["recall"]
    assert spread.density.value == pytest.approx(theirs["density"], abs=1e-12)
    assert spread.coverage.value == theirs["coverage"]


def test_density_of_a_set_against_itself_is_one_with_open_balls(rng):
    rows = rng.standard_normal((80, 5))
    assert metrics.density_coverage(rows, rows, k=4, ties="open").density.value == 1


def test_too_few_samples():
    with pytest.raises(InputError, match=r"5 samples .*generated"):
        metrics.precision_recall(np.zeros((9, 2)), np.zeros((3, 2)))


@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_four_scores_in_one_call_are_those_of_two(rng, ties, distance):
    reference, generated = rng.standard_normal((90, 6)), rng.standard_normal((70, 6)) * 0.8
    options = {"k": 3, "ties": ties, "distance": distance}
    four = metrics.support(reference, generated, **options)
    for pair in (
        metrics.precision_recall(reference, generated, **options),
        metrics.density_coverage(reference, generated, **options),
    ):
        for name, score in vars(pair).items():
            found = getattr(four, name)
            assert (found.value, found.range, found.signature) == (
                score.value,
                score.range,
                score.signature,
            )
            assert found.per_sample.tolist() == score.per_sample.tolist()


def test_four_scores_take_one_pass(rng, monkeypatch):
    passes = []

    def counted(*sets, **options):
        passes.append(options)
        return neighbourhoods(*sets, **options)

    monkeypatch.setattr(knn_support, "neighbourhoods", counted)
    metrics.support(*rng.standard_normal((2, 20, 3)), k=2)
    assert len(passes) == 1


# Examples small enough to be worked by hand, one for each metric.


LINE = [[0.0], [1.0], [3.0], [7.0]]  # nearest own neighbours at 1, 1, 2 and 4


def test_realism():
    # k = 1: radii 1, 1, 2, 4 have the median 1.5, so the balls of 0 and 1 count
    found = metrics.realism(LINE, [[0.5], [3.0], [9.0], [1.0]], k=1)
    assert found.per_sample.tolist() == [2.0, 0.5, 1 / 8, np.inf]
    assert found.value == (2 + 0.5) / 2
    assert (found.range, found.better, found.reason) == ((0, np.inf), "higher", None)


def test_realism_of_copies_is_infinite_with_a_reason():
    found = metrics.realism(LINE, [[0.0], [1.0], [9.0]], k=1)
    assert found.value == np.inf
    assert "exact copies" in found.reason
    mixed = metrics.realism(LINE, [[0.0], [9.0]], k=1)  # the mean of the two in the middle
    assert mixed.value == np.inf
    assert "exact copies" in mixed.reason


def test_clipped_density():
    # Capped radii 1, 1, 1.5, 1.5. Own: 0 and 1 lie in each other's ball, 3 and 7 in none: 2/4.
    found = metrics.clipped_density_coverage(LINE, [[0.5], [2.0], [6.0], [20.0]], k=1).density
    assert found.per_sample.tolist() == [1, 1, 1, 0]  # 0.5 and 2 lie in two balls and count one
    assert found.value == 1.0  # (3/4) / (2/4) is capped
    assert metrics.clipped_density_coverage(LINE, [[2.0], [20], [30], [40]], k=1).density.value == (
        (1 / 4) / (2 / 4)
    )


def test_clipped_density_counts_up_to_k_balls():
    # k = 2: radii 3, 2, 3, 6 with the median 3, so balls reach over -3..3, -1..3, 0..6, 4..10
    found = metrics.clipped_density_coverage(LINE, [[2.0], [5.0], [9.0], [20.0]], k=2).density
    assert found.per_sample.tolist() == [1, 1, 1 / 2, 0]  # 3, 2, 1 and 0 balls of at most 2
    # Own: 0, 1 and 3 lie in two other balls, 7 in none: 6/8, as here 5/8
    assert found.value == pytest.approx((5 / 8) / (6 / 8))


def test_clipped_density_is_undefined_where_no_open_ball_holds_another():
    found = metrics.clipped_density_coverage([[0.0], [1], [2], [3]], LINE, k=1, ties="open")
    assert np.isnan(found.density.value)
    assert "open capped ball" in found.density.reason
    assert found.density.per_sample.shape == (4,)
    assert not np.isnan(found.coverage.value)
    constant = metrics.clipped_density_coverage(np.ones((7, 2)), np.ones((7, 2)))
    assert constant.density.value == constant.coverage.value == 1


def test_clipped_coverage():
    # k = 1, N = 4: f(m) = m / (N - 1 + m), so f = 0, 1/4, 2/5, 1/2, 4/7 for m = 0..4.
    found = metrics.clipped_density_coverage(LINE, [[0.5], [20], [30], [40]], k=1).coverage
    assert found.per_sample.tolist() == [1, 1, 0, 0]
    assert found.value == pytest.approx(3 / 4, abs=1e-12)  # 1/2 = f(3), 3 of 4
    one = metrics.clipped_density_coverage(LINE, [[8.0], [20], [30], [40]], k=1).coverage
    assert one.value == pytest.approx(1 / 4, abs=1e-12)  # only the ball of 7: 1/4 = f(1)
    full = metrics.clipped_density_coverage(LINE, [[0.0], [1.0], [3.0], [7.0]], k=1).coverage
    assert full.value == 1


def test_probabilistic_precision_and_recall():
    # R = 1.5 × mean(1, 1, 2, 4) = 3: 2 lies at 2, 1 and 1 from 0, 1 and 3; 9 lies at 2 from 7
    found = metrics.probabilistic_precision_recall(LINE, [[2.0], [9.0]], k=1, factor=1.5)
    assert found.precision.per_sample == pytest.approx([1 - 2 / 27, 1 / 3])
    # Generated radii are 7 and 7, R = 10.5
    expected = [1 - 2 * 9 / 10.5**2, 1 - 8 / 10.5**2, 1 - 6 / 10.5**2, 1 - 5 * 2 / 10.5**2]
    assert found.recall.per_sample == pytest.approx(expected)
    assert found.precision.value == pytest.approx((1 - 2 / 27 + 1 / 3) / 2)


def test_cover():
    # Balls of 2 own neighbours, 1 of the other side needed. LINE: radii 3, 2, 3, 6.
    generated = [[-4.0], [-5.0], [4.0], [30.0]]  # radii 8, 9, 9, 34
    found = metrics.precision_recall_cover(LINE, generated, k=1, factor=2)
    assert found.recall.per_sample.tolist() == [False, False, True, True]
    assert found.precision.per_sample.tolist() == [True, True, True, True]
    twice = metrics.precision_recall_cover(LINE, [[4.0], [5.0], [6.0], [90.0]], k=2, factor=1)
    # Generated radii 2, 1, 2 and 85 hold 3, nothing, 7 and 7: never two
    assert twice.precision.per_sample.tolist() == [False, False, False, False]
    assert twice.recall.per_sample.tolist() == [False, False, True, True]
    assert "k:2" in twice.recall.signature.split("|")
    assert "own_neighbours:2" in twice.recall.signature.split("|")


def test_spheres():
    # Mean 2.75: distances 2.75, 1.75, 0.25, 4.25; spheres hold 1/4 .. 4/4
    found = metrics.sphere_precision_recall(LINE, [[2.75], [3.5], [0.5], [9.0]]).precision
    # Generated distances 0, 0.75, 2.25, 6.25; within 0.25, 1.75, 2.75, 4.25: 1, 2, 3, 3 of 4
    assert found.value == pytest.approx(1 - (0 + 0 + 0 + 1 / 4) / (10 / 4))
    assert found.per_sample.tolist() == [0, 1 / 4, 2 / 4, 1]


def test_sphere_recall():
    # Nearest generated samples of 0, 1, 3, 7 lie at 1, 0, 2, 6; own nearest at 1, 1, 2, 4
    found = metrics.sphere_precision_recall(LINE, [[1.0], [13.0]]).recall
    assert found.per_sample.tolist() == [True, True, True, False]
    # Both generated samples are 6 from their mean 7: one sphere for all, holding both
    assert found.value == pytest.approx(1 - (1 / 4 + 1 / 4) / 2)
    opened = metrics.sphere_precision_recall(LINE, [[1.0], [13.0]], ties="open").recall
    assert opened.per_sample.tolist() == [False, True, False, False]


def test_authenticity():
    # 0 is 1 from its nearest: 0.5 away is no new sample, and neither is 1 away
    found = metrics.authenticity(LINE, [[-0.5], [-1.0], [-1.5], [12.0], [7.0]])
    assert found.per_sample.tolist() == [False, False, True, True, False]
    assert found.value == 2 / 5
    assert "of:reference" in found.signature.split("|")


def test_near_copies():
    # The smallest nearest-neighbour distance is 1, so τ = 1
    found = metrics.near_copies(LINE, [[-0.5], [-1.0], [-1.5], [12.0], [7.0]])
    assert found.value == 3 / 5
    assert found.better == "lower"
    assert found.per_sample.tolist() == [0, 2 / 4, 2 / 4, 1, 0]


def test_scores_without_a_choice_of_k_say_that_it_is_the_nearest():
    spheres = metrics.sphere_precision_recall(LINE, LINE)
    copies = metrics.near_copies(LINE, LINE), metrics.authenticity(LINE, LINE)
    for score in (spheres.precision, spheres.recall, *copies):
        assert "k:1" in score.signature.split("|")


@pytest.mark.parametrize(("reference", "generated"), [(1.0, 2.0**-600), (2.0**600, 1.0)])
def test_spheres_of_sets_of_very_different_size(reference, generated):
    # Squares of one set would not fit, or those of the other vanish; the largest sets the scale
    mirrored, inside = -np.array(LINE), np.array([[-2.75], [-3.5], [-0.5], [-9.0]])
    near = neighbourhoods(mirrored, inside, k=1)
    found = sphere_precision_score(near, mirrored * reference, inside * generated)
    # All generated samples are 2.75 from the mean, as if they were 0: within 2.75 and 4.25
    assert found.per_sample.tolist() == [2 / 4] * 4
    assert found.value == pytest.approx(1 - (1 / 4 + 2 / 4 + 1 / 4) / (10 / 4))


def test_zero_distances_are_near_copies_even_among_duplicates():
    reference = np.repeat([[0.0], [5.0], [9.0]], 4, axis=0)
    assert metrics.near_copies(reference, [[0.0], [5.1]]).value == 1 / 2
    assert metrics.authenticity(reference, [[0.0], [5.1]]).per_sample.tolist() == [False, True]


# What people may hand in by mistake, and what every metric over neighbourhoods says of it.


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
    with pytest.raises(InputError, match=r"columns.* 3 and 2"):
        measure(ROWS, ROWS[:, :2])
    with pytest.raises(InputError, match="generated must have shape"):
        measure(ROWS, ROWS[:, 0])
    holes = ROWS.copy()
    holes[4, 1] = np.nan
    with pytest.raises(InputError, match=r"reference .*finite.*from 1: 5"):
        measure(holes, ROWS)
    with pytest.raises(InputError, match="generated must hold real numbers"):
        measure(ROWS, [["a"] * 3] * 12)


@every
def test_sets_of_one_sample(measure):
    with pytest.raises(InputError, match="generated set has 1"):
        measure(ROWS, ROWS[:1])
    with pytest.raises(InputError, match="reference set has 1"):
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
        ("precision_recall", {"k": 0}, "k .*at least 1.* 0"),
        ("realism", {"k": 1.5}, "k .*at least 1.* 1.5"),
        ("clipped_density_coverage", {"k": 0}, "k must be a whole number"),
        ("clipped_density_coverage", {"ties": "both"}, "value for ties 'both'"),
        ("probabilistic_precision_recall", {"k": 40}, "k = 40 needs at least 41 samples"),
        ("probabilistic_precision_recall", {"factor": 0}, "factor must be above 0 and at most"),
        ("probabilistic_precision_recall", {"factor": "x"}, "factor must be above 0 and at most"),
        ("probabilistic_precision_recall", {"factor": 1e200}, "factor must be above 0 and at most"),
        ("precision_recall", {"threads": 0}, "threads .*at least 1"),
        ("probabilistic_precision_recall", {"factor": np.nan}, "factor must be above 0 .* nan"),
        ("precision_recall_cover", {"k": 0}, "k must be a whole number"),
        ("precision_recall_cover", {"factor": 1.5}, "factor must be a whole number"),
        ("precision_recall_cover", {"factor": 0}, "factor .*whole .* at least 1.* 0"),
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
