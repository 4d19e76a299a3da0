"""The training set, along the whole road: copies, what is normal, and what is refused."""

import numpy as np
import pytest

import calipers
from calipers.embed import EncodedBatch
from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.metrics import authenticity, near_copies
from calipers.samples import SampleSet

KEYS = {"near_copies:train", "authenticity:train"}


@pytest.fixture
def sets(rng):
    reference, train, fresh = rng.standard_normal((3, 150, 5))
    return reference, train, fresh


def compare(reference, generated, **options):
    return calipers.compare(reference, generated, **({"metrics": ["recall"]} | options))


def test_copies_are_seen_and_the_reference_tells_what_is_normal(sets):
    reference, train, fresh = sets
    parrot = np.concatenate([fresh[:100], train[:50]])
    found = compare(reference, {"fresh": fresh, "parrot": parrot}, train=train)
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
    found = compare(reference, {"x": fresh}, train=train)["x"]
    rows = preprocess(train, fresh, norm="l2", pca=None)
    for key, metric in (("near_copies", near_copies), ("authenticity", authenticity)):
        expected = metric(rows.reference, rows.generated)
        assert found[f"{key}:train"].value == expected.value
        np.testing.assert_array_equal(found[f"{key}:train"].per_sample, expected.per_sample)


def test_signatures_name_the_training_set_and_not_the_reference(sets):
    reference, train, fresh = sets
    found = compare(reference, {"x": fresh}, train=train)
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
    found = compare(texts[0], {"x": texts[2]}, metrics=["form.recall"], **options)
    assert set(found.reference_scores) == {f"form.{key}" for key in KEYS}
    both = compare(texts[0], {"x": texts[2]}, **options)
    assert set(both["x"].scores) == {
        f"{view}{key}" for view in ("", "form.") for key in (*KEYS, "recall")
    }


def test_the_training_set_is_never_cut(sets):
    reference, train, fresh = sets
    found = compare(reference, {"x": fresh}, train=train, max_samples=40)
    assert (found.reference.n, found.train.n) == (40, 150)
    assert "n:150|m:40" in found["x"]["near_copies:train"].signature


def test_without_a_training_set_there_is_nothing_of_it(sets):
    found = compare(sets[0], {"x": sets[2]})
    assert found.train is None
    assert found.reference_scores == {}
    assert set(found["x"].scores) == {"recall"}
    assert found.to_dict()["train"] is None


def test_a_training_set_that_is_the_reference_is_said(sets):
    found = compare(sets[0], {"x": sets[2]}, train=sets[0])
    assert found.train.warnings == (
        "the training set is 'reference' itself, sample for sample, whose samples therefore all "
        "count as copies",
    )
    assert "warning: train: the training set is 'reference' itself" in str(found)
    assert found.reference_scores["near_copies:train"].value == 1


def test_duplicates_in_the_training_set(sets):
    reference, train, fresh = sets
    found = compare(reference, {"x": fresh, "copy": train}, train=np.repeat(train[:75], 2, axis=0))
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
            compare(reference, {"x": fresh}, train=bad)
    path.touch()
    with pytest.raises(InputError, match=r"train.jsonl: is empty"):
        compare(texts * 9, {"x": texts * 9}, train=path, embedder="precomputed")
    with pytest.raises(InputError, match="train: this list holds paths of files"):
        compare(texts * 9, {"x": texts * 9}, train=[str(path)])
    path.write_text('{"text": "one"}\n')
    with pytest.raises(InputError, match=r"train.jsonl: the training set needs at least 2 samples"):
        compare(texts * 9, {"x": texts * 9}, train=path)


def test_the_archive_keeps_it(sets, tmp_path):
    reference, train, fresh = sets
    found = compare(reference, {"x": SampleSet.from_vectors(fresh, name="x")}, train=train)
    found.save(tmp_path / "run.zip")
    loaded = calipers.Comparison.load(tmp_path / "run.zip")
    data = found.to_dict(per_sample=True)
    assert loaded.to_dict(per_sample=True) == data
    assert loaded.train == found.train
    assert str(loaded) == str(found)
    assert set(data["reference"]["scores"]) == KEYS
    assert len(data["reference"]["scores"]["near_copies:train"]["per_sample"]) == 150
    assert data["train"]["n"] == 150
