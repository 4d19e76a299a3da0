import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def scripts():
    """The script's modules, which find each other beside it."""
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import bands
        import bands_tables
        import bands_worlds
        import calibration_store

        yield {
            "main": bands,
            "tables": bands_tables,
            "worlds": bands_worlds,
            "store": calibration_store,
        }
    finally:
        sys.path.remove(str(EXPERIMENTS))


@pytest.fixture(scope="module")
def small(scripts, tmp_path_factory):
    """Two tiny worlds of either case with bands, and two for the expectation."""
    worlds, path = scripts["worlds"], tmp_path_factory.mktemp("bands") / "worlds.jsonl"
    store = scripts["store"].Store(path, 0)
    for case in worlds.CASES:
        for number in (0, 1, worlds.FRESH, worlds.FRESH + 1):
            store._keep(worlds.one_world(("bands", case, 120, number)))
    return store


def test_a_band_holds_the_mean_within_its_reach_in_all_columns(scripts):
    mean = np.array([0.5, 0.2])
    values = np.array([[0.69, 0.2], [0.71, 0.2], [0.5, 0.0], [0.5, 0.2]])
    errors = np.array([[0.1, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.0]])
    held = scripts["tables"].band_holds(values, errors, mean)
    # 0.19 and 0.21 beside 0.196; 0.2 beside 0.196; on the mean without width
    assert held.tolist() == [True, False, False, True]


def test_places_in_an_ellipse_by_hand(scripts):
    """Half axes 2 and 1, the longer one at 45°: along it 1.4·√2 = 1.98, across 0.75·√2 = 1.06."""
    tables = scripts["tables"]
    turned = tables.Extent(4.0, 2.0, 45.0)
    assert tables.in_ellipse(1.4, 1.4, turned)
    assert not tables.in_ellipse(1.43, 1.43, turned)
    assert tables.in_ellipse(-0.7, 0.7, turned)
    assert not tables.in_ellipse(-0.75, 0.75, turned)
    flat = tables.Extent(4.0, 0.0, 0.0)
    assert tables.in_ellipse(1.9, 0.0, flat)
    assert not tables.in_ellipse(2.1, 0.0, flat)
    assert not tables.in_ellipse(1.9, 0.1, flat)


def test_a_share_of_normal_errors_lies_in_their_ellipse(scripts):
    tables, rng = scripts["tables"], np.random.default_rng(0)
    covariance = [[0.04, -0.03], [-0.03, 0.09]]
    drawn = rng.multivariate_normal([0, 0], covariance, size=4_000)
    extent = tables.error_ellipse(0.2, 0.3, -0.5, level=0.95)
    held = np.mean([tables.in_ellipse(*place, extent) for place in drawn])
    assert held == pytest.approx(0.95, abs=0.015)


def test_a_row_of_a_curve_by_hand(scripts):
    """Gaps of 1.5, 0.5 and 0.5 to the fresh mean beside bands of 0.98, 0 and 1.96 each way."""
    full = [
        {"curves": {"frontier": [[v, 7.0]]}, "errors": {"frontier": [[e, 0.0]]}}
        for v, e in [(9.0, 0.5), (10.0, 0.0), (11.0, 1.0)]
    ]
    fresh = [{"curves": {"frontier": [[v, 7.0]]}} for v in (9.5, 11.5)]
    tables = scripts["tables"]
    row = tables.point(full, fresh, "frontier", 0, (0,)).split(" | ")
    ratio = np.sqrt(1.25 / 3) / np.std([9, 10, 11, 9.5, 11.5], ddof=1)
    assert row == ["10.5000", f"{ratio:.2f}", "0.33", "0.333 ± 0.187"]
    assert tables.point(full, fresh, "frontier", 0, (1,)) == "7.0000 | | | all alike"


def test_a_row_of_an_ellipse_by_hand(scripts):
    """Means (0, 0); the ellipse without correlation reaches 2.448 errors along either axis."""
    places = [(2.4, 0.0), (0.0, 2.5), (1.8, 1.8), (5.0, 5.0)]
    full = [
        {"scores": [*place, 0, 0, 0, 0], "score_errors": [1.0] * 6, "correlations": [0.0] * 3}
        for place in places
    ]
    full[-1]["correlations"] = [None] * 3
    fresh = [{"scores": [*place, 0, 0, 0, 0]} for place in ((1.0, -1.0), (-1.0, 1.0))]
    between = np.corrcoef(np.array([*places, (1, -1), (-1, 1)]).T)[0, 1]
    row = scripts["tables"].ellipse(full, fresh, 0)
    assert row == f"{between:+.2f} | +0.00 | 0.333 ± 0.187 (1 without)"
    assert scripts["tables"].ellipse(full, fresh[:1] * 2, 1) == " | | all alike"


def test_worlds_are_as_they_say(scripts):
    worlds, rng = scripts["worlds"], np.random.default_rng(0)
    x, y = worlds.shift(rng, 20_000)
    np.testing.assert_allclose(y.mean(axis=0) - x.mean(axis=0), 0.35, atol=0.05)
    np.testing.assert_allclose(y.std(axis=0) / x.std(axis=0), 0.8, rtol=0.03)
    x, y = worlds.modes(rng, 20_000)
    np.testing.assert_allclose(x.mean(axis=0), [2.5 / 4] * 4 + [0] * 2, atol=0.05)
    np.testing.assert_allclose(y.mean(axis=0), [2.5 / 3] * 3 + [0] * 3, atol=0.05)


def test_what_is_kept_is_what_a_comparison_says(scripts, small):
    worlds = scripts["worlds"]
    first, second, *fresh = small.of("bands", "modes", 120)
    assert [("errors" in each) for each in (first, second, *fresh)] == [True, True, False, False]
    assert first["scores"] != second["scores"]
    angles = np.array(worlds.ANGLES) * np.pi / 2000
    precision, recall = np.array(first["curves"]["prd"]).T
    np.testing.assert_allclose(np.arctan2(precision, recall), angles, atol=1e-6)
    generated, reference = np.array(first["curves"]["frontier"]).T
    assert (np.diff(generated) > 0).all()
    assert (np.diff(reference) < 0).all()
    assert np.array(first["errors"]["frontier_star"]).min() > 0
    assert all(-1 <= r <= 1 for r in first["correlations"])


def test_tables_are_printed_from_what_is_kept(scripts, small, monkeypatch, capsys):
    options = ("--json", small.path, "--processes", 0, "--size", 120)
    monkeypatch.setattr(sys, "argv", ["bands.py", *map(str, options)])
    scripts["main"].main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == (
        "n = 120; shift: 2 worlds, 2 for the expectation; modes: 2 worlds, 2 for the expectation"
    )
    rows = [line for line in printed if line.startswith(("| prd |", "| frontier"))]
    assert len(rows) == 7 + 2 * 2 * 3
    assert {line.count("|") for line in (*printed[2:4], *rows)} == {11}
    assert (
        sum(line.startswith(("| precision,", "| density,", "| prd_f8,")) for line in printed) == 3
    )
    assert scripts["tables"].tables(small, 500)[0].startswith("no worlds of n = 500")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--worlds", 1), "--worlds must be at least 2; found 1"),
        (("--fresh", 0), "--fresh must be at least 2; found 0"),
        (("--size", 10), "--size must be at least 100; found 10"),
        (("--processes", -1), "--processes must be at least 0; found -1"),
        (("--json", "."), "--json must name a file; . is a folder"),
    ],
)
def test_bad_options_of_bands(scripts, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["bands.py", *map(str, arguments)])
    with pytest.raises(SystemExit):
        scripts["main"].main()
    assert message in capsys.readouterr().err
