import numpy as np
import pytest

import calipers
from calipers.embed import EncodedBatch
from calipers.errors import InputError
from calipers.samples import SampleSet, System

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


def test_every_metric_in_every_view(reference, generated):
    found = compare(reference, generated)
    good = found["good"]
    assert len(good.scores) == 22
    assert set(good.curves) == {
        f"{view}{curve}" for view in ("", "form.") for curve in ("prd", "frontier", "frontier_star")
    }
    assert good["recall"].value > found["poor"]["recall"].value + 0.3
    assert good["form.mauve_star"].value > found["poor"]["form.mauve_star"].value + 0.3
    assert good["precision"].per_sample.shape == (120,)


def test_generated_sets_are_cut_to_the_smallest_and_the_reference_is_not(reference, generated):
    found = compare(reference, generated)
    assert found.reference.n == found.reference.n_given == 150
    sizes = [(system.summary.n, system.summary.n_given) for system in found]
    assert sizes == [(120, 120), (120, 140)]
    assert "m:120" in found["poor"]["precision"].signature
    kept = compare(reference, generated, keep_sizes=True)
    assert [system.summary.n for system in kept] == [120, 140]
    assert any("120 to 140 samples" in warning for warning in kept.warnings)


def test_max_samples_cuts_every_set(reference, generated):
    found = compare(reference, generated, max_samples=50)
    assert found.reference.n == 50
    assert {system.summary.n for system in found} == {50}
    kept = compare(reference, generated, max_samples=130, keep_sizes=True)
    assert [kept.reference.n, *(system.summary.n for system in kept)] == [130, 120, 130]


def test_a_further_system_changes_no_score_of_another(rng, reference, generated):
    alone = compare(reference, {"good": generated["good"]})
    together = compare(reference, generated | {"third": texts(rng, 120)})
    assert values(alone["good"]) == values(together["good"])
    assert alone["good"]["mauve"].signature == together["good"]["mauve"].signature


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


def test_metrics_by_name_and_view(reference, generated):
    found = compare(reference, generated, metrics=["precision", "form.mauve_star"])["good"]
    assert set(found.scores) == {"precision", "form.precision", "form.mauve_star"}
    first = compare(reference, generated, metrics=["meaning.recall"])["good"]
    assert set(first.scores) == {"recall"}


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (["precison"], "unknown metric 'precison'; did you mean 'precision'"),
        (["shape.precision"], "unknown view 'shape'"),
        (["precision:5"], "metric 'precision' takes no option; found 'precision:5'"),
        ([], "at least one metric"),
    ],
)
def test_bad_metrics(reference, generated, metrics, words):
    with pytest.raises(InputError, match=words):
        compare(reference, generated, metrics=metrics)


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


def test_arrays_are_taken_as_embeddings(rng):
    reference, generated = rng.standard_normal((2, 80, 6))
    found = calipers.compare(reference, generated)
    assert found.settings["embedder"] == "precomputed"
    assert [system.name for system in found] == ["generated"]
    assert set(found["generated"].scores) >= {"precision", "mauve"}
    assert found.reference.words is None


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


def test_a_difference_in_length_is_said(rng, reference):
    found = compare(reference, {"long": texts(rng, 100, words=30)})
    assert "30 words in the median, those of the reference 12" in found["long"].warnings[0]
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
        ({"k": 0}, "k must be at least 1; found 0"),
        ({"k": 200}, "reference: k = 200 needs at least 201 samples in every set; it has 150"),
        ({"seed": -1}, "seed must be at least 0; found -1"),
        ({"max_samples": 1}, "max_samples must be at least 2; found 1"),
        ({"ties": "half"}, "unknown value for ties 'half'"),
        ({"buckets": 1}, "buckets must be 'auto' or a whole number from 2; found 1"),
        ({"embedder": "minilmm"}, "unknown embedder 'minilmm'; did you mean 'minilm'"),
    ],
)
def test_bad_options(reference, generated, change, words):
    with pytest.raises(InputError, match=words):
        compare(reference, generated, **change)


def test_bad_sets(rng, reference):
    with pytest.raises(InputError, match="few: k = 4 needs at least 5 samples in every set"):
        compare(reference, {"few": texts(rng, 4)})
    with pytest.raises(InputError, match="at least one system; found none"):
        compare(reference, {})
    one = SampleSet.from_texts(texts(rng, 9), name="x")
    with pytest.raises(InputError, match="two systems are named 'x'"):
        compare(reference, [System("x", (one,)), System("x", (one,))])
    with pytest.raises(InputError, match="holds texts and 'v' holds vectors"):
        compare(reference, {"v": rng.standard_normal((20, 3))})
    with pytest.raises(InputError, match="as many columns as the reference's 3; found 4"):
        compare(rng.standard_normal((20, 3)), {"v": rng.standard_normal((20, 4))})
