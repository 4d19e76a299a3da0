"""The experiments on gaps that are known: sanity checks and the modes of digits."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sanity(experiments):
    """The script's modules, which find each other beside it."""
    import sanity
    import sanity_draws
    import sanity_rules
    import sanity_texts

    return {
        "main": sanity,
        "draws": sanity_draws,
        "rules": sanity_rules,
        "texts": sanity_texts,
    }


def named(sanity, name):
    (check,) = (check for check in sanity["main"].CHECKS if check.name == name)
    return check


@pytest.mark.slow
def test_recall_falls_when_modes_are_dropped_and_precision_stays(sanity):
    result = sanity["main"].run(named(sanity, "drop"), n=200, seeds=[0], threads=1)
    recall, precision = result.values("recall")[0], result.values("precision")[0]
    assert recall[0] - recall[-1] > 0.5
    assert abs(precision[0] - precision[-1]) < 0.1
    assert result.verdict("recall") == "pass"
    assert result.verdict("cover_precision") == "FAIL"
    assert result.verdict("authenticity") == "-"


def test_density_passes_its_bound_when_modes_collapse(sanity):
    result = sanity["main"].run(named(sanity, "collapse"), n=200, seeds=[0], threads=1)
    assert result.values("density").max() > 2
    assert result.values("clipped_density").max() <= 1
    assert result.verdict("density") == "FAIL"
    assert result.verdict("clipped_density") == "pass"
    lines = sanity["main"].table("Title", ["density", "clipped_density"], [result])
    assert lines[1:3] == [
        "             density        clipped",
        "check                       density",
    ]
    assert lines[4] == "collapse     FAIL           pass"
    assert lines[5] == "passed       0 of 1         1 of 1"


def test_a_verdict_that_hangs_on_one_draw_says_so(sanity):
    check = named(sanity, "drop")  # precision must move by at most 0.05
    firm, loose = np.zeros((3, 1, 5)), np.zeros((3, 1, 5))
    loose[0, 0, -1] = 0.14  # the mean moves by 0.047, without the second draw by 0.07
    result = sanity["main"].Result(check, {"precision": firm, "density": loose})
    assert result.verdict("precision") == "pass"
    assert result.verdict("density") == "pass?"
    loose[0, 0, -1] = 0.2
    assert result.verdict("density") == "FAIL?"


def test_every_check_draws_two_sets_of_one_width_for_each_of_its_points(sanity):
    assert len({check.name for check in sanity["main"].CHECKS}) == len(sanity["main"].CHECKS)
    for check in sanity["main"].CHECKS:
        for setting in check.settings:
            for point in check.points:
                rng = np.random.default_rng(0)
                reference, generated = check.draw(setting, point, rng, 120)
                assert reference.shape[1] == generated.shape[1], check.name
                assert min(len(reference), len(generated)) >= 30, check.name
                assert np.isfinite(reference).all()
                assert np.isfinite(generated).all()


def test_the_torus_lies_outside_the_ball(sanity):
    ball, torus = sanity["draws"].ball_and_torus("ball", 1.0, np.random.default_rng(0), 500)
    assert np.linalg.norm(ball, axis=1).max() <= 0.8
    assert np.linalg.norm(torus, axis=1).min() >= 0.9


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (("stays",), [0.5, 0.54, 0.5], [0.5, 0.56, 0.5]),
        (("falls",), [0.9, 0.7, 0.72, 0.3], [0.9, 0.5, 0.6, 0.3]),
        (("falls",), [0.9, 0.94, 0.7], [0.9, 0.8, 0.75]),
        (("holds_up",), [0.9, 1.0, 1.0], [0.9, 1.0, 1.1]),
        (("holds_up",), [0.9, 0.86], [0.9, 0.84]),
        (("peaks",), [0.1, 0.9, 0.1], [0.1, 0.9, 0.8]),
        (("peaks",), [0.1, 0.6, 0.64, 0.6, 0.1], [0.1, 0.7, 0.6, 0.7, 0.1]),
        (("near", 1.0), [1.04, 0.96], [1.06, 0.96]),
        (("follows", (0.0, 1.0)), [0.04, 0.96], [0.04, 0.9]),
    ],
)
def test_rules(sanity, rule, good, bad):
    made = getattr(sanity["rules"], rule[0])(*rule[1:])
    assert made.holds(np.array([good]))
    assert not made.holds(np.array([bad]))
    assert not made.holds(np.array([good, bad]))  # every setting must keep it
    assert not made.holds(np.array([[*good[:-1], np.nan]]))


def test_rules_join(sanity):
    near = sanity["rules"].near
    ends = near(0.0, at=(0,), where="at the start") & near(1.0, at=(-1,), where="at the end")
    assert ends.words == "within 0.05 of 0 at the start; within 0.05 of 1 at the end"
    assert ends.holds(np.array([[0.0, 0.5, 1.0]]))
    assert not ends.holds(np.array([[0.0, 0.5, 0.5]]))
    either = near(0.0) | near(1.0)
    assert either.holds(np.array([[1.0, 1.0]]))
    assert not either.holds(np.array([[0.0, 1.0]]))
    apart = sanity["rules"].settings(("one", near(0.0)), ("two", near(1.0)))
    assert apart.holds(np.array([[0.0], [1.0]]))
    assert not apart.holds(np.array([[1.0], [0.0]]))


@pytest.mark.slow
def test_the_command_prints_tables_details_and_json(experiments):
    command = [sys.executable, str(experiments / "sanity.py"), "--only", "equal", "--n", "100"]
    options = {"capture_output": True, "text": True, "check": True}
    printed = subprocess.run([*command, "--seeds", "1", "--verbose"], **options).stdout
    assert max(map(len, printed.splitlines())) <= 120
    assert "rule: within 0.05 of 1" in printed
    assert "\npassed       " in printed
    plain = subprocess.run([*command, "--seeds", "1", "--json"], **options).stdout
    (check,) = json.loads(plain)
    assert check["check"] == "equal"
    assert len(check["metrics"]["recall"]["values"]) == 2
    unknown = subprocess.run(
        [*command[:2], "--only", "drops"], capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert "invalid choice: 'drops'" in unknown.stderr


def test_the_page_says_what_every_check_changes(sanity):
    page = " ".join((ROOT / "docs" / "sanity.md").read_text("utf-8").split())
    for check in sanity["main"].CHECKS:
        assert f"**{check.name}**: {check.tells}." in page


def test_a_curve_that_never_rises_may_fall(sanity):
    rule = sanity["rules"].never_rises()
    assert rule.holds(np.array([[0.9, 0.5, 0.91]]))
    assert not rule.holds(np.array([[0.9, 0.5, 0.91], [0.9, 0.95, 0.5]]))
    assert not rule.holds(np.array([[0.9, np.nan]]))


def test_every_check_on_texts_draws_rows_of_length_one_for_each_of_its_points(sanity):
    rng = np.random.default_rng(0)
    made = {name: rng.standard_normal((1000, 4)) for name in ("chain", "half", "quarter", "copies")}
    news = sanity["texts"].News(
        items=rng.standard_normal((7600, 4)),
        labels=np.tile([1, 2, 3, 4], 1900),
        reference=np.arange(2500),
        system=np.arange(2500, 5000),
        repeats=made["chain"],
        **made,
    )
    stories = {name: rng.standard_normal((500, 4)) for name in ("human", "gpt2-xl", "gpt-neox")}
    texts = sanity["texts"].Texts({"meaning": news}, {"meaning": stories})
    for check in sanity["texts"].text_checks(texts):
        for point in check.points:
            reference, generated = check.draw("meaning", point, np.random.default_rng(1), 0)
            assert len(reference) == len(generated) >= 250, check.name
            for rows in (reference, generated):
                np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    repeated = sanity["texts"].text_checks(texts)[0].draw("meaning", "20", rng, 0)[1]
    assert len(np.unique(repeated, axis=0)) == 20


@pytest.fixture(scope="module")
def modes(experiments):
    import digits_modes
    import digits_modes_plot

    return {"main": digits_modes, "plot": digits_modes_plot}


@pytest.fixture(scope="module")
def results(modes):
    return modes["main"].run(size=60, trials=2, seed=0)


@pytest.fixture(scope="module")
def means(modes, results):
    main = modes["main"]
    names = results[0]["Q1"].values
    return {
        name: np.array([main.column(results, name, system).mean() for system in main.SYSTEMS])
        for name in names
    }


@pytest.mark.slow
@pytest.mark.parametrize("recall", ["recall", "coverage", "prd_f8"])
def test_recall_rises_until_no_mode_is_dropped(recall, means):
    dropping = means[recall][:5]
    assert (np.diff(dropping) > 0.05).all()


@pytest.mark.parametrize("recall", ["recall", "prd_f8"])
def test_invented_modes_leave_recall_alone(recall, means):
    assert np.ptp(means[recall][4:]) < 0.1


@pytest.mark.parametrize("precision", ["precision", "prd_f1_8"])
def test_precision_falls_with_invented_modes_alone(precision, means):
    values = means[precision]
    assert values[1:5].min() > values[5:].max()
    assert values[9] < values[5] < values[4]


def test_frechet_distance_is_least_for_the_right_modes_and_does_not_tell_the_faults(means):
    distance = means["frechet_distance"]
    assert distance.argmin() == 4
    assert distance[5] < distance[3] < distance[9]  # Q4 lies amid those that invent modes


def test_sets_are_disjoint_of_one_size_and_even(modes):
    main = modes["main"]
    labels = main.digits()[1]
    trial = main.divide(labels, 120, np.random.default_rng(0))
    assert np.bincount(labels[trial.reference]).tolist() == [24] * 5
    for modes_, rows in enumerate(trial.generated.values(), start=1):
        counts = np.bincount(labels[rows], minlength=10)
        assert len(set(rows.tolist())) == 120
        assert not set(rows.tolist()) & set(trial.reference.tolist())
        assert np.ptp(counts[:modes_]) <= 1
        assert counts[modes_:].sum() == 0


def test_digits_are_images(modes):
    images, labels = modes["main"].digits()
    assert (len(images), len(labels)) == (1797, 1797)
    assert (images[0].shape, images[0].dtype) == ((8, 8, 3), np.uint8)
    assert (min(map(np.min, images)), max(map(np.max, images))) == (0, 255)


def test_the_table_names_every_q(modes, results):
    lines = list(modes["main"].table(results))
    assert lines[0].startswith("| digits | frechet_distance | precision |")
    assert [line.split(":")[0] for line in lines[2:]] == [f"| Q{n}" for n in range(1, 11)]
    assert lines[5].startswith("| Q4: 0–3 | ")


def test_the_figure_has_a_curve_for_every_q(modes, results):
    figure = modes["plot"].figure(results)
    left, middle, right = figure.axes
    assert [line.get_label() for line in middle.lines] == list(modes["main"].SYSTEMS)
    assert (len(left.lines), len(right.lines)) == (2, 3)  # with one line at the right number


@pytest.mark.slow
def test_written_images_go_the_whole_road(modes, tmp_path):
    import calipers

    modes["main"].write(tmp_path, size=60, seed=0)
    assert len(list(tmp_path.glob("*/*.png"))) == 11 * 60
    systems = {name: tmp_path / name for name in ("Q4", "Q5", "Q6")}
    found = calipers.compare(
        tmp_path / "reference",
        systems,
        embedder="pixels",
        metrics=["prd_f8", "prd_f1_8"],
        cache=False,
    )
    f8 = {name: float(found[name]["prd_f8"]) for name in systems}
    f1_8 = {name: float(found[name]["prd_f1_8"]) for name in systems}
    assert f8["Q4"] < min(f8["Q5"], f8["Q6"])
    assert f1_8["Q6"] < min(f1_8["Q4"], f1_8["Q5"])
