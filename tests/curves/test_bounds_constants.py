import numpy as np
import pytest

from calipers.curves import DIVERGENCES, Divergence, custom_divergence
from calipers.curves.bounds import REFUSED, TABLE, bounded_divergence, smoothness_constants
from calipers.curves.divergences import KL, interpolated_kl
from calipers.errors import InputError

MIXTURES = (0.1, 0.3, 0.5, 0.9)
WEIGHTED = ("interpolated_kl", "interpolated_chi2", "skew_jensen_shannon")
COVERED_WEIGHTS = [
    "frontier_integral",
    "jensen_shannon",
    "le_cam",
    *(f"{kind}={weight}" for kind in WEIGHTED for weight in MIXTURES),
]


def sides(name):
    """f with C0, C1, C2 and the limit f*(0), then f* with its own."""
    f, c = bounded_divergence(name), smoothness_constants(name)
    return (
        (f, c.at_zero, c.slope, c.curvature, c.conjugate_at_zero),
        (f.conjugate(), c.conjugate_at_zero, c.conjugate_slope, c.conjugate_curvature, c.at_zero),
    )


def first(f, t):
    """f'(t), by central differences at two relative steps, extrapolated."""

    def rough(h):
        return (f(t * (1 + h)) - f(t * (1 - h))) / (2 * h * t)

    return (4 * rough(5e-4) - rough(1e-3)) / 3


def second(f, t):
    def rough(h):
        return (f(t * (1 + h)) - 2 * f(t) + f(t * (1 - h))) / (h * t) ** 2

    return (4 * rough(1e-3) - rough(2e-3)) / 3


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_limits_are_those_of_the_generator(name):
    for f, at_zero, *_ in sides(name):
        assert f.at_zero == pytest.approx(at_zero, rel=1e-12)
        assert f(np.array([1e-12]))[0] == pytest.approx(at_zero, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_slopes_stay_below_their_constant(name):
    t = np.geomspace(1e-8, 1 - 1e-6, 2000)
    for f, _, slope, *_ in sides(name):
        assert np.all(np.abs(first(f, t)) <= slope * np.maximum(1, -np.log(t)) * (1 + 1e-4))


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_curvatures_reach_their_constant_and_do_not_pass_it(name):
    t = np.geomspace(1e-4, 1e4, 4001)
    for f, _, _, curvature, _ in sides(name):
        found = np.max(t * second(f, t) / 2)
        assert found == pytest.approx(curvature, rel=2e-3)


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_an_error_of_a_probability_costs_no_more_than_the_constants_say(name):
    # Lemma 20, on which both theorems rest, for ψ(p, q) = q·f(p/q)
    grid = np.concatenate([[0], np.geomspace(1e-8, 1, 40)])
    p, less, q = (axis.ravel() for axis in np.meshgrid(grid, grid, grid))
    p, less, q = (axis[p > less] for axis in (p, less, q))
    for f, _, slope, curvature, beyond in sides(name):

        def cost(mass, f=f, beyond=beyond):
            ratio = np.divide(mass, q, out=np.ones_like(mass), where=q > 0)
            return np.where(q > 0, q * f(ratio), beyond * mass)

        most = slope * np.maximum(1, -np.log(p)) + max(beyond, curvature)
        assert np.all(np.abs(cost(p) - cost(less)) <= most * (p - less) * (1 + 1e-9))


def test_the_slope_of_the_frontier_integral_could_be_1():
    f = bounded_divergence("frontier_integral")
    t = np.geomspace(1e-8, 1 - 1e-6, 2000)
    assert np.max(np.abs(first(f, t)) / np.maximum(1, -np.log(t))) < 1


def test_interpolated_chi2_at_one_half_is_le_cam():
    assert smoothness_constants("interpolated_chi2=0.5") == smoothness_constants("le_cam")


def test_a_divergence_may_be_given_itself():
    found = smoothness_constants(interpolated_kl(0.25))
    assert found == smoothness_constants("interpolated_kl=0.25")
    assert found.most == pytest.approx(0.75 + np.log(4) - 0.75)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kl", "infinite where the reference has mass and the generated set none"),
        ("reverse_kl", "infinite where the generated set has mass and the reference none"),
        ("chi2", "infinite where the reference has mass and the generated set none"),
        ("squared_hellinger", "steeper than any multiple of log 1/t"),
        ("total_variation", "corner at 1"),
    ],
)
def test_divergences_without_a_bound_are_refused_with_the_reason(name, reason):
    for divergence in (name, DIVERGENCES[name]):
        with pytest.raises(InputError, match=f"do not cover {name}: .*{reason}.*they cover"):
            smoothness_constants(divergence)


def test_every_divergence_is_either_covered_or_refused():
    assert {*TABLE, *REFUSED} == {"frontier_integral", *DIVERGENCES, *WEIGHTED}


@pytest.mark.parametrize(
    ("divergence", "message"),
    [
        ("frontier_integrl", "unknown divergence 'frontier_integrl'; did you mean 'frontier_int"),
        ("frontier_integral=0.3", "'frontier_integral' takes no weight"),
        ("interpolated_kl", "takes a weight in \\(0, 1\\)"),
        ("interpolated_kl=1", "between 0 and 1"),
        (KL.interpolated(0.3), "constants of a divergence.*found 'kl|0.3'"),
        (Divergence("le_cam", KL.generator, 1.0, np.inf), "constants.*found 'le_cam'"),
    ],
)
def test_others_are_refused(divergence, message):
    with pytest.raises(InputError, match=message):
        smoothness_constants(divergence)


def test_a_persons_own_function_is_refused():
    own = custom_divergence(lambda t: (t - 1) ** 2 / (t + 3), at_zero=1 / 3, conjugate_at_zero=1)
    with pytest.raises(InputError, match=r"constants of a divergence.*found 'custom'"):
        smoothness_constants(own)
