"""A probe: known changes of texts, stub embedders that see one thing each, bad input."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import calipers
from calipers.commands.probe.perturbations import CHANGES
from calipers.commands.probe.run import METRICS, Halves
from calipers.embedders import EncodedBatch
from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.metrics import precision_recall
from calipers.uncertainty.ties import tie_width

QUIET = {"cache": False, "threads": 1}
WORDS = [f"{a}{b}" for a in ("Ba", "be", "Bi", "bo", "bu", "by") for b in ("ll", "rd", "st", "nk")]


class Seeing:
    """An embedder of counts, by what `read` takes from a text."""

    views = ("seen",)
    signature = {"embedder": "seeing"}  # noqa: RUF012

    def __init__(self, read, size=16):
        self.name = self.identity = read.__name__
        self._read, self._size = read, size
        self.calls = 0
        self.texts = []

    def embed(self, texts):
        self.calls += len(texts)
        self.texts += texts
        counts = np.zeros((len(texts), self._size), np.float32)
        counts[:, 0] = 1
        for row, text in enumerate(texts):
            for item in self._read(text):
                digest = hashlib.sha256(item.encode()).digest()
                counts[row, 1 + digest[0] % (self._size - 1)] += 1
        return EncodedBatch({"seen": counts}, np.zeros(len(texts), bool))


def words(text):
    return text.split()


def pairs(text):
    found = text.split()
    return [f"{a} {b}" for a, b in pairwise(found)]


def small_words(text):
    return text.lower().split()


@pytest.fixture
def texts(rng):
    """Texts of few words that follow each other in a fixed order, in two sentences."""
    made = []
    for _ in range(160):
        start, step = rng.integers(len(WORDS)), rng.integers(1, 4)
        run = [WORDS[(start + step * place) % len(WORDS)] for place in range(rng.integers(8, 24))]
        half = len(run) // 2
        made.append(" ".join(run[:half]) + ". " + " ".join(run[half:]) + ".")
    return made


def probe(texts, embedder, **options):
    return calipers.probe(texts, embedder=embedder, **(QUIET | options))


@pytest.mark.slow
def test_a_bag_of_words_is_exactly_blind_to_their_order(texts):
    found = probe(texts, Seeing(words))["seen"]
    for change in ("word_shuffle", "word_swaps", "sentence_shuffle"):
        each = found[change]
        assert each.moved == 0.0
        assert [move.gap for move in each.moves] == [0.0] * len(METRICS)
        assert all(move.values == move.ceiling for move in each.moves)
        assert each.verdict == "blind"
    assert found["word_shuffle"].altered == 1.0


def test_counts_of_pairs_see_the_order(texts):
    each = probe(texts, Seeing(pairs), changes=["word_shuffle"])["seen"]["word_shuffle"]
    assert each.verdict == "sees"
    assert each.moved == 1.0
    assert each["mauve_star"].gap < -0.2


class Faint:
    """An embedder that sees the order of sentences along one direction of forty, and faintly."""

    views = ("seen",)
    signature = {"embedder": "faint"}  # noqa: RUF012
    name = identity = "faint"

    def embed(self, texts):
        rows = np.empty((len(texts), 40), np.float32)
        for row, text in enumerate(texts):
            own = "".join(sorted(text)).encode()  # the same in every order
            seed = int.from_bytes(hashlib.sha256(own).digest()[:8], "little")
            rows[row] = np.random.default_rng(seed).standard_normal(40)
            rows[row, 0] += 0.9 * text.startswith("so ")
        return EncodedBatch({"seen": rows}, np.zeros(len(texts), bool))


@pytest.mark.slow
def test_what_only_a_classifier_finds_is_seen_all_the_same(rng):
    # By neighbours and cells alone the view was called blind, or hardly to see it
    texts = [f"so {' '.join(rng.choice(WORDS, 12))}. in the end." for _ in range(400)]
    wanted = {"changes": "sentence_shuffle"}
    by_all = probe(texts, Faint(), **wanted)["seen"]["sentence_shuffle"]
    by_scores = probe(texts, Faint(), metrics="mauve_star,precision,recall", **wanted)
    assert by_scores["seen"]["sentence_shuffle"].verdict in ("blind", "hardly")
    assert by_all.verdict == "sees"
    # Two normal laws 0.9 apart along one direction have the area Φ(0.9 / √2) = 0.74
    assert 0.6 < by_all["classifier_auc"].value < 0.74
    assert by_all["classifier_auc"].unchanged == pytest.approx(0.5, abs=0.1)


def test_case_and_length_are_seen_by_those_who_look(texts):
    wanted = "lower_case,truncation"
    exact = probe(texts, Seeing(words), changes=wanted)["seen"]
    blurred = probe(texts, Seeing(small_words), changes=wanted)["seen"]
    assert exact["lower_case"].verdict == "sees"
    assert blurred["lower_case"].verdict == "blind"
    assert blurred["lower_case"].moved == 0.0
    assert exact["truncation"].moved == blurred["truncation"].moved == 1.0


def test_scores_are_those_of_the_halves(texts):
    stub = Seeing(pairs)
    found = probe(texts, stub, changes=["word_shuffle"], seeds=2, seed=5)["seen"]["word_shuffle"]
    vectors = stub.embed(texts).views["seen"]
    shuffled = [CHANGES["word_shuffle"].apply(t, seed=f"5/{row}") for row, t in enumerate(texts)]
    changed = stub.embed(shuffled).views["seen"]
    for halving in range(2):
        halves = Halves.draw(len(texts), seed=5, halving=halving)
        for rows, scores in ((vectors, "ceiling"), (changed, "values")):
            pair = preprocess(vectors[halves.reference], rows[halves.judged], norm="l2", pca=None)
            expected = precision_recall(pair.reference, pair.generated, k=4)
            assert getattr(found["precision"], scores)[halving] == expected.precision.value
            assert getattr(found["recall"], scores)[halving] == expected.recall.value


@pytest.mark.parametrize("n", [10, 11])
def test_halves_share_no_row(n):
    halves = Halves.draw(n, seed=0, halving=0)
    assert len(halves.reference) == len(halves.judged) == 5
    assert not set(halves.reference) & set(halves.judged)
    other = Halves.draw(n, seed=0, halving=1)
    assert other.reference.tolist() != halves.reference.tolist()


def test_every_text_is_embedded_once_whatever_the_number_of_halvings(texts):
    stub = Seeing(words)
    probe(texts, stub, changes=["typos", "lower_case"], seeds=4)
    # Once in each of the three sets; equal texts of a set once
    assert max(Counter(stub.texts).values()) <= 3
    assert {*texts} < {*stub.texts}
    assert 2 * len(texts) < stub.calls <= 3 * len(texts)


def test_an_embedder_that_is_fitted_sees_each_reference_half_alone(texts):
    fitted_to = []

    class Unfitted(Seeing):
        def fitted(self, samples):
            fitted_to.append(list(samples))
            return Seeing(self._read)

        def embed(self, samples):
            raise AssertionError("not fitted")

    found = probe(texts, Unfitted(words), changes=["word_shuffle"], seeds=2)
    plain = probe(texts, Seeing(words), changes=["word_shuffle"], seeds=2)
    expected = [
        [texts[row] for row in Halves.draw(len(texts), seed=0, halving=halving).reference]
        for halving in range(2)
    ]
    assert fitted_to == expected
    each, other = (x["seen"]["word_shuffle"] for x in (found, plain))
    assert each.moves == other.moves
    assert each.moved == 0.0


def test_what_is_told_of_the_whole(texts):
    found = probe(texts, Seeing(words), changes=["typos"], seeds=2, max_samples=100, k=3)
    assert found.samples.n == 100
    assert found.samples.n_given == 160
    chosen = {"half": 50, "seeds": 2, "k": 3, "max_samples": 100, "changes": ["typos"]}
    assert chosen.items() <= found.settings.items()
    assert "halves of 50 texts are few: scores vary a lot by chance" in found.warnings
    assert "k:3" in found.signatures["precision"]
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["views"]["seen"]["typos"]["metrics"]["recall"]["values"]
    assert data["limits"] == {"clear": 0.1, "enough": 0.5}
    assert repr(found) == "<Probe of 'words' with 'texts'>"


def test_what_changes_nothing_is_flagged_and_never_called_blind(rng):
    signs = "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少"
    chinese = ["".join(rng.choice(list(signs), 12)) + "。" for _ in range(60)]
    found = probe(chinese, Seeing(list), seeds=2)
    verdicts = {change.name: change.verdict for change in found["seen"]}
    assert verdicts["lower_case"] == "no change"
    assert math.isnan(found["seen"]["lower_case"].moved)
    assert found["seen"]["word_shuffle"].altered == 1.0
    assert found["seen"]["truncation"].altered == 1.0
    assert any("lower case: changes no text" in text for text in found.warnings)
    half = [text if row % 3 else "Two words" for row, text in enumerate(chinese)]
    some = probe(half, Seeing(list), seeds=2, changes="lower_case")
    assert some["seen"]["lower_case"].verdict == "few changed"
    assert any("lower case: changes 33% of the texts" in text for text in some.warnings)


@pytest.mark.slow
def test_a_seed_gives_the_same_again(texts):
    first, again = (probe(texts, Seeing(pairs), seed=3, seeds=2).to_dict() for _ in range(2))
    assert first == again
    other = probe(texts, Seeing(pairs), seed=4, seeds=2).to_dict()
    assert other["views"] != first["views"]


def test_look_ups(texts):
    found = probe(texts, Seeing(words), changes="typos", seeds=2, metrics="coverage")
    assert len(found) == 1
    assert [view.name for view in found] == ["seen"]
    assert [move.metric for move in found["seen"]["typos"].moves] == ["coverage"]
    with pytest.raises(InputError, match="unknown view 'form'"):
        found["form"]
    with pytest.raises(InputError, match=r"change 'typo'.*'typos'"):
        found["seen"]["typo"]
    with pytest.raises(InputError, match="unknown metric 'recall'"):
        found["seen"]["typos"]["recall"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changes": "shuffle_words"}, "change 'shuffle_words'.*'word_shuf"),
        ({"changes": []}, "changes .*at least one change.* none"),
        ({"metrics": "frechet_distance"}, "'frechet_distance' does not lie between 0 and 1"),
        ({"metrics": "vendi"}, "'vendi' does not lie between 0 and 1"),
        ({"metrics": "form.recall"}, "view 'form'.*every view"),
        ({"metrics": "recal"}, "unknown metric 'recal'"),
        ({"seeds": 1}, "seeds must be"),
        ({"k": 0}, "k must be"),
        ({"k": 80}, "texts: k = 80 .*81 texts .* 160"),
        ({"max_samples": 8}, "10 in all; it has 160, cut to 8"),
        ({"texts": np.ones((50, 2))}, "texts: .*vectors"),
        ({"texts": "gone.jsonl"}, "gone.jsonl: there is no such file"),
    ],
)
def test_bad_input(texts, options, message):
    with pytest.raises(InputError, match=message):
        probe(options.pop("texts", texts), Seeing(words), **options)


def test_the_noise_is_no_less_than_what_the_draw_of_one_half_moves(texts):
    found = probe(texts, Seeing(words), changes="lower_case", metrics="precision")
    assert found["seen"]["lower_case"]["precision"].least_noise == tie_width(len(texts) // 2)


def test_only_vectors_of_altered_texts_count_as_moved(texts):
    small = [text if row % 2 else text.lower() for row, text in enumerate(texts)]
    change = probe(small, Seeing(words), changes="lower_case")["seen"]["lower_case"]
    assert 0.4 < change.altered <= 0.5
    assert change.moved > 0.9


def test_rows_are_scaled_unless_they_are_to_be_left(texts):
    found = {
        norm: calipers.probe(
            texts,
            embedder=Seeing(words),
            changes="truncation",
            metrics="recall",
            **options,
            **QUIET,
        )
        for norm, options in (("l2", {}), ("none", {"normalise": "none"}))
    }
    for norm, one in found.items():
        assert (one.settings["normalise"], one.settings["pca"]) == (norm, 0.9)
        assert all(f"|norm:{norm}|" in line for line in one.signatures.values())
    assert "rows not scaled, MAUVE on 90 % PCA" in " ".join(str(found["none"]).split())
    assert "rows" not in str(found["l2"]).splitlines()[0]
