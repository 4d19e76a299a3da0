from contextlib import contextmanager

import numpy as np
import pytest

import calipers
import calipers.metrics.estimates as estimates
import calipers.metrics.pair as pair_module
from calipers import metrics
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import EstimationOptions
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings, EncodedBatch
from calipers.errors import InputError
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.scoring import Scored, average
from calipers.metrics.pair import Pair
from calipers.samples import SampleSet, System
from calipers.score import Score

WORDS = ["stone", "river", "cloud", "engine", "lamp", "paper", "tiger", "wheel", "garden", "mirror"]


class Letters:
    """A stand-in for a model: one view counts letters, the other pairs of letters."""

    name = "letters"
    views = ("meaning", "form")
    identity = "letters-1"
    signature = {"embedder": "letters", "dtype": "float32", "device": "cpu"}  # noqa: RUF012
    view_signature = {"meaning": "letters", "form": "pairs"}  # noqa: RUF012

    def embed(self, texts):
        single = np.array([[text.count(c) + 1e-3 for c in "abcdeimnorst"] for text in texts])
        pairs = np.array(
            [[text.count(c) + 1e-3 for c in ("er", "in", "ti", "ou", "ga", "st")] for text in texts]
        )
        views = {"meaning": single.astype(np.float32), "form": pairs.astype(np.float32)}
        return EncodedBatch(views, np.array([len(text) > 400 for text in texts]))


def texts(rng, n, words=12):
    return [" ".join(rng.choice(WORDS, words)) for _ in range(n)]


AREAS = {"classifier_auc", "form.classifier_auc"}
"""What the tests against the reference show, by every view."""


@pytest.fixture
def reference(rng):
    return texts(rng, 150)


@pytest.fixture
def generated(rng):
    return {
        "good": texts(rng, 120),
        "poor": [" ".join(rng.choice(WORDS[:2], 12)) for _ in range(140)],
    }


def compare(reference, generated, **options):
    options = {"embedder": Letters(), "cache": False} | options
    return calipers.compare(reference, generated, **options)


def values(system):
    return {key: score.value for key, score in system.scores.items()}


@pytest.mark.slow
def test_every_metric_in_every_view(reference, generated):
    found = compare(reference, generated, metrics="all", floor=False)
    good = found["good"]
    assert len(good.scores) == 2 * len(METRICS)
    curves = ("prd", "frontier", "frontier_star", "renyi")
    assert set(good.curves) == {f"{view}{curve}" for view in ("", "form.") for curve in curves}
    assert good["recall"].value > found["poor"]["recall"].value + 0.3
    assert good["form.mauve_star"].value > found["poor"]["form.mauve_star"].value + 0.3
    assert good["precision"].per_sample.shape == (120,)


@pytest.mark.slow
def test_what_resamples_is_left_out_unless_it_is_asked_for(reference, generated):
    usual = compare(reference, generated)["good"].scores.keys()
    every = compare(reference, generated, metrics="all", floor=False)["good"].scores.keys()
    asked = {name for name, metric in METRICS.items() if metric.on_request}
    assert {"topp", "midpoint", "ot", "mmd", "classifier_auc"} <= asked
    asked -= {"classifier_auc"}  # which stands beside the tests of every view
    assert every - usual == asked | {f"form.{name}" for name in asked}
    asked = compare(reference, generated, metrics="form.topp")["good"].scores
    assert asked.keys() - AREAS == {"form.topp"}


@pytest.mark.slow
def test_generated_sets_are_cut_to_the_smallest_and_the_reference_is_not(reference, generated):
    found = compare(reference, generated)
    assert found.reference.n == found.reference.n_given == 150
    sizes = [(system.summary.n, system.summary.n_given) for system in found]
    assert sizes == [(120, 120), (120, 140)]
    assert "m:120" in found["poor"]["precision"].signature
    kept = compare(reference, generated, keep_sizes=True)
    assert [system.summary.n for system in kept] == [120, 140]
    assert any("120 to 140 samples" in warning for warning in kept.warnings)


@pytest.mark.slow
def test_max_samples_cuts_every_set(reference, generated):
    found = compare(reference, generated, max_samples=50)
    assert found.reference.n == 50
    assert {system.summary.n for system in found} == {50}
    kept = compare(reference, generated, max_samples=130, keep_sizes=True)
    assert [kept.reference.n, *(system.summary.n for system in kept)] == [130, 120, 130]


@pytest.mark.slow
def test_a_further_system_changes_no_score_of_another(rng, reference, generated):
    alone = compare(reference, {"good": generated["good"]})
    together = compare(reference, generated | {"third": texts(rng, 120)})
    assert values(alone["good"]) == values(together["good"])
    assert alone["good"]["mauve"].signature == together["good"]["mauve"].signature


@pytest.mark.slow
def test_the_seed_and_nothing_else_decides(reference, generated):
    one, two = (compare(reference, generated, seed=3, threads=threads) for threads in (1, 4))
    assert values(one["poor"]) == values(two["poor"])
    other = compare(reference, generated, seed=4)
    assert values(other["poor"]) != values(one["poor"])


def test_a_set_against_itself(reference):
    found = compare(reference, {"same": reference})["same"]
    expected = dict.fromkeys(("precision", "recall", "coverage", "mauve", "mauve_star"), 1.0)
    expected |= {"prd_f8": 1.0, "prd_f1_8": 1.0, "frontier_integral": 0.0, "frechet_distance": 0.0}
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=1e-6)
        assert found[f"form.{name}"].value == pytest.approx(value, abs=1e-6)


@pytest.mark.slow
def test_seeds_of_a_system_are_averaged(rng, reference):
    sets = [SampleSet.from_texts(texts(rng, 100), name=f"s{i}", source=f"s{i}") for i in range(3)]
    found = compare(reference, [System("several", tuple(sets))])["several"]
    single = [compare(reference, {"x": one})["x"]["recall"].value for one in sets]
    assert found["recall"].seeds == tuple(single)
    assert found["recall"].value == pytest.approx(np.mean(single))
    assert found.seeds == ("s0", "s1", "s2")
    assert len(found.samples) == 3
    assert found["precision"].per_sample.shape == (300,)
    assert found["recall"].signature.endswith("files:3")


@pytest.mark.slow
def test_metrics_by_name_and_view(reference, generated):
    found = compare(reference, generated, metrics=["precision", "form.mauve_star"])["good"]
    assert set(found.scores) == {"precision", "form.precision", "form.mauve_star"} | AREAS
    first = compare(reference, generated, metrics=["meaning.recall"])["good"]
    assert set(first.scores) == {"recall"} | AREAS
    bare = compare(reference, generated, metrics=["meaning.recall"], level=None)["good"]
    assert set(bare.scores) == {"recall"}


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (3, "metrics .*list of keys, or one string.* 3"),
        ([3], "metrics .*strings such as 'form.recall'.* 3"),
        (["precison"], "metric 'precison'.*'precision'"),
        (["shape.precision"], "unknown view 'shape'"),
        (["precision:5"], "metric 'precision' takes no option.* 'precision:5'$"),
        (["near_copies:train"], r"takes no option; .*\(`train`\)"),
        (
            ["recall:group=x"],
            r"takes no option; .*\(`group`\)",
        ),
        ([], "at least one metric"),
    ],
)
def test_bad_metrics(reference, generated, metrics, words):
    with pytest.raises(InputError, match=words):
        compare(reference, generated, metrics=metrics)


@pytest.mark.slow
def test_signatures_pin_the_choices(reference, generated):
    found = compare(reference, generated, k=3, ties="open", buckets=30, seed=9)
    line = found["good"]["form.mauve_star"].signature
    for pin in (
        "metric:mauve_star",
        "c:5",
        "buckets:30",
        "smoothing:krichevsky-trofimov",
        "seed:9",
        "norm:l2",
        "pca:0.9",
        "scope:pair",
        "embedder:letters",
        "view:form(pairs)",
        f"reference:{found.reference.content_hash[:16]}",
        f"calipers:{calipers.__version__}",
    ):
        assert pin in line.split("|")
    assert "k:3|ties:open" in found["good"]["precision"].signature


@pytest.mark.slow
def test_what_is_read_from_neighbours_is_signed_by_where_they_were_looked_for(reference, generated):
    for metric in ("precision", "coverage", "near_copies", "mauve"):
        plain, union = (
            compare(reference, generated, metrics=[metric], projection=each)["good"][metric]
            for each in ("none", "union")
        )
        assert "|norm:l2|pca:0.9|scope:pair|" in union.signature
        if metric == "mauve":
            assert (plain.value, plain.signature) == (union.value, union.signature)
        else:
            assert "|norm:l2|pca:none|" in plain.signature
            assert "scope" not in plain.signature


@pytest.mark.parametrize("projection", ["none", "union"])
def test_good_rows_that_repeat_are_as_good_as_before(rng, projection):
    """Joint axes follow the repeats, and what they leave out of the other rows is missed."""
    reference, held = rng.standard_normal((2, 400, 60)) / np.sqrt(1 + np.arange(60.0))
    repeated = np.repeat(held[:20], 20, axis=0)
    found = calipers.compare(
        reference, {"held": held, "repeated": repeated}, projection=projection, level=None
    )
    before = found["held"]["precision"].per_sample[:20].mean()
    after = found["repeated"]["precision"].value
    if projection == "none":
        assert after == pytest.approx(before, abs=1e-12)
    else:
        assert after < before - 0.2
    assert found.settings["projection"] == projection
    (warning,) = (each for each in found["repeated"].warnings if "duplicate" in each)
    assert warning.startswith("95 % of its rows duplicate an earlier one, as do 0 % of as many")
    assert "lower coverage, recall, MAUVE" in warning
    assert "with `projection='union'` precision" in warning
    assert not any("duplicate" in each for each in found["held"].warnings)


def test_arrays_are_taken_as_embeddings(rng):
    reference, generated = rng.standard_normal((2, 80, 6))
    found = calipers.compare(reference, generated)
    assert found.settings["embedder"] == "precomputed"
    assert [system.name for system in found] == ["generated"]
    assert set(found["generated"].scores) >= {"precision", "mauve"}
    assert found.reference.words is None


@pytest.mark.slow
def test_paths_and_saved_results(tmp_path, reference, generated):
    (tmp_path / "human.txt").write_text("\n".join(reference))
    (tmp_path / "model.txt").write_text("\n".join(generated["good"]))
    found = compare(tmp_path / "human.txt", str(tmp_path / "model.txt"))
    assert (found.reference.name, found.systems[0].name) == ("human", "model")
    found.save(tmp_path / "run.zip")
    loaded = calipers.Comparison.load(tmp_path / "run.zip")
    assert loaded.to_dict(per_sample=True) == found.to_dict(per_sample=True)
    assert list(loaded.reference_samples.texts) == reference
    assert str(loaded) == str(found)


@pytest.mark.slow
def test_a_difference_in_length_is_said(rng, reference):
    found = compare(reference, {"long": texts(rng, 100, words=30)})
    assert "a median of 30 words, those of the reference 12" in found["long"].warnings[0]
    assert compare(reference, {"alike": texts(rng, 100)})["alike"].warnings == ()


def test_notes_of_single_sets_and_of_all(rng, reference):
    long = texts(rng, 60)
    long[0] = "river " * 100
    found = compare(reference, {"long": long, "other": texts(rng, 60)})
    assert any("1 of 60 texts was cut" in note for note in found["long"].summary.warnings)
    assert found["other"].summary.warnings == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 0}, "k .*at least 1.* 0"),
        ({"k": 200}, "good: k = 200 .*201 samples.* 120"),
        ({"seed": -1}, "seed .*at least 0.* -1"),
        ({"max_samples": 1}, "max_samples .*at least 2.* 1"),
        ({"ties": "half"}, "ties .*closed or open.* 'half'"),
        ({"buckets": 1}, "buckets .*auto.* or a whole number of at least 2.* 1"),
        ({"embedder": "minilmm"}, "no embedder 'minilmm'.*'minilm'"),
    ],
)
def test_bad_options(reference, generated, change, words):
    with pytest.raises(InputError, match=words):
        compare(reference, generated, **change)


def test_bad_sets(rng, reference):
    with pytest.raises(InputError, match=r"few: k = 4 .*5 samples"):
        compare(reference, {"few": texts(rng, 4)})
    with pytest.raises(InputError, match="at least one system; found none"):
        compare(reference, {})
    one = SampleSet.from_texts(texts(rng, 9), name="x")
    with pytest.raises(InputError, match="two systems are named 'x'"):
        compare(reference, [System("x", (one,)), System("x", (one,))])
    with pytest.raises(InputError, match="holds texts and 'v' holds vectors"):
        compare(reference, {"v": rng.standard_normal((20, 3))})
    with pytest.raises(InputError, match=r"columns .*3; found 4"):
        compare(rng.standard_normal((20, 3)), {"v": rng.standard_normal((20, 4))})


def views(given):
    found = Letters().embed(given).views
    return {view: found[view] for view in Letters.views}


@pytest.mark.slow
@pytest.mark.parametrize("projection", ["none", "union"])
def test_scores_and_curves_are_those_of_the_preprocessed_pair(rng, reference, projection):
    given = texts(rng, 130)
    chosen = {"k": 3, "seed": 2, "buckets": 11, "projection": projection}
    found = compare(reference, {"x": given}, metrics="all", floor=False, **chosen)["x"]
    for prefix, view in (("", "meaning"), ("form.", "form")):
        sets = views(reference)[view], views(given)[view]
        rows, axes = (metrics.preprocess(*sets, norm="l2", pca=pca) for pca in (None, 0.9))
        near = axes if projection == "union" else rows
        pair = Pair(
            near.reference,
            near.generated,
            Settings(**chosen),
            given=sets,
            project=lambda axes=axes: (axes.reference, axes.generated),
        )
        for name, metric in METRICS.items():
            expected = metric.score(pair)
            assert found[f"{prefix}{name}"].value == expected.value, (view, name)
            assert found[f"{prefix}{name}"].signature.startswith(expected.signature), (view, name)
        curve = pair.curves.trade_off(EstimationOptions())
        np.testing.assert_array_equal(
            found.curves[f"{prefix}prd"], np.column_stack([curve.precision, curve.recall])
        )
        for name, smoothing in (("frontier", "none"), ("frontier_star", "krichevsky-trofimov")):
            curve = pair.curves.frontier(EstimationOptions(smoothing=smoothing))
            np.testing.assert_array_equal(
                found.curves[f"{prefix}{name}"],
                np.column_stack([curve.weights, curve.generated_cost, curve.reference_cost]),
            )


@pytest.mark.slow
def test_signatures_pin_what_the_embedder_did_and_the_seed_of_the_cut(reference, generated):
    line = compare(reference, generated, seed=6)["good"]["recall"].signature.split("|")
    for pin in ("dtype:float32", "device:cpu", "view:meaning(letters)", "sampling_seed:6"):
        assert pin in line


@pytest.mark.slow
def test_no_curve_is_made_for_itself_alone(reference, generated):
    assert compare(reference, generated, metrics=["recall"])["good"].curves == {}
    assert set(compare(reference, generated, metrics=["prd_f8"])["good"].curves) == {
        "prd",
        "form.prd",
    }


def test_the_rows_that_stay_depend_on_the_seed(rng):
    reference, large = rng.standard_normal((60, 3)), rng.standard_normal((90, 3))
    sets = {"large": large, "small": rng.standard_normal((40, 3))}
    for seed in (0, 5):
        found = compare(reference, sets, embedder="precomputed", seed=seed, metrics=["recall"])
        kept = SampleSet.from_vectors(large, name="large").subsample(40, seed=seed)
        np.testing.assert_array_equal(
            found["large"].samples[0].vectors["precomputed"], kept.vectors
        )


def test_all_files_of_a_system_count_for_the_size_and_the_summary(rng, reference):
    sizes, lengths = (110, 70, 90), (8, 20, 26)
    sets = [
        SampleSet.from_texts(texts(rng, n, words), name="s", source=f"s{n}", notes=[f"note {n}"])
        for n, words in zip(sizes, lengths, strict=True)
    ]
    found = compare(reference, {"several": sets, "one": texts(rng, 100)}, metrics=["recall"])
    assert [system.summary.n for system in found] == [70, 70]
    several = found["several"].summary
    assert several.n_given == 110
    assert several.words == {"mean": 18.0, "median": 20.0}
    assert several.warnings == ("note 110", "note 70", "note 90")
    file = [one.subsample(70, seed=0).content_hash[:16] for one in sets]
    assert several.content_hash == "+".join(file)
    assert found["one"].seeds == ()
    tiny = SampleSet.from_texts(texts(rng, 4), name="x", source="tiny")
    with pytest.raises(InputError, match=r"tiny: k = 4 .*5 samples"):
        compare(reference, {"several": [sets[0], tiny]}, keep_sizes=True)


def test_curves_of_seeds_are_averaged_and_a_reason_is_kept(rng, reference):
    sets = [SampleSet.from_texts(texts(rng, 80), name="s") for _ in range(2)]
    options = {"metrics": ["prd_f8"], "floor": False}
    found = compare(reference, {"x": sets}, **options)["x"]
    single = [compare(reference, {"x": one}, **options)["x"] for one in sets]
    np.testing.assert_allclose(
        found.curves["prd"], (single[0].curves["prd"] + single[1].curves["prd"]) / 2
    )
    parts = [
        Scored({"a": Score(value, reason=reason, per_sample=np.full(2, place))}, {})
        for place, (value, reason) in enumerate([(0.0, None), (0.1, None), (np.nan, "why")])
    ]
    score = average(parts).scores["a"]
    assert np.isnan(score.value)
    assert score.reason == "why"
    np.testing.assert_array_equal(score.per_sample, [0, 0, 1, 1, 2, 2])
    assert average(parts[:2]).scores["a"].value == pytest.approx(0.05)
    three = [Scored({"a": Score(value)}, {}) for value in (0.0, 0.1, 0.5)]
    assert average(three).scores["a"].value == pytest.approx(0.2)


def test_shorter_texts_are_said_as_well(rng, reference):
    found = compare(reference, {"short": texts(rng, 100, words=5)}, metrics=["recall"])
    assert "a median of 5 words, those of the reference 12" in found["short"].warnings[0]


def test_what_holds_for_several_sets_is_said_once(reference, generated):
    parts = tuple(
        Embeddings({"meaning": np.eye(3)}, {}, notes)
        for notes in (("shared", "mine"), ("shared",), ("shared", "other"))
    )
    embedded = Embedded(parts[0], ((parts[1],), (parts[2],)))
    assert embedded.shared_notes == ("shared",)
    assert embedded.own_notes([parts[0]]) == ("mine",)
    assert embedded.own_notes([parts[1]]) == ()
    assert embedded.own_notes(parts[1:]) == ("other",)


def test_a_cache_that_cannot_be_written_is_said_of_the_comparison(tmp_path, reference, generated):
    (tmp_path / "file").write_text("no folder")
    found = compare(
        reference, generated, cache=True, cache_dir=tmp_path / "file" / "below", metrics=["recall"]
    )
    (said,) = (warning for warning in found.warnings if "cache" in warning)
    assert str(tmp_path / "file") in said


@pytest.mark.slow
def test_embeddings_are_cached_only_when_asked(tmp_path, reference, generated):
    compare(reference, generated, cache=False, cache_dir=tmp_path / "a", metrics=["recall"])
    assert not (tmp_path / "a").exists()
    compare(reference, generated, cache=True, cache_dir=tmp_path / "b", metrics=["recall"])
    assert any((tmp_path / "b").rglob("*.safetensors"))


@pytest.mark.slow
def test_settings_say_how_the_run_was_made(reference, generated):
    found = compare(reference, generated, max_samples=100, metrics=["form.recall"])
    assert found.settings["max_samples"] == 100
    assert found.settings["metrics"] == ["form.recall", "classifier_auc"]
    assert found.settings["metrics_shown"] == ["recall"]
    assert found.settings["sizes"] == "equal"
    kept = compare(reference, generated, keep_sizes=True)
    assert kept.settings["metrics_shown"] is None
    assert kept.settings["sizes"] == "kept"


def test_scoring_tells_how_far_it_is(reference, generated):
    steps = []

    class Watch:
        @contextmanager
        def task(self, description, total):
            yield lambda count: steps.append((description, total, count))

    compare(reference, generated, metrics=["recall"], progress=Watch())
    assert [step for step in steps if step[0] == "Scoring"] == [("Scoring", 4, 1)] * 4


@pytest.mark.slow
@pytest.mark.parametrize(("small", "inside"), [(10, 3), (5_000, 1)])
def test_large_sets_have_all_threads_and_small_ones_a_thread_each(
    reference, generated, monkeypatch, small, inside
):
    asked = []

    def spy(function):
        def record(*sides, **options):
            asked.append(options["threads"])
            return function(*sides, **options)

        return record

    for module, name in ((pair_module, "neighbourhoods"), (estimates, "quantise")):
        monkeypatch.setattr(module, name, spy(getattr(module, name)))
    monkeypatch.setattr("calipers.evaluate.systems.SMALL", small)
    compare(reference, generated, metrics=["recall", "prd_f8", "mauve"], threads=3, floor=False)
    assert set(asked) == {inside}
    assert len(asked) == 2 * 2 * 3


def test_the_set_that_is_too_small_is_named_and_not_one_that_was_cut_to_it(rng, reference):
    with pytest.raises(InputError, match=r"few: k = 4 .*5 .* 4$"):
        compare(reference, {"good": texts(rng, 50), "few": texts(rng, 4)})
    with pytest.raises(InputError, match="it has 50, cut to 4"):
        compare(reference, {"good": texts(rng, 50)}, max_samples=4)


@pytest.mark.slow
def test_lists_of_paths_are_no_texts(tmp_path, reference):
    files = [tmp_path / f"{seed}.txt" for seed in range(3)]
    for file in files:
        file.write_text("\n".join(reference))
    for paths in (files, [str(file) for file in files]):
        with pytest.raises(InputError, match="this list holds paths of files"):
            compare(reference, {"xl": paths})
        with pytest.raises(InputError, match="this list holds paths of files"):
            compare(reference, paths)
    several = compare(reference, {"xl": [calipers.read_samples(file) for file in files]})
    assert len(several["xl"].seeds) == 3


@pytest.mark.slow
def test_metrics_in_one_string_and_by_view(reference, generated):
    found = compare(reference, generated, metrics="precision, form.mauve")["good"]
    assert set(found.scores) == {"precision", "form.precision", "form.mauve"} | AREAS
    by_view = compare(reference, generated, metrics="form", floor=False)["good"]
    assert len(by_view.scores.keys() - AREAS) == len(METRICS) - 1
    assert all(key.startswith("form.") for key in by_view.scores.keys() - AREAS)


def test_what_cannot_mean_much_is_said(rng, reference):
    same = compare(reference, {"same": reference}, metrics=["recall"])["same"]
    assert "has exactly the samples of the reference" in same.warnings
    few = compare(reference, {"few": texts(rng, 30)}, metrics=["recall"])["few"]
    assert any("30 samples are few" in warning for warning in few.warnings)
    assert any("neighbourhoods of 4 among 30" in warning for warning in few.warnings)
    assert compare(reference, {"x": texts(rng, 110)}, metrics=["recall"])["x"].warnings == ()


def test_a_system_needs_a_name(reference):
    with pytest.raises(InputError, match="a system needs a name"):
        compare(reference, {"": reference})
