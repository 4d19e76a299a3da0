"""An approximate search: what holds whatever it misses, and what it gives where it misses none."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from calipers import compare, memory_limit, overlap, sweep
from calipers.cli.app import app
from calipers.engine import hnsw_passes
from calipers.engine.hnsw_passes import HnswPasses
from calipers.errors import InputError, MissingExtraError
from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn.passes import passes_on
from calipers.metrics.knn_support import density_score, precision_score, recall_score
from calipers.numeric.blocks import Blocks
from calipers.uncertainty.search_quality import measure_search
from extras import need

need("usearch")

EXACT = ("radii", "held", "inside", "own_nearest", "nearest", "distance", "capped", "capped_own")
SIDES = ("reference", "generated")
HNSW = "neighbours:hnsw(connectivity=16,expansion_add=128,expansion_search=64,usearch="


FEW = 10


@pytest.fixture(autouse=True)
def few_wide_balls(monkeypatch):
    """Have few balls searched exactly: of sets of up to a thousand rows all would be."""
    monkeypatch.setattr(hnsw_passes, "WIDE_BALLS", FEW)


def searched(sets, passes=None, **options):
    """What an approximate search gives, by default a thorough one."""
    passes = passes or HnswPasses(expansion_add=512, expansion_search=512, threads=1)
    with passes_on(passes):
        return neighbourhoods(*sets, threads=1, **options)


def careless(threads=1):
    """A search that misses much."""
    return HnswPasses(connectivity=2, expansion_add=2, expansion_search=2, threads=threads)


def gaussians(rng, n=250, m=190, d=7, dtype=np.float32):
    return rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((m, d)).astype(dtype)


def brute(sets, k, closed=True):
    """Radii of both sets, and which rows of the other each ball holds, pair by pair."""
    left, right = (np.asarray(rows, np.float64) for rows in sets)

    def distances(x, y):
        return np.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=-1))

    radii = [np.sort(distances(x, x), axis=1)[:, 1 : k + 1] for x in (left, right)]
    across = distances(left, right)
    inside = np.less_equal if closed else np.less
    return radii, (inside(across, radii[0][:, -1:]), inside(across.T, radii[1][:, -1:]))


def check_equal(sets, **options):
    found, truth = searched(sets, **options), neighbourhoods(*sets, threads=1, **options)
    for side in SIDES:
        ours, theirs = getattr(found, side), getattr(truth, side)
        for name in EXACT:
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
        if theirs.across is not None:
            np.testing.assert_array_equal(ours.across, theirs.across)
        kept = {} if theirs.replicates is None else vars(theirs.replicates)
        for name, value in kept.items():
            np.testing.assert_array_equal(getattr(ours.replicates, name), value, name)
    return found


# Where nothing is missed -------------------------------------------------------------------------


def test_a_thorough_search_gives_the_worked_example():
    sets = [[0.0], [1.0], [2.0], [3.0]], [[0.5], [1.5], [9.0], [10.0]]
    near = searched(sets, k=1)
    assert near.reference.radii.tolist() == [[1.0]] * 4
    assert near.reference.inside[:, 0].tolist() == [2, 2, 0, 0]
    assert (precision_score(near, 1).value, recall_score(near, 1).value) == (0.5, 0.75)
    assert density_score(near, 1).value == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", ["closed", "open"])
def test_a_thorough_search_gives_the_exact_counts(rng, ties, dtype):
    sets = gaussians(rng, dtype=dtype)
    found = check_equal(sets, k=4, k_max=6, ties=ties, supports=Supports(capped=3, across=True))
    assert found.reference.held.sum() > 0


def test_replicates_without_blocks_and_within_halves_are_the_exact_ones(rng):
    sets = gaussians(rng, 240, 200)
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    found = check_equal(sets, k=4, blocks=blocks)
    assert found.reference.replicates.held_halves.sum() > 0
    assert found.reference.replicates.held_without.sum() > 0


def test_rows_far_from_the_origin_lose_nothing(rng):
    check_equal([rows + 1e4 for rows in gaussians(rng, dtype=np.float64)], k=3)


def test_cosine_distances(rng):
    check_equal(gaussians(rng), k=3, distance="cosine")


def test_a_ball_that_holds_more_than_was_searched_for_is_searched_again(rng):
    outlier = np.full((1, 3), 0.5, np.float32)
    spread = 40 * rng.standard_normal((60, 3)).astype(np.float32)
    crowd = outlier + 0.1 * rng.standard_normal((300, 3)).astype(np.float32)
    found = check_equal((np.concatenate([spread, outlier]), crowd), k=2)
    assert found.reference.held.max() > 64


def test_copies_and_ties_count_as_in_an_exact_search(rng):
    left, right = (rng.integers(0, 4, (n, 3)).astype(np.float32) for n in (90, 70))
    found = searched((left, right), k=3)
    truth = neighbourhoods(left, right, k=3, threads=1)
    for side in SIDES:
        for name in ("radii", "held", "inside", "distance"):
            np.testing.assert_array_equal(
                getattr(getattr(found, side), name), getattr(getattr(truth, side), name), name
            )


def test_all_rows_alike(rng):
    sets = np.zeros((40, 5), np.float32), np.zeros((30, 5), np.float32)
    near = searched(sets, k=3)
    assert not near.reference.radii.any()
    assert precision_score(near, 3).value == recall_score(near, 3).value == 1.0


# Whatever is missed ------------------------------------------------------------------------------


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(5, 120),
    m=st.integers(5, 120),
    d=st.integers(1, 12),
    k=st.integers(1, 4),
    closed=st.booleans(),
)
def test_what_is_missed_errs_to_one_side(seed, n, m, d, k, closed):
    rng = np.random.default_rng(seed)
    sets = gaussians(rng, n, m, d)
    near = searched(sets, careless(), k=k, ties="closed" if closed else "open")
    truth = neighbourhoods(*sets, k=k, ties="closed" if closed else "open", threads=1)
    across = np.sqrt(((sets[0][:, None].astype(float) - sets[1][None]) ** 2).sum(axis=-1))
    for side, distances in zip(SIDES, (across, across.T), strict=True):
        ours, theirs = getattr(near, side), getattr(truth, side)
        assert (ours.radii >= theirs.radii).all()
        assert (ours.distance >= theirs.distance).all()
        # As many as the found balls hold, at most
        spanned = distances <= ours.radii[:, -1:] * (1 + 1e-12)
        assert (ours.held[:, -1] <= spanned.sum(axis=1)).all()
        assert (ours.inside[:, -1] <= spanned.sum(axis=0)).all()
        assert ours.held[:, -1].sum() == ours.inside[:, -1].sum()


def test_the_widest_balls_are_the_true_ones_with_all_that_they_hold(rng, monkeypatch):
    sets = gaussians(rng, 500, 400, 16)
    sets[0][:FEW] *= 3  # apart from the others
    passes = HnswPasses(connectivity=4, expansion_add=6, expansion_search=6, threads=1)
    radii, held = brute(sets, 4)
    near = searched(sets, passes, k=4)
    np.testing.assert_allclose(near.reference.radii[:FEW], radii[0][:FEW], rtol=1e-12)
    assert near.reference.held[:FEW, -1].tolist() == held[0][:FEW].sum(axis=1).tolist()
    assert held[0][:FEW].sum() > 10
    monkeypatch.setattr(hnsw_passes, "WIDE_BALLS", 0)
    assert (searched(sets, passes, k=4).reference.radii[:FEW] > radii[0][:FEW] * 1.001).any()


def test_a_careless_search_misses_something_and_every_row_has_k_neighbours(rng):
    sets = gaussians(rng, 600, 500, 24)
    near, truth = searched(sets, careless(), k=4), neighbourhoods(*sets, k=4, threads=1)
    assert (near.reference.radii > truth.reference.radii).any()
    assert np.isfinite(near.reference.radii).all()


def test_numbers_do_not_depend_on_the_run_or_the_threads(rng):
    sets = gaussians(rng, 700, 600, 20)
    first = searched(sets, careless(), k=4)
    for threads in (1, 2, 4):
        again = searched(sets, careless(threads), k=4)
        for side in SIDES:
            for name in ("radii", "held", "inside", "nearest", "distance"):
                np.testing.assert_array_equal(
                    getattr(getattr(first, side), name), getattr(getattr(again, side), name), name
                )


# What is said of it ------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_the_measured_quality_is_that_of_a_brute_force_over_all_rows(rng, closed, distance):
    sets = gaussians(rng, 300, 260, 24)
    ties = "closed" if closed else "open"
    near = searched(sets, careless(), k=3, ties=ties, distance=distance)
    quality = measure_search(*sets, near, k=3, threads=1)
    if distance == "cosine":
        sets = [rows / np.linalg.norm(rows.astype(float), axis=1, keepdims=True) for rows in sets]
    radii, held = brute(sets, 3, closed)
    scale = (lambda r: r**2 / 2) if distance == "cosine" else (lambda r: r)
    found = [
        (getattr(near, side).radii <= scale(true[:, -1:]) * (1 + 1e-9)).mean(axis=1)
        for side, true in zip(SIDES, radii, strict=True)
    ]
    assert quality.neighbour_recall.value == pytest.approx(np.concatenate(found).mean(), abs=1e-12)
    assert quality.neighbour_recall.value < 1
    precision = precision_score(near, 3).value - held[0].any(axis=0).mean()
    recall = recall_score(near, 3).value - held[1].any(axis=0).mean()
    assert quality.precision_error.value == pytest.approx(precision, abs=1e-12)
    assert quality.recall_error.value == pytest.approx(recall, abs=1e-12)
    assert quality.sampled == 560
    assert quality.members < 1
    # All rows were looked at, so nothing is in doubt
    for each in (quality.neighbour_recall, quality.precision_error, quality.recall_error):
        assert each.low == pytest.approx(each.value) == each.high


@pytest.mark.slow
def test_where_copies_cut_a_graph_apart_the_error_is_measured(rng):
    left, right = gaussians(rng, 3_000, 3_000, 32)
    right[:2_000] = left[0]  # so many at one place that walks do not leave it
    near, truth = searched((left, right), HnswPasses(), k=4), neighbourhoods(left, right, k=4)
    error = recall_score(near, 4).value - recall_score(truth, 4).value
    measured = measure_search(left, right, near, k=4).recall_error
    assert error > 0.05
    assert measured.low <= error <= measured.high


@pytest.mark.slow
def test_intervals_of_a_sample_hold_the_truth(rng):
    sets = gaussians(rng, 900, 800, 24)
    near = searched(sets, careless(), k=3)
    truth = measure_search(*sets, near, k=3, threads=1)
    names = ("neighbour_recall", "precision_error", "recall_error")
    held = []
    for seed in range(20):
        part = measure_search(*sets, near, k=3, size=150, seed=seed, threads=1)
        assert part.sampled == 300
        held += [
            getattr(part, name).low <= getattr(truth, name).value <= getattr(part, name).high
            for name in names
        ]
    assert np.mean(held) >= 0.9


def test_signatures_tell_the_searches_apart(rng):
    sets = gaussians(rng, 120, 100)
    exact, found = (
        compare(*sets, metrics="precision,recall,near_copies", neighbours=each, threads=1)
        for each in ("exact", "approximate")
    )
    for name in ("precision", "recall", "near_copies"):
        ours, theirs = (each.systems[0].scores[name].signature for each in (found, exact))
        assert HNSW in ours
        assert "neighbours:" not in theirs
        pins = [pin for pin in ours.split("|") if not pin.startswith("neighbours:")]
        assert "|".join(pins) == theirs
    assert exact.settings["neighbours"] == "exact"
    assert found.settings["neighbours"] == "approximate"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_comparison_says_what_was_found_beside_its_scores(rng, threads):
    sets = gaussians(rng, 120, 100)
    system = compare(
        *sets, metrics="precision,recall,density", neighbours="approximate", threads=threads
    ).systems[0]
    said = [text for text in system.warnings if "approximate" in text]
    assert said == [
        "neighbours are approximate (HNSW): of the nearest neighbours of 220 sampled rows 100 % "
        "[100, 100] were found; precision is off by +0.0000 [+0.0000, +0.0000], recall by "
        "+0.0000 [+0.0000, +0.0000]"
    ]
    assert [row["search"] for row in system.scores["recall"].details] == [
        "true neighbours found",
        "error of recall",
    ]
    assert system.scores["precision"].interval is not None
    assert not system.scores["density"].details


def test_metrics_of_all_pairs_have_no_value_and_say_why(rng):
    scores = (
        compare(*gaussians(rng, 60, 50), metrics="support", neighbours="approximate", threads=1)
        .systems[0]
        .scores
    )
    missing = {name for name, score in scores.items() if np.isnan(score.value)}
    assert missing == {"realism", "probabilistic_precision", "probabilistic_recall"}
    assert "all pairs of samples count" in scores["realism"].reason


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["realism", "probabilistic_recall"])
def test_a_metric_of_all_pairs_that_was_named_is_refused(rng, metric):
    sets = gaussians(rng, 30, 30)
    expected = (
        f"the metric '{metric}' looks at all pairs of samples, near and far; it needs "
        r"`neighbours='exact'`"
    )
    with pytest.raises(InputError, match=expected):
        compare(*sets, metrics=["precision", metric], neighbours="approximate")
    with pytest.raises(InputError, match=expected):
        sweep(*sets, metrics=metric, over="n", values=[10, 20], neighbours="approximate")


@pytest.mark.parametrize("where", [{"engine": "ray"}, {"work_dir": "somewhere"}])
def test_engines_of_other_places_are_refused(rng, where):
    with pytest.raises(InputError, match=r"`engine='ray'` .*`work_dir`"):
        compare(*gaussians(rng, 30, 30), neighbours="approximate", **where)


def test_an_unknown_search_is_refused(rng):
    with pytest.raises(
        InputError, match="neighbours must be exact or approximate; found 'aproximate'"
    ):
        overlap(dict(zip("ab", gaussians(rng, 30, 30), strict=True)), neighbours="aproximate")


def test_too_few_rows_for_k_are_refused_as_in_an_exact_search(rng):
    sets = gaussians(rng, 5, 4)
    with pytest.raises(InputError, match=r"k = 4 .*5 samples"):
        searched(sets, k=4)


def test_indices_that_do_not_fit_are_refused(rng):
    sets = gaussians(rng, 400, 300, 64)
    with (
        memory_limit("200kB"),
        pytest.raises(
            InputError,
            match=r"`neighbours=.*400 and 300 rows .*291\.2 kB .*200\.0 kB .*memory_limit`",
        ),
    ):
        searched(sets, k=3)


def test_the_missing_package_is_named(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[approximate\]'"):
        searched(gaussians(rng), k=3)


# Whole commands ----------------------------------------------------------------------------------


def test_sweeps_and_overlaps_say_what_was_found(rng):
    sets = gaussians(rng, 60, 60)
    options = {"neighbours": "approximate", "threads": 1}
    for over, more in (("k", {}), ("n", {"seeds": 1})):
        swept = sweep(*sets, over=over, values=[5, 20], metrics="precision", **more, **options)
        system = swept.systems[0]
        assert sum("neighbours are approximate" in text for text in system.warnings) == 1
        assert HNSW in system.curves["precision"].signature
    third = rng.standard_normal((60, 7)).astype(np.float32)
    shares = overlap(dict(zip("abc", (*sets, third), strict=True)), **options)
    said = [text for text in shares.warnings if "neighbours are approximate" in text]
    assert len(said) == 1
    assert "in the worst of 3 pairs of files" in said[0]
    assert HNSW in next(iter(shares.views.values())).signatures[0][1]


@pytest.mark.slow
def test_the_command_line_end_to_end(rng, tmp_path):
    for name, rows in zip("ab", gaussians(rng, 2_500, 2_200, 16), strict=True):
        np.save(tmp_path / f"{name}.npy", rows)
    kept = tmp_path / "scores.json"
    words = ["compare", "-r", str(tmp_path / "a.npy"), str(tmp_path / "b.npy")]
    words += ["--metrics", "precision,recall", "--no-floor", "--neighbours", "approximate"]
    words += ["--json", str(kept)]
    result = CliRunner().invoke(app, words, prog_name="calipers")
    assert result.exit_code == 0, result.output
    (system,) = json.loads(kept.read_text())["systems"]
    assert any("neighbours are approximate (HNSW)" in text for text in system["warnings"])
    scores = system["scores"]
    rows = scores["precision"]["details"]
    assert rows[0]["search"] == "true neighbours found"
    assert 0.99 <= rows[0]["low"] <= rows[0]["value"] <= 1
    assert HNSW in scores["precision"]["signature"]
