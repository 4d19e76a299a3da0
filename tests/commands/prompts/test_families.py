"""Families of systems: the order of the matrix, who is said to be alike, many systems on a line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

import calipers
from calipers.commands.prompts.families import families_of
from calipers.commands.prompts.plot import homogeneity_plot
from calipers.errors import InputError
from calipers.report.render.text import plain
from calipers.samples import SampleSet

PROMPTS = 30
OPTIONS = {"cache": False, "permutations": 99, "threads": 1}


def likeness(rng, groups, *, high=0.9, low=0.3):
    """A matrix of likeness in which the members of each group are alike."""
    labels = np.concatenate([np.full(size, place) for place, size in enumerate(groups)])
    values = np.where(labels[:, None] == labels, high, low) + rng.uniform(0, 0.05, 2 * labels.shape)
    return (values + values.T) / 2, labels


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_the_order_is_the_optimal_one_of_scipy(rng):
    values, _ = likeness(rng, [3, 3, 4])
    names = [f"s{i}" for i in range(10)]
    order = [int(name[1:]) for name in families_of(names, values).order]
    distances = 1 - values
    np.fill_diagonal(distances, 0)
    condensed = squareform(distances, checks=False)
    expected = leaves_list(optimal_leaf_ordering(linkage(condensed, "average"), condensed)).tolist()
    assert order in (expected, expected[::-1])
    assert order[0] < order[-1]


def test_families_are_what_was_made_alike(rng):
    values, labels = likeness(rng, [3, 4, 3, *[1] * 8])
    shuffled = rng.permutation(len(labels))
    names = [f"{'abc'[labels[i]]}{i}" if labels[i] < 3 else f"other{i}" for i in shuffled]
    found = families_of(names, values[np.ix_(shuffled, shuffled)])
    assert sorted("".join(sorted({name[0] for name in group})) for group in found.groups) == [
        *"abc"
    ]
    assert sorted(map(len, found.groups)) == [3, 3, 4]
    places = {name: place for place, name in enumerate(found.order)}
    for group in found.groups:  # they stand beside each other
        assert [places[name] - places[group[0]] for name in group] == list(range(len(group)))


def test_few_sets_have_an_order_and_no_families(rng):
    values, _ = likeness(rng, [2, 2])
    found = families_of(list("abcd"), values)
    assert found.groups == ()
    assert {*found.order[:2]} in ({"a", "b"}, {"c", "d"})
    assert len(found.merges) == 3
    assert found.merges[0].likeness > 0.8 > found.merges[-1].likeness


def test_sets_whose_likeness_is_unknown_come_last(rng):
    values, _ = likeness(rng, [2, 2])
    values[1] = values[:, 1] = np.nan
    assert families_of(list("abcd"), values).order[-1] == "b"
    assert families_of(["a"], np.ones((1, 1))).order == ("a",)
    assert families_of(["a", "b"], np.full((2, 2), np.nan)).order == ("a", "b")


def vectors(place, spread=0.5, seed=0):
    """One answer to each prompt; systems of one place answer alike."""
    prompts = np.random.default_rng(99).standard_normal((PROMPTS, 6))
    own = 1.2 * np.random.default_rng(500 + place).standard_normal((PROMPTS, 6))
    noise = spread * np.random.default_rng(seed).standard_normal((PROMPTS, 6))
    rows = SampleSet.from_vectors(prompts + own + noise, name="x")
    return rows.with_clusters([f"p{p:02}" for p in range(PROMPTS)])


def systems(count, family=3):
    """Many systems, of which the last ones are a family."""
    names = [f"system-with-a-long-name-{i:03}" for i in range(count)]
    return {
        name: vectors(0 if i >= count - family else i + 1, seed=i) for i, name in enumerate(names)
    }


@pytest.fixture(scope="module")
def many():
    return calipers.prompts(None, systems(20), **OPTIONS)


def test_a_line_for_each_of_many_systems_and_the_verdict_first(many):
    lines = plain(many.document(), width=80).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert lines[2].startswith("most alike: system-with-a-long-name-")
    family = " ".join(lines)
    assert "family of 3, " in family
    head = next(i for i, line in enumerate(lines) if line.startswith("system "))
    listed = [line.split()[0] for line in lines[head + 1 : head + 21]]
    assert len({*listed}) == 20
    legend = max(i for i, line in enumerate(lines) if not line)
    assert legend < 80  # behind it, the full names of those that are cut
    assert len(lines) <= legend + 1 + 20
    places = [many.homogeneity.families.order.index(f"system-with-a-long-name-{i:03}")
              for i in (17, 18, 19)]  # fmt: skip
    assert max(places) - min(places) == 2


def test_the_whole_matrix_is_sorted_in_every_format(many):
    order = list(many.homogeneity.families.order)
    table = next(table for table in many.summary().tables if table.id == "homogeneity")
    assert [str(column.head) for column in table.scores] == order
    assert [str(cell.text) for cell in table.lead[0].cells] == order
    markdown = calipers.report.markdown(many.summary())
    assert all(markdown.count(name) > 2 for name in order)
    data = json.loads(json.dumps(many.to_dict(), allow_nan=False))["homogeneity"]
    assert data["families"]["order"] == order
    assert calipers.ByPrompt.from_dict(many.to_dict()).homogeneity.families.order == tuple(order)
    assert "homogeneity" not in [table.id for table in many.document().tables]


def test_a_reference_has_a_column_of_its_own():
    made = systems(12)
    found = calipers.prompts(vectors(0, seed=77), made, **{**OPTIONS, "permutations": 299})
    lines = plain(found.document(), width=80).splitlines()
    assert max(map(cell_len, lines)) <= 80
    (head,) = [line for line in lines if line.startswith("system ") and " ref " in line]
    assert head.split() == ["system", "ref", "AUC", "mean", "most", "like"]
    assert any("distinguishable from the reference" in line for line in lines)


@pytest.mark.parametrize("count", [20, 110])
def test_the_figure_shows_families_and_names_at_any_number(count):
    rng = np.random.default_rng(0)
    made = calipers.prompts(None, systems(4), **OPTIONS)
    values, _ = likeness(rng, [count // 4, *[1] * (count - count // 4)])
    names = tuple(f"name-{i}" for i in range(count))
    others = ("low", "high", "other_prompts", "apart", "apart_low", "apart_high")
    other = dict.fromkeys(others, values)
    homogeneity = replace(made.homogeneity, names=names, values=values, **other)
    figure = homogeneity_plot(replace(made, homogeneity=homogeneity)).figure()
    axes, _ = figure.axes
    (tree,) = axes.child_axes
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert shown == list(homogeneity.families.order)
    assert len(axes.patches) == len(homogeneity.families.groups) > 0
    (lines,) = tree.collections
    assert len(lines.get_segments()) == count - 1
    assert tree.get_ylim() == axes.get_ylim()
    room = figure.get_size_inches()[1] * 72 / count
    assert room >= axes.get_yticklabels()[0].get_fontsize()


def test_answers_without_a_direction_are_left_out_and_said():
    prompts = [f"question {i} about many things" for i in range(25)]
    answers = [f"an answer number {i} about some things and more" for i in range(25)]
    empty = [*answers[:24], ""]
    found = calipers.prompts(
        None,
        {
            "a": SampleSet.from_texts(answers, name="a", prompts=prompts),
            "b": SampleSet.from_texts(empty, name="b", prompts=prompts),
        },
        embedder="tfidf",
        **OPTIONS,
    )
    assert len(found.prompts) == 24
    assert "question 24 about many things" not in found.prompts
    (note,) = [warning for warning in found.warnings if "all zero" in warning]
    assert note.endswith("1 sample of b, and with them 1 prompt, for every set")


def test_a_set_without_most_directions_does_not_cost_the_others_their_prompts():
    prompts = [f"question {i}" for i in range(25)]
    answers = [f"an answer number {i} about some things and more" for i in range(25)]
    sets = {
        "a": SampleSet.from_texts(answers, name="a", prompts=prompts),
        "b": SampleSet.from_texts([*answers[:5], *[""] * 20], name="b", prompts=prompts),
    }
    with pytest.raises(InputError, match=r"too few prompts are left .*: 20 samples of b have"):
        calipers.prompts(None, sets, embedder="tfidf", **OPTIONS)


def test_one_answer_to_all_prompts_can_be_saved_and_read(tmp_path):
    fixed = SampleSet.from_vectors(np.full((PROMPTS, 6), 0.3), name="fixed")
    fixed = fixed.with_clusters([f"p{p:02}" for p in range(PROMPTS)])
    found = calipers.prompts(None, {"a": fixed, "b": vectors(1)}, **OPTIONS)
    low, high = found["a"].scores["between"].interval
    assert low <= found["a"].scores["between"].value <= high <= 1
    found.save(tmp_path / "run.zip")
    assert calipers.load(tmp_path / "run.zip")["a"].scores["between"].value == pytest.approx(1)
