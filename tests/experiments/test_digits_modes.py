import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def modes():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import digits_modes
        import digits_modes_plot

        yield {"main": digits_modes, "plot": digits_modes_plot}
    finally:
        sys.path.remove(str(EXPERIMENTS))


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
