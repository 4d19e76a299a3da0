from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.metrics import rke, vendi_score
from calipers.metrics.vendi import spectrum, vendi_of
from extras import need

ORDERS = [0, 0.3, 0.999999, 1, 1.0000001, 1.5, 2, 7, 500, np.inf]


def brute(rows, q):
    """Rényi entropy of the n x n matrix of cosines, by the definition."""
    rows = np.asarray(rows, np.float64)
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    shares = np.linalg.eigvalsh(rows @ rows.T / len(rows))
    shares = shares[shares > 1e-12]
    if q == 1:
        return np.exp(-np.sum(shares * np.log(shares)))
    if np.isinf(q):
        return 1 / shares.max()
    return np.sum(shares**q) ** (1 / (1 - q))


@pytest.mark.parametrize("q", ORDERS)
def test_kinds_that_are_equally_frequent_count_fully(q):
    rows = np.repeat(np.eye(5), 4, axis=0)
    assert vendi_score(rows, q=q).value == pytest.approx(5, rel=1e-9)
    assert vendi_score(np.ones((7, 3)), q=q).value == pytest.approx(1, rel=1e-9)


def test_three_to_one_by_hand():
    rows = [[1.0, 0.0]] * 3 + [[0.0, 2.0]]
    shannon = np.exp(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    assert vendi_score(rows).value == pytest.approx(shannon)
    assert vendi_score(rows, q=2).value == pytest.approx(1 / (9 / 16 + 1 / 16))
    assert vendi_score(rows, q=np.inf).value == pytest.approx(4 / 3)
    assert vendi_score(rows, q=0).value == pytest.approx(2)
    assert rke(rows).value == pytest.approx(1.6)


def test_truncation_spreads_what_is_left_by_hand():
    # 0.5 and 0.3 are kept, each with half of 0.2: 0.6 and 0.4
    value = vendi_of([0.5, 0.1, 0.3, 0.1], truncate=2, q=2)
    assert value == pytest.approx(1 / (0.36 + 0.16))
    assert vendi_of([0.5, 0.5], truncate=5) == vendi_of([0.5, 0.5])


def test_gaussian_rke_by_hand():
    # k² of rows at distance 1 with σ = 1 is exp(−1)
    assert rke([[0.0], [1.0]], bandwidth=1).value == pytest.approx(4 / (2 + 2 / np.e))
    assert rke([[0.0], [1.0]], bandwidth=1e-300).value == 2
    assert rke([[0.0], [1.0]], bandwidth=1e300).value == 1


@pytest.mark.parametrize(("n", "d"), [(40, 9), (9, 40), (20, 20)])
@pytest.mark.parametrize("q", [0, 0.5, 1, 1.5, 2, 5, np.inf])
def test_equals_the_definition_on_either_side_of_the_dual(n, d, q):
    rows = np.random.default_rng(n).normal(size=(n, d))
    assert vendi_score(rows, q=q).value == pytest.approx(brute(rows, q), rel=1e-9)


@pytest.mark.parametrize("q", [1, 2, 3, "inf"])
def test_equals_the_package_of_the_authors(q):
    vendi = need("vendi_score.vendi")
    rows = np.random.default_rng(3).normal(size=(300, 40)) + 0.3
    own = vendi_score(rows, q=np.inf if q == "inf" else q).value
    assert own == pytest.approx(vendi.score_dual(rows, q=q), rel=1e-11)


def test_gaussian_rke_equals_the_definition_over_many_tiles():
    rows = np.random.default_rng(0).normal(size=(1500, 3))
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=-1)
    expected = 1 / np.mean(np.exp(-squared / (2 * 0.7**2)) ** 2)
    for threads in (1, 3):
        assert rke(rows, bandwidth=0.7, threads=threads).value == pytest.approx(expected, rel=1e-11)


def test_rows_that_are_not_scaled_count_by_their_squared_length():
    rows = np.diag([1.0, 2.0, 3.0])
    assert vendi_score(rows, normalise=False, q=np.inf).value == pytest.approx(14 / 9)
    huge = vendi_score(rows * 1e99, normalise=False)
    assert huge.value == pytest.approx(vendi_score(rows, normalise=False).value)


def test_orders_close_to_one_lose_no_digits():
    shares = np.random.default_rng(1).dirichlet(np.ones(50))
    at_one = vendi_of(shares, q=1)
    for gap in (1e-14, 1e-9, 1e-6):
        for q in (1 - gap, 1 + gap):
            assert vendi_of(shares, q=q) == pytest.approx(at_one, rel=2 * gap + 1e-13)


def test_the_rank_of_float32_rows_is_not_that_of_their_rounding():
    rng = np.random.default_rng(2)
    rows = (rng.normal(size=(300, 4)) @ rng.normal(size=(4, 60))).astype(np.float32)
    assert vendi_score(rows, q=0).value == pytest.approx(4)


@settings(max_examples=15)
@given(st.integers(2, 30), st.integers(1, 12), st.integers(0, 10**6))
def test_laws(n, d, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    values = [vendi_score(rows, q=q).value for q in ORDERS]
    assert all(low <= high + 1e-9 for high, low in pairwise(values))
    assert values[-1] + 1e-9 >= 1
    assert values[0] <= min(n, d) + 1e-9
    moved = rows[rng.permutation(n)] * rng.uniform(0.1, 9, (n, 1))
    turned = moved @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    for q in (0.5, 1, 2, np.inf):
        known = vendi_score(rows, q=q).value
        assert vendi_score(turned, q=q).value == pytest.approx(known, rel=1e-7)
        assert vendi_score(np.repeat(rows, 3, axis=0), q=q).value == pytest.approx(known, rel=1e-7)
    assert rke(rows).value == pytest.approx(vendi_score(rows, q=2).value, rel=1e-9)


def test_truncation_agrees_with_the_whole_where_nothing_is_left_out():
    rows = np.random.default_rng(5).normal(size=(50, 8))
    assert vendi_score(rows, truncate=8).value == vendi_score(rows).value
    values = [vendi_score(rows, truncate=t).value for t in (1, 3, 6)]
    assert values[0] == 1
    assert values == sorted(values)


def test_threads_and_many_blocks_agree():
    rows = np.random.default_rng(6).normal(size=(5000, 12)).astype(np.float32)
    assert vendi_score(rows, threads=1).value == vendi_score(rows, threads=3).value
    assert len(spectrum(rows)) == 12
    units = rows.astype(np.float64)
    units /= np.linalg.norm(units, axis=1)[:, None]
    known = vendi_of(np.linalg.eigvalsh(units.T @ units))
    assert vendi_score(rows).value == pytest.approx(known, rel=1e-12)


def test_what_the_score_says_of_itself():
    score = vendi_score(np.eye(4, 6), q=2, truncate=3)
    assert score.better == "closest"
    assert score.range == (1, 4)
    assert score.signature == "metric:vendi|q:2|truncate:3|kernel:cosine|n:4|d:6"
    assert rke(np.eye(4), bandwidth=0.5).signature == (
        "metric:rke|kernel:gaussian|bandwidth:0.5|n:4|d:4"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vendi_score([]), "embeddings must have shape"),
        (lambda: vendi_score([[np.nan]]), "embeddings must hold finite numbers"),
        (lambda: vendi_score([[1.0], [0.0]]), r"no rows that are all zero.* first is row 2"),
        (lambda: rke([[1.0], [0.0]]), r"no rows that are all zero.* first is row 2"),
        (lambda: vendi_score([[1.0]], q=-1), "q .*number from 0 to infinity.* -1"),
        (lambda: vendi_score([[1.0]], q=np.nan), "q .*number from 0 to infinity"),
        (lambda: vendi_score([[1.0]], q="1"), "found '1'"),
        (lambda: vendi_score([[1.0]], truncate=0), "truncate .*at least 1"),
        (lambda: vendi_score([[1.0]], threads=0), "threads must be a whole number"),
        (lambda: rke([[1.0]], bandwidth=0), "bandwidth .*number above 0, or None.* 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_spectrum_of_zeros_has_no_number():
    assert np.isnan(vendi_of([0.0, 0.0]))
