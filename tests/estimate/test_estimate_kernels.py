"""The kernels of k-means, axes, densities, areas and auctions against plain NumPy."""

import hashlib
import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from calipers.estimate import transport
from calipers.estimate.axes import coordinates, scatter_about, unit_rows
from calipers.estimate.discriminant import area
from calipers.estimate.kernel_density import kernel_sums, kth_squared
from calipers.estimate.kernel_ratios import log_density
from calipers.estimate.kmeans.centres import place_centres
from calipers.estimate.kmeans.kernels import (
    Assignments,
    assign,
    filled,
    lay_out,
    measure_own,
    settle_listed,
    shift_sums,
)
from calipers.numeric import native
from calipers.numeric.distances import sieves, slack
from calipers.numeric.threads import Workers

ALONE = Workers.alone()
ROWS = (1, 2, 47, 48, 49, 97)
CENTRES = (1, 15, 16, 17, 48, 49, 101, 769)


def grid(rng, n, depth):
    """Multiples of a quarter: squared distances are exact in every order, and often equal."""
    return (rng.integers(-3, 4, (n, depth)) / 4).astype(np.float32)


def laid(rows):
    """Rows filled up to whole panels, and their lower bounds."""
    n, depth = rows.shape
    places = np.zeros((filled(n, 48), depth), np.float32)
    places[:n] = rows
    low = np.full(len(places), np.inf, np.float32)
    low[:n] = 0.5 * (1 - slack(depth)) * (rows.astype(float) ** 2).sum(axis=1)
    return places, low


def unknown(n, places, *, bounded):
    kept = n if bounded else 0
    groups = filled(places // 16, 16)
    return Assignments(
        np.full(n, -1, np.int32),
        np.full(n, np.inf),
        np.empty((kept, places), np.float32),
        np.full((kept, groups), np.inf, np.float32),
    )


def nearest(rows, values, labels):
    """The nearest centre: the one before if none is nearer, else the first of the nearest."""
    squares = ((rows[:, None].astype(float) - values) ** 2).sum(axis=2)
    every = np.arange(len(rows))
    before = np.where(labels >= 0, squares[every, labels], np.inf)
    new = np.where(squares.min(axis=1) < before, squares.argmin(axis=1), labels)
    return new, squares[every, new]


def rounds(rng, n, count, depth, few, *, bounded):
    """Rows, and what is known of them after each of some rounds, whose centres move little."""
    rows = grid(rng, n, depth)
    values = grid(rng, count, depth)
    centres = place_centres(values, None, count)
    known = unknown(n, len(centres.low), bounded=bounded)
    places, low = laid(rows)
    for _ in range(4):
        for first in range(0, n, 48):
            assign(places, low, (first, min(first + 48, n)), known, centres, few)
        yield rows, values, known
        moved = rng.random(count) < 0.5
        values = values + np.float32(0.25) * (moved[:, None] & (rng.random((count, depth)) < 0.2))
        centres = place_centres(values, centres, count)


@pytest.mark.parametrize(("bounded", "few"), [(False, 0.0), (True, 0.0), (True, 1.0), (True, 0.1)])
@pytest.mark.parametrize("count", CENTRES)
def test_rows_go_to_their_nearest_centres(rng, count, bounded, few):
    for n, depth in product(ROWS, (16, 48, 80)):
        labels = np.full(n, -1)
        for rows, values, known in rounds(rng, n, count, depth, few, bounded=bounded):
            labels, squares = nearest(rows, values, labels)
            np.testing.assert_array_equal(known.labels, labels)
            np.testing.assert_array_equal(known.own, squares)


@pytest.mark.parametrize("count", CENTRES)
def test_bounds_never_pass_the_truth(rng, count):
    """A bound and how far its centre has moved since: not above the distance, nor far below."""
    for few in (0.0, 1.0):
        total = None
        for rows, values, known in rounds(rng, 49, count, 16, few, bounded=True):
            centres = place_centres(values, total, count)
            total = centres
            apart = np.sqrt(((rows[:, None].astype(float) - values) ** 2).sum(axis=2))
            bounds = known.bounds[:, :count].astype(float) - centres.total[:count]
            others = np.arange(count) != known.labels[:, None]
            assert np.isinf(bounds[~others]).all()
            assert (bounds[others] <= apart[others]).all()
            for group in range(-(-count // 16)):
                part = slice(16 * group, 16 * group + 16)
                of_group = np.where(others, apart, np.inf)[:, part].min(axis=1)
                assert (known.groups[:, group] - centres.group_total[group] <= of_group).all()


@pytest.mark.parametrize("count", CENTRES)
@pytest.mark.parametrize("depth", [16, 112])
def test_centres_are_laid_out_and_followed(rng, count, depth):
    values, later = rng.standard_normal((2, count, depth)).astype(np.float32)
    first = place_centres(values, None, count)
    second = place_centres(later, first, count)
    assert (first.drift == 0).all()
    places = len(second.low)
    assert places % 48 == 0
    np.testing.assert_array_equal(second.values[:count], later)
    assert (second.values[count:] == 0).all()
    np.testing.assert_array_equal(
        second.panels.transpose(0, 2, 1).reshape(places, depth), second.values
    )
    half = 0.5 * (later.astype(float) ** 2).sum(axis=1)
    assert (second.low[:count] < half).all()
    np.testing.assert_allclose(second.low[:count], half, rtol=1e-4)
    assert np.isinf(second.low[count:]).all()
    drift = np.linalg.norm(later.astype(float) - values, axis=1)
    np.testing.assert_allclose(second.drift[:count], drift, rtol=1e-12)
    third = place_centres(values, second, count)
    total = third.total[:count].astype(float)
    assert (total >= 2 * drift).all()
    np.testing.assert_allclose(total, 2 * drift, rtol=1e-5)
    for group in range(-(-count // 16)):
        farthest = 2 * drift[16 * group : 16 * group + 16].max()
        assert farthest <= third.group_total[group] <= farthest * (1 + 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (47, 15), (48, 16), (49, 17), (101, 97)])
def test_rows_are_centred_scaled_and_filled_up(rng, dtype, n, d):
    rows = (rng.standard_normal((n, d)) * 5 + 100).astype(dtype)
    table = lay_out([rows, rows[: n // 2]], ALONE) if n > 1 else lay_out([rows], ALONE)
    given = np.concatenate([rows, rows[: n // 2]]).astype(float)
    expected = np.ldexp(given - table.centre, -table.exponent)
    np.testing.assert_allclose(table.rows[: table.n, :d], expected, rtol=1e-6, atol=1e-7)
    assert np.abs(table.rows).max() <= 1
    assert (table.rows[table.n :] == 0).all()
    assert (table.rows[:, d:] == 0).all()
    half = 0.5 * (table.rows[: table.n].astype(float) ** 2).sum(axis=1)
    assert (table.low[: table.n] <= half).all()
    np.testing.assert_allclose(table.low[: table.n], half, rtol=1e-4)
    apart = lay_out([np.asfortranarray(rows)], ALONE)
    np.testing.assert_array_equal(apart.rows, lay_out([rows], ALONE).rows)


def test_distances_to_centres_that_rows_have(rng):
    for n, count, depth in product(ROWS, (1, 17), (16, 80)):
        rows, values = grid(rng, n, depth), grid(rng, count, depth)
        labels = rng.integers(-1, count, n).astype(np.int32)
        squares = np.full(n, 7.0)
        first, last = sorted(rng.integers(0, n + 1, 2).tolist())
        measure_own(rows, labels, values, squares, (first, last))
        expected = np.full(n, 7.0)
        for i in range(first, last):
            gap = rows[i].astype(float) - values[labels[i]]
            expected[i] = gap @ gap if labels[i] >= 0 else np.inf
        np.testing.assert_array_equal(squares, expected)


def test_listed_pairs_are_settled_in_their_order(rng):
    for n, count, pairs in product(ROWS, (1, 49), (0, 1, 300)):
        rows, values = grid(rng, n, 16), grid(rng, count, 16)
        listed = np.sort(rng.integers(0, n, pairs)), rng.integers(0, count, pairs)
        known = unknown(n, 48, bounded=False)
        labels, own = known.labels.copy(), known.own.copy()
        settle_listed(rows, listed, (0, pairs), known, place_centres(values, None, count))
        for i, c in zip(*listed, strict=True):
            gap = rows[i].astype(float) - values[c]
            if gap @ gap < own[i]:
                labels[i], own[i] = c, gap @ gap
        np.testing.assert_array_equal(known.labels, labels)
        np.testing.assert_array_equal(known.own, own)


@pytest.mark.parametrize("unit", [1.0, 2.0**10, 2.0**52])
def test_sums_are_rounded_row_by_row(rng, unit):
    for n, cells, depth in product((0, *ROWS), (1, 5), (16, 32)):
        rows = rng.standard_normal((filled(n, 48), depth)).astype(np.float32)
        weights = rng.random(n)
        counted, labels = rng.integers(-1, cells, (2, n)).astype(np.int32)
        labels = np.where(labels < 0, counted, labels)  # a row keeps some centre once it has one
        first, last = rng.choice([(0, depth), (0, 16), (depth - 16, depth)])
        sums, mass = np.zeros((cells, depth), np.int64), np.zeros(cells, np.int64)
        shares = weights, unit
        changed = shift_sums(rows, counted, labels, *shares, sums, mass, (int(first), int(last)))
        expected, expected_mass = np.zeros_like(sums), np.zeros_like(mass)
        for i in np.flatnonzero(counted != labels):
            terms = np.rint(weights[i] * unit * rows[i].astype(float)).astype(np.int64)
            whole = int(np.rint(weights[i] * unit))
            for cell, sign in ((labels[i], 1), (counted[i], -1)):
                if cell >= 0:
                    expected[cell] += sign * terms
                    expected_mass[cell] += sign * whole
        np.testing.assert_array_equal(sums[:, first:last], expected[:, first:last])
        assert (np.delete(sums, np.s_[first:last], axis=1) == 0).all()
        np.testing.assert_array_equal(mass, expected_mass if first == 0 else 0)
        assert changed == np.count_nonzero(counted != labels)


@pytest.mark.parametrize("span", [(-48, 0), (48, 0), (0, 98)])
def test_spans_beyond_the_rows_are_refused(rng, span):
    rows, low = laid(grid(rng, 97, 16))
    centres = place_centres(rows[:5], None, 5)
    known = unknown(97, 48, bounded=True)
    with pytest.raises(ValueError, match=r"rows .* of 97"):
        assign(rows, low, span, known, centres, 0.04)
    with pytest.raises(ValueError, match="within 97"):
        measure_own(rows, known.labels, centres.values, known.own, span)


def test_rows_that_are_not_filled_up_are_refused(rng):
    rows, low = laid(grid(rng, 48, 17))
    centres = place_centres(rows[:5], None, 5)
    with pytest.raises(ValueError, match="filled up"):
        assign(rows, low, (0, 48), unknown(48, 48, bounded=False), centres, 0.04)


@pytest.mark.parametrize(("n", "d", "q"), [(1, 1, 1), (47, 7, 48), (49, 97, 50), (1021, 16, 97)])
def test_coordinates_along_axes(rng, n, d, q):
    rows = rng.standard_normal((n, d)).astype(np.float32)
    centre, axes = rng.standard_normal(d), rng.standard_normal((d, q))
    found = coordinates(rows, centre, axes, ALONE)
    expected = (rows - centre) @ axes
    np.testing.assert_allclose(found, expected, atol=1e-5 * max(1, np.abs(expected).max()))
    apart = coordinates(np.asfortranarray(rows), centre, axes, ALONE)
    np.testing.assert_array_equal(apart, found)
    assert coordinates(rows[:0], centre, axes, ALONE).shape == (0, q)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [0, -30, -600])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 97])
def test_rows_of_length_one(rng, dtype, exponent, d):
    if dtype == np.float32 and exponent == -600:
        exponent = -140  # subnormal
    for n in (0, 1, 53):
        rows = np.ldexp(rng.standard_normal((n, d)), exponent).astype(dtype)
        rows[::7] = 0
        found = unit_rows(rows)
        wide = rows.astype(np.longdouble)
        lengths = np.sqrt((wide**2).sum(axis=1, keepdims=True))
        expected = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
        tolerance = 1e-7 if dtype == np.float32 else 1e-15
        np.testing.assert_allclose(found.astype(np.longdouble), expected, atol=tolerance)
        np.testing.assert_array_equal(unit_rows(np.asfortranarray(rows)), found)


@pytest.mark.parametrize(("n", "d"), [(2, 1), (47, 2), (49, 17), (131, 3)])
def test_densities_of_mixed_types(rng, n, d):
    rows, places = rng.standard_normal((n, d)), rng.standard_normal((53, d)).astype(np.float32)
    points, at = sieves(rows, places)
    apart = np.sqrt(((places[:, None].astype(float) - rows) ** 2).sum(axis=2))
    weights = rng.random((n, 3))
    heights = np.where(apart < 1.5, np.cos(np.pi / 2 * apart / 1.5), 0)
    sums = kernel_sums(at, points, 1.5, weights)
    np.testing.assert_allclose(sums, heights @ weights, rtol=1e-9, atol=1e-12)
    among = np.sort(((rows[:, None] - rows) ** 2).sum(axis=2), axis=1)
    for k in {1, n // 2, n - 1}:
        np.testing.assert_allclose(kth_squared(points, k), among[:, k], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n", [2, 7, 8, 9, 65, 511, 512, 513, 1031])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_logarithms_of_sums_of_kernels(rng, n, spread):
    points, width = rng.standard_normal((n, 3)) * spread, rng.uniform(0.1, 2, n)
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    for own in (False, True):
        exponents = (-0.5 * squared / width[:, None] ** 2).astype(np.longdouble)
        if own:
            np.fill_diagonal(exponents, -np.inf)
        largest = exponents.max(axis=1, keepdims=True)
        sums = largest[:, 0] + np.log(np.exp(exponents - largest).sum(axis=1))
        found = log_density(points, points, width, own=own)
        np.testing.assert_allclose(found, (sums - np.log(n - own)).astype(float), rtol=1e-12)


@pytest.mark.parametrize("places", [2, 3, 17, 101])
def test_areas_count_pairs(rng, places):
    scores = rng.integers(-3, 4, (13, places)) * 0.1
    labels = rng.random((13, places)) < 0.5
    labels[:, 0], labels[:, 1] = True, False
    gaps = scores[:, :, None] - scores[:, None, :]
    pairs = labels[:, :, None] & ~labels[:, None, :]
    wins = ((gaps > 1e-9) + 0.5 * (np.abs(gaps) <= 1e-9)) * pairs
    expected = wins.sum(axis=(1, 2)) / pairs.sum(axis=(1, 2))
    np.testing.assert_allclose(area(scores, labels), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 23, 24, 25, 26, 97])
@pytest.mark.parametrize("whole", [False, True])
def test_an_auction_ends_near_the_optimum(rng, n, whole):
    costs = rng.random((n, n)) * 20
    costs = np.floor(costs) if whole else costs
    optimum = costs[linear_sum_assignment(costs)].sum()
    listed, raise_by = min(24, n), 0.01
    owner, near = np.empty(n, np.int64), np.zeros((n, listed), np.int32)
    prices, beyond = np.zeros(n), np.full(n, -np.inf)
    if n > listed:  # a column is left out, and more than one can be bid for
        room = np.empty(n), np.empty(listed + 1), np.empty(listed + 1, np.int32)
        sales = owner, np.empty(n, np.int64)
        bids = transport._let_bid(costs, prices, raise_by, near, beyond, 10**6, *sales, *room)
        assert n <= bids < 10**6
        assert sorted(owner.tolist()) == list(range(n))
        assert costs[owner, np.arange(n)].sum() <= optimum + n * raise_by + 1e-9
        assert transport._let_bid(costs, prices, 0.1, near, beyond, 3, *sales, *room) == 3
    columns = transport.assign(np.array(costs, order="F"))
    assert sorted(columns.tolist()) == list(range(n))
    assert costs[np.arange(n), columns].sum() == pytest.approx(optimum, rel=1e-12)


@pytest.mark.parametrize("cells", [1, 2, 15, 16, 17, 33, 50])
def test_stop_overs_of_all_sizes(rng, cells):
    costs = rng.integers(0, 9, (cells, cells)).astype(float)
    ways = 0.25 * costs[:, :, None] + 0.75 * costs[None]
    for given in (costs, np.asfortranarray(costs)):
        prices, stops = transport.stop_overs(given, 0.25)
        np.testing.assert_array_equal(prices, ways.min(axis=1))
        np.testing.assert_array_equal(stops, ways.argmin(axis=1))


def digest():
    """All that these kernels give for some rows, as one word."""
    rng, made = np.random.default_rng(0), hashlib.sha256()

    def add(*arrays):
        for array in arrays:
            made.update(np.ascontiguousarray(array).tobytes())

    for dtype, d in product((np.float32, np.float64), (5, 48, 97)):
        rows = rng.standard_normal((301, d)).astype(dtype)
        table = lay_out([rows, rows[:100] + 1], ALONE, [1.0, 0.3])
        centres = place_centres(table.rows[:101], None, 101)
        moved = place_centres(table.rows[1:102], centres, 101)
        add(table.rows, table.low, *moved)
        for few in (0.0, 1.0):
            known = unknown(table.n, len(centres.low), bounded=True)
            for at in (centres, moved):
                assign(table.rows, table.low, (0, table.n), known, at, few)
                add(known.labels, known.own, known.bounds, known.groups[:, :9])
        sums, mass = np.zeros((101, table.rows.shape[1]), np.int64), np.zeros(101, np.int64)
        nothing, columns = np.full(table.n, -1, np.int32), (0, table.rows.shape[1])
        shares = table.weights, table.unit
        shift_sums(table.rows, nothing, known.labels, *shares, sums, mass, columns)
        add(sums, mass, unit_rows(rows))
        if dtype == np.float32:
            axes = np.eye(d)[:, : d // 2] + 0.1
            scatter = scatter_about([rows], np.zeros(d), [1.5], ALONE)
            add(scatter, coordinates(rows, np.ones(d), axes, ALONE))
        points, places = sieves(rows, rows[:77] * 2)
        add(kth_squared(points, 9), kernel_sums(places, points, d**0.5, np.ones((301, 2))))
        wide = rows.astype(float)
        add(log_density(wide, wide, np.full(301, 0.5), own=True))
    costs = rng.random((97, 97))
    add(*transport.stop_overs(costs, 0.3), transport.assign(costs), costs)
    add(area(wide, rng.random(wide.shape) < 0.5))
    return made.hexdigest()


@pytest.mark.parametrize("name", native.available_sets())
def test_instruction_sets_give_the_same_bits(name):
    result = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        env=os.environ | {native.VARIABLE: name},
        check=False,
    )
    assert result.stdout.split() == [digest()], result.stderr


if __name__ == "__main__":
    sys.stdout.write(digest())
