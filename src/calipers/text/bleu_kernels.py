"""The compiled loops behind Self-BLEU and its kin, with NLTK's arithmetic, bit for bit.

A precision p = matches / total enters as weight · ln p, where 0 matches count as 0.1 (`method1`);
the terms are added with what rounding lost, since NLTK adds them with ``math.fsum``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined, kernel

EPSILON = 0.1


@kernel
def leaders(
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    size: int,
    pool: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Find for each n-gram its largest count in a text, the next largest, and the first's text."""
    largest = np.zeros(size, np.int32)
    second = np.zeros(size, np.int32)
    holder = np.full(size, -1, np.int32)
    for text in pool:
        for place in range(starts[text], starts[text + 1]):
            gram, count = ids[place], counts[place]
            if count > largest[gram]:
                second[gram] = largest[gram]
                largest[gram] = count
                holder[gram] = text
            elif count > second[gram]:
                second[gram] = count
    return largest, second, holder


@kernel
def clip(
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    largest: NDArray[np.int32],
    second: NDArray[np.int32],
    holder: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Count each text's n-grams, none more often than any one other text holds it."""
    matches = np.zeros(len(rows), np.int64)
    for row in range(len(rows)):
        text = rows[row]
        for place in range(starts[text], starts[text + 1]):
            gram = ids[place]
            allowed = second[gram] if holder[gram] == text else largest[gram]
            matches[row] += min(counts[place], allowed)
    return matches


@kernel
def sentence_scores(
    matches: NDArray[np.int64], lengths: NDArray[np.int64], closest: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Turn matches of shape (m, order) into the BLEU of each text."""
    scores = np.zeros(len(matches))
    terms = np.empty(matches.shape[1])
    for row in range(len(matches)):
        if matches[row, 0] == 0:
            continue
        for n in range(len(terms)):
            terms[n] = _term(matches[row, n], lengths[row] - n, len(terms))
        scores[row] = _brevity(lengths[row], closest[row]) * math.exp(_total(terms))
    return scores


@kernel
def post(
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    size: int,
    pool: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """List for each n-gram the members of the pool that hold it, and how often."""
    ends = np.zeros(size + 1, np.int64)
    for text in pool:
        for place in range(starts[text], starts[text + 1]):
            ends[ids[place]] += 1
    ends = np.cumsum(ends)
    members = np.empty(ends[-1], np.int32)
    often = np.empty(ends[-1], np.int32)
    for member in range(len(pool) - 1, -1, -1):
        for place in range(starts[pool[member]], starts[pool[member] + 1]):
            gram = ids[place]
            ends[gram] -= 1
            members[ends[gram]] = member
            often[ends[gram]] = counts[place]
    return ends, members, often


@kernel
def add_matches(
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    ends: NDArray[np.int64],
    members: NDArray[np.int32],
    often: NDArray[np.int32],
    matches: NDArray[np.int32],
) -> None:
    """Add the n-grams that each row shares with each member of the pool, shape (rows, pool)."""
    for row in range(len(rows)):
        for place in range(starts[rows[row]], starts[rows[row] + 1]):
            for found in range(ends[ids[place]], ends[ids[place] + 1]):
                matches[row, members[found]] += min(counts[place], often[found])


@kernel
def pair_means(
    matches: NDArray[np.int32],
    lengths: NDArray[np.int64],
    own: NDArray[np.int64],
    others: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Average each row's BLEU against every member of the pool alone, but for itself.

    `matches` has shape (rows, pool, order), `own` is the row's place in the pool, and `others` are
    the lengths of the pool.
    """
    rows, size, order = matches.shape
    means = np.zeros(rows)
    terms = np.empty(order)
    longest = np.max(others)
    for row in range(rows):
        logs = np.empty((min(lengths[row], longest) + 1, order))
        for match in range(len(logs)):
            for n in range(order):
                logs[match, n] = _term(match, lengths[row] - n, order)
        for member in range(size):
            if member == own[row] or matches[row, member, 0] == 0:
                continue
            for n in range(order):
                terms[n] = logs[matches[row, member, n], n]
            means[row] += _brevity(lengths[row], others[member]) * math.exp(_total(terms))
        means[row] /= size - 1
    return means


@inlined
def _term(matches: int, total: int, order: int) -> float:
    """Weight · ln p; a text that is too short for the order counts as having one n-gram."""
    return (1.0 / order) * math.log((matches if matches > 0 else EPSILON) / max(total, 1))


@inlined
def _brevity(length: int, closest: int) -> float:
    return 1.0 if length > closest else math.exp(1.0 - closest / length)


@inlined
def _total(terms: NDArray[np.float64]) -> float:
    total, lost = 0.0, 0.0
    for term in terms:
        larger = total + term
        if abs(total) >= abs(term):
            lost += (total - larger) + term
        else:
            lost += (term - larger) + total
        total = larger
    return total + lost
