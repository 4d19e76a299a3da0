"""Rows rounded to eight bits: what they say of a product is true, and no result depends on them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calipers.estimate import neighbourhoods
from calipers.estimate.knn import balls
from calipers.estimate.knn.nearest import nearest_between, nearest_neighbours
from calipers.numeric import rounded
from calipers.numeric.distances import Sieve, sieves, slack
from calipers.numeric.rounded import Rounded
from calipers.numeric.threads import workers


@pytest.fixture(autouse=True)
def rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are rounded everywhere, also where the processor makes no use of them."""
    monkeypatch.setattr(rounded, "compares_rounded", lambda: True)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round small sets too."""
    monkeypatch.setattr(rounded, "FEWEST_ROWS", 0)
    monkeypatch.setattr(rounded, "FEWEST_COLUMNS", 1)


def products_of(rows: Rounded) -> tuple[np.ndarray, np.ndarray]:
    """What the rounded rows say of all products, and by how much these may be off; float64."""
    count, steps, _ = rows.panels.shape
    quads = rows.panels.reshape(count, steps, 48, 4).astype(np.int64)
    whole = quads.transpose(0, 2, 1, 3).reshape(count * 48, -1)
    np.testing.assert_array_equal(whole.sum(axis=1), rows.sums)
    unit, error, length = (
        array.astype(np.float64) for array in (rows.unit, rows.error, rows.length)
    )
    products = np.outer(unit, unit) * (whole @ whole.T)
    return products, np.outer(error, length) + np.outer(length, error)


@pytest.mark.usefixtures("always")
def test_a_worked_example() -> None:
    """Rows of one coordinate are not turned but for the sign: 127 steps to the largest."""
    panels = np.zeros((1, 1, 48), np.float32)
    panels[0, 0, :3] = 1.0, -0.5, 0.0
    rows = Rounded.of(panels, slack(1))
    assert np.abs(rows.sums[:3]).tolist() == [127, 127, 0]
    np.testing.assert_allclose(rows.unit[:3], [1 / 127, 0.5 / 127, 0], rtol=1e-6)
    assert np.sign(rows.sums[0]) == -np.sign(rows.sums[1])


@pytest.mark.usefixtures("always")
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    n=st.integers(1, 100),
    d=st.sampled_from([1, 2, 3, 4, 5, 47, 64, 97, 128, 200, 384]),
    seed=st.integers(0, 2**32 - 1),
    power=st.sampled_from([0.0, 0.5, 3.0]),
    scale=st.sampled_from([1e-20, 1e-3, 1.0, 1e12]),
    far=st.booleans(),
)
def test_products_lie_within_what_is_said(
    n: int, d: int, seed: int, power: float, scale: float, far: bool
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d)) * scale / (1 + np.arange(d)) ** power
    if far:
        points[0] *= 1e6
    (sieve,) = sieves(points)
    rows = sieve.rows.astype(np.float64)
    found, doubt = products_of(sieve.rounded)
    exact = rows @ rows.T
    lengths = np.linalg.norm(rows, axis=1)
    # What float32 products may be off by, too, and a little for float64
    doubt = doubt[:n, :n] - slack(d) * np.outer(lengths, lengths) + 1e-30
    assert (np.abs(exact - found[:n, :n]) <= doubt * (1 + 1e-9)).all()


@pytest.mark.usefixtures("always")
def test_rows_are_turned_until_no_coordinate_stands_out() -> None:
    rng = np.random.default_rng(0)
    for d in (64, 100, 384):
        points = rng.standard_normal((200, d)) / (1 + np.arange(d)) ** 2
        rows = sieves(points)[0].rounded
        assert np.median(rows.error[:200] / rows.length[:200]) < 0.02


def clouds(kind: str, n: int, m: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n * 7 + m)
    scales = 1 / np.sqrt(1 + np.arange(d))
    x = (rng.standard_normal((n, d)) * scales).astype(np.float32)
    y = (rng.standard_normal((m, d)) * scales * 0.9 + 0.01).astype(np.float32)
    if kind == "copies":
        x[n // 2 :] = x[: n - n // 2]
        some = min(n, m) // 3
        y[:some] = x[:some]
    if kind == "one row":
        x[:] = x[0]
    if kind == "far row":
        x[n // 3], y[0] = 1e9, -1e6
    if kind == "tiny":
        return x.astype(np.float64) * 1e-150, y.astype(np.float64) * 1e-150
    if kind == "grid":  # many equal distances
        return np.round(x * 2) / 2, np.round(y * 2) / 2
    return x, y


KINDS = ["clouds", "copies", "one row", "far row", "tiny", "grid"]
SIZES = [(1, 1, 5), (2, 49, 64), (48, 48, 3), (97, 31, 70), (700, 523, 65)]


def found_by(sets: tuple[Sieve, Sieve], x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    k = min(len(x), len(y)) // 3 or 1
    found = []
    for one in sets:
        if len(one.points) > 1:
            nearest = nearest_neighbours(one, k=min(k, len(one.points) - 1), block=96)
            found += [nearest.squared, nearest.index]
    for nearest in nearest_between(*sets, k=k, block=144):
        found += [nearest.squared, nearest.index]
    if min(len(x), len(y)) > 3:
        for further in (
            balls.Supports(capped=2, across=True),
            balls.Supports(smaller=2, spread=(2, 1.2)),
        ):
            near = neighbourhoods(x, y, k=2, k_max=3, ties="open", supports=further)
            for side in (near.reference, near.generated):
                found += [np.asarray(value) for value in vars(side).values() if value is not None]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_result_depends_on_them(
    kind: str, size: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = clouds(kind, *size)
    monkeypatch.setattr(rounded, "FEWEST_COLUMNS", 1)
    results = []
    for fewest in (0, 2**60):
        monkeypatch.setattr(rounded, "FEWEST_ROWS", fewest)
        sets = sieves(x, y)
        assert (sets[0].rounded.panels.size > 0) == (fewest == 0)
        results.append(found_by((sets[0], sets[1]), x, y))
    assert len(results[0]) == len(results[1]) > 0
    for with_them, without in zip(*results, strict=True):
        np.testing.assert_array_equal(with_them, without)


def test_they_are_made_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    assert sieves(rng.standard_normal((1000, 64)))[0].rounded.panels.shape == (21, 16, 192)
    assert sieves(rng.standard_normal((1000, 63)))[0].rounded.panels.size == 0
    assert sieves(rng.standard_normal((400, 64)))[0].rounded.panels.size == 0
    monkeypatch.setattr(rounded, "compares_rounded", lambda: False)
    assert sieves(rng.standard_normal((1000, 64)))[0].rounded.panels.size == 0


def test_threads_do_not_change_them() -> None:
    points = np.random.default_rng(2).standard_normal((2000, 65))
    one, other = sieves(points)[0], sieves(points)[0]
    with workers(3) as pool:
        one.prepare(pool)
    for mine, theirs in zip(one.rounded, other.rounded, strict=True):
        np.testing.assert_array_equal(mine, theirs)
