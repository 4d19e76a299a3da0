"""Agreement of raters: worked by hand, beside a kept library, and the laws."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.errors import InputError
from calipers.uncertainty.rated_pairs import count_rated_pairs
from calipers.uncertainty.rater_agreement import (
    agreement_between,
    check_more_than_sides,
    first_share,
    flip_rate,
    intransitive_share,
    krippendorff_alpha,
    self_agreement,
    share_of,
)

NAN = math.nan

PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
"""Four observers, twelve units: Krippendorff, Computing Krippendorff's alpha-reliability, 2011."""

RATINGS = arrays(
    np.float64,
    st.tuples(st.integers(2, 4), st.integers(2, 8)),
    elements=st.one_of(st.integers(1, 4).map(float), st.just(NAN)),
)
KINDS = st.sampled_from(["nominal", "ordinal", "interval"])


@pytest.mark.parametrize(
    ("kind", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_as_published(kind, published):
    found = krippendorff_alpha(PUBLISHED, kind=kind)
    assert round(found.value, 3) == published
    assert found.items == 11  # of the twelfth there is one observation
    low, high = found.interval
    assert low < found.value < high <= 1


def test_alpha_by_hand():
    # Items (1,1), (1,1), (2,2), (2,1): of 8 answers five are 1 and three 2. Observed: 2 of 8 pairs
    # differ; expected 2·5·3/(8·7) of them.
    found = krippendorff_alpha([[1, 1, 2, 2], [1, 1, 2, 1]])
    assert found.value == pytest.approx(1 - (2 / 8) / (30 / 56))


def lacks_answers(ratings):
    """Whether alpha is undefined: fewer than two answers differ among items with a pair."""
    answered = ratings[:, np.isfinite(ratings).sum(axis=0) > 1]
    return len(np.unique(answered[np.isfinite(answered)])) < 2


@given(RATINGS, KINDS)
def test_alpha_beside_the_library(ratings, kind):
    found = krippendorff_alpha(ratings, kind=kind, draws=1)
    if lacks_answers(ratings):
        assert math.isnan(found.value)
        assert found.interval is None
        assert found.reason
        return
    expected = krippendorff.alpha(ratings, level_of_measurement=kind)
    assert found.value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30)
@given(RATINGS, KINDS, st.randoms(use_true_random=False))
def test_alpha_laws(ratings, kind, random):
    """Who rates, which item comes first, and names of answers that keep their distances."""
    plain = krippendorff_alpha(ratings, kind=kind, draws=1)
    raters, items = list(range(len(ratings))), list(range(ratings.shape[1]))
    random.shuffle(raters)
    random.shuffle(items)
    renamed = {
        "nominal": np.select([ratings == k for k in range(1, 5)], [3.0, 9, -2, 0], NAN),
        "ordinal": ratings**3,
        "interval": 7 - 2 * ratings,
    }
    silent = np.vstack([ratings, np.full((1, len(items)), NAN)])
    for table in (ratings[raters][:, items], silent, renamed[kind]):
        changed = krippendorff_alpha(table, kind=kind, draws=1)
        if lacks_answers(ratings):
            assert math.isnan(plain.value)
            assert math.isnan(changed.value)
            assert plain.reason
            assert changed.reason
        else:
            assert changed.value == pytest.approx(plain.value)


def test_alpha_is_one_of_full_agreement_and_near_none_of_chance():
    rng = np.random.default_rng(0)
    column = rng.integers(1, 6, 50)
    found = krippendorff_alpha([column, column], kind="ordinal")
    assert (found.value, found.interval) == (1, (1, 1))
    found = krippendorff_alpha(rng.integers(1, 6, (3, 400)), kind="ordinal")
    assert found.interval[0] < 0 < found.interval[1]
    assert abs(found.value) < 0.1


def test_alpha_refusals_and_reasons():
    assert "two raters" in krippendorff_alpha([[1, NAN], [NAN, 2]]).reason
    assert "nothing to disagree" in krippendorff_alpha([[1, 1], [1, 1]]).reason
    with pytest.raises(InputError, match="kind of ratings 'ordnal'"):
        krippendorff_alpha([[1, 2]], kind="ordnal")
    with pytest.raises(InputError, match=r"\(raters, items\), .*\(2,\)"):
        krippendorff_alpha([1, 2])
    with pytest.raises(InputError, match="must be finite"):
        krippendorff_alpha([[1, math.inf]])
    with pytest.raises(InputError, match="must be numbers"):
        krippendorff_alpha([["a", "b"]])


# ------------------------------------------------------------------ shares


def test_a_share_by_hand():
    # Wilson's interval of 1 of 4, z = 1.96: (0.25 + z²/8 ± z·√(0.1875/4 + z²/64))/(1 + z²/4)
    found = share_of(np.array([True, False, False, False]))
    z = 1.959963984540054
    middle = (0.25 + z**2 / 8) / (1 + z**2 / 4)
    reach = z * math.sqrt(0.1875 / 4 + z**2 / 64) / (1 + z**2 / 4)
    assert found.interval == pytest.approx((middle - reach, middle + reach))
    assert (found.value, found.count, found.total, found.reason) == (0.25, 1, 4, None)


def test_a_share_of_clusters_that_are_alike_is_that_of_the_clusters():
    inside = np.repeat([True, False, True, False, True, True], 50)
    alone = share_of(inside)
    together = share_of(inside, [np.repeat(np.arange(6), 50)])
    assert together.value == alone.value
    assert together.interval[1] - together.interval[0] > 4 * (alone.interval[1] - alone.interval[0])
    independent = share_of(inside, [np.arange(300)])
    assert independent.interval == pytest.approx(alone.interval, abs=0.002)


def pairs(*rows):
    """Rows of (a, b, answer, rater, first, item)."""
    a, b, answer, rater, first, item = zip(*rows, strict=True)
    return count_rated_pairs(a, b, answer, rater=rater, first=first, item=item)


def test_repeats_and_flips_by_hand():
    found = pairs(
        ("x", "y", "a", "ann", "a", "1"),
        ("x", "y", "x", "ann", "a", "1"),  # the same again: agrees
        ("y", "x", "y", "ann", "a", "1"),  # y first, and y preferred: follows the first side, twice
        ("x", "y", "tie", "ann", "a", "2"),
        ("x", "y", "b", "ann", "a", "2"),  # the same again: does not agree
        ("x", "y", "a", "bob", "a", "1"),
        ("x", "y", "a", "bob", "b", "1"),  # swapped, and x again
        ("x", "y", "b", "cy", "a", "1"),
        ("x", "y", "a", "cy", "b", "1"),  # swapped, and the second text again
        ("x", "y", "tie", "dee", "a", "3"),
        ("x", "y", "a", "dee", "b", "3"),  # a tie becomes a preference
    )
    again = self_agreement(found)
    assert (again.count, again.total, again.value) == (1, 2, 0.5)
    flips = flip_rate(found)
    assert (flips.changed.count, flips.changed.total) == (4, 5)
    assert (flips.reversed.count, flips.first.count, flips.second.count) == (3, 2, 1)
    assert flips.first.interval[0] < 0.4 < flips.first.interval[1]


def test_first_share_by_hand():
    found = pairs(
        ("x", "y", "a", "ann", "a", "1"),
        ("x", "y", "b", "ann", "b", "2"),
        ("x", "y", "a", "ann", "b", "3"),
        ("x", "y", "tie", "ann", "b", "4"),
        ("x", "y", "a", "ann", "", "5"),
    )
    share = first_share(found)
    assert (share.count, share.total) == (2, 3)


def test_answers_of_one_rater_are_alike():
    # 200 answers of two judges of whom one always takes the first, the other never, tell little
    rows = [
        ("x", "y", "a", rater, side, f"{rater}{k}")
        for rater, side in ("pa", "qb")
        for k in range(100)
    ]
    share = first_share(pairs(*rows))
    assert share.value == 0.5
    assert share.interval[0] < 0.1
    assert share.interval[1] > 0.9


def test_a_judge_who_follows_the_first_side_is_exposed():
    rng = np.random.default_rng(1)
    rows = []
    for item in range(100):
        better = rng.choice(["x", "y"])
        for side, other in ("xy", "yx"):
            follows = rng.random() < 0.6
            rows.append(("x", "y", side if follows else better, "judge", side, str(item)))
            assert other
    found = pairs(*rows)
    assert first_share(found).interval[0] > 0.6
    flips = flip_rate(found)
    assert flips.first.value > 0.25
    assert flips.second.value == 0
    assert flips.reversed.value == flips.first.value


def test_nothing_to_count_says_why():
    found = count_rated_pairs(["x"], ["y"], ["a"])
    assert "in the same order" in self_agreement(found).reason
    assert "both orders" in flip_rate(found).changed.reason
    assert "shown first" in first_share(found).reason
    assert "no three systems" in intransitive_share(found).reason
    assert math.isnan(first_share(found).value)


# ------------------------------------------------------------------ circles


def test_circles_by_hand():
    circle = [("x", "y", "a"), ("y", "z", "a"), ("z", "x", "a")]
    order = [("x", "y", "a"), ("y", "z", "a"), ("x", "z", "a")]
    undecided = [("x", "y", "a"), ("y", "z", "tie"), ("z", "x", "a")]
    rows = [
        (*row, rater, "a", "")
        for rater, answers in (("ann", circle), ("bob", order), ("cy", undecided), ("dee", order))
        for row in answers
    ]
    found = intransitive_share(pairs(*rows))
    assert (found.count, found.total) == (1, 3)
    # Together: of x and z two prefer either, which decides nothing; without cy two to one prefer x
    everybody = intransitive_share(pairs(*rows), group=np.zeros(12))
    assert everybody.total == 0
    others = pairs(*[row for row in rows if row[3] != "cy"])
    assert intransitive_share(others, group=np.zeros(9)).interval[0] == 0
    assert intransitive_share(others, group=np.zeros(9)).total == 1
    with pytest.raises(InputError, match="each of the 12 judgements"):
        intransitive_share(pairs(*rows), group=[1])


def test_a_quarter_is_what_a_coin_gives():
    rng = np.random.default_rng(2)
    rows = [
        (a, b, rng.choice(["a", "b"]), f"r{rater}", "a", "")
        for rater in range(40)
        for a, b in combinations("pqrstu", 2)
    ]
    found = intransitive_share(pairs(*rows))
    assert found.total == 40 * 20
    assert found.interval[0] < 0.25 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.1


@given(st.permutations("pqrst"))
def test_an_order_has_no_circles(order):
    rows = [
        (a, b, a, "ann", "a", "")
        for a, b in permutations(order, 2)
        if order.index(a) < order.index(b)
    ]
    found = intransitive_share(pairs(*rows))
    assert (found.value, found.total) == (0, 10)


# ------------------------------------------------------------------ two groups


def test_two_groups_by_hand():
    people = pairs(
        ("x", "y", "a", "ann", "a", "1"),
        ("x", "y", "a", "bob", "a", "1"),
        ("x", "y", "b", "ann", "a", "2"),
        ("x", "z", "tie", "ann", "a", "3"),
        ("x", "z", "a", "ann", "a", "4"),
    )
    judge = pairs(
        ("y", "x", "b", "judge", "a", "1"),  # x: agrees with both
        ("x", "y", "a", "judge", "a", "2"),  # does not agree
        ("z", "x", "tie", "judge", "a", "3"),
        ("x", "z", "a", "judge", "a", "9"),
    )
    found = agreement_between(people, judge)
    assert found.items == 3
    assert found.share.value == pytest.approx(2 / 3)
    assert found.decided.value == pytest.approx(1 / 2)
    # Of people 1/3 each x, y and tie; of the judge 2/3 x, 1/3 tie: chance 2/9 + 1/9
    assert found.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    low, high = found.kappa.interval
    assert low <= found.kappa.value <= high
    again = agreement_between(judge, people)
    assert again.share == found.share
    assert again.kappa.value == pytest.approx(found.kappa.value)


def test_people_among_themselves():
    # Two raters of the same items; nobody is compared with themselves
    found = pairs(
        *[("x", "y", "a" if k % 2 else "b", "ann", "a", str(k)) for k in range(20)],
        *[("x", "y", "a" if k % 2 or k < 5 else "b", "bob", "a", str(k)) for k in range(20)],
    )
    among = agreement_between(found, found)
    assert among.items == 20
    assert among.share.value == pytest.approx(17 / 20)
    ratings = np.vstack([found.outcome[:20], found.outcome[20:]])
    # Cohen's κ of both orders of the two is Scott's π, α without its correction for few answers
    alpha = krippendorff_alpha(ratings).value
    assert 1 - (1 - among.kappa.value) * (1 - 1 / 40) == pytest.approx(alpha)


def test_no_common_items():
    one = pairs(("x", "y", "a", "ann", "a", "1"))
    found = agreement_between(one, pairs(("x", "y", "a", "judge", "a", "2")))
    assert (found.items, found.share.reason) == (0, "no item has answers of both")
    assert math.isnan(found.kappa.value)
    same = agreement_between(one, pairs(("x", "y", "a", "judge", "a", "1")))
    assert same.share.value == 1
    assert "nothing to disagree" in same.kappa.reason


@pytest.mark.slow
def test_intervals_cover():
    """Of shares of clusters, and of α of drawn raters: 95 % intervals hold the truth."""
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(400):
        leaning = rng.beta(6, 4, 25)
        inside = rng.random((25, 20)) < leaning[:, None]
        low, high = share_of(inside.ravel(), [np.repeat(np.arange(25), 20)]).interval
        shares.append(low <= 0.6 <= high)
    assert np.mean(shares) >= 0.93
    alphas = []

    def drawn(items):
        truth = rng.integers(1, 6, items)
        noise = rng.integers(1, 6, (3, items))
        return np.where(rng.random((3, items)) < 0.7, truth, noise)

    exact = krippendorff_alpha(drawn(100_000), kind="ordinal", draws=1).value
    for _ in range(200):
        low, high = krippendorff_alpha(drawn(80), kind="ordinal", draws=400).interval
        alphas.append(low <= exact <= high)
    assert np.mean(alphas) >= 0.92


def test_answers_that_all_turn_with_the_sides_are_refused():
    first = [("x", "y", "a", "r", "a", "1"), ("x", "y", "b", "r", "b", "1")]
    second = [("x", "z", "b", "r", "a", "2"), ("x", "z", "a", "r", "b", "2")]
    with pytest.raises(InputError, match=r"only pair .*always for"):
        check_more_than_sides(pairs(*first))
    with pytest.raises(InputError, match=r"all 2 pairs .*swapped"):
        check_more_than_sides(pairs(*first, *second))
    stays = [("x", "y", "a", "r", "a", "3"), ("x", "y", "a", "r", "b", "3")]
    tied = [("x", "y", "tie", "r", "a", "3"), ("x", "y", "tie", "r", "b", "3")]
    half = [("x", "y", "tie", "r", "a", "3"), ("x", "y", "b", "r", "b", "3")]
    for more in (stays, tied, half, stays[:1], [("x", "y", "a", "s", "a", "1")]):
        check_more_than_sides(pairs(*first, *more))
    check_more_than_sides(pairs(*first).select(np.zeros(2, bool)))
