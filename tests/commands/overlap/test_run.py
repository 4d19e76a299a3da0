"""The whole road of an overlap: hand-made sets, parity with one pair at a time, laws, bad input."""

from __future__ import annotations

import json
from contextlib import contextmanager
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.commands.overlap import run as overlap_pairs
from calipers.embedders import EncodedBatch
from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.metrics import precision_recall
from calipers.samples import SampleSet, System

QUIET = {"cache": False, "threads": 1}


def overlap(systems, **options):
    return calipers.overlap(systems, **(QUIET | options))


def arc(rng, start, end, n=150, spread=0.01):
    """Points on an arc of the circle, so that scaling to length one leaves them as they are."""
    angle = rng.uniform(start, end, n)
    return np.stack([np.cos(angle), np.sin(angle)], 1) + rng.normal(0, spread, (n, 2))


@pytest.fixture
def arcs(rng):
    return {
        "whole": arc(rng, 0.0, 3.0),
        "part": arc(rng, 0.5, 1.5),
        "shifted": arc(rng, 1.0, 4.0),
        "apart": arc(rng, 4.7, 5.7),
        "again": arc(rng, 0.0, 3.0),
    }


def one_way(reference, generated, k=4, ties="closed"):
    rows = preprocess(reference, generated, norm="none", pca=None)
    scores = precision_recall(rows.reference, rows.generated, k=k, ties=ties)
    return scores.precision.value, scores.recall.value


def test_every_cell_is_the_precision_and_recall_of_its_pair(arcs):
    (view,) = overlap(arcs)
    assert view.names == tuple(arcs)
    sets = list(arcs.values())
    for i, j in permutations(range(len(sets)), 2):
        expected = one_way(sets[i], sets[j])
        assert (view.precision[i, j], view.recall[i, j]) == pytest.approx(expected, abs=1e-12)


def test_the_words_of_hand_made_sets(arcs):
    words = {(r.a, r.b): r.relation for r in overlap(arcs).relations}
    assert len(words) == 10
    assert words["whole", "part"] == "b_within_a"
    assert words["part", "again"] == "a_within_b"
    assert words["whole", "shifted"] == "overlap_in_part"
    assert words["whole", "again"] == "cover_each_other"
    assert words["whole", "apart"] == words["part", "apart"] == "disjoint"


def at(*degrees):
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def test_an_example_by_hand():
    # With k = 1 every ball reaches 10 degrees to both sides. Of b, 5 and 15 lie inside a ball of a;
    # of a, 0, 10 and 20 lie inside a ball of b, and 30 and the three far ones do not.
    systems = {"a": at(0, 10, 20, 30, 120, 130, 140), "b": at(5, 15, 240, 250)}
    view = overlap(systems, k=1, keep_sizes=True)["precomputed"]
    assert view.precision[0, 1] == view.recall[1, 0] == 2 / 4
    assert view.recall[0, 1] == view.precision[1, 0] == 3 / 7
    assert view.relations[0].sentence == (
        "a and b overlap in part: 50 % of b lies inside a, 43 % of a inside b"
    )


def test_equal_sets_cover_each_other_and_are_told(arcs):
    found = overlap({"a": arcs["whole"], "b": arcs["whole"].copy()})
    assert found["precomputed"].precision[0, 1] == found["precomputed"].recall[0, 1] == 1.0
    assert found.relations[0].relation == "cover_each_other"
    assert "a and b hold exactly the same samples" in found.warnings


def test_the_recall_is_the_precision_of_the_swapped_pair(arcs):
    view = overlap(arcs)["precomputed"]
    np.testing.assert_array_equal(view.recall, view.precision.T)
    a, b = arcs["whole"], arcs["shifted"]
    assert one_way(a, b) == one_way(b, a)[::-1]
    assert view.precision[0, 2] != view.recall[0, 2]


def test_each_pair_is_measured_once(arcs, monkeypatch):
    calls = []
    inner = overlap_pairs.neighbourhoods
    monkeypatch.setattr(
        overlap_pairs, "neighbourhoods", lambda *x, **o: calls.append(1) or inner(*x, **o)
    )
    systems = {"a": seeds(arcs, "whole", "again"), "b": arcs["part"], "c": arcs["apart"]}
    steps = []
    overlap(systems, progress=Watch(steps))
    assert len(calls) == 1 + 2 + 2 + 1
    assert steps == [("Comparing pairs", 6)] + ["step"] * 6


class Watch:
    def __init__(self, steps):
        self.steps = steps

    @contextmanager
    def task(self, description, total):
        self.steps.append((description, total))
        yield lambda n: self.steps.append("step")


@given(order=st.permutations(["whole", "part", "shifted", "apart"]))
@settings(max_examples=6)
def test_the_order_of_the_systems_moves_no_digit(order):
    sets = dict(zip(order, order, strict=True))
    rng = np.random.default_rng(1)
    arcs = {name: rng.normal(i, 1.5, (40, 7)) for i, name in enumerate(sorted(sets))}
    base, moved = (
        overlap({name: arcs[name] for name in names})["precomputed"]
        for names in (sorted(sets), order)
    )
    place = [order.index(name) for name in sorted(sets)]
    np.testing.assert_array_equal(base.precision, moved.precision[np.ix_(place, place)])


def seeds(arcs, *names):
    return [SampleSet.from_vectors(arcs[name], name=name, source=name) for name in names]


def test_seed_files_give_mean_spread_and_ceiling(rng, arcs):
    whole = [arc(rng, 0.0, 3.0, spread=0.05) for _ in range(3)]
    part = [arc(rng, 0.5, 1.5, spread=0.05) for _ in range(2)]
    found = overlap(
        {
            "whole": [SampleSet.from_vectors(x, name=f"w{i}") for i, x in enumerate(whole)],
            "part": [SampleSet.from_vectors(x, name=f"p{i}") for i, x in enumerate(part)],
            "alone": arcs["apart"],
        }
    )
    view = found["precomputed"]
    across = np.array([one_way(x, y) for x, y in product(whole, part)])
    assert view.precision[0, 1] == pytest.approx(across[:, 0].mean())
    assert view.recall[0, 1] == pytest.approx(across[:, 1].mean())
    assert view.precision_sd[0, 1] == pytest.approx(across[:, 0].std(ddof=1))
    assert view.recall_sd[0, 1] == view.precision_sd[1, 0]
    within = np.array([one_way(x, y) for x, y in combinations(whole, 2)]).ravel()
    assert view.precision[0, 0] == view.recall[0, 0] == pytest.approx(within.mean())
    assert view.precision_sd[0, 0] == pytest.approx(within.std(ddof=1))
    assert np.isnan(view.precision_sd[1, 1])
    assert np.isnan(view.precision[2, 2])
    assert view.file_pairs.tolist() == [[3, 6, 3], [6, 1, 2], [3, 2, 0]]
    assert "file_pairs:6" in view.signatures[0][1]
    assert view.relations[0].b_in_a.ceiling == view.precision[0, 0]
    assert [len(system.files) for system in found.systems] == [3, 2, 1]


def test_the_order_of_systems_with_seeds_moves_no_digit(rng):
    def files(name, count):
        return [SampleSet.from_vectors(rng.normal(size=(60, 5)), name=name) for _ in range(count)]

    a, b = files("a", 3), files("b", 4)
    one, other = overlap({"a": a, "b": b}), overlap({"b": b, "a": a})
    for name in ("precision", "recall", "precision_sd", "recall_sd"):
        forth, back = (getattr(x["precomputed"], name) for x in (one, other))
        np.testing.assert_array_equal(forth, back[::-1, ::-1])


def test_all_files_are_cut_to_the_smallest(rng):
    systems = {"a": rng.normal(size=(120, 3)), "b": rng.normal(size=(90, 3))}
    found = overlap(systems)
    assert [(s.summary.n, s.summary.n_given) for s in found.systems] == [(90, 120), (90, 90)]
    assert "all sets cut to 90, the smallest (b)" in str(found)
    kept = overlap(systems, keep_sizes=True)
    assert [s.summary.n for s in kept.systems] == [120, 90]
    assert any("90 to 120 samples" in warning for warning in kept.warnings)
    assert "n:120|m:90" in kept["precomputed"].signatures[0][1]
    small = overlap(systems, max_samples=50)
    assert [s.summary.n for s in small.systems] == [50, 50]
    assert "larger sets cut to 50 (`max_samples`)" in str(small)


def test_options_reach_the_estimate(rng):
    grid = rng.integers(0, 4, (80, 3)) + 0.5
    other = rng.integers(0, 4, (80, 3)) + 0.5
    for ties in ("closed", "open"):
        view = overlap({"a": grid, "b": other}, k=2, ties=ties)["precomputed"]
        assert view.precision[0, 1] == pytest.approx(one_way(grid, other, 2, ties)[0])
    cosine = overlap({"a": grid, "b": other}, distance="cosine")["precomputed"]
    assert "distance:cosine" in cosine.signatures[0][1]


class Letters:
    """A stand-in for a model: one view counts letters, the other pairs of letters."""

    name = "letters"
    views = ("meaning", "form")
    identity = "letters-1"
    signature = {"embedder": "letters"}  # noqa: RUF012
    view_signature = {"meaning": "letters", "form": "pairs"}  # noqa: RUF012

    def embed(self, texts):
        def counts(parts):
            rows = [[text.count(part) + 0.1 for part in parts] for text in texts]
            return np.array(rows, np.float32)

        views = {"meaning": counts("abcde"), "form": counts(("ab", "bc", "cd", "de", "ea"))}
        return EncodedBatch(views, np.array([len(text) > 30 for text in texts]))


def texts(rng, letters, n=120, length=20):
    return ["".join(rng.choice(list(letters), length)) for _ in range(n)]


def test_texts_are_compared_in_every_view_as_compare_does(rng):
    systems = {"a": texts(rng, "abcde"), "b": texts(rng, "abc"), "c": texts(rng, "abd")}
    found = overlap(systems, embedder=Letters())
    assert list(found.views) == ["meaning", "form"]
    compared = calipers.compare(
        systems["a"], {"b": systems["b"]}, embedder=Letters(), metrics="precision,recall", **QUIET
    )["b"]
    for prefix, view in (("", found["meaning"]), ("form.", found["form"])):
        assert view.precision[0, 1] == pytest.approx(compared[f"{prefix}precision"].value, abs=0.01)
        assert view.recall[0, 1] == pytest.approx(compared[f"{prefix}recall"].value, abs=0.01)
    with pytest.raises(InputError, match="did you mean 'form'"):
        found["from"]


def test_different_lengths_and_cut_texts_are_told(rng):
    systems = {"short": ["a b"] * 50, "long": ["a b c d e f a b c d e f a b c d e f"] * 50}
    found = overlap(systems, embedder=Letters())
    assert any("the texts of long have 18 words in the median" in w for w in found.warnings)
    assert found.systems[1].summary.warnings == (
        "50 of 50 texts were cut at the embedder's most tokens",
    )
    assert any("50 samples are few" in warning for warning in found.warnings)


def test_the_result_is_strict_json(arcs):
    found = overlap({"a": seeds(arcs, "whole", "again"), "b": arcs["part"]})
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    view = data["views"]["precomputed"]
    assert view["precision"][1][1] is None
    assert view["recall"][0][1] == view["precision"][1][0] == found["precomputed"].precision[1, 0]
    assert view["relations"][0]["relation"] == "b_within_a"
    assert data["limits"] == {"nearly_all": 0.9, "nearly_none": 0.1}
    assert repr(found) == "<Overlap of 'a', 'b'>"
    assert len(found) == 1


X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({}, {}, "at least 2 systems; found none"),
        ([], {}, "at least 2 systems; found none"),
        ({"a": X}, {}, "at least 2 systems; found 'a'"),
        (System("a", (SampleSet.from_vectors(X, name="a"),)), {}, "found 'a'"),
        ([X, X], {}, "dict from name to samples.* list"),
        ("a.npy", {}, "dict from name to samples.* str"),
        (X, {}, "dict from name to samples.* ndarray"),
        ({1: X, "1": X}, {}, "two systems are named '1'"),
        ({"": X, "b": X}, {}, "a system needs a name"),
        ({"a": X, "b": ["one", "two"]}, {}, "'a' holds vectors and 'b' holds texts"),
        ({"a": X, "b": X[:4]}, {}, "b: k = 4 .*5 samples .* 4"),
        ({"a": X, "b": X}, {"max_samples": 3}, "at least 5 samples.*it has 12, cut to 3"),
        ({"a": X, "b": X[:, :2]}, {}, "b: embeddings .*as many columns.*3.* 2"),
        ({"a": X, "b": "nowhere.jsonl"}, {}, "nowhere.jsonl: there is no such file"),
        ({"a": X, "b": X * np.nan}, {}, "b: "),
        ({"a": X, "b": X}, {"k": 0}, "k .*at least 1.* 0"),
        ({"a": X, "b": X}, {"ties": "half"}, "ties .*closed or open.* 'half'"),
        ({"a": X, "b": X}, {"distance": "cosin"}, "distance .*euclidean or cosine.* 'cosin'"),
        ({"a": X, "b": X}, {"seed": -1}, "seed must be"),
        ({"a": X, "b": X}, {"max_samples": 1}, "max_samples must be"),
        ({"a": X, "b": X}, {"threads": 0}, "threads must be"),
        ({"a": ["x"] * 9, "b": ["y"] * 9}, {"embedder": "minilmm"}, "did you mean 'minilm'"),
    ],
)
def test_bad_input(systems, options, message):
    with pytest.raises(InputError, match=message):
        overlap(systems, **options)


def test_an_error_within_a_pair_names_its_sets(monkeypatch):
    def refuse(*sets, **options):
        raise InputError("the reference set has a row of zeros")

    monkeypatch.setattr(overlap_pairs, "neighbourhoods", refuse)
    with pytest.raises(InputError, match=r"^[ab] \(as reference\) and [ab] \(as generated\)"):
        overlap({"a": X, "b": X + 1})


def test_seeds_that_hardly_overlap_are_no_ceiling(rng, arcs):
    found = overlap({"torn": seeds(arcs, "part", "apart"), "whole": arcs["whole"]})
    assert any("torn: only 0 % of its files" in warning for warning in found.warnings)


def test_duplicates_and_constant_rows_do_not_break_it():
    same = np.ones((10, 3))
    view = overlap({"a": same, "b": same * 2.0}, normalise="l2")["precomputed"]
    assert view.precision[0, 1] == 1.0
    assert overlap({"a": same, "b": same * 2.0})["precomputed"].precision[0, 1] == 0.0
