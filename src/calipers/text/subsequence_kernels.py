"""The compiled loop behind the subsequence kernel: a sum over pairs of equal tokens.

With S_p(a, b) the weight of all common subsequences of p tokens that end at token a of one text and
token b of the other,

    S_1(a, b) = 1,   S_{p+1}(a, b) = Σ λ^(a − a' − 1 + b − b' − 1) S_p(a', b')  over a' < a, b' < b

where the tokens a and b are equal, 0 elsewhere, and the kernel is the sum of all S_N (Rousu &
Shawe-Taylor, JMLR 2005, over matches alone). The inner sum comes from a Fenwick tree over b', whose
nodes hold sums that are discounted to the row where they were last touched and to the last column
that they cover. So all terms are positive, none overflows for a long text, and what underflows is
below 1e-300 of the terms that are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined, kernel


@kernel
def order_positions(
    tokens: NDArray[np.int32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The places of each text's tokens, sorted by token, and the tokens in that order."""
    places = np.empty(len(tokens), np.int32)
    ordered = np.empty(len(tokens), np.int32)
    for text in range(len(starts) - 1):
        first, last = starts[text], starts[text + 1]
        mine = np.argsort(tokens[first:last], kind="mergesort")
        for step in range(last - first):
            places[first + step] = mine[step]
            ordered[first + step] = tokens[first + mine[step]]
    return places, ordered


@kernel
def fill_tile(
    corpus: Any, order: int, powers: Any, rows: Any, columns: Any, rank: Any, same: Any, tile: Any
) -> None:
    """The kernel of every pair of a tile; that of equal texts is left as it is."""
    starts = corpus[1]
    longest = 0
    for text in range(len(starts) - 1):
        longest = max(longest, starts[text + 1] - starts[text])
    room = _room(longest, order)
    for row in range(rows[0], rows[1]):
        for column in range(columns[0], columns[1]):
            if same[row] == same[column]:
                continue
            # One direction only, whichever tile asks, so that both round alike
            first, second = (row, column) if rank[row] < rank[column] else (column, row)
            tile[row - rows[0], column - columns[0]] = _pair(
                corpus, order, powers, first, second, room
            )


@kernel
def fill_own(corpus: Any, order: int, powers: Any, rows: Any, own: Any) -> None:
    """The kernel of some texts with themselves."""
    starts = corpus[1]
    for row in range(rows[0], rows[1]):
        room = _room(starts[row + 1] - starts[row], order)
        own[row - rows[0]] = _pair(corpus, order, powers, row, row, room)


@inlined
def _room(longest: int, order: int) -> Any:
    """What one pair needs: where each token's matches are, the tree, its stamps, the sums."""
    return (
        np.empty((longest, 2), np.int64),
        np.empty((longest + 1, order)),
        np.empty(longest + 1, np.int64),
        np.empty((longest, order + 1)),
    )


@kernel
def _pair(corpus: Any, order: int, powers: Any, first: int, second: int, room: Any) -> float:
    starts = corpus[1]
    ranges, tree, stamps, sums = room
    n, m = starts[first + 1] - starts[first], starts[second + 1] - starts[second]
    if min(n, m) < order or _match(corpus, first, second, ranges) < order:
        return 0.0
    tree[: m + 1] = 0.0
    stamps[: m + 1] = 0
    total = 0.0
    places = corpus[2]
    for a in range(n):
        begin, end = ranges[a, 0], ranges[a, 1]
        for match in range(begin, end):  # all before any is added: a' < a
            b = places[match]
            found = sums[match - begin]
            _read(tree, stamps, powers, order - 1, a, b, found)
            total += found[order - 1]
        for match in range(begin, end):
            _add(tree, stamps, powers, order - 1, a, places[match], m, sums[match - begin])
    return total


@kernel
def _match(corpus: Any, first: int, second: int, ranges: Any) -> int:
    """Where the second text's places of each token of the first begin and end; tokens with any."""
    _, starts, places, ordered = corpus
    at, until = starts[second], starts[second + 1]
    found = 0
    for step in range(starts[first], starts[first + 1]):
        token = ordered[step]
        while at < until and ordered[at] < token:
            at += 1
        end = at
        while end < until and ordered[end] == token:
            end += 1
        ranges[places[step], 0], ranges[places[step], 1] = at, end
        found += end > at
    return found


@inlined
def _read(tree: Any, stamps: Any, powers: Any, sizes: int, a: int, b: int, found: Any) -> None:
    """S_1 … S_N at a match: what ends before it in both texts, discounted to it."""
    found[0] = 1.0
    for p in range(sizes):
        found[p + 1] = 0.0
    node = b  # nodes count from 1, so this one ends at column b - 1
    while node > 0:
        factor = powers[a - stamps[node]] * powers[b - node]
        for p in range(sizes):
            found[p + 1] += factor * tree[node, p]
        node &= node - 1


@inlined
def _add(
    tree: Any, stamps: Any, powers: Any, sizes: int, a: int, b: int, m: int, found: Any
) -> None:
    """Let later matches see what ends here; a node's stamp is 1 + the row it is discounted to."""
    node = b + 1
    while node <= m:
        kept, gained = powers[a + 1 - stamps[node]], powers[node - b - 1]
        for p in range(sizes):
            tree[node, p] = kept * tree[node, p] + gained * found[p]
        stamps[node] = a + 1
        node += node & -node
