import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import two_sample_tests
        import two_sample_worlds

        yield {"tests": two_sample_tests, "worlds": two_sample_worlds}
    finally:
        sys.path.remove(str(EXPERIMENTS))


def test_ours_and_the_plain_permutation_of_every_row_agree(modules):
    """Two implementations that share no code: the same statistic, p-values of the same size."""
    from calipers.uncertainty.two_sample_mmd import mmd_test

    tests, worlds = modules["tests"], modules["worlds"]
    for seed in range(3):
        x, y = worlds.shifted(150, 10, 0.3, 0)(np.random.default_rng(seed))
        value, p = tests.plain_p_value(tests.plain_kernel(x, y), 150, 1_999, seed)
        found = mmd_test(x, y, permutations=1_999, threads=2)
        assert found.statistic == pytest.approx(value, abs=1e-10)
        assert found.p_value == pytest.approx(p, abs=0.03)


def test_accuracy_by_hand(modules):
    scores = np.array([[1.0, -1.0, 0.0, -2.0]])
    labels = np.array([[True, True, False, False]])
    assert modules["tests"].accuracy(scores, labels).tolist() == [(1 / 2 + 3 / 4) / 2]


def test_worlds_differ_in_what_they_say(modules):
    worlds, rng = modules["worlds"], np.random.default_rng(0)
    x, y = worlds.stretched(20_000, 3, 1.5)(rng)
    np.testing.assert_allclose(y.std(axis=0) / x.std(axis=0), 1.5, rtol=0.05)
    x, y = worlds.shifted(20_000, 3, 0.5, 1)(rng)
    np.testing.assert_allclose(
        (y.mean(axis=0) - x.mean(axis=0)) / x.std(axis=0), [0, 0.5, 0], atol=0.05
    )
    x, y = worlds.small_axis(20_000, 3, 0.5)(rng)
    np.testing.assert_allclose(y.mean(axis=0) - x.mean(axis=0), [0, 0, 0.5], atol=0.3)


def test_bad_options():
    command = [sys.executable, str(EXPERIMENTS / "two_sample.py"), "--worlds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--worlds must be at least 1" in done.stderr
