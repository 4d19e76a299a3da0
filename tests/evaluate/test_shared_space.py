"""Systems of a run in one space: one projection, one set of cells, and what that means."""

from __future__ import annotations

import numpy as np
import pytest

import calipers
from calipers.estimate.shared_cells import shared_quantise, shared_space
from calipers.report.render.text import plain

KEYS = "recall,mauve,mauve_star,frontier_integral:knn,prd_f8"


@pytest.fixture
def reference(rng):
    return rng.standard_normal((140, 6))


@pytest.fixture
def systems(rng):
    return {"near": rng.standard_normal((120, 6)), "far": rng.standard_normal((120, 6)) + 1}


def compare(reference, systems, **options):
    chosen = {"metrics": KEYS, "buckets": 9, "threads": 1} | options
    return calipers.compare(reference, systems, **chosen)


def _hashes(given):
    files = given if isinstance(given, list) else [calipers.SampleSet.from_vectors(given, name="x")]
    return [file.content_hash for file in files]


def values(found, name):
    return {key: score.value for key, score in found[name].scores.items()}


@pytest.mark.slow
def test_scores_rest_on_the_shared_rows_and_cells(reference, systems):
    found = compare(reference, systems, shared=True, seed=3)
    names = sorted(systems, key=lambda name: found[name].summary.content_hash)
    space = shared_space(reference, [systems[name] for name in names], norm="none", pca=0.9)
    cells = shared_quantise(space.reference, space.systems, buckets=9, seed=3)
    for place, name in enumerate(names):
        frontier = calipers.divergence_frontier(cells[place].best)
        assert found[name]["mauve"].value == frontier.area(5.0)
        support = calipers.metrics.precision_recall(space.reference, space.systems[place])
        union = compare(reference, systems, shared=True, seed=3, projection="union")
        assert union[name]["recall"].value == support.recall.value
    every = [score.signature.split("|") for score in union["far"].scores.values()]
    assert len({pin for line in every for pin in line if pin.startswith("scope:run(")}) == 1


def test_neighbours_share_nothing_with_other_systems_unless_they_are_projected(reference, systems):
    names = ("precision", "coverage", "density", "near_copies")
    alone, shared = (
        compare(reference, systems, shared=each, metrics=names)["far"] for each in (False, True)
    )
    for name in names:
        assert shared[name].value == alone[name].value
        assert shared[name].signature == alone[name].signature


@pytest.mark.slow
def test_another_system_changes_the_scores_only_where_they_are_shared(reference, systems, rng):
    third = systems | {"third": rng.standard_normal((120, 6)) * 3}
    alone, more = (compare(reference, each) for each in (systems, third))
    assert values(alone, "far") == values(more, "far")
    frontiers = (alone["far"][name] for name in ("mauve", "mauve_star", "prd_f8"))
    assert all("scope:pair" in score.signature for score in frontiers)
    alone, more = (compare(reference, each, shared=True) for each in (systems, third))
    assert values(alone, "far")["mauve"] != values(more, "far")["mauve"]


@pytest.mark.slow
def test_order_of_the_systems_changes_nothing_and_their_set_is_signed(reference, systems):
    swapped = dict(reversed(systems.items()))
    one, two = (
        compare(reference, each, shared=True, projection="union") for each in (systems, swapped)
    )
    alone = compare(reference, {"far": systems["far"]}, shared=True, projection="union")
    for key, score in one["far"].scores.items():
        assert score.value == two["far"][key].value
        assert score.signature == two["far"][key].signature
        assert score.signature != alone["far"][key].signature


def test_one_system_of_the_same_size_scores_as_a_pair_does(reference, rng):
    one = {"x": rng.standard_normal((140, 6)) + 0.5}
    pair, shared = compare(reference, one), compare(reference, one, shared=True)
    assert values(shared, "x") == pytest.approx(values(pair, "x"), abs=1e-9)


@pytest.mark.slow
def test_files_of_a_system_share_its_weight_and_its_cells(reference, systems, rng):
    rows = rng.standard_normal((2, 120, 6)) * 0.7
    files = [calipers.SampleSet.from_vectors(each, name="s") for each in rows]
    found = compare(reference, systems | {"s": files}, shared=True)
    sets = systems | {"s": np.concatenate(rows)}
    whole = {name: "+".join(_hashes(each)) for name, each in (systems | {"s": files}).items()}
    names = sorted(sets, key=whole.__getitem__)
    space = shared_space(reference, [sets[name] for name in names], norm="none", pca=0.9)
    cells = shared_quantise(space.reference, space.systems, buckets=9)[names.index("s")]
    score = found["s"]["mauve_star"]
    for file, value in enumerate(score.seeds):
        labels = cells.labels[1][file * 120 : (file + 1) * 120]
        counts = np.bincount(labels, minlength=len(cells.best.reference))
        own = calipers.Histograms(cells.best.reference, counts, "krichevsky-trofimov")
        assert value == pytest.approx(calipers.divergence_frontier(own).area(5.0), abs=1e-12)
    assert "m:120" in score.signature.split("|")


@pytest.mark.slow
def test_the_report_says_what_sharing_does(reference, systems):
    found = compare(reference, systems, shared=True)
    assert "one space for all systems" in str(found)
    text = " ".join(plain(found.document(details=True)).split())
    assert "note: all systems share one projection and one set of cells (`shared`)" in text
    assert "adding or removing a system changes the scores of the others" in text
    assert "--shared" not in str(compare(reference, systems))
    assert compare(reference, systems, shared=True).settings["shared"] is True


@pytest.mark.slow
def test_a_training_set_is_still_held_against_each_set_by_itself(reference, systems):
    found = compare(reference, systems, shared=True, train=reference[:60])
    plain = compare(reference, systems, train=reference[:60])
    for name in systems:
        assert found[name]["near_copies:train"].value == plain[name]["near_copies:train"].value
        assert "|pca:none|" in found[name]["near_copies:train"].signature
