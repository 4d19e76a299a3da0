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
        import estimators_gaussians
        import estimators_news
        import estimators_plot

        yield {"gaussians": estimators_gaussians, "news": estimators_news, "plot": estimators_plot}
    finally:
        sys.path.remove(str(EXPERIMENTS))


@pytest.fixture
def results(scripts, monkeypatch):
    gaussians = scripts["gaussians"]
    monkeypatch.setattr(gaussians, "FRESH", 20_000)
    return {
        (0.5, 2, n): [gaussians.estimates(0.5, 2, n, seed=s, threads=1) for s in range(2)]
        for n in (150, 300)
    }


def test_all_estimators_are_near_the_truth(scripts, results):
    found = results[0.5, 2, 300][0]
    assert set(found) == set(scripts["gaussians"].NAMES)
    for name in ("Gaussian", "classifier", "these cells, exact"):
        assert found[name] == pytest.approx(0.5, rel=0.5)


def test_tables_and_figure_show_every_cell(scripts, results):
    gaussians = scripts["gaussians"]
    lines = gaussians.table([0.5], results)
    assert lines[0] == "KL = 0.5: relative error in %, mean ± sd over the draws"
    assert lines[4].startswith("| 2 | 150 | ")
    assert lines[4].count("±") == len(gaussians.NAMES)
    assert len(gaussians.summary([150, 300], results)) == 7
    figure = scripts["plot"].figure([0.5], [2], [150, 300], results)
    assert figure.axes[0].get_title(loc="left") == "KL = 0.5, d = 2"
    assert len(figure.axes[0].lines) == len(scripts["plot"].SHOWN)


def test_cells_are_counted_where_fresh_samples_fall(scripts, monkeypatch):
    from scipy.spatial import cKDTree

    gaussians = scripts["gaussians"]
    monkeypatch.setattr(gaussians, "FRESH", 1000)
    centres = cKDTree(np.array([[-5.0], [5.0]]))
    counts = gaussians.counts(centres, 2, np.array([5.0]), np.random.default_rng(0))
    assert counts.tolist() == [0, 1000]


def test_systems_hold_the_share_of_other_topics_that_they_say(scripts):
    news = scripts["news"]
    labels = np.repeat([news.WORLD, news.SPORTS, news.BUSINESS, news.SCIENCE], 100)
    reference, systems = news.systems(labels, np.random.default_rng(0))
    assert len(reference) == 100
    for share, rows in systems.items():
        other = np.isin(labels[rows], (news.BUSINESS, news.SCIENCE))
        assert (len(rows), other.sum()) == (100, round(100 * share))
        assert len(set(rows) & set(reference)) == 0
        assert len(set(rows)) == 100


def test_the_order_of_systems_is_judged_split_by_split(scripts):
    news = scripts["news"]
    falling = np.linspace(1, 0, len(news.SHARES))[:, None] * np.ones(len(news.NAMES))
    wrong = falling.copy()
    wrong[-1, 0] = 0.9
    last = news.table("meaning", np.array([falling, wrong]))[-2]
    assert last.startswith("| splits in order | 1 of 2 | 2 of 2 |")
