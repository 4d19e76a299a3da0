"""Clusters along the whole road: what they change, what they leave, and what a person is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.catalogue.choosing import choose
from calipers.catalogue.settings import Settings
from calipers.errors import InputError
from calipers.evaluate.embedding import embed_sides, open_embedder
from calipers.evaluate.inputs import comparison_inputs
from calipers.evaluate.scoring import score_pair
from calipers.options.comparison import CompareOptions
from calipers.options.inputs import Labels
from calipers.progress import Silent
from calipers.report.render.text import plain
from calipers.samples import SampleSet, System

METRICS = "precision recall coverage mauve_star frechet_distance realism"


def drawn(seed, count=50, each=6, shift=0.0, *, name="x", labelled=True, start=0, share=0.7):
    """So many rows of each prompt, which explains most of their variance."""
    rng = np.random.default_rng([seed, count, each])
    prompts = np.repeat(rng.standard_normal((count, 5)), each, axis=0)
    rows = np.sqrt(share) * prompts + np.sqrt(1 - share) * rng.standard_normal(prompts.shape)
    samples = SampleSet.from_vectors(rows + shift, name=name)
    labels = [f"{name} {start + row // each}" for row in range(len(rows))]
    return samples.with_clusters(labels) if labelled else samples


def compare(reference, generated, **options):
    options = {"metrics": METRICS, "floor": False, "cache": False, "threads": 1} | options
    return calipers.compare(reference, generated, **options)


def values(found):
    """All scores but the area, which is that of one random row of each cluster, as tested."""
    return {
        s.name: {key: each.value for key, each in s.scores.items() if key != "classifier_auc"}
        for s in found
    }


def ends(found):
    return {s.name: {key: each.interval for key, each in s.scores.items()} for s in found}


@pytest.fixture(scope="module")
def sides():
    return drawn(0, name="human"), {"a": drawn(1, shift=0.3, name="a"), "b": drawn(2, name="b")}


@pytest.mark.slow
def test_intervals_grow_and_scores_stay(sides, tmp_path):
    by_row, by_cluster = compare(*sides), compare(*sides, cluster="prompt")
    assert values(by_row) == values(by_cluster)
    for each in (by_row, by_cluster):
        for test in each.tests:
            if test.score == "classifier_auc":
                assert test.difference == each[test.a]["classifier_auc"].value
    for system in by_cluster:
        for key in ("recall", "mauve_star", "frechet_distance"):
            ours, theirs = system[key].standard_error, by_row[system.name][key].standard_error
            assert ours > 1.2 * theirs, key
    assert by_cluster.settings["cluster"] == "prompt"
    assert by_row.settings["cluster"] is None
    assert [s[key].signature for s in by_row for key in s.scores if key != "classifier_auc"] == [
        s[key].signature for s in by_cluster for key in s.scores if key != "classifier_auc"
    ]
    assert [each.summary.clusters for each in by_cluster] == [50, 50]
    assert by_cluster.reference.clusters == 50
    assert by_row.reference.clusters is None
    by_cluster.save(tmp_path / "run.zip")
    kept = calipers.Comparison.load(tmp_path / "run.zip")
    assert kept.reference.clusters == 50
    told = (
        "clusters by 'prompt' (`cluster`), which count as drawn together: 50 of 300 samples in the "
        "reference, 50 of 300 samples in b, 50 of 300 samples in a; tests against the reference"
    )
    assert told in " ".join(plain(kept.document(details=True)).split())
    assert "clusters by prompt" in str(kept)
    assert "clusters by" not in str(by_row)


@pytest.mark.slow
def test_sets_without_the_field_have_a_cluster_for_each_row(sides):
    reference = drawn(0, name="human", labelled=False)
    own = reference.with_clusters([f"row {row}" for row in range(300)])
    bare, given = (compare(each, sides[1], cluster="prompt") for each in (reference, own))
    assert ends(bare) == ends(given)
    note = "no field 'prompt' in the reference: every sample counts as independent there"
    assert any(each.startswith(note) for each in bare.warnings)
    assert not any(each.startswith("no field") for each in given.warnings)


@pytest.mark.slow
def test_clusters_of_one_row_change_nothing():
    reference, one, two = (drawn(s, 130, 1, 0.2 * s, name=f"s{s}") for s in range(3))
    sides = reference, {"one": one, "two": two}
    by_row = compare(*sides, floor=True, advice=True)
    by_cluster = compare(*sides, floor=True, advice=True, cluster="doc")
    assert ends(by_row) == ends(by_cluster)
    assert [replace(test, signature="") for test in by_row.tests] == [
        replace(test, signature="") for test in by_cluster.tests
    ]
    assert repr(by_row.advice) == repr(by_cluster.advice)
    assert [s[key].floor for s in by_row for key in s.scores] == [
        s[key].floor for s in by_cluster for key in s.scores
    ]


@pytest.mark.slow
def test_names_of_clusters_decide_nothing(sides):
    def renamed(samples):
        return samples.with_clusters([each[::-1] for each in samples.clusters.tolist()])

    other = renamed(sides[0]), {name: renamed(each) for name, each in sides[1].items()}
    found, again = (compare(*each, cluster="x", floor=True) for each in (sides, other))
    assert ends(found) == ends(again)
    assert found.tests == again.tests


def test_no_set_has_the_field(sides):
    bare = drawn(0, labelled=False), {"a": drawn(1, labelled=False)}
    with pytest.raises(InputError, match="cluster 'promt'"):
        compare(*bare, cluster="promt")
    for wrong in (" ", 3):
        with pytest.raises(InputError, match=r"cluster .*name a field; found"):
            compare(*sides, cluster=wrong)


@pytest.mark.slow
def test_too_few_clusters_for_any_interval(sides):
    found = compare(sides[0], {"few": drawn(3, 15, 20, name="few"), **sides[1]}, cluster="doc")
    assert {score.interval for score in found["few"].scores.values()} == {None}
    assert all(score.interval for score in found["a"].scores.values())
    assert ends(found)["a"] == ends(compare(*sides, cluster="doc"))["a"]
    assert (
        "few: too few clusters by 'doc' for intervals and for tests between systems: 15, of 20 "
        "(10 blocks of 2)" in found.warnings
    )


def test_ten_blocks_where_clusters_are_few(sides):
    found = compare(sides[0], {"a": drawn(3, 25, 12, name="a"), "b": sides[1]["b"]}, cluster="d")
    every = [score for system in found for score in system.scores.values()]
    assert all(score.interval for score in every)
    between = [test for test in found.tests if test.b == "b"]
    assert between
    assert all(np.isfinite(test.adjusted_p_value) for test in between)


def test_one_space_for_all_systems_and_several_files(sides):
    seeds = System("a", (drawn(3, 25, 12, name="a1"), drawn(4, 25, 12, name="a2")))
    for reference in (sides[0], drawn(0, 15, 20, name="human")):
        found = compare(reference, (seeds, System("b", (sides[1]["b"],))), cluster="d", shared=True)
        known = {bool(each.interval) for system in found for each in system.scores.values()}
        assert known == {len(set(reference.clusters.tolist())) >= 20}


def test_copies_of_the_training_set_by_cluster():
    train = drawn(8, labelled=False)
    rows = np.concatenate([np.tile(train.vectors[:10], (6, 1)), drawn(9).vectors[60:]])
    labels = [f"{row % 10}" for row in range(60)] + [f"{row // 6}" for row in range(60, 300)]
    copied = SampleSet.from_vectors(rows, name="x").with_clusters(labels)
    sides = drawn(0, name="human"), {"x": copied}
    by_row, by_cluster = (
        compare(*sides, train=train, cluster=each)["x"]["near_copies:train"]
        for each in (None, "doc")
    )
    assert by_cluster.value == by_row.value
    assert by_cluster.standard_error > 1.5 * by_row.standard_error


def against_reference(sides, *, clusters):
    inputs = comparison_inputs(
        *sides,
        CompareOptions(),
        keep_sizes=True,
        seed=0,
        labels=Labels(cluster="prompt" if clusters else None),
    )
    model = open_embedder(CompareOptions(), inputs.sets)
    embedded = embed_sides(inputs, model, None, Silent())
    both = inputs.reference.clusters, inputs.systems[0].files[0].clusters
    return score_pair(
        embedded.reference,
        embedded.systems[0][0],
        choose(["precision"], model.views),
        Settings(threads=1),
        reference_hash="x",
        level=0.95,
        permutations=199,
        clusters=both if clusters else None,
    ).tests


@pytest.mark.slow
def test_tests_against_the_reference_take_one_row_of_each_cluster():
    found = {True: [], False: []}
    for seed in range(12):
        sides = drawn(seed, 40, 10, name="human"), {"a": drawn(100 + seed, 40, 10, name="a")}
        for clusters, made in found.items():
            made.append(against_reference(sides, clusters=clusters))
    for test in found[True][0].values():
        assert "|n:40|m:40|" in test.signature
        assert test.signature.endswith("|rows:one_of_each_cluster")
    for name in ("mmd", "classifier_auc"):
        by_row, by_cluster = (
            sum(each[name].p_value <= 0.05 for each in found[which]) for which in (False, True)
        )
        assert by_row >= 10, name  # equal distributions, yet nearly always called different
        assert by_cluster <= 2, name


WARNED = "several samples answer one prompt ("


def prompted(rng, n, prompts, name="x"):
    return replace(
        SampleSet.from_vectors(rng.standard_normal((n, 3)), name=name),
        prompts=SampleSet.from_texts(["x"] * n, name="y", prompts=prompts).prompts,
    )


def repeats(found):
    return [each for each in found.warnings if each.startswith(WARNED)]


def test_prompts_that_repeat_are_told_where_no_cluster_was_given(rng):
    many = prompted(rng, 120, [f"prompt {row // 4}" for row in range(120)])
    (told,) = repeats(compare(many, {"a": many}, metrics="precision"))
    assert told.startswith(f"{WARNED}120 samples of 30 in the reference, 120 samples of 30 in a)")
    assert "`cluster='prompt'`" in told
    taken = compare(many, {"a": many}, metrics="precision", cluster="prompt")
    assert not repeats(taken)
    assert taken.reference.clusters == 30
    assert not repeats(compare(many, {"a": many}, metrics="precision", level=None))


def test_an_empty_prompt_is_none(rng):
    bare, known = prompted(rng, 120, [""] * 120), prompted(rng, 120, list("abc") * 40)
    found = compare(known, {"a": bare}, metrics="precision", cluster="prompt")
    assert any(each.startswith("no field 'prompt' in a:") for each in found.warnings)
    assert not repeats(compare(bare, {"a": bare}, metrics="precision"))


@pytest.mark.parametrize("of", [lambda row: "one for all", str, lambda row: str(max(row, 4))])
def test_other_prompts_are_not(rng, of):
    samples = prompted(rng, 120, [of(row) for row in range(120)])
    assert not repeats(compare(samples, {"a": samples}, metrics="precision"))


class Lengths:
    """An embedder that looks at how long texts are."""

    name, views, identity = "lengths", ("meaning",), "lengths"
    signature, view_signature = {"embedder": "lengths"}, {}

    def embed(self, items):
        from calipers.embedders import EncodedBatch

        rows = np.array([[len(item), item.count("a") + 1.0] for item in items], np.float32)
        return EncodedBatch({"meaning": rows}, np.zeros(len(items), bool))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "known"), [(40, True), (30, False)])
def test_statistics_of_texts_by_clusters(rng, count, known):
    def texts(name):
        words = np.repeat(rng.integers(5, 40, count), 5) + rng.integers(0, 4, 5 * count)
        labels = [f"{name} {row // 5}" for row in range(5 * count)]
        written = [" ".join(rng.choice(["a", "b", "cat"], n)) for n in words]
        return SampleSet.from_texts(written, name=name, clusters=labels)

    sides = texts("human"), {"x": texts("x")}
    keys = ["precision", "text.mean_length", "text.distinct", "text.vendi", "text.near_duplicates"]
    options = {"embedder": Lengths(), "metrics": keys}
    by_row, by_cluster = (compare(*sides, **options, cluster=each) for each in (None, "prompt"))
    length = by_cluster["x"]["text.mean_length"]
    assert by_row["x"]["text.mean_length"].interval
    warned = [each for each in by_cluster.warnings if each.startswith("no intervals for stat")]
    assert bool(length.interval) == known
    assert bool(warned) != known
    if known:
        assert length.standard_error > 1.5 * by_row["x"]["text.mean_length"].standard_error
