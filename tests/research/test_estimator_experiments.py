"""The experiments on estimators, bounds, smoothing and projections, on small worlds."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def scripts(experiments):
    """The script's modules, which find each other beside it."""
    import estimators_gaussians
    import estimators_news
    import estimators_plot

    return {"gaussians": estimators_gaussians, "news": estimators_news, "plot": estimators_plot}


@pytest.fixture
def results(scripts, monkeypatch):
    gaussians = scripts["gaussians"]
    monkeypatch.setattr(gaussians, "FRESH", 20_000)
    return {
        (0.5, 2, n): [gaussians.estimates(0.5, 2, n, seed=s, threads=1) for s in range(2)]
        for n in (150, 300)
    }


@pytest.mark.slow
def test_all_estimators_are_near_the_truth(scripts, results):
    found = results[0.5, 2, 300][0]
    assert set(found) == set(scripts["gaussians"].NAMES)
    for name in ("Gaussian", "classifier", "these cells, exact"):
        assert found[name] == pytest.approx(0.5, rel=0.5)


@pytest.mark.slow
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


@pytest.fixture(scope="module")
def bounds(experiments):
    import bounds
    import bounds_plot
    import bounds_populations

    return {"main": bounds, "plot": bounds_plot, "populations": bounds_populations}


@pytest.fixture(scope="module")
def population(bounds):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 300, 4))
    rows[1, :, 0] += 1
    return bounds["populations"].Population("Small", "two clouds", *rows)


@pytest.fixture(scope="module")
def found(bounds, population):
    return bounds["main"].sweeps(
        population, sizes=(50, 500, 5_000), cells=(4, 40), trials=20, seed=0, threads=1
    )


def test_errors_fall_with_n_and_grow_with_k_below_the_bounds(found):
    over_n, over_k = found
    assert over_n.slope("error") < -0.4
    assert over_k.slope("error") > 0
    for sweep in found:
        assert np.all(sweep.values("error") < sweep.values("equation_10"))
        assert np.all(sweep.values("error") < sweep.values("equation_11"))


def test_slopes_are_powers(bounds, found):
    over_n, over_k = found
    assert -0.5 < over_n.slope("free", last=2) < 0
    points = [
        bounds["main"].Point(n, 4, 0, 0, n**-0.5, 0, 0, 1, 0, n**-1.0, 1, 1, 1) for n in (10, 100)
    ]
    sweep = bounds["main"].Sweep("Made", "n", "k = 4", tuple(points))
    assert sweep.slope("error") == pytest.approx(-0.5)
    assert sweep.slope("oracle", last=2) == pytest.approx(-1)
    assert over_k.values("k").tolist() == [4, 40]


def test_the_table_ends_with_the_slopes(bounds, found):
    lines = bounds["main"].table(found[0])
    assert lines[0] == "Small, k = 64"
    assert lines[4].startswith("| 50 | ")
    assert [line.split(" | ")[0] for line in lines[-3:-1]] == ["| slope", "| slope at the end"]
    assert len({line.count("|") for line in lines[2:-1]}) == 1


def test_the_synthetic_population_is_always_there(bounds, tmp_path):
    (make,) = bounds["populations"].populations(tmp_path, seed=0)
    population = make()
    assert population.name == "Synthetic"
    assert population.reference.shape == population.generated.shape
    p, q = population.cells(8, seed=0, threads=1)
    assert p.sum() == pytest.approx(1)
    assert np.abs(p - q).sum() > 0.1


def test_the_figure_has_two_panels_for_a_population(bounds, found):
    figure = bounds["plot"].figure(found)
    assert [len(panel.lines) for panel in figure.axes] == [4, 4]
    assert figure.axes[1].get_xlabel() == "k, cells"


@pytest.fixture(scope="module")
def smoothing(experiments):
    import smoothing
    import smoothing_plot

    return {"main": smoothing, "plot": smoothing_plot}


def small(smoothing, letter, points, trials=20):
    (panel,) = (panel for panel in smoothing["main"].PANELS if panel.letter == letter)
    fields = {**panel.__dict__, "points": points}
    return smoothing["main"].run(smoothing["main"].Panel(**fields), trials=trials, seed=0)


def column(smoothing, name):
    return list(smoothing["main"].ESTIMATORS).index(name)


def test_krichevsky_trofimov_does_well_with_many_cells_and_no_worse_with_few(smoothing):
    result = small(smoothing, "b", (10, 3_000))
    empirical, kt = (column(smoothing, name) for name in ("none", "krichevsky-trofimov"))
    few, many = result.mean
    assert many[kt] < many[empirical] / 3
    assert few[kt] == pytest.approx(few[empirical], rel=0.1)


def test_good_turing_alone_holds_where_a_long_tail_meets_a_flat_one(smoothing):
    (mean,) = small(smoothing, "d", (0.5,)).mean
    best = column(smoothing, "good-turing")
    assert mean.argmin() == best
    assert mean[column(smoothing, "krichevsky-trofimov")] > 5 * mean[column(smoothing, "none")]


def test_zipf_by_hand(smoothing):
    np.testing.assert_allclose(smoothing["main"].zipf(3, 1), np.array([6, 3, 2]) / 11)
    np.testing.assert_allclose(smoothing["main"].zipf(4, 0), 0.25)


def test_a_table_marks_the_best_and_its_equals(smoothing):
    main = smoothing["main"]
    errors = np.full((1, 4, 5), 0.02)
    errors[0, :, 1] = -0.01
    errors[0, :, 2] = [0.01, -0.01, 0.01, 0.0101]
    panel = main.Panel("a", "Title", "n, samples", (1_000,), None, int)
    assert main.table(main.Result(panel, errors)) == [
        "(a) Title",
        "",
        "| n | Empirical | Braess–Sauer | Good–Turing | Krichevsky–Trofimov | Laplace |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
        "| 1,000 | 20.0 ± 0.0 | **10.0** ± 0.0 | **10.0** ± 0.0 | 20.0 ± 0.0 | 20.0 ± 0.0 |",
        "",
    ]


def test_the_figure_has_a_line_for_every_estimator(smoothing):
    results = [small(smoothing, letter, (10, 20), trials=2) for letter in "bbbb"]
    figure = smoothing["plot"].figure(results)
    assert [len(panel.lines) for panel in figure.axes] == [5] * 4
    assert figure.axes[0].get_yscale() == "log"


@pytest.fixture(scope="module")
def script(experiments):
    """The script, which finds its modules beside it."""
    import preprocessing

    return preprocessing


@pytest.fixture
def sets(rng):
    reference, held = rng.standard_normal((2, 200, 40)).astype(np.float32)
    return reference, np.repeat(held[:10], 20, axis=0)


def test_the_ways_of_projecting_differ_by_whose_rows_make_the_axes(script, sets):
    axes = {way: script.projected(way, *sets) for way in script.WORDS}
    widths = {way: rows[0].shape[1] for way, rows in axes.items()}
    assert widths["none"] == 40
    assert widths["union"] < widths["distinct"] <= widths["reference"] < 40
    np.testing.assert_array_equal(axes["balanced"][1], axes["union"][1])  # of one size
    lengths = np.linalg.norm(axes["none"][0], axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    alone = script.projected("reference", sets[0], sets[0][:50])
    np.testing.assert_allclose(alone[0], axes["reference"][0], atol=1e-6)


def test_capped_balls_hold_no_more_than_the_balls_themselves(script, sets):
    pair = script.Scorer("none").pair(sets[0], sets[0] + 0.5)
    inside = pair.neighbourhoods.generated.inside[:, pair.settings.k - 1] > 0
    for held in script.capped(pair).values():
        assert not (held & ~inside).any()
        assert held.any()


def test_good_rows_that_repeat_lose_precision_on_joint_axes_alone(script, rng):
    scale = 1 / np.sqrt(1 + np.arange(40.0))
    reference, held = rng.standard_normal((2, 400, 40)) * scale
    few = held[:20]
    found = {
        way: [
            script.Scorer(way).scores(reference, rows)["precision"]
            for rows in (few, np.resize(few, (400, 40)))
        ]
        for way in ("none", "distinct", "union")
    }
    assert found["union"][1] < found["union"][0] - 0.2
    assert found["none"][1] == found["none"][0]
    assert found["distinct"][1] == found["distinct"][0]


@pytest.fixture(scope="module")
def newer(experiments):
    """The scripts on decodings and far sets, which find each other beside them."""
    import estimators_decodings
    import estimators_far

    return {"decodings": estimators_decodings, "far": estimators_far}


def test_halves_of_the_prompts_come_in_pairs(newer):
    decodings = newer["decodings"]
    whole = decodings.prompts()
    for pair in range(3):
        halves = [decodings.prompts(2 * pair + side) for side in (0, 1)]
        np.testing.assert_array_equal(np.sort(np.concatenate(halves)), whole)
    assert decodings.prompts(0).tolist() != decodings.prompts(2).tolist()


def test_a_claim_is_decided_by_the_whole_interval(newer):
    agreement = newer["decodings"].Agreement
    assert agreement(0.98, (0.96, 0.99), None).holds is True
    assert agreement(0.98, (0.90, 0.99), None).holds is None
    assert agreement(0.50, (0.10, 0.80), None).holds is False
    assert agreement(0.50, None, None).holds is None
    low, high = newer["decodings"].interval(0.9, [0.9, 0.88, 0.92, 0.9])
    assert low < 0.9 < high < 1
    assert newer["decodings"].interval(0.9, [0.9] * 4) == pytest.approx((0.9, 0.9))


@pytest.mark.slow
def test_the_nearer_of_two_systems_ranks_first_where_samples_are_shared(newer):
    lines = list(newer["far"].table(1))
    assert lines[0].startswith("| samples shared | 0 to 1 |")
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| kde", "| classifier", "| gaussian"]
    assert all(line.endswith(f"1.00 of {line.split()[-2]} |") for line in lines[2:])
