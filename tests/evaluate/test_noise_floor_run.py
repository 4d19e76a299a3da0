"""The noise floor of a run: equal to comparisons of the halves, shared, and left out with words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.catalogue.choosing import choose
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.errors import InputError
from calipers.evaluate.embedding import Embedded, embed_sides, open_embedder
from calipers.evaluate.inputs import comparison_inputs
from calipers.evaluate.noise_floor import add_floors, measure_floors
from calipers.metrics import mauve
from calipers.options.comparison import CompareOptions
from calipers.progress import Silent
from calipers.samples import as_sample_set
from calipers.uncertainty.noise_floor import split_rows

NAMES = ("precision", "recall", "mauve_star", "frechet_distance")

BARE = {"level": None, "floor": False}


def measured(reference, generated, *, names=NAMES, splits=3, progress=None, shown=None, **options):
    inputs = comparison_inputs(
        reference,
        generated,
        CompareOptions(),
        keep_sizes=True,
        seed=options.get("seed", 0),
    )
    model = open_embedder(CompareOptions(), inputs.sets)
    embedded = embed_sides(inputs, model, None, Silent())
    settings = Settings(**{"threads": 1, "normalise": "none"} | options)
    choices = choose(names, model.views)
    return measure_floors(
        inputs, embedded, choices, settings, progress or Silent(), splits=splits, shown=shown
    )


@pytest.fixture
def reference(rng):
    return rng.standard_normal((120, 5)) + 1


@pytest.fixture
def generated(rng):
    return rng.standard_normal((120, 5)) * 0.7 + 1


def test_a_floor_is_what_comparisons_of_the_halves_give(reference, generated):
    found = measured(reference, {"g": generated}, k=3, seed=4).of["g"]
    halves, beside = [], []

    def mauve_star(first, other, seed):
        """On cells of the rows, which are not projected, from two starts."""
        made = mauve(first, other, norm="none", pca=None, restarts=2, seed=seed)
        return made.mauve_star.value

    for place in range(3):
        rows = split_rows(120, 120, size=60, seed=4, split=place)
        both = {"half": reference[rows.second], "g": generated[rows.generated]}
        scores = calipers.compare(
            reference[rows.first], both, metrics=NAMES, k=3, seed=rows.seed, **BARE
        )
        for values, name in ((halves, "half"), (beside, "g")):
            cells = mauve_star(reference[rows.first], both[name], rows.seed)
            read = {key: score.value for key, score in scores[name].scores.items()}
            values.append([(read | {"mauve_star": cells})[key] for key in NAMES])
    for place, name in enumerate(NAMES):
        floor = found[name]
        assert floor.value == pytest.approx(np.mean(halves, axis=0)[place], abs=1e-9)
        assert floor.spread == pytest.approx(np.std(halves, axis=0, ddof=1)[place], abs=1e-9)
        assert floor.beside == pytest.approx(np.mean(beside, axis=0)[place], abs=1e-9)
        assert floor.beside_spread == pytest.approx(np.std(beside, axis=0, ddof=1)[place], abs=1e-9)
        assert (floor.size, floor.splits) == (60, 3)


def test_a_system_does_not_change_another_ones_floor(reference, generated, rng):
    alone = measured(reference, {"g": generated})
    others = {"far": rng.standard_normal((120, 5)) - 1, "g": generated, "few": generated[:70]}
    beside = measured(reference, others)
    assert beside.of["g"] == alone.of["g"]
    assert beside.of["far"]["recall"].value == alone.of["g"]["recall"].value
    assert not beside.of["far"]["recall"].inside
    assert beside.of["few"]["recall"].size == 60  # half of the reference, not all it has


def test_few_generated_samples_set_the_size(reference, generated):
    floor = measured(reference, {"g": generated[:25]}).of["g"]["precision"]
    assert floor.size == 25


def test_cells_follow_the_half_and_numbers_are_held(reference, generated):
    follow = measured(reference, {"g": generated}, names=["mauve_star"], buckets="auto")
    six, twelve = (
        measured(reference, {"g": generated}, names=["mauve_star"], buckets=cells)
        for cells in (6, 12)
    )
    assert follow.of == six.of
    assert follow.of != twelve.of


def test_the_same_rows_for_any_number_of_threads_and_others_for_another_seed(reference, generated):
    one = measured(reference, generated)
    assert measured(reference, generated, threads=2).of["generated"] == one.of["generated"]
    assert measured(reference, generated, seed=1).of["generated"] != one.of["generated"]


def test_files_take_the_splits_in_turn_and_all_have_one(reference, rng):
    files = [rng.standard_normal((120, 5)) + shift for shift in (1, 1, 4)]
    sets = [as_sample_set(rows, name="g") for rows in files]
    together = measured(reference, {"g": sets}, names=["recall"], splits=2).of["g"]["recall"]
    assert together.splits == 3
    single = []
    for place, rows in enumerate(files):
        split = split_rows(120, 120, size=60, seed=0, split=place)
        halves = reference[split.first], rows[split.generated]
        score = calipers.compare(*halves, metrics="recall", seed=split.seed, **BARE)["generated"]
        single.append(score["recall"].value)
    assert together.beside == pytest.approx(np.mean(single))
    assert together.beside_spread == pytest.approx(np.std(single, ddof=1))


def test_every_view_has_floors_of_its_own(reference, generated):
    inputs = comparison_inputs(reference, generated, CompareOptions(), keep_sizes=False, seed=0)
    left, right = (
        Embeddings({"meaning": rows, "form": rows[:, :2]}, {}) for rows in (reference, generated)
    )
    choices = choose(["precision", "form.recall"], ("meaning", "form"))
    found = measure_floors(
        inputs,
        Embedded(left, ((right,),)),
        choices,
        Settings(threads=1, normalise="none"),
        Silent(),
        splits=2,
    ).of["generated"]
    alone = measured(reference[:, :2], generated[:, :2], names=["recall"], splits=2)
    assert set(found) == {"precision", "form.precision", "form.recall"}
    assert found["form.recall"] == alone.of["generated"]["recall"]


def test_a_reference_too_small_to_split_says_so(generated):
    found = measured(generated[:9], {"a": generated, "b": generated})
    assert found.of == {}
    assert found.warnings == (
        "no noise floor for a, b: two halves of the 9 reference samples and as many generated "
        "ones would be sets of 4; k = 4 needs at least 5",
    )


def test_a_system_too_small_leaves_the_others_theirs(reference, generated):
    found = measured(reference, {"a": generated, "tiny": generated[:4]})
    assert set(found.of) == {"a"}
    assert found.warnings[0].startswith("no noise floor for tiny: ")


def test_a_score_without_a_value_has_no_floor(reference, generated):
    found = measured(reference, {"g": generated}, names=["mauve", "recall"], buckets=150).of["g"]
    assert set(found) == {"recall"}  # 150 cells are more than the 120 rows of two halves


def test_floors_are_put_beside_their_scores(reference, generated):
    compared = calipers.compare(
        reference, {"g": generated}, metrics=["precision", "recall"], **BARE
    )
    compared = replace(compared, warnings=("kept",))
    floors = measured(reference, {"g": generated}, names=["precision"])
    found = add_floors(compared, replace(floors, warnings=("why",)))
    assert found["g"]["precision"].floor == floors.of["g"]["precision"]
    assert found["g"]["precision"].noise_floor == floors.of["g"]["precision"].value
    assert found["g"]["precision"].value == compared["g"]["precision"].value
    assert found.warnings == ("kept", "why")


def test_only_scores_on_show_are_measured_where_that_is_asked(reference, generated):
    every = measured(reference, {"g": generated}).of["g"]
    some = measured(reference, {"g": generated}, shown=["recall", "form.recall"]).of["g"]
    assert some == {"recall": every["recall"]}
    assert measured(reference, {"g": generated}, shown=[]).of["g"] == {}


def test_it_is_measured_of_few_samples_unless_it_is_refused(reference, generated, monkeypatch):
    def floor(**options):
        found = calipers.compare(reference, generated, metrics="precision", **options)
        return found.systems[0].scores["precision"].floor

    made = floor()
    assert made is not None
    assert floor(floor=False) is None
    assert floor(level=None) is None  # as plain as it can be
    monkeypatch.setattr("calipers.evaluate.inference.CHEAP", len(reference))
    assert floor() is None
    assert floor(floor=True) == floor(floor=True, level=None) == made


def test_one_split_has_no_spread(reference, generated):
    with pytest.raises(InputError, match=r"splits .*at least 2.* 1"):
        measured(reference, generated, splits=1)


class Counting:
    """A progress that adds up its steps."""

    def __init__(self):
        self.total, self.done = 0, 0

    def task(self, description, total):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            self.total += total
            yield self.advance

        return opened()

    def advance(self, steps):
        self.done += steps


def test_progress_ends_where_it_said(reference, generated):
    watch = Counting()
    measured(reference, {"a": generated, "b": generated[:30], "c": generated}, progress=watch)
    assert watch.done == watch.total == 3 * (2 + 3)
