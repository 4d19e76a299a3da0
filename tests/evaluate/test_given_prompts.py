"""Sets that answer the same prompts are compared by answers to other prompts, and residuals."""

from __future__ import annotations

import numpy as np
import pytest

import calipers
from calipers.catalogue.settings import Settings
from calipers.embedders import Embedder, Embeddings
from calipers.embedders.embedder import EncodedBatch
from calipers.evaluate.given_prompts import PromptVectors, addressed, given_prompts
from calipers.evaluate.prompt_texts import texts_of_prompts
from calipers.evaluate.shared_prompts import SharedPrompts, shared_prompts
from calipers.report import plain
from calipers.report.comparison.document import summary
from calipers.report.render.latex import latex
from calipers.report.render.markdown import markdown
from calipers.samples import SampleSet
from extras import need


class Written(Embedder):
    """Texts that are their own vectors, as numbers."""

    name, views, identity, signature = "written", ("meaning",), "written", {"embedder": "written"}

    def encode(self, prepared):
        rows = [[float(number) for number in text.split()] for text in prepared]
        return EncodedBatch({"meaning": np.array(rows, np.float32)}, np.zeros(len(rows), bool))


def text_of(row):
    return " ".join(f"{number:.6f}" for number in row)


class World:
    """Prompts that put answers to a place of their own, much further apart than who answers."""

    def __init__(self, n=120, d=6, seed=0):
        self.rng = np.random.default_rng(seed)
        self.places = self.rng.standard_normal((n, d))
        self.prompts = [text_of(row) for row in self.places]

    def answers(self, name, *, moved=0.0, spread=0.3, rows=None):
        rows = np.arange(len(self.places)) if rows is None else rows
        noise = spread * self.rng.standard_normal((len(rows), self.places.shape[1]))
        made = self.places[rows] + noise
        made[:, 0] += moved
        texts, prompts = [text_of(row) for row in made], [self.prompts[row] for row in rows]
        return SampleSet.from_texts(texts, name=name, prompts=prompts)

    def one_string(self, name="one"):
        texts = [text_of(self.places[0])] * len(self.places)
        return SampleSet.from_texts(texts, name=name, prompts=self.prompts)


def compared(reference, *systems, **options):
    named = {system.name: system for system in systems}
    asked = {"embedder": Written(), "normalise": "none", "level": None, "floor": False, **options}
    return calipers.compare(
        reference, named, metrics="precision,recall,coverage,mauve_star", **asked
    )


def values(system):
    return {name: score.value for name, score in system.scores.items()}


def test_a_worse_system_is_told_where_all_are_equal_by_their_prompts():
    world = World()
    human, good = world.answers("human"), world.answers("good")
    poor, one = world.answers("poor", moved=1.5), world.one_string()
    usual = compared(human, good, poor, one, shared_prompts="ignore")
    assert usual["good"].scores["precision"].value > 0.97
    assert usual["poor"].scores["precision"].value > 0.9
    assert usual["one"].scores["precision"].value == 1.0
    found = compared(human, good, poor, one)
    assert found["good"].scores["precision"].value > 0.85
    assert found["good"].scores["recall"].value > 0.85
    assert found["poor"].scores["precision"].value < 0.6
    assert found["poor"].scores["mauve_star"].value < 0.1 < usual["poor"].scores["mauve_star"].value
    assert found["one"].scores["precision"].value < 0.2
    assert found["one"].scores["coverage"].value < 0.2


def test_answers_to_other_prompts_are_told():
    world = World()
    human, good = world.answers("human"), world.answers("good")
    order = world.rng.permutation(120)
    texts = [list(good)[row] for row in order]
    mixed = SampleSet.from_texts(texts, name="permuted", prompts=world.prompts)
    found = compared(human, good, mixed)
    assert found["permuted"].scores["precision"].value < 0.3
    # Among answers to other prompts as they are, nobody can see that
    others = compared(human, mixed, shared_prompts="others")
    assert others["permuted"].scores["precision"].value > 0.8
    # A caution says so, since how much a score shows depends on what prompts explain
    [caution] = [each for each in found["permuted"].cautions if each.kind == "prompts"]
    assert "50 % is chance" in caution.text
    assert "rows are in a different order" in caution.text
    assert not [each for each in found["good"].cautions if each.kind == "prompts"]


def test_how_well_answers_belong_to_their_prompts():
    # Three answers at 0, 60 and 120 degrees; the second set answers 0 and 120, and then swapped
    turns = np.deg2rad([0.0, 60.0, 120.0])
    places = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    rows = np.arange(3)
    same = SharedPrompts(rows, rows, "prompt")
    assert addressed(places, places, same) == 1.0
    # 0 answers 120, which all are closer than; 60 its own; 120 answers 0
    assert addressed(places, places[::-1].copy(), same) == pytest.approx(1 / 3)
    # One string lies as close to every answer as to any
    assert addressed(places, np.tile(places[1], (3, 1)), same) == pytest.approx(
        (0.25 + 1 + 0.25) / 3
    )
    two = SharedPrompts(np.array([5, 5, 9]), np.array([9, 5, 7]), "prompt")
    assert addressed(places, places[[2, 0, 1]], two) == 1.0


def test_the_signature_and_the_screen_say_how():
    world = World()
    human, good = world.answers("human"), world.answers("good")
    found = compared(human, good)
    assert "|prompts:residual" in found["good"].scores["precision"].signature
    assert "|among:other_strata" in found["good"].scores["precision"].signature
    assert "|norm:none|" in found["good"].scores["mauve_star"].signature
    screen = plain(found.document())
    assert "by answers to other prompts, less what their own explains" in " ".join(screen.split())
    for written in (markdown(summary(found)), latex(summary(found))):
        assert "by answers to other prompts, less what their own explains" in written
    others = compared(human, good, shared_prompts="others")
    assert "|prompts:others" in others["good"].scores["precision"].signature
    assert "less what" not in plain(others.document())
    usual = compared(human, good, shared_prompts="ignore")
    assert "prompts:" not in usual["good"].scores["precision"].signature
    assert "other prompts" not in plain(usual.document())
    assert usual.settings["shared_prompts"] == "ignore"


def test_the_result_says_what_prompts_explain():
    world = World()
    found = compared(world.answers("human"), world.answers("good"))
    told = found["good"].prompts
    assert told is not None
    assert (told.shared, told.scored) == (120, "residual")
    assert told.explained is not None
    assert told.explained["meaning"] > 0.8
    assert told.addressed is not None
    assert told.addressed > 0.95
    again = calipers.Comparison.from_dict(found.to_dict())
    assert again["good"].prompts == told
    usual = compared(world.answers("human"), world.answers("good"), shared_prompts="ignore")
    assert usual["good"].prompts is not None
    assert usual["good"].prompts.scored is None


def test_a_system_changes_no_other():
    world = World()
    human, good, poor = (world.answers(name) for name in ("human", "good", "poor"))
    alone, beside = compared(human, good), compared(human, poor, good)
    assert values(alone["good"]) == values(beside["good"])


def test_the_order_of_rows_changes_nothing():
    world = World()
    human, good = world.answers("human"), world.answers("good")
    order = world.rng.permutation(120).tolist()
    again = SampleSet.from_texts(
        [list(good)[row] for row in order],
        name="good",
        prompts=[world.prompts[row] for row in order],
    )
    back = SampleSet.from_texts(
        [list(human)[row] for row in order],
        name="human",
        prompts=[world.prompts[row] for row in order],
    )
    first, second = compared(human, good)["good"], compared(back, again)["good"]
    for name in ("precision", "recall"):
        assert first.scores[name].value == second.scores[name].value


def test_the_length_of_rows_is_scaled_before_anything_is_taken_off():
    world = World()
    human, good = world.answers("human"), world.answers("good")
    found = compared(human, good, normalise="l2")
    assert "|norm:l2|" in found["good"].scores["precision"].signature
    assert found["good"].scores["precision"].value > 0.7


def test_several_answers_to_a_prompt_and_prompts_of_one_side():
    world = World(n=80)
    human = world.answers("human", rows=np.repeat(np.arange(0, 60), 2))
    good = world.answers("good", rows=np.repeat(np.arange(20, 80), 2))
    poor = world.answers("poor", rows=np.repeat(np.arange(20, 80), 2), moved=1.0)
    found = compared(human, good, poor, floor=True, level=0.95)
    assert found["good"].scores["precision"].value > 0.75
    assert found["poor"].scores["precision"].value < 0.6
    floor = found["good"].scores["precision"].floor
    assert floor is not None
    assert floor.size <= 60
    assert found["good"].scores["precision"].interval is not None


def test_prompts_that_nobody_can_read_leave_out_other_answers_alone():
    rng = np.random.default_rng(0)
    places = rng.standard_normal((100, 5))
    rows = [places + 0.2 * rng.standard_normal((100, 5)) for _ in range(2)]
    found = calipers.compare(rows[0], {"second": rows[1]}, paired=True, level=None, floor=False)
    assert "|prompts:others" in found["second"].scores["precision"].signature


def test_few_shared_prompts_leave_all_answers_in():
    world = World(n=120)
    human = world.answers("human", rows=np.arange(70))
    other = world.answers("other", rows=np.arange(60, 120))
    found = compared(human, other)
    assert "prompts:" not in found["other"].scores["precision"].signature


def test_systems_that_are_scored_in_unlike_ways_are_named():
    world = World()
    human, good = world.answers("human"), world.answers("good")
    plain_texts = SampleSet.from_texts(list(world.answers("free")), name="free")
    found = compared(human, good, plain_texts)
    [caution] = [each for each in found.cautions if each.kind == "prompts"]
    assert "good given their prompts; free without regard to prompts" in caution.text
    assert caution.remedy == "`shared_prompts='ignore'`"
    assert not [each for each in compared(human, good).cautions if each.kind == "prompts"]


def test_a_service_is_sent_no_prompts():
    class Service(Written):
        sends = True

    world = World()
    found = compared(world.answers("human"), world.answers("good"), embedder=Service())
    assert "|prompts:others" in found["good"].scores["precision"].signature


def test_texts_of_prompts_by_rows_and_by_openings():
    named = SampleSet.from_texts(["x", "y"], name="a", prompts=["Why?", "How?"])
    other = SampleSet.from_texts(["u", "v"], name="b", prompts=["how?", "Who?"])
    both = SampleSet.from_texts(["u", "v"], name="c", prompts=["how?", "Why?"])
    shared = shared_prompts(named, both, paired=False)
    assert shared is not None
    assert texts_of_prompts(named, both, shared) == {0: "Why?", 1: "How?"}
    assert shared_prompts(named, other, paired=False) is None
    words = ["red", "green", "blue", "black", "white", "brown", "grey", "pink"]
    human = [f"once upon a time there was a {word} fox that ran away" for word in words]
    model = [f"once upon a time there was a {word} fox who sang songs" for word in words]
    one, two = SampleSet.from_texts(human, name="h"), SampleSet.from_texts(model, name="m")
    shared = shared_prompts(one, two, paired=False)
    assert shared is not None
    assert shared.by == "openings"
    found = texts_of_prompts(one, two, shared)
    assert sorted(found.values()) == sorted(
        f"once upon a time there was a {word} fox" for word in words
    )


def test_an_unknown_way_is_refused():
    world = World(n=30)
    with pytest.raises(calipers.InputError, match="shared_prompts"):
        compared(world.answers("a"), world.answers("b"), shared_prompts="twins")


@pytest.mark.parametrize(
    ("options", "way"),
    [
        ({"shared": True}, "others"),
        ({"projection": "union"}, "residual"),
        ({"distance": "cosine"}, "residual"),
        ({"axes": "reference"}, "residual"),
        ({"cluster": "prompt"}, "residual"),
        ({"advice": True}, "residual"),
        ({"ties": "open"}, "residual"),
        ({"neighbours": "approximate"}, "residual"),
    ],
)
def test_other_options_hold_beside_it(options, way):
    if "neighbours" in options:
        need("usearch")
    world = World()
    human, good = world.answers("human"), world.answers("good")
    if "cluster" in options:
        human, good = (each.with_clusters(world.prompts) for each in (human, good))
    found = compared(human, good, level=0.95, floor=True, **options)
    score = found["good"].scores["precision"]
    assert f"|prompts:{way}" in score.signature
    assert score.interval is not None
    assert score.floor is not None
    assert score.value > 0.7


def test_files_of_one_system_and_copies():
    world = World()
    human, other = world.answers("human"), world.answers("other")
    seeds = {"good": [world.answers("one"), world.answers("two")], "copy": human}
    found = calipers.compare(
        human,
        {**seeds, "other": other},
        embedder=Written(),
        metrics="precision,near_copies,authenticity,mauve_star",
        level=0.95,
        floor=True,
    )
    assert found["copy"].scores["near_copies"].value == 1.0
    assert found["copy"].scores["authenticity"].value == 0.0
    copies = found["other"].scores["near_copies"]
    assert copies.value < 1.0
    assert "prompts:" not in copies.signature
    assert "among:" not in copies.signature
    assert copies.floor is None
    assert found["good"].scores["precision"].floor is not None
    assert len(found["good"].seeds) == 2
    assert found["good"].explain().outside_count is not None


def test_the_two_sides_may_be_swapped_within_prompts():
    # What is expected of an answer knows no answer to its prompt, so twins have one expectation
    world = World()
    human, good = world.answers("human"), world.answers("good")
    rows = [np.array([[float(x) for x in text.split()] for text in each]) for each in (human, good)]
    shared = shared_prompts(human, good, paired=False)
    assert shared is not None
    texts = texts_of_prompts(human, good, shared)
    reference = Embeddings({"meaning": rows[0]}, {})
    settings = Settings(normalise="none")
    vectors = PromptVectors(Written(), None, None)
    generated = Embeddings({"meaning": rows[1]}, {})
    given = given_prompts(reference, generated, shared, texts, vectors, settings)
    assert given is not None
    ours, theirs = given.sides("meaning", (rows[0], rows[1]), settings)
    np.testing.assert_allclose(ours - theirs, rows[0] - rows[1], atol=1e-5)
    assert given.explained["meaning"] > 0.8
    # An outlying answer moves what is expected of others, and nothing of its own
    moved = rows[0].copy()
    moved[3] += 10.0
    outlying = Embeddings({"meaning": moved}, {})
    again = given_prompts(outlying, generated, shared, texts, vectors, settings)
    assert again is not None
    before, after = given.expected["meaning"][0], again.expected["meaning"][0]
    assert not np.allclose(before, after, atol=1e-3)


def test_the_reference_is_fitted_to_its_prompts_once_for_all_systems(monkeypatch) -> None:
    from calipers.estimate.conditional_mean import ConditionalMean

    fits = []
    original = ConditionalMean.of.__func__

    def counted(cls, given, rows):
        fits.append(len(rows))
        return original(cls, given, rows)

    prompts = [f"question {row} about thing {row % 7}" for row in range(40)]

    def answers(word: str) -> SampleSet:
        texts = [f"{word} answer {row * row} on {row % 7} {word}" for row in range(40)]
        return SampleSet.from_texts(texts, name=word, prompts=prompts)

    options = {"level": None, "floor": False, "cache": False, "metrics": "precision"}
    alone = calipers.compare(answers("ref"), {"b": answers("two")}, **options)["b"]
    monkeypatch.setattr(ConditionalMean, "of", classmethod(counted))
    systems = {"a": answers("one"), "b": answers("two"), "c": answers("three")}
    both = calipers.compare(answers("ref"), systems, **options)["b"]
    assert fits == [40, 40]  # one for each view
    assert both["precision"].value == alone["precision"].value
    assert both["precision"].signature == alone["precision"].signature
