"""HUSE: by hand, against scikit-learn, its ends, and how often its intervals hold."""

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.uncertainty.huse import huse, twice_the_error
from extras import need


def column(*values):
    return np.array(values, float)[:, None]


def test_errors_by_hand():
    # At 0, 1, 5 | 2, 6, 7 with one neighbour: 0 and 1 see each other and are right; 5 sees 6, which
    # is wrong. 2 sees 1, wrong; 6 sees 5 and 7, a split vote; 7 sees 6. (0 + 0 + 1)/3 + (1 + ½)/3
    assert twice_the_error(column(0, 1, 5), column(2, 6, 7), 1) == pytest.approx(1 / 3 + 1.5 / 3)
    # Sets that a threshold tells apart
    assert twice_the_error(column(0, 1, 2), column(7, 8, 9), 1) == 0


def test_of_sets_of_one_size_it_is_the_error_of_scikit_learn():
    need("sklearn")
    from sklearn.model_selection import LeaveOneOut, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 40, 2)) * [1, 30]
    y += [1, 0]
    rows, labels = StandardScaler().fit_transform(np.concatenate([x, y])), np.repeat([0, 1], 40)
    right = cross_val_score(KNeighborsClassifier(15), rows, labels, cv=LeaveOneOut())
    assert twice_the_error(x, y, 15) == pytest.approx(2 * (1 - right.mean()))


def draw(rng, n, quality=0.0, likelihood=0.0):
    people, machine = rng.standard_normal((2, n, 2))
    machine += [quality, likelihood]
    return people[:, 0], machine[:, 0], people[:, 1], machine[:, 1]


def test_each_part_sees_its_own_defect():
    rng = np.random.default_rng(1)
    same, bad, narrow = (huse(*draw(rng, 300, *gap)) for gap in ((0, 0), (-2, 0), (0, 2)))
    assert same.huse.value == pytest.approx(1, abs=0.15)
    assert bad.quality.value < 0.5
    assert bad.diversity.value == pytest.approx(1, abs=0.15)
    assert narrow.quality.value == pytest.approx(1, abs=0.15)
    assert narrow.diversity.value < 0.5
    for found in (same, bad, narrow):
        assert found.diversity.value == pytest.approx(1 + found.huse.value - found.quality.value)
        assert found.huse.interval[0] <= found.huse.value <= found.huse.interval[1]


def test_the_known_error_of_two_gaussians():
    # Twice the error of the best classifier of N(0, 1) and N(2, 1) is 2·Φ(−1) = 0.317
    x, y = np.random.default_rng(2).standard_normal((2, 1000, 2))
    assert twice_the_error(x, y + np.array([0, 2]), 16) == pytest.approx(0.317, abs=0.05)


def test_laws():
    rng = np.random.default_rng(3)
    given = draw(rng, 60, -1, 0.5)
    one = huse(*given)
    order = rng.permutation(60)
    moved = huse(given[0][order], given[1], given[2][order], given[3])
    assert moved.huse.value == one.huse.value
    swapped = huse(given[1], given[0], given[3], given[2])
    assert swapped.huse.value == pytest.approx(one.huse.value)
    scaled = huse(given[0] * 64, given[1] * 64, given[2], given[3])
    assert scaled.huse.value == one.huse.value


@pytest.mark.slow
@pytest.mark.parametrize("gap", [(0, 0), (-0.7, 0.7)])
def test_intervals_hold_the_expectation(gap):
    rng = np.random.default_rng(4)
    found = [huse(*draw(rng, 100, *gap), seed=seed) for seed in range(200)]
    for part in ("huse", "quality", "diversity"):
        scores = [getattr(one, part) for one in found]
        values = [score.value for score in scores]
        error = np.sqrt(np.mean([score.standard_error**2 for score in scores]))
        assert 0.8 <= error / np.std(values, ddof=1) <= 1.25
        mean = np.mean(values)
        held = np.mean([low <= mean <= high for low, high in (s.interval for s in scores)])
        assert 0.9 <= held <= 0.985


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="each reference text needs a judgement and a likelihood"):
        huse([1.0, 2.0], [1.0, 2.0], [1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="generated_likelihoods must be finite numbers; text 2"):
        huse([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, -np.inf])
    with pytest.raises(InputError, match="k must be at most 3"):
        huse([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], k=4)
    with pytest.raises(InputError, match="at least two texts"):
        huse([1.0], [1.0, 2.0], [1.0], [1.0, 2.0], k=1)
