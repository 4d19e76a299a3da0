"""What a person chooses for a comparison: estimators, constants, the embedder."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calipers
from calipers import metrics
from calipers.catalogue import estimation
from calipers.embedders import Embedder, EmbedderChoice, EmbedderOptions
from calipers.errors import InputError, MissingExtraError
from calipers.estimate.classifier import classify, discriminate
from calipers.estimate.estimators import estimate_ratios
from calipers.estimate.quantise import quantise
from calipers.evaluate import embedding
from calipers.options.embedding import Embedding
from calipers.report.render.text import plain
from calipers.samples import SampleSet


@pytest.fixture
def sets(rng):
    reference = rng.standard_normal((150, 6))
    return reference, {"near": reference[::-1] * 0.9, "far": rng.standard_normal((150, 6)) + 1}


def compare(sets, **options):
    return calipers.compare(*sets, threads=1, **options)


def rows_of(sets, name):
    return metrics.preprocess(sets[0], sets[1][name], norm="none", pca=0.9)


def test_each_option_reaches_the_number(sets):
    keys = "mauve:chi2,midpoint:laplace,frontier_integral:knn,divergence_star:le_cam,prd_f8:kde"
    found = compare(sets, metrics=keys, buckets=10)["far"]
    rows = rows_of(sets, "far")
    cells = quantise(rows.reference, rows.generated, buckets=10, seed=0).best
    near, kde = (estimate_ratios(e, rows.reference, rows.generated, seed=0) for e in ("knn", "kde"))
    frontier = calipers.divergence_frontier
    expected = {
        "mauve:chi2": frontier(cells, divergence="chi2").area(5),
        "midpoint:laplace": frontier(cells.smoothed("laplace")).midpoint(),
        "frontier_integral:knn": frontier(near).integral(),
        "divergence_star:le_cam": calipers.f_divergence(
            cells.smoothed("krichevsky-trofimov"), "le_cam"
        ),
        "prd_f8:kde": calipers.precision_recall_curve(kde).f_beta(8),
    }
    assert list(found.scores) == [*expected, "classifier_auc"]
    for key, value in expected.items():
        assert found[key].value == pytest.approx(value, abs=1e-12), key
        assert found[key].signature.startswith(f"metric:{key}|")
    line = found["frontier_integral:knn"].signature.split("|")
    for pin in ("divergence:kl", "estimator:knn", "k:50", "n:150", "m:150", "scope:pair"):
        assert pin in line
    assert "smoothing:laplace" in found["midpoint:laplace"].signature


def test_an_estimator_for_all_that_names_none(sets):
    found = compare(sets, estimator="gaussian", buckets=10, floor=False)
    scores = found["near"].scores
    assert {"mauve:gaussian", "frontier_integral:gaussian", "prd_f8:gaussian"} <= scores.keys()
    assert "mauve_star" not in scores
    assert "c:1" in scores["mauve:gaussian"].signature.split("|")
    assert set(found["near"].curves) == {"frontier:gaussian", "prd:gaussian"}
    assert found.settings["estimator"] == "gaussian"
    head = next(line for line in str(found).splitlines() if "Precision" in line)
    assert "MAUVE Gauss" in head
    assert "FI" not in head
    assert scores["mauve:gaussian"].value > found["far"]["mauve:gaussian"].value


def test_the_constant_is_paired_unless_it_is_given(sets):
    keys = ["mauve", "mauve:classifier", "frontier_f8:kde"]
    paired = compare(sets, metrics=keys, floor=False)["far"]
    for key, c in zip(keys, ("5", "2.5", "10"), strict=True):
        assert f"c:{c}" in paired[key].signature.split("|")
    given = compare(sets, metrics=keys, c=2, floor=False)["far"]
    assert all("c:2" in given[key].signature.split("|") for key in keys)
    assert given["mauve"].value > paired["mauve"].value


def test_what_has_no_value_says_why_and_leaves_the_rest(sets):
    found = compare(sets, metrics="mauve,mauve:reverse_kl,divergence,max_precision:kde", buckets=40)
    far = found["far"]
    assert math.isfinite(far["mauve"].value)
    assert math.isnan(far["mauve:reverse_kl"].value)
    assert "the frontier of reverse_kl is infinite" in far["mauve:reverse_kl"].reason
    assert far["divergence"].value == math.inf
    assert "of the reference distribution lies where the generated has" in far["divergence"].reason
    assert math.isnan(far["max_precision:kde"].value)
    text = str(found)
    for words in ("MAUVE rev KL", "kl is infinite", "mass everywhere"):
        assert words in text
    assert "NaN" not in text


def test_seeds_of_a_system_bring_their_options_together(sets, rng):
    files = rng.standard_normal((2, 150, 6))
    several = [calipers.SampleSet.from_vectors(each, name="s") for each in files]
    found = calipers.compare(sets[0], {"s": several}, metrics="mauve:chi2,prd:knn", threads=1)["s"]
    score = found["mauve:chi2"]
    assert score.value == pytest.approx(np.mean(score.seeds))
    assert len(score.seeds) == 2
    assert set(found.curves) == {"frontier:chi2", "prd:knn"}


def test_keys_and_curves_survive_the_archive(sets, tmp_path):
    keys = "divergence:interpolated_kl=0.3,mauve_star:chi2,frontier:knn"
    found = compare(sets, metrics=keys)
    found.save(tmp_path / "run.zip")
    again = calipers.Comparison.load(tmp_path / "run.zip")
    assert again.to_dict() == found.to_dict()
    assert set(again["far"].curves) == {"frontier_star:chi2", "frontier:knn", "renyi:knn"}
    np.testing.assert_array_equal(
        again["far"].curves["frontier:knn"], found["far"].curves["frontier:knn"]
    )


def test_the_classifier_is_fitted_once_and_its_scores_are_its_own(sets, monkeypatch):
    fitted = []

    def spy(*sides, **options):
        fitted.append((options["model"], options.get("dimensions") or 0))
        return classify(*sides, **options)

    monkeypatch.setattr("calipers.estimate.classifier.classify", spy)
    keys = "classifier,mauve:classifier,frontier_integral:chi2:classifier,prd:classifier"
    found = compare(sets, metrics=keys, level=None)["far"]
    # On all axes for accuracy and AUC, and on the leading ones for the ratios, of two systems
    assert sorted(fitted) == [("logistic", 0)] * 2 + [("logistic", 10)] * 2
    rows = rows_of(sets, "far")
    own = classify(rows.reference, rows.generated, seed=0)
    assert found["classifier_accuracy"].value == own.accuracy
    assert "classifier_auc" in found.scores  # of a discriminant, which is not this classifier


def test_the_discriminator_tests_a_quarter_of_the_rows_that_are_compared(sets):
    key = "discriminator_accuracy"
    found = compare(sets, metrics=key, floor=False)["far"][key]
    rows = rows_of(sets, "far")
    own = discriminate(rows.reference, rows.generated, seed=0)
    assert found.value == own.accuracy
    assert own.tested == (38, 38)  # a quarter of 150, rounded up
    assert {"test:1/4", "penalty:cv5"} <= set(found.signature.split("|"))


@pytest.mark.filterwarnings("error")
def test_sets_that_a_classifier_separates_are_told_as_such(sets):
    found = calipers.compare(sets[0], {"x": sets[0] + 50}, metrics="mauve:classifier", threads=1)
    assert math.isfinite(found["x"]["mauve:classifier"].value)
    (told,) = [caution for caution in found["x"].cautions if caution.kind == "ratios"]
    assert told.brief == "too far apart for classifier"
    assert told.text in found["x"].warnings
    assert "by the estimator classifier" in told.text
    near = calipers.compare(sets[0], {"x": sets[0] + 0.1}, metrics="mauve:classifier", threads=1)
    assert not [caution for caution in near["x"].cautions if caution.kind == "ratios"]


def test_a_missing_package_is_told_before_the_work(sets, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    monkeypatch.setattr("calipers.commands.compare.run.embed_sides", pytest.fail)
    with pytest.raises(MissingExtraError, match=r"'mauve_ot' .*package 'ot'"):
        compare(sets, metrics="recall,mauve_ot")


@pytest.mark.slow
def test_a_family_goes_without_a_missing_package(sets, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ot", None)
    found = compare(sets, metrics="ot", buckets=10, normalise="l2")["far"]
    assert math.isfinite(found["frechet_distance"].value)
    assert math.isfinite(found["ot"].value)
    assert math.isnan(found["mauve_ot"].value)
    assert "pip install 'calipers[transport]'" in found["mauve_ot"].reason


def test_a_sweep_takes_the_same_keys(sets):
    found = calipers.sweep(
        *sets, over="n", values=[60, 150], metrics="mauve:chi2,prd_f8:kde", seeds=1, threads=1
    )
    assert list(found["far"].curves) == ["mauve:chi2", "prd_f8:kde"]
    whole = compare(sets, metrics="mauve:chi2")["far"]["mauve:chi2"]
    assert found["far"]["mauve:chi2"].mean[-1] == pytest.approx(whole.value, abs=0.1)
    assert "MAUVE χ²" in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"c": 0}, "c .*number above 0.* 0"),
        ({"c": -1.5}, "found -1.5"),
        ({"c": math.nan}, "found nan"),
        ({"c": math.inf}, "found inf"),
        ({"c": True}, "found True"),
        ({"c": "5"}, "found '5'"),
        ({"estimator": "knnn"}, "estimator 'knnn'.*'knn'"),
        ({"estimator": None}, "unknown estimator None"),
        ({"estimator": "model"}, "unknown estimator 'model'"),
        ({"shared": "yes"}, "shared .*True or False.* 'yes'"),
        ({"buckets": "cuberoot"}, "cube-root"),
        ({"estimator": "knn", "metrics": "mauve_star"}, "ask for 'mauve:knn'"),
        ({"metrics": "mauve:knn:laplace"}, "smooths the counts of cells"),
    ],
)
def test_bad_choices(sets, options, words):
    with pytest.raises(InputError, match=words):
        compare(sets, **options)


def test_a_sweep_pins_its_seed_and_applies_its_tolerance(rng):
    reference, generated = rng.standard_normal((2, 60, 4))
    options = {"metrics": ["recall"], "cache": False}
    found = calipers.sweep(
        reference, generated, over="n", values=[15, 30, 45, 60], seed=7, tolerance=1.5, **options
    )
    curve = found["generated"]["recall"]
    assert "sampling_seed:7" in curve.signature.split("|")
    assert (curve.plateau.tolerance, curve.plateau.start) == (1.5, 15)
    narrow = calipers.sweep(
        reference, generated, over="k", values=[1, 2, 4], tolerance=0, **options
    )
    assert narrow["generated"]["recall"].plateau.tolerance == 0


def test_an_overlap_pins_the_files_of_both_sides(rng):
    files = [SampleSet.from_vectors(rows, name="b") for rows in rng.standard_normal((2, 60, 4))]
    found = calipers.overlap({"a": rng.standard_normal((60, 4)), "b": files}, cache=False)
    (a,), b = ([file.content_hash[:16] for file in system.files] for system in found.systems)
    pins = found["precomputed"].signatures[0][1].split("|")
    assert f"reference:{a}" in pins
    assert f"generated:{b[0]}+{b[1]}" in pins
    assert found.settings["embedder"] == "precomputed"


TEXTS = SampleSet.from_texts(["one two", "two three"], name="human")
VECTORS = SampleSet.from_vectors(np.eye(3), name="real")
IMAGES = SampleSet.from_images(np.zeros((2, 4, 4, 3), np.uint8), name="pictures")
TOKENS = SampleSet.from_tokens([[1, 2], [3]], name="ids")


class Fitting(Embedder):
    name = "fitting"
    views = ("words",)
    identity = "x"
    signature: dict[str, str] = {}  # noqa: RUF012

    needs_fitting = True

    def __init__(self, seen=None):
        self.seen = seen

    def fitted(self, samples):
        return Fitting(list(samples))

    def encode(self, samples):
        raise AssertionError


class Loaded(Embedder):
    reads = frozenset({"texts", "images"})

    def encode(self, samples):
        raise AssertionError


@pytest.fixture
def loaded(monkeypatch):
    """Note what would be loaded."""
    seen = []

    def load(self):
        seen.append(self)
        return Loaded()

    monkeypatch.setattr(EmbedderChoice, "load", load)
    return seen


@pytest.mark.parametrize(
    ("wanted", "samples", "expected"),
    [
        ({}, TEXTS, EmbedderChoice("minilm")),
        ({}, IMAGES, EmbedderChoice("efficientnet")),
        ({"embedder": "pixels"}, IMAGES, EmbedderChoice("pixels")),
        ({"dtype": "auto"}, TEXTS, EmbedderChoice("minilm", EmbedderOptions(dtype="auto"))),
        ({"embedder": "tfidf:size=9"}, TEXTS, EmbedderChoice("tfidf:size=9")),
        ({"embedder": EmbedderChoice("tfidf")}, TEXTS, EmbedderChoice("tfidf")),
    ],
)
def test_the_one_that_was_asked_for_or_the_usual_one(loaded, wanted, samples, expected):
    embedding.open_embedder(Embedding(**wanted), [samples])
    assert loaded == [expected]


def test_options_go_to_an_embedder_that_is_named(loaded):
    wanted = Embedding(embedder="minilm", device="cpu", batch_size=3)
    embedding.open_embedder(wanted, [TEXTS])
    assert loaded[0].settings == EmbedderOptions(device="cpu", batch_size=3)


@pytest.mark.parametrize("wanted", [None, "minilm", EmbedderChoice("tfidf")])
def test_vectors_are_taken_as_they_are(wanted):
    assert embedding.open_embedder(Embedding(embedder=wanted), [VECTORS]).name == "precomputed"


def test_token_ids_have_no_usual_embedder():
    with pytest.raises(InputError, match=r"ids: .*token ids"):
        embedding.open_embedder(Embedding(), [TOKENS])


def test_an_embedder_that_does_not_read_the_samples_is_refused():
    with pytest.raises(InputError, match=r"pictures: .*images.*'fitting'"):
        embedding.open_embedder(Embedding(embedder=Fitting()), [IMAGES])


def test_fitting_sees_the_reference_alone_unless_there_is_none():
    other = SampleSet.from_texts(["four"], name="model")
    assert embedding.open_embedder(Embedding(embedder=Fitting()), [TEXTS, other]).seen == [
        "one two",
        "two three",
    ]
    all_of_them = embedding.open_embedder(
        Embedding(embedder=Fitting()), [TEXTS, other], fit_on_all=True
    ).seen
    assert all_of_them == ["one two", "two three", "four"]


def test_a_service_is_asked_only_for_a_model_that_was_named():
    with pytest.raises(InputError, match=r"'minilm' .*Calipers"):
        embedding.open_embedder(Embedding(endpoint="http://h/v1"), [TEXTS])


@pytest.mark.parametrize("function", ["compare", "sweep", "overlap", "measure_texts"])
def test_words_that_all_texts_begin_with_can_be_left_out(function):
    import calipers

    texts = [f"once upon a {word} there was a {word} in the {word}" for word in "abcdefghijkl"]
    others = [f"once upon a {word} it rained on {word} and {word}" for word in "mnopqrstuvwx"]
    inputs = {
        "compare": (texts, others),
        "sweep": (texts, others),
        "overlap": ({"one": texts, "two": others},),
        "measure_texts": (others,),
    }[function]
    more = {} if function == "measure_texts" else {"embedder": "tfidf", "cache": False}
    found = getattr(calipers, function)(*inputs, skip_words=3, **more)
    assert found.settings["skip_words"] == 3
    told = found.document(details=True) if function == "compare" else found.document()
    assert "the first 3 words of every text were left out" in plain(told, width=200)


@pytest.mark.parametrize("function", ["compare", "measure_texts"])
def test_skipping_all_words_of_most_texts_is_refused(function):
    long, short = [f"one two three four {row}" for row in range(9)], ["one two"] * 5
    sides = ((long,) if function == "compare" else ()) + ({"m": [*long[:4], *short]},)
    with pytest.raises(InputError) as caught:
        getattr(calipers, function)(*sides, skip_words=3)
    assert str(caught.value) == (
        "m: `skip_words=3` leaves nothing of 5 of its 9 texts; at most half of them "
        "may be left empty, since scores would be meaningless"
    )


def test_the_averages_of_the_papers_are_an_option_of_the_key(sets):
    keys = "mauve:gaussian,mauve:gaussian:other_side,mauve:gaussian:own_side,prd_f8:knn:own_side"
    found = compare(sets, metrics=keys, floor=False)["far"]
    rows = rows_of(sets, "far")
    ratios = estimate_ratios("gaussian", rows.reference, rows.generated, seed=0)
    frontier = calipers.divergence_frontier
    for points in ("both_sides", "other_side", "own_side"):
        key = estimation.EstimationOptions(estimator="gaussian", points=points).key("mauve")
        expected = frontier(ratios, points=points).area(1.0)
        assert found[key].value == pytest.approx(expected, abs=1e-6)
        assert f"points:{points}" in found[key].signature.split("|")
    assert "points:own_side" in found["prd_f8:knn:own_side"].signature.split("|")
    assert set(found.curves) == {
        "frontier:gaussian",
        "frontier:gaussian:other_side",
        "frontier:gaussian:own_side",
        "prd:knn:own_side",
    }


@pytest.mark.parametrize("function", ["compare", "measure_texts"])
def test_a_reference_of_empty_texts_is_refused(function):
    human = ["", *["one two three"] * 2, " ", ""]
    given = {
        "compare": ((human, {"m": ["a b c"] * 5}), {}),
        "measure_texts": (({"m": ["a b c"] * 5},), {"reference": human}),
    }
    inputs, more = given[function]
    with pytest.raises(InputError, match=r"reference: 3 of 5 texts .*empty"):
        getattr(calipers, function)(*inputs, **more)
