"""Compiled loops of the neighbour engine: the nearest rows, the balls, and who lies in them.

They compile into one another, so they stand in one file. Distances come from the float32 products
of :mod:`calipers.numeric.simd` first; pairs that these bounds leave open are settled in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.numeric.compile import inlined, kernel, summation
from calipers.numeric.distances import FLOOR, squared_distance
from calipers.numeric.simd import PANEL, lowest_bit, multiply_panels, sift

LARGE = 3e38  # just below what float32 holds
LEAST = 1e-37  # just above where float32 loses digits
SMALL = 1e-30  # a ratio below shuts nothing out, since float32 cannot tell it well
LESS = 1 - 2.0**-20  # keeps a ratio that is not exact from shutting out its equal
CLOSE = np.float32(0.1)  # share of the squared lengths below which a distance is computed again
TINY = np.float32(FLOOR)  # a half squared distance that may have lost all to underflow
NOTHING = 1e-36  # a product below counts as 0, long before 1 less its root can tell


@inlined
def holds(squared_radius: float, squared: float, closed: bool) -> bool:
    """Whether a ball holds a point at some squared distance from its centre."""
    return squared <= squared_radius if closed else squared < squared_radius


@inlined
def keep(bounds: Any, index: Any, row: int, bound: Any, which: int) -> Any:
    """Put a candidate into its place; return the bound beyond which none is kept now."""
    last = bounds.shape[1] - 1
    if bound < bounds[row, last]:
        place = last
        while place > 0 and bounds[row, place - 1] > bound:
            bounds[row, place] = bounds[row, place - 1]
            index[row, place] = index[row, place - 1]
            place -= 1
        bounds[row, place] = bound
        index[row, place] = which
    return bounds[row, last]


@inlined
def insert(squared: Any, index: Any, row: int, value: float, which: int) -> None:
    """Put one neighbour into a list sorted by distance and index, if it belongs there."""
    last = squared.shape[1] - 1
    if value > squared[row, last] or (
        value == squared[row, last] and which > index[row, last] >= 0
    ):
        return
    place = last
    while place > 0 and (
        squared[row, place - 1] > value
        or (squared[row, place - 1] == value and index[row, place - 1] > which)
    ):
        squared[row, place] = squared[row, place - 1]
        index[row, place] = index[row, place - 1]
        place -= 1
    squared[row, place] = value
    index[row, place] = which


@kernel
def scan_nearest(
    panels: Any,
    pairs: Any,
    rows: Any,
    columns: Any,
    places: Any,
    same_set: bool,
    left: Any,
    right: Any,
) -> None:
    """Go through all pairs of a tile; within one set, those that lie above the diagonal."""
    row_panels, column_panels = panels
    row0, column0 = places
    products, passing = np.empty((PANEL, PANEL), np.float32), np.empty(PANEL, np.uint64)
    for patch in range(pairs.shape[0]):
        row, column = pairs[patch, 0], pairs[patch, 1]
        multiply_panels(
            row_panels, (row0 + row) // PANEL, column_panels, (column0 + column) // PANEL, products
        )
        if sift(products, rows, columns, row, column, passing) == 0:
            continue
        for r in range(row, row + PANEL):
            bits = passing[r - row]
            if same_set and row0 + row == column0 + column:  # each pair once, no row with itself
                bits &= ~np.uint64(0) << np.uint64(r - row) << np.uint64(1)
            while bits:
                c = column + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                bound = rows.low[r] + columns.low[c] - products[r - row, c - column]
                if bound < rows.limit[r]:
                    last = keep(left.bound, left.which, r, bound, column0 + c)
                    rows.limit[r] = min(rows.limit[r], last)
                if bound < columns.limit[c]:
                    last = keep(right.bound, right.which, c, bound, row0 + r)
                    columns.limit[c] = min(columns.limit[c], last)


@kernel
def merge_candidates(bounds: Any, index: Any, part_bounds: Any, part_index: Any) -> None:
    for row in range(bounds.shape[0]):
        for place in range(part_bounds.shape[1]):
            bound = part_bounds[row, place]
            if not bound < bounds[row, -1]:
                break
            keep(bounds, index, row, bound, part_index[row, place])


@kernel
def settle_candidates(
    sides: Any, candidates: Any, nearest: Any, start: int, still_open: Any
) -> None:
    points, others, half_scale = sides
    bounds, which = candidates
    squared, index = nearest
    for row in range(squared.shape[0]):
        for place in range(bounds.shape[1]):
            other = which[row, place]
            if other >= 0:
                value = squared_distance(points, start + row, others, other)
                insert(squared, index, row, value, other)
        last = squared[row, -1] * half_scale * (1 + 2.0**-22) + FLOOR
        still_open[row] = not last < bounds[row, -1]


@kernel
def search_open(
    sides: Any, rows: Any, columns: Any, nearest: Any, row0: int, same_set: bool
) -> None:
    left_panels, right_panels, points, others = sides
    squared, index = nearest
    products, passing = np.empty((PANEL, PANEL), np.float32), np.empty(PANEL, np.uint64)
    for row in range(0, rows.low.shape[0], PANEL):
        for column in range(0, columns.low.shape[0], PANEL):
            if not _any_open(rows.limit, row):
                break
            multiply_panels(
                left_panels, (row0 + row) // PANEL, right_panels, column // PANEL, products
            )
            if sift(products, rows, columns, row, column, passing) == 0:
                continue
            for r in range(row, row + PANEL):
                bits = passing[r - row]
                while bits:
                    c = column + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    if same_set and row0 + r == c:
                        continue
                    insert(squared, index, r, squared_distance(points, row0 + r, others, c), c)
                    if squared[r, -1] == 0:  # k copies, the first ones: nothing comes before them
                        rows.limit[r] = -np.inf
                        break


@inlined
def _any_open(limit: Any, row: int) -> bool:
    highest = limit[row]
    for r in range(row, row + PANEL):
        highest = max(highest, limit[r])
    return bool(highest > -np.inf)


@kernel
def radii_without_blocks(squared: Any, index: Any, labels: Any, k: int, without: Any) -> int:
    """The k-th nearest row outside each block; the last known one where too few are known.

    Returns how many radii are too small for that reason, each row's own block left out.
    """
    short = 0
    for i in range(squared.shape[0]):
        for block in range(without.shape[1]):
            left = k
            for place in range(squared.shape[1]):
                without[i, block] = squared[i, place]
                left -= labels[index[i, place]] != block
                if left == 0:
                    break
            short += left > 0 and labels[i] != block
    return short


@kernel
def radii_of_halves(squared: Any, index: Any, codes: Any, k: int, halves: Any) -> int:
    """The k-th nearest row in the row's own half; the last known one where too few are known.

    Returns how many radii are too small for that reason.
    """
    short = 0
    for i in range(squared.shape[0]):
        for halving in range(halves.shape[1]):
            left = k
            for place in range(squared.shape[1]):
                halves[i, halving] = squared[i, place]
                apart = codes[i] ^ codes[index[i, place]]
                left -= ((apart >> np.uint64(halving)) & np.uint64(1)) == 0
                if left == 0:
                    break
            short += left > 0
    return short


@kernel
def count_own(
    squared: Any, index: Any, capped: Any, points: Any, closed: bool, counts: Any
) -> None:
    n, neighbours = squared.shape
    for i in range(n):
        if neighbours < n - 1 and holds(capped[i], squared[i, -1], closed):
            for j in range(n):  # ties go on beyond the neighbours that were kept
                distance = squared_distance(points, i, points, j)
                counts[j] += j != i and holds(capped[i], distance, closed)
            continue
        for place in range(neighbours):
            if not holds(capped[i], squared[i, place], closed):
                break
            counts[index[i, place]] += 1


@kernel
def scan_pairs(
    panels: Any,
    points: Any,
    patches: Any,
    thresholds: Any,
    balls: Any,
    counts: Any,
    choices: Any,
    spread: Any,
) -> None:
    """Go through all pairs of a tile.

    One long function: to hand arrays on for every pair would cost more than the pair.
    """
    left_panels, right_panels = panels
    left, right = points
    half_scale, gap, k, closed = choices
    rows, columns = thresholds
    owners, others = balls
    of_rows, of_columns = counts
    products, passing = np.empty((PANEL, PANEL), np.float32), np.empty(PANEL, np.uint64)
    for patch in range(patches.shape[0]):
        row, column = patches[patch, 0], patches[patch, 1]
        multiply_panels(
            left_panels,
            (owners.start + row) // PANEL,
            right_panels,
            (others.start + column) // PANEL,
            products,
        )
        if spread.active:
            multiply_misses(products, row, column, left, right, owners.start, others.start, spread)
        if sift(products, rows, columns, row, column, passing) == 0:
            continue
        for r in range(row, row + PANEL):
            bits = passing[r - row]
            while bits:
                c = column + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                i, j = owners.start + r, others.start + c
                sums = rows.low[r] + columns.low[c]
                bound = sums - products[r - row, c - column]
                low = (bound - FLOOR) / half_scale
                high = (bound + gap * sums + FLOOR) / half_scale
                # Counts of both balls, settled in float64 where a radius lies within the doubt
                squared, settled = low, False
                if bound < owners.limit[r] or bound < others.limit[c]:
                    settled = _near_a_radius(
                        owners.marks, r, owners.median, low, high
                    ) or _near_a_radius(others.marks, c, others.median, low, high)
                    if settled:
                        squared = squared_distance(left, i, right, j)
                    label, other = owners.radii.labels[r], others.radii.labels[c]
                    apart = owners.radii.codes[r] ^ others.radii.codes[c]
                    _count_pair(squared, r, c, other, apart, owners.radii, of_rows, k, closed)
                    _count_pair(squared, c, r, label, apart, others.radii, of_columns, k, closed)
                # Candidates for the nearest
                if bound < of_rows.bound[c, -1]:
                    last = keep(of_rows.bound, of_rows.which, c, bound, i)
                    columns.limit[c] = min(columns.limit[c], max(last, others.limit[c]))
                if bound < of_columns.bound[r, -1]:
                    last = keep(of_columns.bound, of_columns.which, r, bound, j)
                    rows.limit[r] = min(rows.limit[r], max(last, owners.limit[r]))
                # Depth in a smaller ball
                deeper = _may_lie_deeper(bound, rows.reach[r], columns.gain[c], of_rows.ratio[c])
                if deeper or _may_lie_deeper(
                    bound, columns.reach[c], rows.gain[r], of_columns.ratio[r]
                ):
                    middle = squared if settled else (low + high) / 2
                    if not settled and middle * half_scale < CLOSE * sums + FLOOR:
                        middle = squared_distance(left, i, right, j)
                    _deepen(_depth(owners.radii.smaller[r], middle), i, c, columns.gain, of_rows)
                    _deepen(_depth(others.radii.smaller[c], middle), j, r, rows.gain, of_columns)


@kernel
def count_listed(
    points: Any, rows: Any, columns: Any, balls: Any, counts: Any, k: int, closed: bool
) -> None:
    """Enter pairs that are listed, the place of one row of either side for each, exactly.

    Each pair is to be listed once; it counts for the balls of both.
    """
    left, right = points
    owners, others = balls
    of_rows, of_columns = counts
    for pair in range(rows.shape[0]):
        i, j = rows[pair], columns[pair]
        squared = squared_distance(left, i, right, j)
        apart = owners.codes[i] ^ others.codes[j]
        _count_pair(squared, i, j, others.labels[j], apart, owners, of_rows, k, closed)
        _count_pair(squared, j, i, owners.labels[i], apart, others, of_columns, k, closed)


@kernel
def enter_close(
    points: Any, rows: Any, columns: Any, balls: Any, spreads: Any, counts: Any
) -> None:
    """Enter listed pairs whose products cancel into depths and misses, from exact distances."""
    left, right = points
    owners, others = balls
    of_rows, of_columns = counts
    gain = np.zeros(max(of_rows.ratio.shape[0], of_columns.ratio.shape[0]), np.float32)
    for pair in range(rows.shape[0]):
        i, j = rows[pair], columns[pair]
        squared = squared_distance(left, i, right, j)
        _deepen(_depth(owners.smaller[i], squared), i, j, gain, of_rows)
        _deepen(_depth(others.smaller[j], squared), j, i, gain, of_columns)
        if spreads[0] >= 0:
            of_rows.missed[j] *= _ratio(squared, spreads[0])
            of_columns.missed[i] *= _ratio(squared, spreads[1])


@kernel
def settle_listed(
    points: Any, rows: Any, others: Any, which: Any, squared: Any, index: Any
) -> None:
    """Sort the others that are listed for some rows by exact distance, the nearest of them first.

    A place of -1 in `which` holds none; what is not found stays as it was.
    """
    for r in range(rows.shape[0]):
        for place in range(which.shape[1]):
            other = which[r, place]
            if other >= 0:
                insert(squared, index, r, squared_distance(points, rows[r], others, other), other)


@kernel
def squared_of_pairs(points: Any, rows: Any, others: Any, columns: Any, squared: Any) -> None:
    """The exact squared distances of listed pairs."""
    for pair in range(rows.shape[0]):
        squared[pair] = squared_distance(points, rows[pair], others, columns[pair])


@inlined
def _near_a_radius(marks: Any, owner: int, median: float, low: float, high: float) -> bool:
    """Whether a radius lies where the squared distance may lie."""
    hits = low <= median <= high
    for place in range(marks.shape[1]):
        hits |= (low <= marks[owner, place]) & (marks[owner, place] <= high)
    return hits


@inlined
def _count_pair(
    squared: float,
    owner: int,
    guest: int,
    label: int,
    apart: Any,
    radii: Any,
    counts: Any,
    k: int,
    closed: Any,
) -> None:
    """Enter one pair into the counts of the owner's balls."""
    if not holds(radii.largest[owner], squared, closed):
        return
    for level in range(radii.squared.shape[1]):
        if holds(radii.squared[owner, level], squared, closed):
            counts.held[owner, level] += 1
            counts.inside[guest, level] += 1
            break
    counts.capped[guest] += holds(radii.capped[owner], squared, closed)
    blocks = radii.without.shape[1]
    if blocks > 0 and holds(radii.squared[owner, k - 1], squared, closed):
        counts.held_from[owner, label] += 1
    for block in range(blocks):
        if block != radii.labels[owner] and holds(radii.without[owner, block], squared, closed):
            counts.held_without[owner, block] += 1
            counts.inside_without[guest, block] += 1
    for halving in range(radii.halves.shape[1]):
        together = ((apart >> np.uint64(halving)) & np.uint64(1)) == 0
        hit = together & holds(radii.halves[owner, halving], squared, closed)
        counts.held_halves[owner, halving] += hit
        counts.inside_halves[guest, halving] += hit


@inlined
def _depth(smaller: float, squared: float) -> float:
    """Squared ratio of a ball's radius to the distance from its centre; -1 if it does not count."""
    if smaller < 0:
        return -1.0
    return smaller / squared if squared > 0 else np.inf


@inlined
def _may_lie_deeper(bound: Any, reach: Any, gain: Any, ratio: float) -> bool:
    """Whether a ball may hold a guest deeper than all before; a copy of the centre ends it."""
    return reach >= 0 and ratio < np.inf and (bound < FLOOR or bound * gain < reach)


@inlined
def _deepen(ratio: float, owner: int, guest: int, gain: Any, counts: Any) -> None:
    """Note a ball that holds the guest deeper than all before."""
    if ratio > counts.ratio[guest] or (
        ratio == counts.ratio[guest] and owner < counts.deepest[guest]
    ):
        counts.ratio[guest] = ratio
        counts.deepest[guest] = owner
        if ratio > SMALL:
            gain[guest] = max(gain[guest], np.float32(min(ratio * LESS, LARGE)))


@kernel
def exact_ratios(owners: Any, guests: Any, smaller: Any, deepest: Any, ratio: Any) -> None:
    """Settle the ratio of every guest to the owner that came out deepest."""
    for guest in range(ratio.shape[0]):
        owner = deepest[guest]
        if owner >= 0:
            squared = squared_distance(owners, owner, guests, guest)
            ratio[guest] = smaller[owner] / squared if squared > 0 else np.inf


@kernel
def multiply_misses(
    products: Any,
    row: int,
    column: int,
    points: Any,
    others: Any,
    point0: int,
    other0: int,
    spread: Any,
) -> None:
    """Multiply the ratios of all pairs of two panels into the products of both sides."""
    halves = spread.half_columns[column : column + PANEL]
    missed = np.ones(PANEL, np.float32)
    for r in range(row, min(row + PANEL, points.shape[0] - point0)):
        half = spread.half_rows[r]
        if _any_close(products[r - row], half, halves):
            _multiply_row_exactly(
                products[r - row], r, column, points, point0 + r, others, other0, spread
            )
            continue
        product = _multiply_row(products[r - row], half, halves, spread.inverses, missed)
        missed_product = spread.missed_rows[r] * product
        spread.missed_rows[r] = missed_product if missed_product > NOTHING else 0.0
    for c in range(PANEL):
        missed_product = spread.missed_columns[column + c] * missed[c]
        spread.missed_columns[column + c] = missed_product if missed_product > NOTHING else 0.0


@summation
def _multiply_row(products: Any, half: Any, halves: Any, inverses: Any, missed: Any) -> Any:
    """Multiply the ratios of one row into its columns, and return their product for the row."""
    one = np.float32(1)
    product = one
    for c in range(PANEL):
        distance = max(half + halves[c] - products[c], np.float32(0))
        missed[c] *= min(distance * inverses[0], one)
        product *= min(distance * inverses[1], one)
    return product


@inlined
def _any_close(products: Any, half: Any, halves: Any) -> bool:
    close = 0
    for c in range(PANEL):
        whole = half + halves[c]
        close += whole - products[c] < CLOSE * whole + TINY
    return close > 0


@inlined
def _ratio(squared: float, radius: float) -> float:
    """Squared distance over squared radius, at most 1; 0 for a point in the centre of a ball."""
    if squared == 0:
        return 0.0
    return squared / radius if squared < radius else 1.0


@kernel
def _multiply_row_exactly(
    products: Any, r: int, column: int, points: Any, row: int, others: Any, other0: int, spread: Any
) -> None:
    """The same for a row with close pairs, whose distances are computed on the numbers as given."""
    half = spread.half_rows[r]
    for c in range(column, min(column + PANEL, others.shape[0] - other0)):
        if spread.missed_rows[r] == 0 and spread.missed_columns[c] == 0:
            continue
        whole = half + spread.half_columns[c]
        distance = max(whole - products[c - column], np.float32(0))
        squared = distance * spread.scale
        if not distance >= CLOSE * whole + TINY:
            squared = squared_distance(points, row, others, other0 + c)
        spread.missed_columns[c] *= _ratio(squared, spread.squared[0])
        spread.missed_rows[r] *= _ratio(squared, spread.squared[1])


@kernel
def take_neighbours(
    tile: Any, row0: int, column0: int, distance: Any, index: Any, beyond: Any, n: int
) -> None:
    for r in range(tile.shape[0]):
        row = row0 + r
        for c in range(tile.shape[1]):
            column = column0 + c
            last, which = distance[row, -1], index[row, -1]
            if tile[r, c] > last or row == column:
                continue
            if tile[r, c] == last and column > which >= 0:
                beyond[row, 0 if column < n else 1] += 1
                continue
            insert(distance, index, row, tile[r, c], column)
            if last > distance[row, -1]:  # who was tied with the old last one lies further now
                beyond[row] = 0
            elif which >= 0:
                beyond[row, 0 if which < n else 1] += 1


@kernel
def count_members(
    tile: Any, row0: int, column0: int, radii: Any, closed: bool, members: Any, inside: Any
) -> None:
    for r in range(tile.shape[0]):
        row = row0 + r
        for c in range(tile.shape[1]):
            column, squared = column0 + c, tile[r, c]
            _count_member(row, column, squared, radii, closed, members, inside)
            _count_member(column, row, squared, radii, closed, members, inside)


@kernel
def _count_member(
    owner: int, guest: int, squared: float, radii: Any, closed: bool, members: Any, inside: Any
) -> None:
    """Count a guest in the smallest ball of the owner that holds it."""
    for k in range(radii.shape[1] - 1, -2, -1):
        if k < 0 or not holds(radii[owner, k], squared, closed):
            break
    if k + 1 < radii.shape[1]:
        members[owner, k + 1] += 1
        inside[guest, k + 1] += 1
