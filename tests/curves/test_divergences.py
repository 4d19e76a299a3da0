"""The f-divergences: generators, closed forms, and the figures of the official implementations."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from calipers.curves import (
    DIVERGENCES,
    custom_divergence,
    divergence_frontier,
    f_divergence,
    find_divergence,
    interpolated_chi2,
    interpolated_kl,
    precision_recall_curve,
    skew_jensen_shannon,
)
from calipers.curves.frontier import half_of
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

# The f-divergences: generators, limits, conjugates, interpolation, closed forms.


NAMES = [*DIVERGENCES, "interpolated_kl=0.3", "interpolated_chi2=0.7", "skew_jensen_shannon=0.2"]
every = pytest.mark.parametrize("name", NAMES)
GRID = np.geomspace(1e-5, 1e5, 801)
P, Q = np.array([0.5, 0.25, 0.25]), np.array([0.2, 0.2, 0.6])
PAIR = Histograms([10, 5, 5], [4, 4, 12])


def kl(p, q):
    return float(np.sum(p * np.log(p / q)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kl", kl(P, Q)),
        ("reverse_kl", kl(Q, P)),
        ("interpolated_kl=0.3", kl(P, 0.3 * P + 0.7 * Q)),
        ("jensen_shannon", kl(P, (P + Q) / 2) / 2 + kl(Q, (P + Q) / 2) / 2),
        (
            "skew_jensen_shannon=0.3",
            0.3 * kl(P, 0.3 * P + 0.7 * Q) + 0.7 * kl(Q, 0.3 * P + 0.7 * Q),
        ),
        ("chi2", np.sum((P - Q) ** 2 / Q)),
        ("interpolated_chi2=0.3", 0.49 * np.sum((P - Q) ** 2 / (0.3 * P + 0.7 * Q))),
        ("le_cam", np.sum((P - Q) ** 2 / (P + Q)) / 2),
        ("squared_hellinger", np.sum((np.sqrt(P) - np.sqrt(Q)) ** 2)),
        ("total_variation", np.abs(P - Q).sum() / 2),
    ],
)
def test_textbook_formulas(name, expected):
    assert f_divergence(PAIR, name) == pytest.approx(expected, rel=1e-13)


@every
def test_generators_are_convex_non_negative_and_flat_at_one(name):
    f = find_divergence(name)
    values = f(GRID)
    assert (values >= -1e-12 * GRID).all()
    assert f(np.ones(1))[0] == 0
    slopes = np.diff(values) / np.diff(GRID)
    assert (np.diff(slopes) >= -1e-9 * (1 + np.abs(slopes[1:]))).all()
    assert f(np.array([1 + 1e-6, 1 - 1e-6])) == pytest.approx(0, abs=1e-6)


@every
def test_limits_are_those_of_the_generator(name):
    f = find_divergence(name)
    near_zero, beyond = f(np.array([1e-200]))[0], f(np.array([1e200]))[0] / 1e200
    assert f(np.zeros(1))[0] == f.at_zero
    for found, limit in ((near_zero, f.at_zero), (beyond, f.conjugate_at_zero)):
        assert found > 400 if np.isinf(limit) else found == pytest.approx(limit, rel=1e-9)


@every
def test_the_conjugate_exchanges_the_sides(name):
    f = find_divergence(name)
    swapped = Histograms(PAIR.generated, PAIR.reference)
    assert f_divergence(PAIR, f.conjugate()) == pytest.approx(f_divergence(swapped, f), rel=1e-12)
    assert f_divergence(PAIR, f.conjugate().conjugate()) == pytest.approx(f_divergence(PAIR, f))


@every
@pytest.mark.parametrize("weight", [1e-6, 0.3, 0.5, 1 - 1e-6])
def test_interpolation_is_the_divergence_from_the_mixture(name, weight):
    # Property 5 on whole counts: 20 samples a side mix to 20 with weight 1/2 and so on
    f = find_divergence(name)
    mixture = weight * P + (1 - weight) * Q
    expected = float(np.sum(mixture * f(P / mixture)))
    assert f_divergence(PAIR, f.interpolated(weight)) == pytest.approx(expected, rel=1e-9)


@every
@pytest.mark.parametrize("t", [1e-9, 0.05, 0.96, 0.9999, 1.0, 1.04, 1.06, 7.0, 1e5])
def test_half_of_the_frontier_integral_is_its_integral(name, t):
    f = find_divergence(name)
    if np.isinf(f.at_zero) and t < 1e-3:
        pytest.skip("quad does not resolve it; finite away from 0")

    def integrand(weight):
        mixture = weight * t + 1 - weight
        return 2 * weight * mixture * f(np.array([t / mixture]))[0]

    expected, _ = quad(integrand, 0, 1, epsabs=1e-13, epsrel=1e-11, limit=400)
    assert half_of(f)(np.array([t]))[0] == pytest.approx(expected, abs=1e-9 * max(1, t))


@pytest.mark.parametrize("name", ["kl", "chi2"])
@given(exponent=st.floats(-12, 12))
def test_closed_forms_equal_quadrature(name, exponent):
    f, t = find_divergence(name), np.array([10.0**exponent])
    by_nodes = half_of(replace(f, half=None))
    assert half_of(f)(t)[0] == pytest.approx(by_nodes(t)[0], abs=1e-11 * max(1, float(t[0])))


def test_the_chi2_frontier_integral_is_twice_that_of_kl():
    t = np.geomspace(1e-6, 1e6, 300)
    kl_half, chi2_half = half_of(find_divergence("kl")), half_of(find_divergence("chi2"))
    one = kl_half(t) + kl_half.conjugate()(t)
    np.testing.assert_allclose(one, (t + 1) / 2 - t * np.log(t) / (t - 1), atol=1e-7)
    np.testing.assert_allclose(
        chi2_half(t) + chi2_half.conjugate()(t), 2 * one, rtol=1e-9, atol=1e-12
    )
    assert chi2_half.at_zero + chi2_half.conjugate_at_zero == pytest.approx(1)
    assert kl_half.at_zero + kl_half.conjugate_at_zero == pytest.approx(0.5)


def test_mass_that_the_generated_set_lacks_counts():
    pair = Histograms([1, 1], [2, 0])
    assert f_divergence(pair, "kl") == np.inf
    assert f_divergence(pair, "chi2") == np.inf
    # (√½ − 1)² in the shared cell and ½ in the other
    hellinger = (np.sqrt(0.5) - 1) ** 2 + 0.5
    assert f_divergence(pair, "squared_hellinger") == pytest.approx(hellinger)
    assert f_divergence(pair, "total_variation") == 0.5
    assert f_divergence(Histograms([2, 0], [1, 1]), "reverse_kl") == np.inf
    assert f_divergence(Histograms([2, 0], [1, 1]), "kl") == pytest.approx(np.log(2))


def test_special_weights():
    assert f_divergence(PAIR, interpolated_chi2(0.5)) == pytest.approx(f_divergence(PAIR, "le_cam"))
    assert f_divergence(PAIR, skew_jensen_shannon(0.5)) == f_divergence(PAIR, "jensen_shannon")
    assert f_divergence(PAIR, interpolated_kl(1e-9)) == pytest.approx(f_divergence(PAIR, "kl"))


def test_own_generators():
    log = custom_divergence(lambda t: t * np.log(t), at_zero=0, conjugate_at_zero=np.inf)
    assert log.at_zero == pytest.approx(1)
    assert log.slope == pytest.approx(1)
    assert f_divergence(PAIR, log) == pytest.approx(f_divergence(PAIR, "kl"), abs=1e-11)
    hinge = custom_divergence(
        lambda t: np.maximum(t - 1, 0), at_zero=0, conjugate_at_zero=1, name="hockey_stick"
    )
    assert hinge.name == "hockey_stick"
    assert f_divergence(PAIR, hinge) == pytest.approx(f_divergence(PAIR, "total_variation"))


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda t: np.where(t < 5, (t - 1) ** 2, 8 + t), r"convex; at t = (4.9|5.0)\d+ it lies"),
        (lambda t: -t * np.log(t), "convex; at t = "),
        (lambda t: t**2, r"0 at t = 1.* f\(1\) = 1"),
        (lambda t: np.where(t > 2, np.nan, 0), "it is not at t = 2.0"),
        (lambda t: 1.0, "one value for each t"),
    ],
)
def test_own_generators_that_are_none(f, words):
    with pytest.raises(InputError, match=words):
        custom_divergence(f, at_zero=1, conjugate_at_zero=1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chi", "divergence 'chi'.*'chi2'"),
        ("interpolated_kl", r"\(0, 1\), as interpolated_kl=0.3"),
        ("interpolated_kl=x", "takes a weight"),
        ("interpolated_kl=1", "between 0 and 1.* 1"),
        ("skew_jensen_shannon=nan", "must lie between 0 and 1"),
        ("kl=0.3", "'kl' takes no weight"),
    ],
)
def test_bad_names(name, words):
    with pytest.raises(InputError, match=words):
        find_divergence(name)


def test_limits_of_own_generators_must_be_numbers():
    with pytest.raises(InputError, match="must be numbers or ∞"):
        custom_divergence(lambda t: (t - 1) ** 2, at_zero=np.nan, conjugate_at_zero=1)


def test_reverse_kl_of_ratios_too_small_for_a_float():
    ratios = LikelihoodRatios([900.0], [-2600.0, -1000.0])
    found = f_divergence(ratios, "reverse_kl", points="other_side")
    assert found == pytest.approx(1799)  # the mean of 2599 and 999
    assert f_divergence(ratios, "reverse_kl") == pytest.approx(1800)  # f(r)/(1 + r) is 1 at e^900


def test_what_has_no_weight_counts_nothing():
    ratios = LikelihoodRatios([0.0, 0.0], [-np.inf, 1.0], generated_weights=[0.0, 1.0])
    assert f_divergence(ratios, "reverse_kl", points="other_side") == pytest.approx(np.e - 2)
    assert f_divergence(ratios, "reverse_kl") == pytest.approx((np.e - 2) / (1 + np.e))


def test_a_generator_that_breaks_down_far_out_is_no_gap_of_zero():
    own = custom_divergence(
        lambda t: (t - 1) ** 4 / (t + 1) ** 3, at_zero=1, conjugate_at_zero=1, name="quartic"
    )
    with pytest.raises(InputError, match="'quartic' is not a number"), np.errstate(all="ignore"):
        f_divergence(LikelihoodRatios([0.0], [300.0]), own)


@pytest.mark.parametrize("weight", [0.1 + 0.2, 1 / 3, 0.99999999])
def test_names_keep_all_digits_of_a_weight(weight):
    made = interpolated_kl(weight)
    assert find_divergence(made.name).name == made.name
    assert float(made.name.partition("=")[2]) == weight


@pytest.mark.parametrize("given", [None, [1, 2], "kl"])
def test_what_is_no_estimate(given):
    for read in (f_divergence, divergence_frontier, precision_recall_curve):
        with pytest.raises(InputError, match="Histograms or LikelihoodRatios"):
            read(given)


# Scores of given histograms against the figures of the official implementations.


FIGURES = json.loads(
    (Path(__file__).parent.parent / "data" / "histograms.json").read_text(encoding="utf-8")
)
CASES = pytest.mark.parametrize("case", FIGURES["cases"], ids=lambda case: case["name"])


def histograms(case, smoothing="none"):
    return Histograms(
        np.array(case["reference_counts"]), np.array(case["generated_counts"]), smoothing=smoothing
    )


@CASES
@pytest.mark.parametrize(("suffix", "smoothing"), [("", "none"), ("_star", "krichevsky-trofimov")])
def test_mauve_and_frontier_integral(case, suffix, smoothing):
    frontier = divergence_frontier(histograms(case, smoothing))
    assert frontier.area(5) == pytest.approx(case[f"mauve{suffix}"], abs=1e-6)
    assert frontier.integral() == pytest.approx(case[f"frontier_integral{suffix}"], abs=1e-6)


@pytest.mark.parametrize("case", FIGURES["equal"], ids=lambda case: str(case["counts"][:5]))
@pytest.mark.parametrize("smoothing", ["none", "krichevsky-trofimov"])
def test_equal_histograms_score_one_where_mauve_text_gives_less(case, smoothing):
    both = {"reference_counts": case["counts"], "generated_counts": case["counts"]}
    frontier = divergence_frontier(histograms(both, smoothing))
    assert frontier.area(5) == 1.0
    # All points are (1, 1). Sorted along x with the end (1, 0) first, as mauve-text has them, the
    # trapezoid runs from (0, 1) straight to (1, 0)
    x, y = frontier.points(5).T
    along_x, along_y = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    areas = [np.trapezoid(y[along_x], x[along_x]), np.trapezoid(x[along_y], y[along_y])]
    assert np.mean(areas) == pytest.approx(case["mauve_text"], abs=1e-9)


@CASES
def test_divergence_curve(case):
    points = divergence_frontier(histograms(case)).points(5)
    np.testing.assert_allclose(points, case["divergence_curve"], atol=1e-6)


@CASES
def test_prd_curve_and_f_scores(case):
    curve = precision_recall_curve(histograms(case))
    expected = case["prd_every_25th_angle"]
    np.testing.assert_allclose(curve.precision[::25], expected["precision"], atol=1e-6)
    np.testing.assert_allclose(curve.recall[::25], expected["recall"], atol=1e-6)
    assert curve.f_beta(8) == pytest.approx(case["prd_f8_recall"], abs=1e-6)
    assert curve.f_beta(1 / 8) == pytest.approx(case["prd_f1_8_precision"], abs=1e-6)
