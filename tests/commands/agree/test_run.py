"""Agreements: rank correlations, parity with single comparisons, laws, bad input."""

from __future__ import annotations

import json
from contextlib import contextmanager
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import calipers
from calipers.commands.agree.run import _named
from calipers.embedders import Embedder, EmbedderChoice, EncodedBatch
from calipers.errors import InputError
from calipers.evaluate import embedding
from calipers.progress import Silent
from calipers.uncertainty.ties import tie_width

QUIET = {"cache": False, "threads": 1}


class Stub(Embedder):
    """Reads numbers out of texts and multiplies them by a matrix for each view."""

    def __init__(self, name, **views):
        self.name = name
        self.views = tuple(views)
        self.identity = name
        self.signature = {"embedder": name}
        self.calls = 0
        self._matrices = views

    def encode(self, texts):
        self.calls += 1
        rows = np.array([[float(word) for word in text.split()] for text in texts])
        views = {
            view: np.c_[rows @ matrix, np.ones(len(rows))].astype(np.float32)
            for view, matrix in self._matrices.items()
        }
        return EncodedBatch(views, np.zeros(len(texts), bool))


def texts(rng, scale, n=60):
    return [" ".join(f"{x:.4f}" for x in row) for row in rng.normal(0, scale, (n, 3))]


@pytest.fixture
def sets(rng):
    """A reference, and systems that are narrower or wider along some axes."""
    scales = {"a": (1, 1, 1), "b": (0.3, 1, 2), "c": (2, 0.3, 0.3), "d": (0.6, 0.6, 3)}
    generated = {name: texts(rng, scale) for name, scale in scales.items()}
    return texts(rng, (1, 1, 1)), generated


@pytest.fixture
def stubs():
    first, last = np.eye(3)[:, :2], np.eye(3)[:, 1:]
    return [Stub("two", left=first, right=last), Stub("one", all=np.eye(3))]


def agree(reference, generated, embedders, **options):
    return calipers.agree(reference, generated, embedders=embedders, **(QUIET | options))


@pytest.mark.slow
def test_every_score_is_that_of_a_comparison(sets, stubs):
    found = agree(*sets, stubs)
    assert [column.label for column in found.columns] == ["two left", "two right", "one all"]
    assert list(found.metrics) == ["precision", "recall", "coverage", "mauve_star"]
    for stub, offset in zip(stubs, (0, 2), strict=True):
        single = calipers.compare(*sets, embedder=stub, metrics=list(found.metrics), **QUIET)
        for place, view in enumerate(stub.views):
            for metric, each in found.metrics.items():
                key = metric if place == 0 else f"{view}.{metric}"
                for row, system in enumerate(single):
                    score = each.scores[offset + place][row]
                    assert score.value == system.scores[key].value
                    assert score.signature == system.scores[key].signature


@pytest.mark.slow
def test_correlations_are_those_of_the_scores(sets, stubs):
    found = agree(*sets, stubs, metrics="density coverage mauve_star midpoint")
    for each in found:
        assert each.spearman.shape == each.kendall.shape == (3, 3)
        for i, j in permutations(range(3), 2):
            a, b = each.values[i], each.values[j]
            assert each.spearman[i, j] == pytest.approx(stats.spearmanr(a, b).statistic)
            assert each.kendall[i, j] == pytest.approx(stats.kendalltau(a, b).statistic)
            assert each.reasons[i][j] is None


@pytest.mark.slow
def test_a_verdict_that_hangs_on_the_embedder(rng):
    # The reference is wide along the first axis and narrow along the second; b is the other way
    # round, c is wide along both
    reference = texts(rng, (3, 0.1, 1), 200)
    generated = {"a": texts(rng, (3, 3, 1), 200), "b": texts(rng, (0.1, 0.1, 1), 200)}
    first = Stub("first", axis=np.array([[1.0], [0], [0]]))
    second = Stub("second", axis=np.array([[0.0], [1], [0]]))
    found = agree(reference, generated, [first, second], metrics="coverage")
    (pair,) = found["coverage"].pairs
    assert pair.winners == ("a", "b")
    assert found.split == ("coverage",)
    assert found.verdict.startswith("the ranking depends on the embedder")
    assert "a above b by first axis; the reverse by second axis" in str(found)
    alike = agree(reference, generated, [first, Stub("again", axis=np.array([[1.0], [0], [0]]))])
    assert alike.split == ()
    assert alike.verdict.startswith("the ranking does not depend on the embedder")


def test_two_systems_have_no_rank_correlation_and_say_so(sets, stubs):
    reference, generated = sets
    found = agree(reference, {"a": generated["a"], "b": generated["b"]}, stubs)
    each = found["precision"]
    assert np.isnan(each.spearman).all()
    assert np.isnan(each.chance).all()
    assert "at least 3 are needed" in each.reasons[0][1]
    assert each.lowest is None
    assert "note: no rank correlation: ranks of 2 systems cannot correlate" in str(found)
    assert found.to_dict()["metrics"]["precision"]["spearman"] == [[None] * 3] * 3


@pytest.mark.slow
def test_the_order_of_systems_and_embedders_changes_nothing(sets, stubs):
    reference, generated = sets
    usual = agree(reference, generated, stubs)
    turned = agree(reference, dict(reversed(generated.items())), stubs[::-1])
    order = [turned.columns.index(column) for column in usual.columns]
    for metric, each in usual.metrics.items():
        other = turned[metric]
        np.testing.assert_array_equal(other.values[order][:, ::-1], each.values)
        np.testing.assert_allclose(other.spearman[np.ix_(order, order)], each.spearman)
        np.testing.assert_allclose(other.kendall[np.ix_(order, order)], each.kendall)
        split = {frozenset((pair.a, pair.b)) for pair in each.split}
        assert {frozenset((pair.a, pair.b)) for pair in other.split} == split
    assert set(turned.split) == set(usual.split)
    assert turned.verdict == usual.verdict


@pytest.mark.slow
def test_a_further_system_changes_no_score(sets, stubs):
    reference, generated = sets
    fewer = dict(list(generated.items())[:3])
    more, less = agree(reference, generated, stubs), agree(reference, fewer, stubs)
    for metric, each in less.metrics.items():
        np.testing.assert_array_equal(more[metric].values[:, :3], each.values)


def test_settings_sizes_and_limits(sets, stubs):
    found = agree(*sets, stubs, k=2, seed=3, max_samples=40, metrics=["recall", "mauve:chi2"])
    assert list(found.metrics) == ["recall", "mauve:chi2"]
    assert {"k": 2, "seed": 3, "max_samples": 40}.items() <= found.settings.items()
    assert found.settings["embedders"]["two"] == {"views": ["left", "right"], "embedder": "two"}
    assert found.reference.n == found.systems[0].n == 40
    assert found.reference.n_given == 60
    assert found.tie == tie_width(40)
    assert found.rarely_reached == 1.0
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["columns"][0] == {"embedder": "two", "view": "left", "label": "two left"}
    assert data["metrics"]["recall"]["scores"][0]["a"]["value"] == found["recall"].values[0, 0]


@pytest.mark.slow
def test_warnings_say_whose_they_are(sets, stubs):
    class Cutting(Stub):
        def encode(self, samples):
            batch = super().encode(samples)
            return EncodedBatch(batch.views, np.array([text in sets[1]["a"] for text in samples]))

    found = agree(*sets, [*stubs, Cutting("cutting", all=np.eye(3))])
    assert any(text.startswith("cutting: a: 60 of 60 texts were cut") for text in found.warnings)
    assert _named("tfidf", "a: ", "tfidf knows half") == "a: tfidf knows half"
    assert all("were cut" not in text for text in found.systems[0].warnings)
    assert any("60 samples are few" in text for text in found.systems[0].warnings)
    assert not any("are few" in text for text in found.warnings)


@pytest.mark.slow
def test_progress_names_the_embedder(sets, stubs):
    seen = []

    class Watch:
        @contextmanager
        def task(self, description, total):
            seen.append(description)
            yield lambda steps: None

    agree(*sets, stubs, progress=Watch())
    assert seen[0] == "Trying embedders"
    assert "two: Embedding reference" in seen
    assert "one: Scoring" in seen


@pytest.mark.slow
def test_a_dict_names_the_columns(sets, stubs):
    found = agree(*sets, {"x": stubs[0], "y": stubs[1]})
    assert [column.embedder for column in found.columns] == ["x", "x", "y"]


def test_lines_go_by_their_last_part(monkeypatch):
    from calipers.commands.agree.embedders import name_embedders
    from calipers.options.embedding import Model

    monkeypatch.setattr(EmbedderChoice, "__post_init__", lambda self: None)
    lines = ["./models/gpt2:layer=6", "other/gpt2:layer=6", "/x/bert", "minilm", "https://h/v1#m"]
    assert list(name_embedders(lines, Model())) == [
        "./models/gpt2:layer=6",
        "other/gpt2:layer=6",
        "bert",
        "minilm",
        "https://h/v1#m",
    ]


def test_what_fails_late_is_found_before_anything_is_embedded(sets, stubs):
    class Broken(EmbedderChoice):
        def load(self):
            raise InputError("no such model: ./gone")

    with pytest.raises(InputError, match=r"no such model: \./gone"):
        agree(*sets, [*stubs, Broken("minilm")])
    assert stubs[0].calls == stubs[1].calls == 0


@pytest.mark.slow
def test_the_smallest_set_decides_what_is_a_tie(sets, stubs):
    reference, generated = sets
    smaller = {**generated, "a": generated["a"][:30]}
    assert agree(reference, smaller, stubs, keep_sizes=True).tie == tie_width(30)
    assert agree(reference[:40], generated, stubs, keep_sizes=True).tie == tie_width(40)


@pytest.mark.slow
def test_processes_go_to_the_models_among_the_embedders(sets, stubs, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        embedding, "in_processes", lambda choice, n: asked.setdefault(choice, stubs[0])
    )
    choices = [EmbedderChoice("minilm"), EmbedderChoice("tfidf")]
    monkeypatch.setattr(EmbedderChoice, "load", lambda self: stubs[choices.index(self)])
    stubs[0].signature["device"] = "cpu"
    agree(*sets, choices, processes=2)
    assert list(asked) == choices[:1]
    with pytest.raises(InputError, match="none of these is one: tfidf, two"):
        agree(*sets, {"tfidf": choices[1], "two": stubs[0]}, processes=2)
    stubs[0].signature["device"] = "cuda"
    stubs[0].calls = stubs[1].calls = 0
    with pytest.raises(InputError, match=r"CPU only.*'minilm'.*cuda"):
        agree(*sets, choices[::-1], processes=2)
    assert stubs[1].calls == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"embedders": []}, "needs at least two.* 0: no embedder"),
        ({"embedders": 3}, "embedders .*list of embedders.* 3"),
        ({"embedders": [3]}, "embedders .*'minilm'"),
        ({"embedders": ["minilm", "minilm"]}, "the embedder 'minilm' is given twice"),
        ({"metrics": "left.recall"}, "'left.recall' names the view 'left'"),
        ({"metrics": "text.self_bleu"}, "embedder; use calipers text"),
        ({"metrics": "recal"}, "metric 'recal'.*'recall'"),
        ({"metrics": ""}, "metrics .*at least one metric"),
        ({"k": 0}, "k must be"),
        ({"k": 60}, "k = 60 needs at least 61 samples"),
        ({"generated": ["1 2 3"] * 60}, "needs at least two systems.* 'generated' only"),
        ({"generated": {}}, "at least one system"),
        ({"reference": np.ones((60, 3))}, "reference: .*vectors"),
    ],
)
def test_bad_input(sets, stubs, change, message):
    given = {"reference": sets[0], "generated": sets[1], "embedders": stubs, **change}
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        calipers.agree(given.pop("reference"), given.pop("generated"), **given, **QUIET)


def test_embedders_that_are_one_and_the_same(sets):
    same = {"x": Stub("s", all=np.eye(3)), "y": Stub("s", all=np.eye(3))}
    with pytest.raises(InputError, match="'x' and 'y' are the same"):
        agree(*sets, same)
    with pytest.raises(InputError, match="needs at least two; found 1: s"):
        agree(*sets, [Stub("s", all=np.eye(3))])


def test_an_embedder_of_other_samples(sets, stubs):
    stubs[1].reads = frozenset({"images"})
    with pytest.raises(InputError, match=r"'one' .*texts"):
        agree(*sets, stubs, progress=Silent())


@pytest.mark.slow
def test_rows_are_scaled_unless_they_are_to_be_left(sets, stubs):
    for norm, options in (("l2", {}), ("none", {"normalise": "none"})):
        found = agree(*sets, stubs, metrics="recall", keep_sizes=True, **options)
        single = calipers.compare(
            *sets, embedder=stubs[1], metrics="recall", normalise=norm, level=None, **QUIET
        )
        assert (found.settings["normalise"], found.settings["pca"]) == (norm, 0.9)
        scores = found["recall"].scores[2]
        assert [score.value for score in scores] == [each["recall"].value for each in single]
        assert all(f"|norm:{norm}|" in score.signature for score in scores)
        assert ("rows not scaled" in " ".join(str(found).split())) == (norm == "none")
