"""A reference that is embedded once, embeddings made beforehand, and every form of samples."""

from __future__ import annotations

import dataclasses
import inspect
import json

import numpy as np
import pytest

import calipers
from calipers import Reference
from calipers.commands.embed.run import embed
from calipers.embedders import Embeddings, EncodedBatch
from calipers.errors import InputError
from calipers.estimate.axes import on_reference_axes
from calipers.estimate.knn.passes import LocalPasses
from calipers.estimate.moments import Moments
from calipers.evaluate import noise_floor
from calipers.evaluate.cautions.confounders import ReferenceTexts
from calipers.options.comparison import CompareOptions
from calipers.options.reference import ReferenceOptions
from extras import need

WORDS = ["stone", "river", "cloud", "engine", "lamp", "paper", "tiger", "wheel", "garden", "mirror"]
OPTIONS = {"metrics": ["precision", "recall", "mauve_star"], "cache": False, "threads": 1}


class Counting:
    """An embedder of two views that keeps what it was asked for."""

    name = "counting"
    views = ("meaning", "form")
    identity = "counting-1"
    signature = {"embedder": "counting", "dtype": "float32", "device": "cpu"}  # noqa: RUF012
    view_signature = {"meaning": "letters", "form": "pairs"}  # noqa: RUF012

    def __init__(self):
        self.seen = []

    def embed(self, texts):
        self.seen.append(list(texts))
        counts = [
            np.array([[text.count(part) + 1e-3 for part in parts] for text in texts], np.float32)
            for parts in ("abcdeimnorst", ("er", "in", "ti", "ou", "ga", "st"))
        ]
        return EncodedBatch(dict(zip(self.views, counts, strict=True)), np.zeros(len(texts), bool))


class Fitted(Counting):
    """The same, fitted to the reference before."""

    def __init__(self):
        super().__init__()
        self.fits = []

    def fitted(self, samples):
        self.fits.append(list(samples))
        return self


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)

    def texts(n, words):
        return [" ".join(rng.choice(words, 12)) for _ in range(n)]

    return texts(60, WORDS), {"good": texts(60, WORDS), "poor": texts(60, WORDS[:3])}


def same(one, other):
    one, other = (
        json.dumps(one.to_dict(per_sample=True)),
        json.dumps(other.to_dict(per_sample=True)),
    )
    assert one == other


@pytest.mark.parametrize(
    "more", [{}, {"max_samples": 40, "seed": 3}, {"match_length": 5}, {"shared": True}]
)
def test_a_reference_gives_the_same_numbers_to_the_bit(sides, more):
    texts, generated = sides
    plain = calipers.compare(texts, generated, embedder=Counting(), **OPTIONS, **more)
    reference = Reference(texts, embedder=Counting())
    for _ in range(2):
        same(calipers.compare(reference, generated, **OPTIONS, **more), plain)
    same(reference.compare(generated, **OPTIONS, **more), plain)
    same(reference.compare(predictions=generated, **OPTIONS, **more), plain)


def test_the_embedder_of_a_name_is_the_same(sides):
    texts, generated = sides
    plain = calipers.compare(texts, generated, embedder="tfidf:size=8", **OPTIONS)
    same(Reference(texts, embedder="tfidf:size=8").compare(generated, **OPTIONS), plain)


def test_every_set_is_embedded_once(sides):
    texts, generated = sides
    model = Counting()
    reference = Reference(texts, embedder=model)
    assert model.seen == []
    reference.compare(generated, **OPTIONS)
    assert model.seen == [texts, *generated.values()]
    reference.compare(generated["poor"], **OPTIONS)
    calipers.sweep(reference, generated["good"], values=[1, 2], cache=False, metrics="precision")
    assert model.seen[3:] == [generated["poor"], generated["good"]]


def test_a_cut_of_the_reference_is_embedded_once_too(sides):
    texts, generated = sides
    model = Counting()
    reference = Reference(texts, embedder=model)
    for _ in range(3):
        reference.compare(generated["good"], max_samples=30, **OPTIONS)
    assert [len(seen) for seen in model.seen] == [30] * 4
    assert len(reference._made) == 1


def test_an_embedder_is_fitted_once(sides):
    texts, generated = sides
    model = Fitted()
    reference = Reference(texts, embedder=model)
    for _ in range(2):
        reference.compare(generated, **OPTIONS)
    assert model.fits == [texts]


def test_what_depends_on_the_reference_alone_is_measured_once(sides, monkeypatch):
    texts, generated = sides
    searched, halves, facts = [], [], []
    nearest, values, read = LocalPasses.nearest, noise_floor.score_rows, ReferenceTexts.of

    def counting_nearest(self, points, k):
        searched.append(points.points.tobytes())
        return nearest(self, points, k)

    def counting_values(reference, other, *rest, **more):
        halves.append(other[0] is reference[0])
        return values(reference, other, *rest, **more)

    def counting_read(samples):
        facts.append(samples.name)
        return read(samples)

    monkeypatch.setattr(LocalPasses, "nearest", counting_nearest)
    monkeypatch.setattr(noise_floor, "score_rows", counting_values)
    monkeypatch.setattr(ReferenceTexts, "of", counting_read)
    reference = Reference(texts, embedder=Counting())
    options = {**OPTIONS, "metrics": ["meaning.precision", "meaning.recall"]}
    seen = []
    for name in ("good", "poor", "good"):
        searched.clear()
        halves.clear()
        reference.compare(generated[name], **options)
        seen.append((len(searched), len(set(searched)), halves.count(True)))
    splits = len(halves)
    # Of each pair one search in the reference and one in the generated set; of each split three
    # comparisons of two halves, with the reference's first half in common
    assert seen[0][2] == splits
    assert [each[2] for each in seen[1:]] == [0, 0]
    assert seen[1][0] == seen[2][0] == 1 + splits
    assert seen[0][0] > seen[1][0]
    assert facts == ["reference"]


def test_the_reference_is_searched_again_for_more_neighbours(sides):
    texts, generated = sides
    reference = Reference(texts, embedder=Counting())
    options = {**OPTIONS, "metrics": "meaning.precision", "floor": False}
    for k in (1, 9, 3):
        plain = calipers.compare(texts, generated, embedder=Counting(), k=k, **options)
        same(reference.compare(generated, k=k, **options), plain)


@pytest.mark.parametrize(
    "change",
    [{"ties": "open"}, {"distance": "cosine"}, {"projection": "union"}, {"normalise": "none"},
     {"seed": 4}, {"level": None}, {"threads": 2}, {"axes": "reference"},
     pytest.param({"floor": True}, marks=pytest.mark.slow),
     pytest.param({"metrics": "support,ot,mmd"}, marks=pytest.mark.slow)],
)  # fmt: skip
def test_what_is_kept_is_not_taken_for_what_other_options_ask_for(sides, change):
    texts, generated = sides
    reference = Reference(texts, embedder=Counting())
    usual = {**OPTIONS, "metrics": ["precision", "recall", "frechet_distance"]}
    reference.compare(generated, **usual)
    asked = {**usual, **change}
    plain = calipers.compare(texts, generated, embedder=Counting(), **asked)
    same(reference.compare(generated, **asked), plain)


def test_clusters_and_vectors_keep_their_numbers(sides):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((3, 130, 4))
    reference = Reference(vectors[0])
    for made in (vectors[1], vectors[2], vectors[1]):
        plain = calipers.compare(vectors[0], made, metrics="precision,recall", threads=1)
        same(reference.compare(made, metrics="precision,recall", threads=1), plain)


def test_options_of_the_reference_hold_in_every_comparison(sides):
    texts, generated = sides
    rows = [{"text": text, "topic": "ab"[row % 2]} for row, text in enumerate(texts)]
    reference = Reference(rows, embedder=Counting(), group="topic", name="human")
    found = reference.compare(generated, **OPTIONS)
    assert found.reference.name == "human"
    assert found.reference.groups == {"a": 30, "b": 30}
    assert found.settings["group"] == "topic"
    with pytest.raises(
        InputError,
        match=r"'human' .*group='topic'.*group='author'",
    ):
        reference.compare(generated, group="author", **OPTIONS)
    with pytest.raises(InputError, match=r"embedder=.*embedder='tfidf'"):
        reference.compare(generated, embedder="tfidf", **OPTIONS)
    with pytest.raises(InputError, match=r"pooling=None.*pooling='mean'"):
        reference.compare(generated, pooling="mean", **OPTIONS)


def test_all_options_of_a_reference_are_options_of_compare():
    known = {each.name for each in dataclasses.fields(CompareOptions)}
    own = {each.name for each in dataclasses.fields(ReferenceOptions)}
    assert own - known == {"name"}
    assert next(iter(inspect.signature(Reference).parameters)) == "samples"
    assert own <= set(inspect.signature(Reference).parameters)
    with pytest.raises(TypeError, match=r"Reference\(\): unknown option 'metrics'; "):
        Reference(["a"], metrics="recall")


def test_a_reference_is_frozen_and_has_a_short_repr(sides):
    reference = Reference(sides[0], embedder=Counting(), name="human")
    assert repr(reference) == "<Reference 'human' of 60 texts by 'counting'>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        reference.samples = None
    with pytest.raises(InputError, match=r"^reference: .*one set .*dict"):
        Reference({"a": ["x"], "b": ["y"]})
    with pytest.raises(InputError, match="tfidf"):
        Reference(sides[0], embedder="tfidff")


def test_other_functions_take_a_reference_for_its_samples(sides):
    texts, generated = sides
    reference = Reference(texts, embedder=Counting(), name="human")
    measured = calipers.measure_texts(generated, reference=reference, metrics="distinct")
    assert measured.reference.n == 60
    agreed = calipers.agree(
        reference, generated, embedders=[Counting()], metrics="precision", cache=False
    )
    assert agreed.reference.name == "human"
    vectors = Reference(np.eye(8))
    assert vectors.compare(np.eye(8), k=1, metrics="precision")["generated"]["precision"] == 1


# Embeddings made beforehand ----------------------------------------------------------------------


def embedded(texts, model=None):
    return calipers.embed(texts, model or Counting())


def test_embeddings_made_beforehand_give_the_scores_of_the_texts(sides):
    texts, generated = sides
    plain = calipers.compare(texts, generated, embedder=Counting(), **OPTIONS)
    made = {name: embedded(each) for name, each in generated.items()}
    found = calipers.compare(embedded(texts), made, **OPTIONS)
    assert (found.settings["views"], found.settings["embedder"]) == (
        ["meaning", "form"],
        "counting",
    )
    for system in plain:
        assert found[system.name].scores.keys() == system.scores.keys()
        for key, score in system.scores.items():
            other = found[system.name][key]
            assert (other, other.interval) == (score, score.interval)
    held = Reference(embedded(texts)).compare(made, **OPTIONS)
    same(held, found)


def test_an_embedder_may_go_by_its_name():
    made = calipers.embed(np.zeros((2, 4, 4), np.uint8), "pixels")
    assert (len(made), made.signature["embedder"]) == (2, "pixels")


def test_what_embed_gave_is_taken_with_its_vectors(sides):
    texts, generated = sides
    made = embed(generated["poor"], embedder=Counting(), cache=False)
    found = calipers.compare(embedded(texts), made, **OPTIONS)
    assert found.settings["views"] == ["meaning", "form"]
    cut = calipers.compare(embedded(texts), made, max_samples=30, **OPTIONS)
    assert (cut.reference.n, cut.reference.n_given) == (30, 60)


def test_embeddings_of_different_making_are_refused(sides):
    texts, generated = sides
    other = Counting()
    other.signature = {**Counting.signature, "embedder": "other"}
    poor = generated["poor"]
    with pytest.raises(
        InputError,
        match=r"^generated: .*reference: embedder other, not counting",
    ):
        calipers.compare(embedded(texts), embedded(poor, other), **OPTIONS)
    with pytest.raises(InputError, match=r"^generated: .* unknown, not coun"):
        calipers.compare(embedded(texts), embedded(poor).views["meaning"], **OPTIONS)
    with pytest.raises(InputError, match=r"reference .*texts .*'generated' .*vectors"):
        calipers.compare(texts, embedded(poor), embedder=Counting(), **OPTIONS)
    device = Counting()
    device.signature = {**Counting.signature, "device": "cuda"}
    assert len(calipers.compare(embedded(texts), embedded(poor, device), **OPTIONS)) == 1
    views = {"meaning": np.ones((3, 2)), "form": np.ones((4, 2))}
    with pytest.raises(InputError, match=r"^reference: all views"):
        Reference(Embeddings(views, {})).compare(texts)


# Every form of samples reaches every function ----------------------------------------------------


def frames(texts):
    pandas = need("pandas")
    return pandas.DataFrame({"id": range(len(texts)), "completion": texts})


def columns(texts):
    return frames(texts)["completion"]


def datasets(texts):
    return need("datasets").Dataset.from_dict({"completion": texts, "n": texts})


def dicts(texts):
    return [{"completion": text, "n": 1} for text in texts]


@pytest.mark.parametrize("form", [frames, columns, datasets, dicts])
def test_every_function_reads_what_a_person_holds(sides, form):
    texts, generated = sides
    plain = calipers.compare(texts, generated, embedder=Counting(), **OPTIONS)
    held = {name: form(each) for name, each in generated.items()}
    more = {"embedder": Counting(), "cache": False}
    found = calipers.compare(form(texts), held, embedder=Counting(), **OPTIONS)
    assert {each.name: each.scores for each in found} == {each.name: each.scores for each in plain}
    assert found.reference.field == (None if form is columns else "completion")
    assert len(calipers.overlap(held, **more)["meaning"].names) == 2
    assert calipers.sweep(form(texts), held, values=[1, 2], metrics="recall", **more).over == "k"
    assert calipers.probe(form(texts), changes="word_shuffle", **more).samples.n == 60
    assert len(calipers.measure_texts(held, reference=form(texts), metrics="distinct")) == 2
    assert len(embed(form(texts), **more).samples) == 60


def test_the_splits_of_a_dataset_are_systems(sides):
    texts, generated = sides
    library = need("datasets")
    splits = library.DatasetDict({name: datasets(each) for name, each in generated.items()})
    found = calipers.compare(texts, splits, embedder=Counting(), **OPTIONS)
    assert [system.name for system in found] == ["good", "poor"]
    with pytest.raises(InputError, match=r"^reference: .*DatasetDict of 'good' a"):
        calipers.compare(splits, texts, embedder=Counting(), **OPTIONS)


# The axes of the reference alone -----------------------------------------------------------------


def test_the_axes_of_the_reference_are_the_same_for_every_generated_set(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3, 130, 6)) * [5, 3, 1, 1, 0.2, 0.1]
    rows[1, :, 5] += 9  # beside all axes of the reference
    made, moments = [], Moments.of

    def counting(points, **options):
        made.append(points.tobytes())
        return moments(points, **options)

    monkeypatch.setattr(Moments, "of", counting)
    options = {"metrics": "frechet_distance,mauve", "threads": 1, "axes": "reference"}
    plain = [calipers.compare(rows[0], own, **options) for own in rows[1:]]
    made.clear()
    reference = Reference(rows[0])
    for own, expected in zip(rows[1:], plain, strict=True):
        found = reference.compare(own, floor=None, **options)
        same(found, expected)
    seen = [on_reference_axes(rows[0], own, norm="none") for own in rows[1:]]
    assert made.count(seen[0].reference.tobytes()) == 1
    assert [made.count(each.generated.tobytes()) for each in seen] == [1, 1]
    np.testing.assert_array_equal(seen[0].reference, seen[1].reference)
    # By hand: the centred rows times the leading eigenvectors, up to the sign of each axis
    centred = rows[0] - rows[0].mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred)
    count = int(np.searchsorted(np.cumsum(variances[::-1]) / variances.sum(), 0.9)) + 1
    expected = (rows[1] - rows[0].mean(axis=0)) @ axes[:, ::-1][:, :count]
    np.testing.assert_allclose(np.abs(seen[0].generated), np.abs(expected), atol=1e-4)
    assert "axes:reference" in found["generated"]["frechet_distance"].signature
    usual = calipers.compare(*rows[:2], metrics="mauve")
    assert "axes:reference" not in usual["generated"]["mauve"].signature


def test_axes_of_the_reference_are_refused_beside_those_of_several_sets(sides):
    texts, generated = sides
    for more, said in (({"shared": True}, "shared=True"), ({"projection": "union"}, "projection=")):
        with pytest.raises(InputError, match=rf"^axes='reference' .*{said}"):
            calipers.compare(
                texts, generated, embedder=Counting(), axes="reference", **more, **OPTIONS
            )
    with pytest.raises(InputError, match=r"axes"):
        calipers.compare(texts, generated, embedder=Counting(), axes="generated", **OPTIONS)
