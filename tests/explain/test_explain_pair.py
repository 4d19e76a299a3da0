"""A known gap, its parts, and its words."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count, product
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.curves import divergence_frontier
from calipers.errors import InputError
from calipers.estimate import Histograms, preprocess
from calipers.explain import Evidence, Explanation, WordCounts, explain_pair
from calipers.explain import words as words_module
from calipers.explain.pair import direction
from calipers.explain.words import Keywords

# A gap that is known is told, parts add up to the whole, and JSON keeps it.


@pytest.fixture(scope="module")
def found(evidence):
    return explain_pair(evidence, view="meaning", topics=5)


def histograms(evidence):
    counts = (
        np.bincount(each, minlength=14)
        for each in (evidence.reference_cells, evidence.generated_cells)
    )
    return Histograms(*counts, smoothing="krichevsky-trofimov")


def test_the_place_that_is_lacking_and_the_new_one_come_first(found, world):
    first, second = found.topics[:2]
    assert {first.direction, second.direction} == {"under", "over"}
    lacking, new = found.under_represented[0], found.over_represented[0]
    assert set(lacking.keywords[:2]) == {"harbour", "harbours"}
    assert set(new.keywords[:2]) == {"glacier", "glaciers"}
    assert (lacking.reference, lacking.generated, lacking.uncovered) == (40, 0, 40)
    assert (new.reference, new.generated, new.outside) == (0, 30, 30)
    sample = lacking.uncovered_samples[0]
    assert sample.text == world.reference_texts[sample.row]
    assert all(sample.row < 40 for sample in lacking.uncovered_samples + lacking.reference_medoids)
    assert not lacking.generated_medoids
    assert (found.n, found.m, found.k, found.view) == (160, 120, 3, "meaning")
    assert found.notes == ()


def test_contributions_add_up_to_the_frontier_integral(found, evidence):
    whole = divergence_frontier(histograms(evidence)).integral()
    assert found.score == pytest.approx(whole, rel=1e-12)
    for regions in (found.topics, found.cells):
        assert sum(region.contribution for region in regions) == pytest.approx(whole, rel=1e-12)
        assert sum(region.share for region in regions) == pytest.approx(1)
        assert sum(region.expected for region in regions) == pytest.approx(1)
        assert sum(region.produced for region in regions) == pytest.approx(1)
        assert sum(region.reference for region in regions) == 160
        assert sum(region.generated for region in regions) == 120
        assert sum(region.uncovered for region in regions) == found.uncovered_count
        assert sum(region.outside for region in regions) == found.outside_count
        shares = [region.contribution for region in regions]
        assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("topics", [1, 2, 7, 14, 500])
def test_topics_are_a_partition_of_the_cells(evidence, topics):
    made = explain_pair(evidence, view="meaning", topics=topics)
    assert len(made.topics) == min(topics, 14)
    assert sorted(cell for topic in made.topics for cell in topic.cells) == list(range(14))
    assert sum(topic.contribution for topic in made.topics) == pytest.approx(made.score)


def test_medoids_are_the_rows_nearest_to_the_mean_of_their_side(found, evidence, world):
    cell = found.cells[0]
    for rows, labels, medoids in (
        (world.space.reference, evidence.reference_cells, cell.reference_medoids),
        (world.space.generated, evidence.generated_cells, cell.generated_medoids),
    ):
        inside = np.flatnonzero(labels == cell.cells[0])
        own = rows[inside].astype(np.float64)
        far = ((own - own.mean(axis=0)) ** 2).sum(axis=1) if len(inside) else np.zeros(0)
        assert [each.row for each in medoids] == inside[np.argsort(far, kind="stable")[:3]].tolist()


def test_samples_outside_come_worst_first_with_their_neighbours(found, evidence, world):
    rows = [each.row for each in found.outside]
    expected = np.flatnonzero(evidence.neighbours["reference_first_k"] > 3)
    assert rows == expected[np.argsort(evidence.realism[expected], kind="stable")][:50].tolist()
    assert found.outside_count == len(expected)
    for each in found.outside:
        difference = world.space.reference.astype(float) - world.space.generated[each.row]
        far = np.sqrt((difference**2).sum(axis=1))
        nearest = np.argsort(far, kind="stable")[:3]
        assert [one.row for one in each.nearest] == nearest.tolist()
        assert [one.distance for one in each.nearest] == pytest.approx(far[nearest], abs=1e-9)
        assert each.nearest[0].row == evidence.neighbours["nearest_reference"][each.row]
        assert each.nearest[0].text == world.reference_texts[each.nearest[0].row]
        assert each.text == world.generated_texts[each.row]


def test_without_realism_the_farthest_come_first(evidence):
    made = explain_pair(replace(evidence, realism=None), view="meaning", limit=7)
    far = [each.nearest[0].distance for each in made.outside]
    assert far == sorted(far, reverse=True)
    assert len(made.outside) == 7 < made.outside_count
    assert {each.realism for each in made.outside} == {None}
    assert "distance alone" in " ".join(made.notes)


def with_copies(evidence):
    """The evidence, with three of the generated samples near copies."""
    copied = np.zeros(120, bool)
    copied[[4, 9, 50]] = True
    return replace(evidence, neighbours={**evidence.neighbours, "copied": copied})


def test_near_copies_come_closest_first(evidence, world):
    made = explain_pair(with_copies(evidence), view="meaning")
    assert made.copies_count == 3
    far = [each.distance for each in made.copies]
    assert far == sorted(far)
    assert sorted(each.row for each in made.copies) == [4, 9, 50]
    for each in made.copies:
        assert each.source.row == evidence.neighbours["nearest_reference"][each.row]
        assert each.source.text == world.reference_texts[each.source.row]


def test_cosine_distances_are_told_as_such(evidence, world):
    made = explain_pair(replace(evidence, distance="cosine"), view="meaning", limit=1)
    point = world.space.generated[made.outside[0].row].astype(float)
    rows = world.space.reference.astype(float)
    cosine = rows @ point / np.linalg.norm(rows, axis=1) / np.linalg.norm(point)
    for each in made.outside[0].nearest[1:]:
        assert each.distance == pytest.approx(1 - cosine[each.row])


def test_distances_on_joint_axes_are_told_as_such(evidence, world):
    made = explain_pair(replace(evidence, projection="union"), view="meaning", limit=1)
    axes = preprocess(world.reference, world.generated, threads=1)
    far = np.linalg.norm(axes.reference - axes.generated[made.outside[0].row], axis=1)
    plain = np.linalg.norm(
        world.space.reference - world.space.generated[made.outside[0].row], axis=1
    )
    for each in made.outside[0].nearest[1:]:
        assert each.distance == pytest.approx(far[each.row], rel=1e-4)
        assert each.distance < plain[each.row]


def test_identical_sets_have_no_gap(world):
    cells = np.arange(160) % 5
    same = Evidence(world.reference, world.reference, reference_cells=cells, generated_cells=cells)
    made = explain_pair(same, view="meaning")
    assert made.score == 0
    assert {topic.direction for topic in made.topics} == {"even"}
    assert all(np.isnan(topic.share) for topic in made.topics)
    assert made.under_represented == made.over_represented == ()
    assert made.to_dict()["topics"][0]["share"] is None


def test_what_was_not_measured_is_said_and_not_invented(world):
    made = explain_pair(Evidence(world.reference, world.generated), view="form")
    assert made.score is made.outside_count is made.uncovered_count is made.copies_count is None
    assert made.topics == made.cells == made.outside == made.copies == ()
    said = " ".join(made.notes)
    for word in ("mauve", "precision", "coverage", "near_copies"):
        assert word in said


def test_samples_that_are_no_texts_have_no_words(evidence):
    made = explain_pair(
        replace(evidence, reference_texts=None, generated_texts=None), view="meaning"
    )
    assert all(region.keywords == () for region in made.topics + made.cells)
    assert made.under_represented[0].reference_medoids[0].text is None
    assert "not texts" in made.notes[0]


def test_cells_without_a_row_belong_to_some_topic(evidence):
    made = explain_pair(replace(evidence, cells=20), view="meaning", topics=4, limit=20)
    assert sorted(cell for topic in made.topics for cell in topic.cells) == list(range(20))
    assert len(made.cells) == 20
    assert sum(each.contribution for each in made.topics) == pytest.approx(made.score)


def test_words_that_were_counted_before_are_not_counted_again(evidence, monkeypatch):
    reference, generated = (
        WordCounts.of(evidence.reference_texts),
        WordCounts.of(evidence.generated_texts),
    )
    plain = explain_pair(evidence, view="meaning")
    monkeypatch.setattr(words_module, "_Chunks", None)
    shared = replace(evidence, reference_words=reference, generated_words=generated)
    assert explain_pair(shared, view="meaning") == plain


def test_sets_of_a_single_sample():
    one = Evidence(np.ones((1, 2)), np.ones((1, 2)), reference_cells=[0], generated_cells=[0])
    made = explain_pair(one, view="meaning")
    assert (made.score, len(made.topics), made.topics[0].direction) == (0.0, 1, "even")


def test_samples_that_are_all_the_same(evidence):
    flat = replace(
        evidence, reference_vectors=np.ones((160, 2)), generated_vectors=np.ones((120, 2))
    )
    made = explain_pair(flat, view="meaning", topics=3)
    assert sorted(cell for topic in made.topics for cell in topic.cells) == list(range(14))


def test_rows_may_come_ready(evidence, world):
    ready = (world.space.reference, world.space.generated)
    made = explain_pair(replace(evidence, rows=ready), view="meaning", topics=5)
    assert made == explain_pair(evidence, view="meaning", topics=5)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"reference_texts": ["a"]}, "reference_texts .*one entry for each of the 160"),
        ({"generated_texts": "one text"}, "of the 120 generated vectors.* 'one text'"),
        ({"realism": 0.5}, "of the 120 generated vectors.* 0.5"),
        ({"realism": np.ones(3)}, "realism .*one entry for each of the 120 generated"),
        ({"generated_cells": np.zeros(120)}, "generated_cells .*whole numbers; .*float64"),
        ({"reference_cells": np.full(160, -1)}, "reference_cells .*at least 0.* -1"),
        ({"cells": 3}, "reference_cells .*at least 0 and below 3.* 0 to 1"),
        ({"neighbours": {"covered": [True]}}, "covered of the reference .*one entry"),
        (
            {"neighbours": {"nearest_reference": np.full(120, 160)}},
            "nearest_reference .*at least 0 and below 160.* 160 to 160",
        ),
        ({"projection": "pca"}, "projection .*'none' or 'union'.* 'pca'"),
        ({"distance": "manhattan"}, "distance .*'euclidean' or 'cosine'.* 'manh"),
        ({"reference_vectors": np.zeros((0, 2))}, "samples on both sides.* 0 and 120"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(evidence, changed, message):
    with pytest.raises(InputError, match=message):
        replace(evidence, **changed)


@pytest.mark.parametrize("name", ["topics", "limit"])
@pytest.mark.parametrize("value", [0, -1, 2.5, True, "many"])
def test_parameters_out_of_range_are_refused(evidence, name, value):
    with pytest.raises(InputError, match=rf"{name} .*at least 1"):
        explain_pair(evidence, view="meaning", **{name: value})


@pytest.fixture(scope="module")
def kept(evidence):
    return explain_pair(with_copies(evidence), view="meaning", topics=4, limit=5)


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def texts_of(data):
    if isinstance(data, dict):
        own = [data["text"]] if "text" in data else []
        return own + [text for each in data.values() for text in texts_of(each)]
    return [text for each in data for text in texts_of(each)] if isinstance(data, list) else []


def test_all_comes_back(kept):
    assert Explanation.from_dict(through_json(kept.to_dict())) == kept


def test_an_empty_one_comes_back():
    empty = Explanation("form", 3, 4, 2)
    assert Explanation.from_dict(through_json(empty.to_dict())) == empty


def test_texts_are_left_out_and_put_back(kept, evidence):
    data = through_json(kept.to_dict(texts=False))
    held = texts_of(data)
    assert len(held) > 20
    assert set(held) == {None}
    assert data["topics"][0]["keywords"] == list(kept.topics[0].keywords) != []
    bare = Explanation.from_dict(data)
    assert bare == kept.with_texts(None, None)
    assert bare.with_texts(evidence.reference_texts, evidence.generated_texts) == kept


def test_every_sample_gets_the_text_of_its_own_side(kept):
    sides = [f"reference {row}" for row in range(160)], [f"generated {row}" for row in range(120)]
    made = kept.with_texts(*sides)
    assert made.topics
    assert made.cells
    assert made.outside
    assert made.copies
    for region in made.topics + made.cells:
        for sample in region.reference_medoids + region.uncovered_samples:
            assert sample.text == f"reference {sample.row}"
        for sample in region.generated_medoids:
            assert sample.text == f"generated {sample.row}"
    for each in made.outside:
        assert each.text == f"generated {each.row}"
        assert [one.text for one in each.nearest] == [
            f"reference {one.row}" for one in each.nearest
        ]
    for each in made.copies:
        assert (each.text, each.source.text) == (
            f"generated {each.row}",
            f"reference {each.source.row}",
        )


def test_hostile_texts_stay_as_they_are(kept):
    nasty = "</script>\x00\u202e{{ x }} \ud800 " + "y" * 1000
    made = kept.with_texts([nasty] * 160, [nasty] * 120)
    assert Explanation.from_dict(through_json(made.to_dict())) == made


def test_other_texts_are_refused(kept):
    with pytest.raises(InputError, match=r"120 generated samples; .*1 texts"):
        kept.with_texts(None, ["one"])


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("n",), "many", "n is 'many'"),
        (("m",), True, "m is True"),
        (("view",), None, "view is None"),
        (("score",), "0.1", "score is '0.1'"),
        (("topics",), {}, "topics is {}"),
        (("topics", 0), 3, "topics[0] is 3, not an object"),
        (("topics", 0, "direction"), "up", "direction is 'up'"),
        (("topics", 0, "direction"), [], "direction is "),
        (("topics", 0, "keywords"), [1], "topics[0].keywords[0] is 1"),
        (("cells", 0, "cells"), ["a"], "cells[0].cells[0] is 'a'"),
        (("cells", 0, "contribution"), [], "contribution is "),
        (("outside", 0, "row"), -1, "row is -1"),
        (("outside", 0, "nearest", 0, "distance"), "far", "distance is 'far'"),
        (("topics", 0, "reference_medoids", 0, "text"), 5, "text is 5"),
        (("outside_count",), 1.5, "outside_count is 1.5"),
        (("notes",), "none", "notes is 'none'"),
    ],
)
def test_damage_is_named(kept, path, value, name):
    data = through_json(kept.to_dict())
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InputError) as raised:
        Explanation.from_dict(data)
    assert name in str(raised.value)


@pytest.mark.parametrize("name", ["view", "topics", "uncovered_count", "notes"])
def test_a_missing_field_is_named(kept, name):
    data = kept.to_dict()
    del data[name]
    with pytest.raises(InputError, match=f"lacks {name!r}"):
        Explanation.from_dict(data)


def test_a_damaged_copy_is_named(kept):
    data = replace(kept, copies=()).to_dict()
    data["copies"] = [{"row": 1, "text": None, "distance": None, "source": 4}]
    with pytest.raises(InputError, match=r"copies\[0\]\.source is 4"):
        Explanation.from_dict(data)


# Words are counted as said, and regions are named by what is their own: by hand.


def counts(words):
    table = words.counts.toarray()
    return [
        {word: int(row[i]) for i, word in enumerate(words.vocabulary) if row[i]} for row in table
    ]


def test_words_are_runs_of_letters():
    found = WordCounts.of(["Rock'n'roll, ROCK—and-Rock 2nd", "", "Ärger ärger ÄRGER"])
    assert counts(found) == [{"rock": 3, "roll": 1, "and": 1, "nd": 1}, {}, {"ärger": 3}]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t won't DIDN'T", []),
        ("Bush's it’s you're", ["bush", "it", "you"]),
        ("l'homme d'Artagnan", ["homme", "artagnan"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("东 京", ["东", "京"]),
        ("a I x", []),
        ("na\u00adive \u202eabc\u200bdef", ["naive", "abc", "def"]),
        ("x\x00yz \ud800ab\ud801", ["yz", "ab"]),
        ("b" * 41 + " " + "c" * 40, ["c" * 40]),
        ("</script><img onerror=alert(1)>", ["script", "img", "onerror", "alert"]),
        ("_under_score_ $tex 50%", ["under", "score", "tex"]),
    ],
)
def test_what_a_word_is(text, words):
    assert sorted(WordCounts.of([text]).vocabulary) == sorted(words)


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_texts_can_be_counted(texts):
    found = WordCounts.of(texts)
    assert found.counts.shape == (len(texts), len(found.vocabulary))
    assert all(
        row == counts(WordCounts.of([text]))[0]
        for row, text in zip(counts(found), texts, strict=True)
    )


def test_a_megabyte_in_one_line():
    found = WordCounts.of(["x" * 1_000_000, "word " * 200_000])
    assert counts(found) == [{}, {"word": 200_000}]


def test_two_sets_share_a_vocabulary():
    words, one, two = WordCounts.of(["bb aa aa"]).aligned(WordCounts.of(["cc aa", "bb bb"]))
    assert words == ("bb", "aa", "cc")
    assert one.toarray().tolist() == [[1, 2, 0]]
    assert two.toarray().tolist() == [[0, 1, 1], [2, 0, 0]]


def test_an_item_that_is_no_text_is_named():
    with pytest.raises(InputError, match="row 2 is int"):
        WordCounts.of(["a", 3])


def names(reference, generated, topics, sides):
    labels = tuple(np.array(each) for each in topics)
    keywords = Keywords(WordCounts.of(reference), WordCounts.of(generated), labels)
    return keywords.of(labels, int(max(map(max, topics))) + 1, sides)


def test_weights_are_those_of_class_based_tfidf():
    # 20 words, 10 a region: apple 4 of 10, log(1 + 10/4); pear 2 of 10, log(1 + 10/2)
    reference = ["apple apple pear plum fig", "apple apple pear plum fig"]
    generated = ["stone stone sand clay loam", "stone stone sand clay loam"]
    found = names(reference, generated, ([0, 0], [1, 1]), {0: 0, 1: 1})
    assert 0.4 * np.log(1 + 10 / 4) > 0.2 * np.log(1 + 10 / 2)
    assert found == [("apple", "pear", "plum", "fig"), ("stone", "sand", "clay", "loam")]


def test_words_are_those_of_the_side_that_is_asked_for():
    reference, generated = ["tide quay"] * 9, ["tide raft"] * 9
    rest = ["other words here"] * 9
    topics = ([0] * 9 + [1] * 9, [0] * 9 + [2] * 9)
    texts = reference + rest, generated + ["third kind"] * 9
    assert set(names(*texts, topics, {0: 0})[0]) == {"tide", "quay"}
    assert set(names(*texts, topics, {0: 1})[0]) == {"tide", "raft"}


def test_words_of_single_texts_are_left_out():
    reference = ["harvest barn"] * 90 + ["barn smith"] * 5 + ["robinson " * 9] * 4
    found = names(reference, ["motor"] * 101, ([0] * 99, [1] * 101), {0: 0})[0]
    assert set(found) == {"harvest", "barn", "smith"}


def test_tiny_sets_keep_words_of_two_texts():
    found = names(["barn smith"] * 2 + ["robinson"], ["motor"] * 3, ([0] * 3, [1] * 3), {0: 0})[0]
    assert set(found) == {"barn", "smith"}


def test_words_that_most_topics_use_are_left_out():
    texts = [f"the said {word}" for word in ("alpha", "beta", "gamma", "delta") for _ in range(6)]
    topics = np.repeat(range(4), 6)
    found = names(texts, texts, (topics, topics), dict.fromkeys(range(4), 0))
    assert found == [("alpha",), ("beta",), ("gamma",), ("delta",)]


def test_words_that_are_as_common_elsewhere_are_left_out():
    texts = ["north wind"] * 8 + ["south wind sea"] * 8 + ["west calm"] * 8 + ["east calm"] * 8
    topics = np.repeat(range(4), 8)
    found = names(texts, texts, (topics, topics), {0: 0})[0]
    assert found[0] == "north"
    assert names(["same words"] * 9, ["same words"] * 9, ([0] * 9, [1] * 9), {0: 0, 1: 1}) == [
        (),
        (),
    ]


def test_texts_without_words_have_no_names():
    assert names(["", "1 2 3"], ["…"], ([0, 1], [1]), {0: 0, 1: 1}) == [(), ()]


def fillers():
    """Words that stand in one place each."""
    return ("zz" + "".join(letters) for letters in product(ascii_lowercase, repeat=3))


def named(texts, labels, regions):
    """The words of region 0 by the reference's texts; the generated set says nothing."""
    own, theirs = np.array(labels), np.zeros(1, int)
    keywords = Keywords(WordCounts.of(texts), WordCounts.of([""]), (own, theirs))
    return keywords.of((own, theirs), regions, {0: 0})[0]


def test_a_rarer_word_outweighs_a_commoner_one_by_the_average_region():
    # Of 100 words here 50 are harbour (100 of all), 30 lantern (all there are); 6,000 words in all
    words = fillers()
    texts = [" ".join(["harbour"] * 5 + ["lantern"] * 3 + [next(words)] * 2) for _ in range(10)]
    texts.append(" ".join(["harbour"] * 50 + [next(words) for _ in range(1425)]))
    texts += [" ".join(next(words) for _ in range(1475)) for _ in range(3)]
    labels = [0] * 10 + [1, 2, 3, 4]
    # 300 regions of 20 words: 0.5·log(1 + 20/100) < 0.3·log(1 + 20/30)
    assert named(texts, labels, 300) == ("lantern", "harbour")
    # 5 regions of 1,200 words: 0.5·log(1 + 12) > 0.3·log(1 + 40)
    assert named(texts, labels, 5) == ("harbour", "lantern")


@pytest.mark.parametrize(("elsewhere", "told"), [(1, ("harbour",)), (3, ())])
def test_a_word_must_be_twice_as_common_as_elsewhere(elsewhere, told):
    # One word of two here; of ten elsewhere one, or three
    words, fresh = fillers(), count()
    texts = [f"harbour {next(words)}" for _ in range(10)]
    texts += [
        " ".join(["harbour"] * elsewhere + [next(words) for _ in range(10 - elsewhere)])
        for _ in range(40)
    ]
    texts += [" ".join(next(words) for _ in range(2)) for _ in range(4)]
    labels = [0] * 10 + [1] * 40 + [2 + next(fresh) for _ in range(4)]
    assert named(texts, labels, 6) == told


@pytest.mark.parametrize(("topics", "told"), [(3, ()), (4, ("harbour",))])
def test_a_word_that_is_common_in_most_topics_names_none(topics, told):
    # In two topics of three, or of four: half is not most
    words = fillers()
    texts = [f"harbour {next(words)}" for _ in range(10)]
    texts += ["harbour " + " ".join(next(words) for _ in range(99)) for _ in range(10)]
    texts += [" ".join(next(words) for _ in range(50)) for _ in range(topics - 2)]
    labels = [0] * 10 + [1] * 10 + list(range(2, topics))
    assert named(texts, labels, topics) == told


def test_more_or_less_is_told_by_shares_and_not_by_counts():
    reference, generated = np.array([10, 10, 20]), np.array([3, 1, 4])
    # 10 and 10 of 40 against 3 and 1 of 8, 20 of 40 against 4 of 8
    found = [direction(reference, generated, place) for place in range(3)]
    assert found == ["over", "under", "even"]
