"""Texts that sets share: every near pair is seen, each text is matched once, rows are right."""

from __future__ import annotations

import pytest

from calipers.errors import InputError
from calipers.text.common_texts import largest_unseen, least_samples, shared_texts


def grams(text, order):
    words = text.casefold().split()
    return {tuple(words[i : i + order]) for i in range(len(words) - order + 1)}


def jaccard(one, other, order):
    a, b = grams(one, order), grams(other, order)
    return len(a & b) / len(a | b) if a | b else 0.0


def changed(text, rng, words):
    """Change single words of a text."""
    parts = text.split()
    for place in rng.choice(len(parts), words, replace=False):
        parts[place] = f"x{rng.integers(1000)}"
    return " ".join(parts)


def drawn(rng, n, low=4, high=60):
    sizes = rng.integers(low, high, n)
    return [" ".join(f"w{w}" for w in rng.integers(0, 40, size)) for size in sizes]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("order", [1, 3])
def test_every_near_pair_is_seen(rng, threshold, order):
    first = drawn(rng, 40)
    second = [changed(text, rng, min(3, len(text.split()))) for text in first[::-1]]
    matches = shared_texts([first, second], order=order, threshold=threshold).get((0, 1), [])
    near = [
        (i, j)
        for i, one in enumerate(first)
        for j, other in enumerate(second)
        if jaccard(one, other, order) >= threshold
    ]
    for match in matches:
        assert match.similarity == pytest.approx(
            jaccard(first[match.row], second[match.other], order)
        )
        assert (match.row, match.other) in near
    rows, others = ({match.row for match in matches}, {match.other for match in matches})
    assert len(rows) == len(others) == len(matches)
    # What is not matched is near to matched texts alone
    assert all(i in rows or j in others for i, j in near)


def test_planted_copies_are_given_with_their_rows(rng):
    first, second, third = (drawn(rng, 120, 30, 60) for _ in range(3))
    second[50:70] = first[10:30]
    first[7] = drawn(rng, 1, 70, 80)[0]
    third[5] = changed(first[7], rng, 1)
    shared = shared_texts([first, second, third])
    assert [(m.row, m.other, m.verbatim) for m in shared[0, 1]] == [
        (row, row + 40, True) for row in range(10, 30)
    ]
    ((near,),) = [shared[0, 2]]
    assert (near.row, near.other, near.verbatim) == (7, 5, False)
    assert 0.8 <= near.similarity < 1
    assert (1, 2) not in shared


def test_letter_case_and_white_space_do_not_count_and_empty_texts_are_shared_with_nobody():
    shared = shared_texts([["A  b\n", "", " "], ["a B", ""]])
    ((match,),) = shared.values()
    assert (match.row, match.other, match.verbatim, match.words) == (0, 0, True, 2)


def test_repeated_texts_are_matched_as_often_as_both_hold_them():
    shared = shared_texts([["yes"] * 4 + ["no"], ["no", "maybe", "yes", "yes"]])
    assert [(m.row, m.other) for m in shared[0, 1]] == [(2, 2), (3, 3), (4, 0)]


def test_the_order_of_the_sets_changes_no_count(rng):
    sets = [drawn(rng, 30, 3, 8) for _ in range(3)]
    sets[1][:9] = sets[0][:9]
    sets[2][4:6] = [sets[0][0]] * 2
    forth, back = shared_texts(sets), shared_texts(sets[::-1])
    sizes = {pair: len(matches) for pair, matches in forth.items()}
    assert sizes == {(2 - b, 2 - a): len(matches) for (a, b), matches in back.items()}


def test_what_collapsed_systems_repeat_takes_no_time_of_its_square():
    words = " ".join(f"w{i}" for i in range(30))
    sets = [[f"{words} {i % 7}" for i in range(3000)] for _ in range(2)]
    ((_, matches),) = shared_texts(sets).items()
    assert len(matches) == 3000


def test_what_no_copy_among_n_means():
    for share in (0.001, 0.01, 0.2):
        n = least_samples(share)
        assert (1 - share) ** n <= 0.05 < (1 - share) ** (n - 1)
        assert largest_unseen(n) <= share < largest_unseen(n - 1)


def test_options_out_of_range_are_refused():
    for options in ({"threshold": 0.0}, {"threshold": 1.5}, {"order": 0}):
        with pytest.raises(InputError):
            shared_texts([["a"], ["a"]], **options)
    with pytest.raises(InputError):
        shared_texts([["a"], [3]])
