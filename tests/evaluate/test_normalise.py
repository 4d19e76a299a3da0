"""Vectors that are given are compared as given, texts and images scaled to length one."""

import numpy as np
import pytest

import calipers
from calipers import metrics
from calipers.embedders import Embedder, Embeddings, EncodedBatch
from calipers.errors import InputError
from calipers.estimate.axes import unit_rows
from calipers.evaluate.embedding import with_scaling
from calipers.explain import sample_map
from calipers.options.comparison import CompareOptions
from calipers.results.result import load
from calipers.results.system import Against
from calipers.samples import as_sample_set
from extras import need

BARE = {"level": None, "floor": False, "threads": 1}
SUPPORT = "precision,recall,density,coverage"
KEYS = f"{SUPPORT},authenticity,near_copies,mauve_star,mmd"
TEXTS = [f"the {word} number {n} is here" for n in range(10) for word in ["cat", "dog", "bird"]]
OTHER = [f"a {word} of {n} was there" for n in range(10) for word in ["cat", "dog", "fish"]]


@pytest.fixture
def sets(rng):
    return rng.standard_normal((300, 16)), rng.standard_normal((300, 16)) * 0.8 + 0.2


def brute_support(reference, generated, k):
    """Precision, recall, density and coverage, from all distances in the widest numbers."""
    wide = [np.asarray(rows, np.longdouble) for rows in (reference, generated)]
    own, other, across = (
        ((left[:, None] - right[None]) ** 2).sum(axis=-1)
        for left, right in ((wide[0], wide[0]), (wide[1], wide[1]), wide)
    )
    ours, theirs = (np.sort(far, axis=1)[:, k] for far in (own, other))
    inside = across <= ours[:, None]
    return {
        "precision": inside.any(axis=0).mean(),
        "recall": (across <= theirs[None]).any(axis=1).mean(),
        "density": inside.sum(axis=0).mean() / k,
        "coverage": inside.any(axis=1).mean(),
    }


def test_a_set_of_half_the_spread_has_no_recall(rng):
    reference, generated = rng.standard_normal((1000, 64)), 0.5 * rng.standard_normal((1000, 64))
    keys = "precision,recall,mauve_star"
    given = calipers.compare(reference, {"x": generated}, metrics=keys, **BARE)["x"]
    assert given["precision"].value == 1.0
    assert given["recall"].value < 0.001
    assert given["mauve_star"].value < 0.5
    scaled = calipers.compare(reference, {"x": generated}, metrics=keys, normalise="l2", **BARE)[
        "x"
    ]
    assert scaled["recall"].value > 0.95
    assert scaled["mauve_star"].value > 0.95


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_comparison_of_arrays_is_that_of_the_pure_functions(sets, kind):
    reference, generated = (rows.astype(kind) for rows in sets)
    found = calipers.compare(reference, {"x": generated}, metrics=KEYS, **BARE)["x"]
    balls = metrics.precision_recall(reference, generated, threads=1)
    near = metrics.density_coverage(reference, generated, threads=1)
    own = {
        "precision": balls.precision,
        "recall": balls.recall,
        "density": near.density,
        "coverage": near.coverage,
        "authenticity": metrics.authenticity(reference, generated),
        "near_copies": metrics.near_copies(reference, generated),
    }
    for key, score in own.items():
        assert found[key].value == score.value, key
        np.testing.assert_array_equal(found[key].per_sample, score.per_sample, err_msg=key)
    rows = metrics.preprocess(reference, generated, norm="none", pca=0.9)
    assert found["mmd"].value == metrics.mmd(rows.reference, rows.generated).value
    mauve = metrics.mauve(reference, generated, norm="none", pca=0.9)
    assert found["mauve_star"].value == mauve.mauve_star.value


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e4])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_no_digit_cancels_among_rows_that_lie_far_out(sets, kind, offset, scale):
    reference, generated = (((rows + offset) * scale).astype(kind) for rows in sets)
    found = calipers.compare(reference, {"x": generated}, metrics=SUPPORT, **BARE)["x"]
    for key, value in brute_support(reference, generated, 4).items():
        assert found[key].value == pytest.approx(value, abs=1e-12), key


def test_cosine_distances_ask_for_no_scaling(sets):
    options = {"metrics": SUPPORT, "distance": "cosine", **BARE}
    given = calipers.compare(sets[0], {"x": sets[1]}, **options)["x"]
    scaled = calipers.compare(sets[0], {"x": sets[1]}, normalise="l2", **options)["x"]
    assert given["recall"].value == scaled["recall"].value


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scale", [2.0**-20, 1e-3, 7.3, 1e6])
def test_the_unit_of_the_vectors_moves_no_score(sets, scale, shared):
    keys = f"{KEYS},realism,prd_f8,frontier_integral:knn"
    one, other = (
        calipers.compare(
            sets[0] * unit, {"x": sets[1] * unit}, metrics=keys, shared=shared, **BARE
        )["x"]
        for unit in (1.0, scale)
    )
    for key in keys.split(","):
        exact = key in (*SUPPORT.split(","), "authenticity", "near_copies")
        assert other[key].value == pytest.approx(one[key].value, abs=0 if exact else 1e-6), key
    # Which rows a classifier is trained on follows from their last digits
    aucs = [
        calipers.compare(sets[0] * unit, {"x": sets[1] * unit}, metrics="classifier_auc", **BARE)
        for unit in (1.0, scale)
    ]
    values = [found["x"]["classifier_auc"].value for found in aucs]
    assert values[0] == pytest.approx(values[1], abs=0.03)


def test_vectors_that_were_scaled_before_score_as_by_l2(sets):
    unit = [unit_rows(rows) for rows in sets]
    given = calipers.compare(unit[0], {"x": unit[1]}, metrics=SUPPORT, **BARE)["x"]
    scaled = calipers.compare(sets[0], {"x": sets[1]}, metrics=SUPPORT, normalise="l2", **BARE)
    for key in SUPPORT.split(","):
        assert given[key].value == scaled["x"][key].value


# What a result says of it ------------------------------------------------------------------------


def test_by_default_vectors_stay_and_texts_and_images_are_scaled(sets):
    images = np.random.default_rng(0).integers(0, 255, (12, 4, 4, 3), np.uint8)
    for given, expected in ((sets[0], "none"), (TEXTS, "l2"), (images, "l2")):
        samples = as_sample_set(given)
        assert with_scaling(CompareOptions(), samples).normalise == expected
        assert with_scaling(CompareOptions(normalise="l2"), samples).normalise == "l2"
        assert with_scaling(CompareOptions(normalise="none"), samples).normalise == "none"


def test_settings_and_every_signature_hold_what_was_done(sets, tmp_path):
    for path, rows in zip(("p.npy", "q.npy"), sets, strict=True):
        np.save(tmp_path / path, rows)
    paths = str(tmp_path / "p.npy"), {"x": str(tmp_path / "q.npy")}
    keys = "precision,near_copies,mauve_star,classifier_auc,vendi"
    for options, norm in (({}, "none"), ({"normalise": "l2"}, "l2")):
        found = calipers.compare(*paths, metrics=keys, **options, **BARE)
        assert (found.settings["normalise"], found.settings["pca"]) == (norm, 0.9)
        for key in ("precision", "near_copies", "mauve_star", "classifier_auc"):
            assert f"|norm:{norm}|" in found["x"][key].signature
        assert "norm:" not in found["x"]["vendi"].signature
    options = {"embedder": "tfidf", "metrics": "precision", "cache": False}
    for norm in ("l2", "none"):
        chosen = {} if norm == "l2" else {"normalise": "none"}
        found = calipers.compare(TEXTS, {"x": OTHER}, **options, **chosen, **BARE)
        assert found.settings["normalise"] == norm
        assert f"|norm:{norm}|" in found["x"]["precision"].signature


def test_training_sets_are_compared_as_the_reference_is(sets, rng):
    train = rng.standard_normal((200, 16)) * 3
    found = calipers.compare(sets[0], {"x": train[:80] * 2}, train=train, metrics="copying", **BARE)
    scaled = calipers.compare(
        sets[0], {"x": train[:80] * 2}, train=train, metrics="copying", normalise="l2", **BARE
    )
    assert "|norm:none|" in found["x"]["near_copies:train"].signature
    # Twice as long, a copy is one in its direction alone
    assert found["x"]["near_copies:train"].value < 0.1
    assert scaled["x"]["near_copies:train"].value == 1.0


def test_intervals_floors_and_advice_are_of_the_same_rows(sets):
    both = {"metrics": "precision,recall", "floor": True, "advice": True, "threads": 1}
    given = calipers.compare(sets[0], {"x": sets[1] * 0.5}, **both)
    scaled = calipers.compare(sets[0], {"x": sets[1] * 0.5}, normalise="l2", **both)
    for found, low in ((given, True), (scaled, False)):
        score = found["x"]["recall"]
        assert (score.floor.beside < 0.1) == low
        assert low or score.interval[0] < score.value < score.interval[1]
        advice = next(each for each in found.advice if each.score == "recall")
        assert advice.values[-1] == pytest.approx(score.value)


def test_sweep_and_overlap_take_it_too(sets):
    reference, generated = sets[0], sets[1] * 0.5
    for options, norm in (({}, "none"), ({"normalise": "l2"}, "l2")):
        one = calipers.compare(reference, {"x": generated}, metrics="recall", **options, **BARE)
        own = one["x"]["recall"]
        over = {over: {"values": [2, 4]} for over in ("k",)} | {"n": {"values": [100, 300]}}
        for name, values in over.items():
            swept = calipers.sweep(
                reference, {"x": generated}, over=name, metrics="recall", **values, **options
            )
            curve = swept["x"]["recall"]
            assert curve.mean[-1] == own.value
            assert f"|norm:{norm}|" in curve.signature
            assert swept.settings["normalise"] == norm
            assert swept.settings["pca"] == (0.9 if name == "n" else None)
        pairs = calipers.overlap({"a": reference, "b": generated}, **options)
        assert pairs["precomputed"].recall[0, 1] == own.value
        assert f"|norm:{norm}|" in pairs["precomputed"].signatures[0][1]
        assert (pairs.settings["normalise"], pairs.settings["pca"]) == (norm, None)


def test_the_transport_frontier_of_rows_of_any_length_asks_for_a_constant(sets):
    need("ot")
    sets = [rows[:100] for rows in sets]
    options = {"metrics": "mauve_ot,mauve_ot_barycentric", **BARE}
    given = calipers.compare(sets[0], {"x": sets[1]}, **options)["x"]
    for score in given.scores.values():
        assert np.isnan(score.value)
        assert "`normalise='l2'`, or choose `c`" in score.reason
    options["metrics"] = "mauve_ot"
    chosen = calipers.compare(sets[0], {"x": sets[1]}, c=0.05, **options)["x"]
    scaled = calipers.compare(sets[0], {"x": sets[1]}, normalise="l2", **options)["x"]
    for found in (chosen, scaled):
        assert 0 < found["mauve_ot"].value < 1


def test_what_is_no_way_to_scale_is_refused(sets):
    with pytest.raises(InputError, match="normalise must be l2 or none; found 'L1'"):
        calipers.compare(sets[0], sets[1], normalise="L1")


# What stands on the same rows --------------------------------------------------------------------


def test_explanations_and_maps_show_vectors_as_given(sets, tmp_path):
    reference, generated = sets[0], sets[1] * 3
    found = calipers.compare(reference, {"x": generated}, **BARE)
    outlier = found["x"].explain().outside[0]
    for near in outlier.nearest:
        far = np.linalg.norm(reference[near.row] - generated[outlier.row])
        assert near.distance == pytest.approx(far, rel=1e-6)
    plane = sample_map([reference, generated], normalise="none").coordinates
    assert np.ptp(plane[1]) > 1.5 * np.ptp(plane[0])
    shown = found.report_data()["map"]["precomputed"]["sets"][1]["x"]
    np.testing.assert_allclose(shown, plane[1][:, 0], atol=1e-4)
    found.save(tmp_path / "kept.zip")
    kept = load(tmp_path / "kept.zip")
    assert kept["x"].against.settings.normalise == "none"
    assert kept["x"].explain().outside == found["x"].explain().outside


def test_runs_of_before_had_rows_of_length_one(sets):
    samples = calipers.compare(*sets, metrics="recall", **BARE).reference_samples
    assert Against.of(samples, {"k": 4}).settings.normalise == "l2"
    assert Against.of(samples, {"k": 4, "normalise": "none"}).settings.normalise == "none"


def test_vectors_that_were_embedded_before_score_as_their_texts_by_l2(sets):
    class Long(Embedder):
        name = identity = "long"
        views = ("view",)
        signature = {"embedder": "long"}  # noqa: RUF012

        def encode(self, texts):
            rows = np.array([[float(number) for number in text.split()] for text in texts])
            return EncodedBatch({"view": rows.astype(np.float32)}, np.zeros(len(rows), bool))

    texts = [[" ".join(f"{x:.4f}" for x in row) for row in rows] for rows in sets]
    vectors = [Long().embed(each).views["view"] for each in texts]
    options = {"metrics": KEYS, "cache": False, **BARE}
    read = calipers.compare(texts[0], {"x": texts[1]}, embedder=Long(), **options)["x"]
    for norm in ("l2", "none"):
        given = calipers.compare(vectors[0], {"x": vectors[1]}, normalise=norm, **options)["x"]
        for key in ("recall", "density", "mauve_star", "mmd"):
            assert (given[key].value == read[key].value) == (norm == "l2"), key


def test_embeddings_made_beforehand_are_scaled_as_those_made_here(sets):
    made = [Embeddings({"meaning": rows}, {"embedder": "mine"}) for rows in sets]
    options = {"metrics": SUPPORT, **BARE}
    given = calipers.compare(made[0], {"x": made[1]}, **options)
    assert (given.settings["normalise"], given.settings["samples"]) == ("l2", "vectors")
    for norm in ("l2", "none"):
        found = calipers.compare(made[0], {"x": made[1]}, normalise=norm, **options)
        arrays = calipers.compare(sets[0], {"x": sets[1]}, normalise=norm, **options)
        assert found["x"]["recall"].value == arrays["x"]["recall"].value
    assert "vectors as given, MAUVE on 90 % PCA" in " ".join(str(found).split())
