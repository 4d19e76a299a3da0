import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.metrics import precision_recall
from calipers.metrics.topp import topological_precision_recall
from calipers.numeric import threads as pools


def dense_kernels(places, points, bandwidth):
    apart = np.sqrt(((places[:, None] - points[None]) ** 2).sum(axis=2))
    return np.where(apart < bandwidth, np.cos(np.pi / 2 * apart / bandwidth), 0.0)


def dense_topp(reference, generated, *, alpha=0.1, repeats=100, seed=0):
    """The definition with whole matrices: precision, recall, and the values per sample."""
    d = reference.shape[1]
    if d > 32:
        matrix = np.random.default_rng([seed, 0]).standard_normal((d, 32)) * np.sqrt(2 / (d + 32))
        reference, generated, d = reference @ matrix, generated @ matrix, 32
    widths, bands, own = [], [], []
    for rows in (reference, generated):
        n = len(rows)
        apart = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
        width = np.median(np.sort(apart, axis=1)[:, min(5 * d, n - 1)])
        density = dense_kernels(rows, rows, width).mean(axis=1)
        rng = np.random.default_rng([seed, 1])
        drawn = [rows[rng.integers(n, size=n)] for _ in range(repeats)]
        largest = [abs(dense_kernels(rows, s, width).mean(axis=1) - density).max() for s in drawn]
        widths.append(width)
        bands.append(np.quantile(largest, 1 - alpha))
        own.append(density > bands[-1])
    at_generated = dense_kernels(generated, reference, widths[0]).mean(axis=1) > bands[0]
    at_reference = dense_kernels(reference, generated, widths[1]).mean(axis=1) > bands[1]
    return (
        np.where(own[1], at_generated, np.nan),
        np.where(own[0], at_reference, np.nan),
    )


def test_two_cells_by_hand():
    # The fifth neighbour of each is in the other cell, so h = 3: a copy counts 1, the other cell 0.
    # Every density is 1/2, and bands are |share of a resample in the first cell - 1/2|, below it.
    reference, generated = np.repeat([[0.0], [3]], 5, axis=0), np.repeat([[0.0], [-3]], 5, axis=0)
    scores = topological_precision_recall(reference, generated)
    assert scores.precision.value == scores.recall.value == 1 / 2
    assert scores.precision.per_sample.tolist() == [1.0] * 5 + [0.0] * 5


def test_a_lonely_sample_is_noise_and_does_not_count(rng):
    reference = rng.standard_normal((200, 8))
    generated = np.vstack([reference, np.full((1, 8), 9.0)])
    scores = topological_precision_recall(reference, generated)
    assert np.isnan(scores.precision.per_sample[-1])
    assert scores.precision.value == np.nanmean(scores.precision.per_sample[:-1])
    assert scores.precision.value > 0.9


@pytest.mark.parametrize(
    ("n", "m", "d"),
    [(90, 60, 2), (120, 120, 9), pytest.param(250, 180, 40, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.4, "repeats": 5, "seed": 3}])
def test_equals_the_dense_definition(rng, n, m, d, options):
    reference = rng.standard_normal((n, d))
    generated = rng.standard_normal((m, d)) * 0.8 + 0.4
    scores = topological_precision_recall(reference, generated, **options)
    expected = dense_topp(reference, generated, **options)
    np.testing.assert_array_equal(scores.precision.per_sample, expected[0])
    np.testing.assert_array_equal(scores.recall.per_sample, expected[1])
    assert scores.precision.value == pytest.approx(np.nanmean(expected[0]), abs=1e-12)
    assert scores.recall.value == pytest.approx(np.nanmean(expected[1]), abs=1e-12)
    assert 0 < scores.recall.value < 1


@pytest.mark.parametrize("d", [1, 4, 50])
def test_a_set_against_itself(rng, d):
    rows = rng.standard_normal((200, d))
    scores = topological_precision_recall(rows, rows, repeats=3)
    assert scores.precision.value == scores.recall.value == 1


@pytest.mark.parametrize("d", [1, 4, 50])
def test_sets_far_apart(rng, d):
    reference, generated = rng.standard_normal((2, 200, d))
    scores = topological_precision_recall(reference, generated + 100)
    assert scores.precision.value == scores.recall.value == 0


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-60, 60), threads=st.integers(1, 3))
def test_neither_scale_nor_threads_nor_sides_matter(seed, exponent, threads):
    rng = np.random.default_rng(seed)
    reference, generated = rng.standard_normal((80, 3)), rng.standard_normal((70, 3)) + 0.5
    plain = topological_precision_recall(reference, generated, threads=1)
    scaled = topological_precision_recall(
        np.ldexp(reference, exponent), np.ldexp(generated, exponent), threads=threads
    )
    swapped = topological_precision_recall(generated, reference)
    assert scaled.precision.value == plain.precision.value == swapped.recall.value
    assert scaled.recall.value == plain.recall.value == swapped.precision.value


def test_the_seed_is_recorded_and_moves_the_resamples(rng):
    reference, generated = rng.standard_normal((2, 300, 40))
    runs = [topological_precision_recall(reference, generated, seed=s) for s in (0, 0, 1, 2)]
    assert runs[0].precision.value == runs[1].precision.value
    assert len({run.precision.value + run.recall.value for run in runs}) == 3
    assert runs[2].precision.signature == (
        "metric:topp|kernel:cosine|bandwidth:median_5d|projection:32|alpha:0.1|repeats:100|seed:1"
        "|n:300|m:300"
    )
    assert runs[0].recall.signature.startswith("metric:topr|")
    flat = topological_precision_recall(reference[:, :9], generated[:, :9])
    assert "|projection:none|" in flat.precision.signature


def test_one_outlier_hardly_moves_it_where_plain_precision_jumps(rng):
    reference, generated = rng.standard_normal((300, 8)), rng.standard_normal((300, 8)) + 2.5
    outlier = np.full((1, 8), 2.5)
    polluted = np.vstack([reference, outlier])
    assert precision_recall(reference, generated).precision.value < 0.05
    assert precision_recall(polluted, generated).precision.value > 0.5
    clean = topological_precision_recall(reference, generated)
    after = topological_precision_recall(polluted, generated)
    assert clean.precision.value == 0
    assert after.precision.value < 0.05


def test_copies_without_a_bandwidth_have_no_value():
    reference, generated = np.zeros((30, 2)), np.arange(40.0).reshape(20, 2)
    scores = topological_precision_recall(reference, generated)
    assert np.isnan(scores.precision.value)
    assert np.isnan(scores.recall.value)
    assert scores.recall.reason == (
        "the reference bandwidth is 0: at least half of its samples have 10 exact copies or more"
    )
    assert scores.precision.signature.startswith("metric:topp|")
    assert scores.recall.signature == scores.precision.signature.replace("topp", "topr")
    swapped = topological_precision_recall(generated, reference)
    assert swapped.precision.reason.startswith("the generated bandwidth is 0")
    few = topological_precision_recall(np.ones((2, 2)), np.eye(2))
    assert "have 1 exact copy or more" in few.precision.reason


def test_as_many_threads_as_asked_for(rng, monkeypatch):
    asked = set()
    monkeypatch.setattr(pools, "available_threads", lambda threads: asked.add(threads) or 1)
    topological_precision_recall(*rng.standard_normal((2, 20, 3)), threads=3)
    assert asked == {3}


def test_sets_that_are_all_noise_have_no_value():
    scores = topological_precision_recall([[0.0], [1.0]], [[0.0], [1.5]], seed=1)
    assert np.isnan(scores.precision.value)
    assert scores.precision.reason == "no generated sample is denser than its confidence band"
    assert scores.recall.reason == "no reference sample is denser than its confidence band"
    assert np.isnan(scores.recall.per_sample).all()


@pytest.mark.parametrize(
    ("arrays", "options", "words"),
    [
        ((np.zeros((1, 2)), np.eye(2)), {}, "2 samples.*the reference set ha"),
        ((np.eye(2), np.zeros((1, 2))), {}, "the generated set has 1"),
        ((np.eye(2), np.eye(3)), {}, "the same number of columns.* 2 and 3"),
        ((np.eye(2), np.full((2, 2), np.nan)), {}, "generated must hold finite numbers"),
        ((np.eye(2), np.eye(2)), {"alpha": 0}, r"alpha .*share in \(0, 1\).* 0"),
        ((np.eye(2), np.eye(2)), {"alpha": 1.0}, r"found 1.0"),
        ((np.eye(2), np.eye(2)), {"alpha": float("nan")}, "found nan"),
        ((np.eye(2), np.eye(2)), {"alpha": "0.1"}, "found '0.1'"),
        ((np.eye(2), np.eye(2)), {"repeats": 0}, "repeats .*at least 1"),
        ((np.eye(2), np.eye(2)), {"seed": -1}, "seed .*at least 0"),
    ],
)
def test_bad_input_is_refused(arrays, options, words):
    with pytest.raises(InputError, match=words):
        topological_precision_recall(*arrays, **options)
