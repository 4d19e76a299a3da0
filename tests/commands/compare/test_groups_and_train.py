"""Groups and a training set along the whole road: what they give, and what is refused."""

import json

import numpy as np
import pytest

import calipers
from calipers.embedders import EncodedBatch
from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.evaluate.labels import group_sizes, lost_groups, small_groups
from calipers.evaluate.scoring import ABSENT, Scored, average
from calipers.metrics import authenticity, near_copies
from calipers.metrics.copying import are_near_copies
from calipers.report import json_text
from calipers.report.render.text import plain
from calipers.samples import SampleSet, System
from calipers.score import Score

NAMES = ("a.b", "c/d")
LABELS = [NAMES[row % 2] for row in range(120)]


def near(rng, labels):
    """Rows around one centre for each label, far from each other."""
    centres = {"a.b": (40.0, 0.0, 0.0), "c/d": (0.0, 40.0, 0.0), "e": (0.0, 0.0, 40.0)}
    return np.array([centres[label] for label in labels]) + rng.standard_normal((len(labels), 3))


def held(rng, labels, name="x", *, grouped=True):
    samples = SampleSet.from_vectors(near(rng, labels), name=name)
    return samples.with_groups(labels) if grouped else samples


@pytest.fixture
def reference(rng):
    return held(rng, LABELS, "human")


def compare(reference, generated, **options):
    options = {"metrics": ["recall"], "group": "topic", "cache": False} | options
    return calipers.compare(reference, generated, **options)


def test_a_forgotten_group_is_seen(rng, reference):
    found = compare(reference, {"x": held(rng, ["a.b"] * 100, grouped=False)})["x"]
    assert found["recall:group=a.b"].value > 0.8
    assert found["recall:group=c/d"].value == 0
    assert found["coverage:group=c/d"].value == 0
    assert np.isnan(found["precision:group=c/d"].value)
    assert "no generated sample" in found["precision:group=c/d"].reason
    assert not any(":own=" in key for key in found.scores)


def test_groups_average_what_the_whole_is_the_mean_of(rng, reference):
    found = compare(reference, {"x": held(rng, LABELS[:100])}, metrics=["recall", "precision"])["x"]
    whole = {key: found[key].per_sample for key in ("recall", "precision")}
    for label in NAMES:
        members = np.array(LABELS) == label
        score = found[f"recall:group={label}"]
        assert score.value == whole["recall"][members].mean()
        np.testing.assert_array_equal(score.per_sample, whole["recall"][members])
        own = found[f"precision:own={label}"]
        assert own.value == whole["precision"][members[:100]].mean()
        assert f"group:{label}|size:60" in score.signature
        assert "|groups:topic(" in score.signature
        assert "reference:" in score.signature


def test_relabelling_changes_the_signature_and_adding_a_system_no_score(rng, reference):
    generated = held(rng, LABELS)
    one = compare(reference, {"x": generated})["x"]
    both = compare(reference, {"y": held(rng, LABELS), "x": generated})["x"]
    key = "recall:group=a.b"
    assert both[key].value == one[key].value
    assert both[key].signature == one[key].signature
    turned = reference.with_groups(LABELS[1:] + LABELS[:1])
    assert compare(turned, {"x": generated})["x"][key].signature != one[key].signature


def test_groups_are_scored_in_the_views_that_were_asked_for(reference, rng):
    class Two:
        name, identity, signature, views = "two", "two", {}, ("meaning", "form")

        def embed(self, texts):
            rows = np.array([[float(part) for part in text.split()] for text in texts], np.float32)
            views = {"meaning": rows, "form": rows[:, ::-1]}
            return EncodedBatch(views, np.zeros(len(texts), bool))

    texts = [" ".join(map(str, row)) for row in reference]
    grouped = SampleSet.from_texts(texts, name="t", groups=LABELS)
    found = compare(grouped, {"x": texts[:90]}, embedder=Two(), metrics=["form.recall"])["x"]
    assert "form.recall:group=a.b" in found.scores
    assert {key for key in found.scores if not key.startswith("form.")} == {"classifier_auc"}
    assert all(key.startswith("form.") for key in found.neighbours)


def test_nothing_by_group_unless_it_was_asked_for(rng, reference):
    found = compare(reference, {"x": held(rng, LABELS)}, group=None)
    assert set(found["x"].scores) == {"recall", "classifier_auc"}  # which the test brings
    assert found.reference.groups is None
    assert found.settings["group"] is None
    assert "By group" not in str(found)


def test_the_reference_must_carry_groups(rng):
    rows = near(rng, LABELS)
    for bare in (rows, SampleSet.from_vectors(rows, name="reference")):
        with pytest.raises(InputError, match=r"reference: .*groups; .*'topic'"):
            compare(bare, {"x": rows})
    for name in ("", 3, True):
        with pytest.raises(InputError, match="group must be the name of a field"):
            compare(rows, {"x": rows}, group=name)
    with pytest.raises(InputError, match=r"list.*SampleSet"):
        compare(rows, {"x": rows}, group=["a"] * len(rows))


def test_files_of_a_system_have_the_group_or_lack_it_alike(rng, reference):
    files = (held(rng, LABELS), held(rng, LABELS, grouped=False))
    with pytest.raises(InputError, match=r"x: 1 of its 2 sets .*'topic'"):
        compare(reference, [System("x", files)])


def test_paths_are_read_with_the_field(tmp_path, rng):
    for name, labels in (("human", LABELS), ("model", LABELS[:110])):
        np.savez(tmp_path / f"{name}.npz", vectors=near(rng, labels), topic=np.array(labels))
    np.save(tmp_path / "bare.npy", near(rng, LABELS))
    generated = {"m": tmp_path / "model.npz", "bare": tmp_path / "bare.npy"}
    found = compare(tmp_path / "human.npz", generated, embedder="precomputed")
    assert found.reference.groups == {"a.b": 60, "c/d": 60}
    assert found["m"].summary.groups == {"a.b": 55, "c/d": 55}
    assert found["bare"].summary.groups is None
    with pytest.raises(InputError, match=r"bare.npy: .*'topic'"):
        compare(tmp_path / "bare.npy", generated)


def test_sizes_are_those_that_were_compared_in_the_order_of_the_labels(rng):
    labels = ["10", "9", "nan", "9"] * 30
    samples = SampleSet.from_vectors(rng.random((120, 2)), name="x").with_groups(labels)
    assert list(group_sizes([samples]).items()) == [("9", 60), ("10", 30), ("nan", 30)]
    assert group_sizes([samples, samples])["nan"] == 60
    bare = SampleSet.from_vectors(rng.random((9, 2)), name="y")
    assert group_sizes([samples, bare]) is None


def test_groups_of_few_samples_are_scored_and_said(rng):
    labels = [*LABELS, "e"]
    reference = held(rng, labels, "human")
    found = compare(reference, {"x": held(rng, [*LABELS, "e", "e"])})
    assert found.reference.warnings == (
        "groups of fewer than 10 samples, whose scores are unreliable: 'e' (1)",
    )
    assert found["x"]["recall:group=e"].value in (0.0, 1.0)
    assert "groups of fewer than 10 samples, whose scores are unreliable: 'e' (2)" in (
        found["x"].warnings
    )
    many = dict.fromkeys("abcdefg", 1)
    assert small_groups(many)[0].endswith("'a' (1), 'b' (1), 'c' (1), 'd' (1), 'e' (1) and 2 more")
    assert small_groups({"a": 10}) == small_groups(None) == ()


def test_a_single_group_scores_as_the_whole(rng):
    labels = ["a.b"] * 120
    found = compare(held(rng, labels, "human"), {"x": held(rng, labels)})["x"]
    assert found["recall:group=a.b"].value == found["recall"].value


def test_groups_that_only_the_generated_set_has(rng, reference):
    other = held(rng, LABELS).with_groups([label.upper() for label in LABELS])
    found = compare(reference, {"x": other})["x"]
    assert (
        "has groups that the reference does not have: 'A.B', 'C/D'; are they spelled the same?"
        in (found.warnings)
    )
    assert found["precision:own=A.B"].value > 0.5


def test_groups_lost_by_cutting_are_said(rng):
    samples = held(rng, [*LABELS, "e"], "human")
    seed = next(s for s in range(99) if "e" not in samples.subsample(60, seed=s).groups.tolist())
    found = compare(samples, {"x": held(rng, LABELS)}, max_samples=60, seed=seed)
    assert "after the cut to 60 samples it has none of the groups 'e'" in found.reference.warnings
    assert "recall:group=e" not in found["x"].scores
    assert lost_groups(samples, samples) == ()


def test_seeds_are_averaged_and_a_group_that_one_lacks_has_no_mean(rng, reference):
    files = tuple(held(rng, labels) for labels in (LABELS, ["a.b"] * 120))
    found = compare(reference, [System("x", files)])["x"]
    score = found["recall:group=c/d"]
    assert score.value == np.mean(score.seeds)
    assert score.seeds[1] == 0
    own = found["precision:own=c/d"]
    assert np.isnan(own.value)
    assert own.reason == ABSENT.reason
    assert found.neighbours["nearest_reference"].shape == (240,)
    parts = [Scored({"a": Score(0.5)}, {}), Scored({"b": Score(0.5, signature="s")}, {})]
    assert average(parts).scores["b"].signature == "s|files:2"


def test_where_every_sample_lies(rng, reference):
    generated = held(rng, LABELS[:100])
    found = compare(reference, {"x": generated}, k=3)
    lie, k_max = found["x"].neighbours, found.settings["k_max"]
    rows = preprocess(reference.vectors, generated.vectors, norm="none", pca=None)
    balls = neighbourhoods(rows.reference, rows.generated, k=3, k_max=k_max)
    np.testing.assert_array_equal(lie["nearest_reference"], balls.reference.nearest)
    np.testing.assert_array_equal(lie["reference_distance"], balls.reference.distance)
    np.testing.assert_array_equal(lie["reference_first_k"], balls.reference.first)
    np.testing.assert_array_equal(lie["nearest_generated"], balls.generated.nearest)
    np.testing.assert_array_equal(lie["generated_first_k"] <= 3, found["x"]["recall"].per_sample)
    np.testing.assert_array_equal(lie["covered"], balls.reference.held[:, 2] > 0)
    np.testing.assert_array_equal(lie["copied"], are_near_copies(balls))
    assert lie["nearest_generated"].shape == (120,)
    assert set(lie["generated_first_k"]) <= set(range(1, k_max + 2))


def test_nothing_lies_anywhere_where_no_balls_were_measured(rng, reference):
    found = compare(reference, {"x": held(rng, LABELS)}, group=None, metrics=["frechet_distance"])
    assert found["x"].neighbours == {}
    assert found.settings["k_max"] is None


def test_the_archive_and_the_json_keep_it_all(tmp_path, rng, reference):
    odd = ["../a", "ü %2F:|", "c\\d"] * 40
    found = compare(reference.with_groups(odd), {"x": held(rng, LABELS).with_groups(odd)})
    found.save(tmp_path / "run.zip")
    loaded = calipers.Comparison.load(tmp_path / "run.zip")
    data = found.to_dict(per_sample=True)
    assert loaded.to_dict(per_sample=True) == data
    assert str(loaded) == str(found)
    assert json.loads(json_text(data)) == json.loads(json.dumps(data))
    score = data["systems"][0]["scores"]["recall:group=../a"]
    assert len(score["per_sample"]) == data["reference"]["groups"]["../a"] == 40
    assert set(data["systems"][0]["neighbours"]) == {
        f"{name}"
        for sides in (("reference", "generated"),)
        for side in sides
        for name in (f"nearest_{side}", f"{side}_distance", f"{side}_first_k")
    } | {"covered", "copied"}
    assert "neighbours" not in found.to_dict()["systems"][0]
    assert "per_sample" not in found.to_dict()["systems"][0]["scores"]["recall:group=../a"]


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_the_distance_reaches_every_measure(rng, reference, distance):
    found = compare(reference, {"x": held(rng, LABELS)}, distance=distance, train=near(rng, LABELS))
    assert found.settings["distance"] == distance
    for key in ("recall", "recall:group=a.b", "near_copies:train"):
        assert f"distance:{distance}" in found["x"][key].signature
    assert ("distance cosine" in str(found)) is (distance == "cosine")


def test_an_unknown_distance_is_refused(reference):
    with pytest.raises(InputError, match="distance 'manhattan'"):
        compare(reference, {"x": reference}, distance="manhattan")


KEYS = {"near_copies:train", "authenticity:train"}


@pytest.fixture
def sets(rng):
    reference, train, fresh = rng.standard_normal((3, 150, 5))
    return reference, train, fresh


def compare_trained(reference, generated, **options):
    return calipers.compare(reference, generated, **({"metrics": ["recall"]} | options))


def test_copies_are_seen_and_the_reference_tells_what_is_normal(sets):
    reference, train, fresh = sets
    parrot = np.concatenate([fresh[:100], train[:50]])
    found = compare_trained(reference, {"fresh": fresh, "parrot": parrot}, train=train)
    assert found["parrot"]["near_copies:train"].value >= 1 / 3
    assert found["fresh"]["near_copies:train"].value < 0.1
    assert set(found.reference_scores) == KEYS
    assert found.reference_scores["near_copies:train"].value < 0.1
    gap = (
        found.reference_scores["authenticity:train"].value
        - found["fresh"]["authenticity:train"].value
    )
    assert abs(gap) < 0.15
    lie = found["parrot"].neighbours
    np.testing.assert_array_equal(lie["nearest_train"][100:], np.arange(50))
    assert lie["train_distance"][100:].max() < 1e-3 < lie["train_distance"][:100].min()


def test_scores_are_those_of_the_pair_of_training_and_generated_set(sets):
    reference, train, fresh = sets
    found = compare_trained(reference, {"x": fresh}, train=train)["x"]
    rows = preprocess(train, fresh, norm="none", pca=None)
    for key, metric in (("near_copies", near_copies), ("authenticity", authenticity)):
        expected = metric(rows.reference, rows.generated)
        assert found[f"{key}:train"].value == expected.value
        np.testing.assert_array_equal(found[f"{key}:train"].per_sample, expected.per_sample)


def test_signatures_name_the_training_set_and_not_the_reference(sets):
    reference, train, fresh = sets
    found = compare_trained(reference, {"x": fresh}, train=train)
    line = found["x"]["near_copies:train"].signature
    assert f"|train:{found.train.content_hash[:16]}|" in line
    assert "of:train" in line
    assert "reference:" not in line


def test_only_the_views_that_were_asked_for(sets):
    class Two:
        name, identity, signature, views = "two", "two", {}, ("meaning", "form")

        def embed(self, texts):
            rows = np.array([[text.count(c) + 1e-3 for c in "0123456789"] for text in texts])
            views = {"meaning": rows.astype(np.float32), "form": rows[:, :5].astype(np.float32)}
            return EncodedBatch(views, np.zeros(len(texts), bool))

    texts = [[str(row) for row in side] for side in sets]
    options = {"train": texts[1], "embedder": Two(), "cache": False}
    found = compare_trained(texts[0], {"x": texts[2]}, metrics=["form.recall"], **options)
    assert set(found.reference_scores) == {f"form.{key}" for key in KEYS}
    both = compare_trained(texts[0], {"x": texts[2]}, **options)
    assert set(both["x"].scores) == {
        f"{view}{key}" for view in ("", "form.") for key in (*KEYS, "recall", "classifier_auc")
    }


def test_the_training_set_is_never_cut(sets):
    reference, train, fresh = sets
    found = compare_trained(reference, {"x": fresh}, train=train, max_samples=40)
    assert (found.reference.n, found.train.n) == (40, 150)
    assert "n:150|m:40" in found["x"]["near_copies:train"].signature


def test_without_a_training_set_there_is_nothing_of_it(sets):
    found = compare_trained(sets[0], {"x": sets[2]})
    assert found.train is None
    assert found.reference_scores == {}
    assert set(found["x"].scores) == {"recall", "classifier_auc"}  # which the test brings
    assert found.to_dict()["train"] is None


def test_a_training_set_that_is_the_reference_is_said(sets):
    found = compare_trained(sets[0], {"x": sets[2]}, train=sets[0])
    assert found.train.warnings == (
        "the training set has exactly the samples of 'reference', which therefore all count as "
        "copies",
    )
    assert "warning: train: the training set has exactly the samples" in plain(
        found.document(details=True), width=200
    )
    assert found.reference_scores["near_copies:train"].value == 1


def test_duplicates_in_the_training_set(sets):
    reference, train, fresh = sets
    found = compare_trained(
        reference, {"x": fresh, "copy": train}, train=np.repeat(train[:75], 2, axis=0)
    )
    assert found["x"]["near_copies:train"].value == 0
    assert found["copy"]["near_copies:train"].value == pytest.approx(0.5)


def test_bad_training_sets(sets, tmp_path):
    reference, train, fresh = sets
    path, array = tmp_path / "train.jsonl", train.copy()
    array[3, 1] = np.nan
    texts = ["one text", "two texts"]
    for bad, words in (
        (train[:1], "train: the training set needs at least 2 samples; it has 1"),
        (train[:0], "train: embeddings of shape"),
        (array, "train: NaN or infinite values in 1 of 150 rows: row 4"),
        (train[:, :3], "train: embeddings must have as many columns as the reference's 5; found 3"),
        (texts, "reference holds vectors and the training set 'train' holds texts; both must be"),
        ([], "train: holds no samples"),
        (path, "there is no such file"),
    ):
        with pytest.raises(InputError, match=words):
            compare_trained(reference, {"x": fresh}, train=bad)
    path.touch()
    with pytest.raises(InputError, match=r"train.jsonl: is empty"):
        compare_trained(texts * 9, {"x": texts * 9}, train=path, embedder="precomputed")
    with pytest.raises(InputError, match=r"train: .*paths of files"):
        compare_trained(texts * 9, {"x": texts * 9}, train=[str(path)])
    path.write_text('{"text": "one"}\n')
    with pytest.raises(InputError, match=r"train.jsonl: .*at least 2"):
        compare_trained(texts * 9, {"x": texts * 9}, train=path)


def test_the_archive_keeps_it(sets, tmp_path):
    reference, train, fresh = sets
    found = compare_trained(reference, {"x": SampleSet.from_vectors(fresh, name="x")}, train=train)
    found.save(tmp_path / "run.zip")
    loaded = calipers.Comparison.load(tmp_path / "run.zip")
    data = found.to_dict(per_sample=True)
    assert loaded.to_dict(per_sample=True) == data
    assert loaded.train == found.train
    assert str(loaded) == str(found)
    assert set(data["reference"]["scores"]) == KEYS
    assert len(data["reference"]["scores"]["near_copies:train"]["per_sample"]) == 150
    assert data["train"]["n"] == 150


def test_only_a_training_set_that_is_the_reference_is_warned_of(rng):
    reference, train, generated = rng.standard_normal((3, 60, 4))
    options = {"metrics": ["recall"], "cache": False}
    other = calipers.compare(reference, {"x": generated}, train=train, **options)
    assert other.train.warnings == ()
    longer = np.concatenate([reference, train])
    assert (
        calipers.compare(reference, {"x": generated}, train=longer, **options).train.warnings == ()
    )
    same = calipers.compare(reference, {"x": generated}, train=reference, **options)
    assert len(same.train.warnings) == 1


def test_both_scores_name_the_training_set_in_their_signatures(rng):
    reference, train, generated = rng.standard_normal((3, 60, 4))
    found = calipers.compare(
        reference, {"x": generated}, train=train, metrics=["recall"], cache=False
    )
    for scores in (found["x"].scores, found.reference_scores):
        for key in ("near_copies:train", "authenticity:train"):
            assert "of:train" in scores[key].signature.split("|")
