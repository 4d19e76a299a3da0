import numpy as np
import pytest

from calipers import metrics
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics import knn_support


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
    prdc = pytest.importorskip("prdc")
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
    with pytest.raises(InputError, match="needs at least 5 samples in each set; the generated"):
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
