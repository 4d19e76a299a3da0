"""The experiments on error rates and on rankings, on small worlds."""

import json
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from calipers.uncertainty.preferences import Preferences

# The experiments on error rates: calibration, bands and two-sample tests, on small worlds.


@pytest.fixture(scope="module")
def calibration_scripts(experiments):
    """The script's modules, which find each other beside it."""
    import calibration
    import calibration_cases
    import calibration_intervals
    import calibration_news
    import calibration_store
    import calibration_tables
    import calibration_tests

    return {
        "intervals": calibration_intervals,
        "news": calibration_news,
        "store": calibration_store,
        "tests": calibration_tests,
        "main": calibration,
        "cases": calibration_cases,
        "tables": calibration_tables,
    }


def run(experiments, *arguments):
    command = [sys.executable, str(experiments / "calibration.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pairs_differ_as_they_say(calibration_scripts):
    cases, rng = calibration_scripts["cases"], np.random.default_rng(0)
    x, y = cases.SPREAD["shift 2.5, d = 8"](rng, 20_000)
    np.testing.assert_allclose((y - x).mean(axis=0), [2.5] + [0] * 7, atol=0.05)
    x, y = cases.SPREAD["narrow × 0.7, d = 16"](rng, 20_000)
    np.testing.assert_allclose(y.std(axis=0) / x.std(axis=0), 0.7, rtol=0.03)
    x, y = cases.SPREAD["shared prompts, shift 1, d = 8"](rng, 20_000)
    assert np.corrcoef(x[:, 3], y[:, 3])[0, 1] == pytest.approx(0.5, abs=0.03)
    x, _ = cases.SPREAD["ten rows of one prompt, shift 1, d = 8"](rng, 20_005)
    assert np.corrcoef(x[10:20_000:10, 3], x[19:20_000:10, 3])[0, 1] == pytest.approx(0.5, abs=0.06)
    assert np.corrcoef(x[9:19_995:10, 3], x[10:20_000:10, 3])[0, 1] == pytest.approx(0, abs=0.09)
    x, y = cases.SPREAD["3 of 8 modes lost, d = 16"](rng, 20_000)
    np.testing.assert_allclose(x.mean(axis=0), [0.5] * 8 + [0] * 8, atol=0.05)
    np.testing.assert_allclose(y.mean(axis=0), [0.8] * 5 + [0] * 11, atol=0.05)


def test_systems_of_equal_scores_differ_only_in_where(calibration_scripts):
    cases, rng = calibration_scripts["cases"], np.random.default_rng(0)
    reference, systems = cases.EQUAL["shift 1 along own axes, d = 8"].draw(rng, 20_000)
    assert len(systems) == 4
    for axis, rows in enumerate(systems):
        np.testing.assert_allclose(rows.mean(axis=0), np.eye(8)[axis], atol=0.05)
    reference, systems = cases.EQUAL["2 own of 8 modes lost, d = 16"].draw(rng, 20_000)
    for system, rows in enumerate(systems):
        empty = rows.mean(axis=0)[:8] < 0.1
        assert np.flatnonzero(empty).tolist() == [2 * system, 2 * system + 1]
    paired = cases.EQUAL["paired, shift 1, d = 8"]
    reference, (first, second, *_) = paired.draw(rng, 20_000)
    assert paired.paired
    assert np.corrcoef(first[:, 2], second[:, 2])[0, 1] == pytest.approx(0.8, abs=0.03)
    assert np.corrcoef(reference[:, 2], second[:, 2])[0, 1] == pytest.approx(0, abs=0.03)


def test_measures_by_hand(calibration_scripts):
    """An interval of 0 ± 2 · 12.706 / 12.706 around each value, by Student's t of 1 degree."""
    intervals = calibration_scripts["intervals"]
    values, error = [9.0, 11.0, 13.0], 2 / 12.7062047
    full = [
        {"values": {"frechet_distance": v}, "spreads": {"frechet_distance": [error, 1.0]}}
        for v in values
    ]
    fresh = [{"values": {"frechet_distance": v}} for v in (9.0, 10.0, 11.0)]
    found = intervals.measures("frechet_distance", full, fresh)
    assert found["mean"] == 10
    assert found["covers"] == pytest.approx(2 / 3)
    assert found["sd"] == pytest.approx(np.std([*values, 9, 10, 11], ddof=1))
    assert found["length"] == pytest.approx(4 / (2 * 1.959964 * found["sd"]))
    assert found["error"] == pytest.approx(np.sqrt(4 / 7 * 3 / 7 / 7))
    line = calibration_scripts["tables"].row("frechet_distance", full, fresh)
    assert "0.667 ± 0.187" in line
    assert line.endswith("| below 0.93, within error |")
    assert calibration_scripts["tables"].cell(found) == f"0.667 / {found['length']:.2f}"
    many = calibration_scripts["tables"].below({"covers": 0.9, "error": 0.01})
    assert many == "below 0.93"


def test_worlds_are_kept_and_not_measured_again(calibration_scripts, tmp_path):
    store, intervals = calibration_scripts["store"], calibration_scripts["intervals"]
    path = tmp_path / "worlds.jsonl"
    work = partial(intervals.one_world, metrics=("precision", "frechet_distance"))
    tasks = [("intervals", "shift 1, d = 8", 120, n) for n in (0, 1, intervals.FRESH)]
    first = store.Store(path, 1)
    first.measure(tasks, work)
    first.close()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert sum("spreads" in json.loads(line) for line in lines) == 2
    second = store.Store(path, 1)
    second.measure(tasks, partial(pytest.fail, "measured again"))
    assert second.found == first.found
    assert second.cases("intervals") == [("shift 1, d = 8", 120)]


def test_a_line_that_a_stop_has_cut_is_measured_again(calibration_scripts, tmp_path):
    store, path = calibration_scripts["store"], tmp_path / "worlds.jsonl"
    records = [store.record_of(("power", "case", 500, n), values={"recall": [0.5]}) for n in (0, 1)]
    lines = [json.dumps(record) for record in records]
    path.write_text(f"{lines[0]}\n{lines[1][:40]}", encoding="utf-8")
    found = store.Store(path, 1)
    assert len(found.found) == 1
    found._keep(records[1])
    found._keep(records[1])
    assert len(store.Store(path).found) == 2
    assert path.read_text(encoding="utf-8").splitlines()[2:] == [lines[1]] * 2


def test_worlds_depend_on_their_number_alone(calibration_scripts):
    intervals = calibration_scripts["intervals"]
    task = ("intervals", "shift 1, d = 8", 120, 7)
    one = intervals.one_world(task, metrics=("precision", "recall"))
    other = intervals.one_world(task, metrics=("recall",))
    assert one["values"]["recall"] == other["values"]["recall"]
    assert one["spreads"]["recall"] == other["spreads"]["recall"]


@pytest.mark.slow
def test_many_systems_are_tested_by_both_views_at_once(calibration_scripts):
    tests = calibration_scripts["tests"]
    record = json.loads(json.dumps(tests.one_world(("many", "6 systems, equal", 120, 0))))
    keys = [*tests.SHOWN, *(tests.SECOND + name for name in tests.SHOWN)]
    for name in tests.COLUMNS:
        assert list(record[name]) == keys
        assert all(len(each) == 15 for each in record[name].values())
    assert len(record["values"]["recall"]) == 6
    single = np.array(list(record["p"].values()))
    assert (np.array(list(record["adjusted"].values())) >= single - 0.01).all()


def test_findings_are_those_of_the_family_and_of_holm(calibration_scripts):
    tests = calibration_scripts["tests"]
    p_values = {name: [1.0] * 6 for name in tests.SHOWN}
    adjusted = {name: [1.0] * 6 for name in tests.SHOWN}
    p_values["coverage"] = [0.004, *[1.0] * 5]  # times 24
    adjusted["recall"] = [1.0, 0.05, *[1.0] * 4]
    ours, by_holm = tests.findings({"p": p_values, "adjusted": adjusted})
    assert np.argwhere(ours).tolist() == [[tests.SHOWN.index("recall"), 1]]
    assert not by_holm.any()
    p_values["coverage"][0] = 0.002
    _, by_holm = tests.findings({"p": p_values, "adjusted": adjusted})
    assert np.argwhere(by_holm).tolist() == [[tests.SHOWN.index("coverage"), 0]]


def test_sets_of_unequal_size_have_the_share_they_say(calibration_scripts):
    cases, rng = calibration_scripts["cases"].SPREAD, np.random.default_rng(0)
    for name, sizes in {
        "shift 1, d = 8, m = n/2": (400, 200),
        "shift 1, d = 8, m = 2n": (400, 800),
        "equal, d = 8, m = n/4": (400, 100),
    }.items():
        x, y = cases[name](rng, 400)
        assert (len(x), len(y)) == sizes


def test_news_systems_hold_the_share_they_say_and_no_row_twice(calibration_scripts):
    news = calibration_scripts["news"]
    labels = np.repeat([1, 2, 3, 4], 1_900)
    reference, systems = news.drawn(labels, np.random.default_rng(0))
    assert len(reference) == news.ITEMS
    assert (labels[reference] != 4).all()
    for name, share in [(news.CLEAN, 0.0), *((f"{each:.0%}", each) for each in news.SHARES)]:
        rows = systems[name]
        assert len(set(rows)) == news.ITEMS
        assert (labels[rows] == 4).sum() == round(share * news.ITEMS)
        assert not set(rows) & set(reference)
        assert name == news.CLEAN or not set(rows) & set(systems[news.CLEAN])


@pytest.mark.slow
def test_tables_are_printed_from_what_is_there(experiments, tmp_path):
    path = tmp_path / "worlds.jsonl"
    kept = ("--json", path, "--sizes", 120, "--worlds", 2, "--cases", "spectrum", "1.3")
    measured = run(experiments, *kept, "--only", "intervals", "--only", "power", "--fresh", 2)
    assert measured.returncode == 0, measured.stderr
    printed = run(experiments, "--json", path, "--processes", 0)
    assert printed.stdout == measured.stdout
    assert (
        "spectrum 1/i, shift 2, d = 64, n = 120: 2 worlds, 2 for the expectation" in printed.stdout
    )
    assert "| shift 1 and 1.3, d = 8 | coverage | 120 | 2 |" in printed.stdout


def test_cases_are_meant_by_name_or_by_words(calibration_scripts):
    cases, chosen = calibration_scripts["cases"].SPREAD, calibration_scripts["main"].chosen
    assert chosen(cases, None) == list(cases)
    assert chosen(cases, ["shift 1, d = 8"]) == ["shift 1, d = 8"]
    assert chosen(cases, ["narrow", "Student"]) == [
        "narrow × 0.7, d = 16",
        "Student t(5), shift 1, d = 8",
    ]
    assert chosen(cases, ["nothing"]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--worlds", 1), "--worlds must be at least 2; found 1"),
        (("--fresh", 0), "--fresh must be at least 2; found 0"),
        (("--sizes", 10), "--sizes must be at least 100; found 10"),
        (("--processes", -1), "--processes must be at least 0; found -1"),
        (("--json", "."), "--json must name a file; . is a folder"),
        (("--cases", "shfit"), "no case holds 'shfit'"),
        (("--only", "texts", "--data", "nowhere"), "there is no ag_news/test.csv in nowhere"),
    ],
)
def test_bad_options(calibration_scripts, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["calibration.py", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        calibration_scripts["main"].main()
    assert message in f"{stop.value} {capsys.readouterr().err}"


@pytest.fixture(scope="module")
def bands_scripts(experiments):
    """The script's modules, which find each other beside it."""
    import bands
    import bands_tables
    import bands_worlds
    import calibration_store

    return {
        "main": bands,
        "tables": bands_tables,
        "worlds": bands_worlds,
        "store": calibration_store,
    }


@pytest.fixture(scope="module")
def small(bands_scripts, tmp_path_factory):
    """Two tiny worlds of either case with bands, and two for the expectation."""
    worlds, path = bands_scripts["worlds"], tmp_path_factory.mktemp("bands") / "worlds.jsonl"
    store = bands_scripts["store"].Store(path, 0)
    for case in worlds.CASES:
        for number in (0, 1, worlds.FRESH, worlds.FRESH + 1):
            store._keep(worlds.one_world(("bands", case, 120, number)))
    return store


@pytest.mark.slow
def test_a_band_holds_the_mean_within_its_reach_in_all_columns(bands_scripts):
    mean = np.array([0.5, 0.2])
    values = np.array([[0.69, 0.2], [0.71, 0.2], [0.5, 0.0], [0.5, 0.2]])
    errors = np.array([[0.1, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.0]])
    held = bands_scripts["tables"].band_holds(values, errors, mean)
    # 0.19 and 0.21 beside 0.196; 0.2 beside 0.196; on the mean without width
    assert held.tolist() == [True, False, False, True]


def test_places_in_an_ellipse_by_hand(bands_scripts):
    """Half axes 2 and 1, the longer one at 45°: along it 1.4·√2 = 1.98, across 0.75·√2 = 1.06."""
    tables = bands_scripts["tables"]
    turned = tables.Extent(4.0, 2.0, 45.0)
    assert tables.in_ellipse(1.4, 1.4, turned)
    assert not tables.in_ellipse(1.43, 1.43, turned)
    assert tables.in_ellipse(-0.7, 0.7, turned)
    assert not tables.in_ellipse(-0.75, 0.75, turned)
    flat = tables.Extent(4.0, 0.0, 0.0)
    assert tables.in_ellipse(1.9, 0.0, flat)
    assert not tables.in_ellipse(2.1, 0.0, flat)
    assert not tables.in_ellipse(1.9, 0.1, flat)


def test_a_share_of_normal_errors_lies_in_their_ellipse(bands_scripts):
    tables, rng = bands_scripts["tables"], np.random.default_rng(0)
    covariance = [[0.04, -0.03], [-0.03, 0.09]]
    drawn = rng.multivariate_normal([0, 0], covariance, size=4_000)
    extent = tables.error_ellipse(0.2, 0.3, -0.5, level=0.95)
    held = np.mean([tables.in_ellipse(*place, extent) for place in drawn])
    assert held == pytest.approx(0.95, abs=0.015)


def test_a_row_of_a_curve_by_hand(bands_scripts):
    """Gaps of 1.5, 0.5 and 0.5 to the fresh mean beside bands of 0.98, 0 and 1.96 each way."""
    full = [
        {"curves": {"frontier": [[v, 7.0]]}, "errors": {"frontier": [[e, 0.0]]}}
        for v, e in [(9.0, 0.5), (10.0, 0.0), (11.0, 1.0)]
    ]
    fresh = [{"curves": {"frontier": [[v, 7.0]]}} for v in (9.5, 11.5)]
    tables = bands_scripts["tables"]
    row = tables.point(full, fresh, "frontier", 0, (0,)).split(" | ")
    ratio = np.sqrt(1.25 / 3) / np.std([9, 10, 11, 9.5, 11.5], ddof=1)
    assert row == ["10.5000", f"{ratio:.2f}", "0.33", "0.333 ± 0.187"]
    assert tables.point(full, fresh, "frontier", 0, (1,)) == "7.0000 | | | all alike"


def test_a_row_of_an_ellipse_by_hand(bands_scripts):
    """Means (0, 0); the ellipse without correlation reaches 2.448 errors along either axis."""
    places = [(2.4, 0.0), (0.0, 2.5), (1.8, 1.8), (5.0, 5.0)]
    full = [
        {"scores": [*place, 0, 0, 0, 0], "score_errors": [1.0] * 6, "correlations": [0.0] * 3}
        for place in places
    ]
    full[-1]["correlations"] = [None] * 3
    fresh = [{"scores": [*place, 0, 0, 0, 0]} for place in ((1.0, -1.0), (-1.0, 1.0))]
    between = np.corrcoef(np.array([*places, (1, -1), (-1, 1)]).T)[0, 1]
    row = bands_scripts["tables"].ellipse(full, fresh, 0)
    assert row == f"{between:+.2f} | +0.00 | 0.333 ± 0.187 (1 without)"
    assert bands_scripts["tables"].ellipse(full, fresh[:1] * 2, 1) == " | | all alike"


def test_worlds_are_as_they_say(bands_scripts):
    worlds, rng = bands_scripts["worlds"], np.random.default_rng(0)
    x, y = worlds.shift(rng, 20_000)
    np.testing.assert_allclose(y.mean(axis=0) - x.mean(axis=0), 0.35, atol=0.05)
    np.testing.assert_allclose(y.std(axis=0) / x.std(axis=0), 0.8, rtol=0.03)
    x, y = worlds.modes(rng, 20_000)
    np.testing.assert_allclose(x.mean(axis=0), [2.5 / 4] * 4 + [0] * 2, atol=0.05)
    np.testing.assert_allclose(y.mean(axis=0), [2.5 / 3] * 3 + [0] * 3, atol=0.05)


@pytest.mark.slow
def test_what_is_kept_is_what_a_comparison_says(bands_scripts, small):
    worlds = bands_scripts["worlds"]
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


@pytest.mark.slow
def test_tables_are_printed_from_what_is_kept(bands_scripts, small, monkeypatch, capsys):
    options = ("--json", small.path, "--processes", 0, "--size", 120)
    monkeypatch.setattr(sys, "argv", ["bands.py", *map(str, options)])
    bands_scripts["main"].main()
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
    assert bands_scripts["tables"].tables(small, 500)[0].startswith("no worlds of n = 500")


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
def test_bad_options_of_bands(bands_scripts, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["bands.py", *map(str, arguments)])
    with pytest.raises(SystemExit):
        bands_scripts["main"].main()
    assert message in capsys.readouterr().err


@pytest.fixture(scope="module")
def modules(experiments):
    import two_sample_tests
    import two_sample_worlds

    return {"tests": two_sample_tests, "worlds": two_sample_worlds}


def test_ours_and_the_plain_permutation_of_every_row_agree(modules):
    """Two implementations that share no code: the same MMD², p-values of the same size."""
    from calipers.uncertainty.two_sample_mmd import mmd_test

    tests, worlds = modules["tests"], modules["worlds"]
    for seed in range(3):
        x, y = worlds.shifted(150, 10, 0.3, 0)(np.random.default_rng(seed))
        kernel = tests.plain_kernel(x, y)  # its ninth power has a third of the width
        both = [tests.plain_values(kernel**power, 150, 1_999, seed) for power in (1, 9)]
        larger = np.max([(each - each.mean()) / each.std() for each in both], axis=0)
        p = (1 + np.sum(larger[1:] >= larger[0])) / 2_000
        found = mmd_test(x, y, permutations=1_999, threads=2)
        assert found.estimate == pytest.approx(both[0][0], abs=1e-10)
        assert found.p_value == pytest.approx(p, abs=0.03)


def test_accuracy_by_hand(modules):
    scores = np.array([[1.0, -1.0, 0.0, -2.0]])
    labels = np.array([[True, True, False, False]])
    assert modules["tests"].accuracy(scores, labels).tolist() == [(1 / 2 + 3 / 4) / 2]


def test_worlds_differ_in_what_they_say(modules):
    worlds, rng = modules["worlds"], np.random.default_rng(0)
    x, y = worlds.stretched(20_000, 3, 1.5)(rng)
    np.testing.assert_allclose(y.std(axis=0) / x.std(axis=0), 1.5, rtol=0.05)
    x, y = worlds.shifted(20_000, 3, 0.5, 1)(rng)
    np.testing.assert_allclose(
        (y.mean(axis=0) - x.mean(axis=0)) / x.std(axis=0), [0, 0.5, 0], atol=0.05
    )
    x, y = worlds.small_axis(20_000, 3, 0.5)(rng)
    np.testing.assert_allclose(y.mean(axis=0) - x.mean(axis=0), [0, 0, 0.5], atol=0.3)


@pytest.mark.slow
def test_bad_options_of_two_sample(experiments):
    command = [sys.executable, str(experiments / "two_sample.py"), "--worlds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--worlds must be at least 1" in done.stderr


@pytest.mark.slow
def test_tests_within_prompts_on_one_world(experiments):
    command = [sys.executable, str(experiments / "two_sample_prompts.py"), "--worlds", "1"]
    done = subprocess.run([*command, "--only", "level"], capture_output=True, text=True, check=True)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| strength")]
    assert len(rows) == 18
    assert all(row.count("%") == 8 for row in rows)


# The experiments behind docs/rankings.md: their models by hand, and a small run of each.


@pytest.fixture(scope="module")
def scripts(experiments):
    import rank_correlations
    import ties

    return {"ties": ties, "correlations": rank_correlations}


def test_chances_by_hand(scripts):
    # At even strengths ν = 2 makes half of all judgements ties; a threshold of log 3 does too:
    # 1/(1 + 3) win and as many lose
    even = np.zeros(1)
    assert [each[0] for each in scripts["ties"].davidson(even, 2.0)] == [0.25, 0.5]
    found = scripts["ties"].rao_kupper(even, np.log(3))
    assert [each[0] for each in found] == pytest.approx([0.25, 0.5])


@pytest.mark.parametrize("model", ["Davidson", "Rao-Kupper"])
def test_each_model_gives_back_the_scores_of_its_own_expected_counts(scripts, model):
    ties = scripts["ties"]
    truth, played = np.linspace(120, -120, 4), ties.design_of("uneven", 4)
    parameter = ties.parameter_for(model, 0.3, truth, played)
    full = played + played.T
    won, tied = ties.MODELS[model](np.subtract.outer(truth, truth) / 100, parameter)
    assert (full * tied).sum() / full.sum() == pytest.approx(0.3)
    tied = (tied + tied.T) / 2  # rounding aside
    expected = Preferences(("p", "q", "r", "s"), full * won, full * tied)
    scores, errors, odds = ties.FITS[model](expected)
    assert scores == pytest.approx(truth, abs=1e-4)
    assert (errors > 0).all()
    apart = 100 * np.log((full * won)[0, 3] / (full * won)[3, 0])
    assert odds[0, 3] == pytest.approx(apart, abs=1e-3)


@pytest.mark.slow
def test_a_small_run_finds_that_halves_shrink(scripts, tmp_path, capsys):
    kept = tmp_path / "ties.json"
    options = ["--worlds", "20", "--systems", "4", "--shares", "0.3", "--json", str(kept)]
    scripts["ties"].main(options)
    rows = [row for row in json.loads(kept.read_text()) if row["drawn_from"] == "Davidson"]
    slope = {row["fitted"]: row["slope"] for row in rows if row["design"] == "balanced"}
    assert slope["half"] < 0.75
    assert 0.85 < slope["Davidson"] < 1.15
    printed = capsys.readouterr().out
    assert printed.count("| Davidson | 30% |") == 4 + 2 + 2
    assert scripts["ties"].FITS.keys() == slope.keys()


@pytest.mark.slow
def test_a_small_run_of_the_correlations(scripts, tmp_path, capsys):
    kept = tmp_path / "correlations.json"
    options = ["--worlds", "12", "--systems", "5", "--judgements", "10", "--json", str(kept)]
    scripts["correlations"].main(options)
    rows = json.loads(kept.read_text())
    assert len(rows) == 2 * 2 * 4
    perfect = [row for row in rows if row["correlation"] == 1]
    assert {row["fisher"] for row in perfect} == {0.0}
    assert all(row["fixed"] > 0.5 for row in perfect)
    assert "| pearson | 0.9 | " in capsys.readouterr().out
    assert scripts["correlations"].population("spearman", 1.0) == pytest.approx(1.0)
