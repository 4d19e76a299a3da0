"""Systems that hold only samples of the reference, or the same as another: shown, never ranked."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import compare
from calipers.errors import InputError
from calipers.evaluate.identical import holds_only, is_part
from calipers.evaluate.order import first_shown, order
from calipers.evaluate.standing import all_marks, standing
from calipers.report.html.pictures import plane_data
from calipers.report.html.tables import MARKS
from calipers.report.inference import BRIEF
from calipers.results.significance import between_systems
from calipers.samples import SampleSet

CHEAP = {"metrics": ["precision", "recall", "mauve_star"], "floor": False}


def texts(values):
    return SampleSet.from_texts(values, name="texts")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    return rng.normal(size=(60, 4)), {
        "near": rng.normal(0.2, 1, (60, 4)),
        "far": rng.normal(1.5, 1, (60, 4)),
    }


@pytest.fixture(scope="module")
def compared(rows):
    reference, systems = rows
    return compare(reference, {"copy": reference[::-1].copy(), **systems}, **CHEAP)


def test_a_copy_in_another_order_and_a_part_are_the_reference():
    given = texts([f"text {i}" for i in range(40)])
    copies = [texts([f"text {i}" for i in rows]) for rows in (range(39, -1, -1), range(7, 12))]
    assert all(holds_only(given, [copy]) for copy in copies)
    assert holds_only(given, copies)


def test_one_sample_of_its_own_makes_a_system():
    given = texts([f"text {i}" for i in range(40)])
    other = texts([f"text {i}" for i in range(39)] + ["mine"])
    assert not holds_only(given, [other])
    assert not holds_only(given, [given, other])
    assert not holds_only(given, [texts([f"text {i}" for i in range(41)])])


def test_labels_are_a_copy_only_in_the_same_order():
    answers = ["yes", "no"] * 20
    assert holds_only(texts(answers), [texts(answers)])
    assert not holds_only(texts(answers), [texts(answers[::-1])])
    assert not holds_only(texts(answers), [texts(["yes"] * 20)])


def test_embeddings_and_token_ids_and_images():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(30, 3)).astype(np.float32)
    given = SampleSet.from_vectors(vectors, name="r")
    wide = SampleSet.from_vectors(vectors[5:9].astype(np.float64), name="w")
    moved = SampleSet.from_vectors(vectors + np.float32(1e-6), name="m")
    flat = SampleSet.from_vectors(vectors[:, :2], name="f")
    assert holds_only(given, [wide])
    assert not holds_only(given, [moved])
    assert not holds_only(given, [flat])
    ids = [[i, i + 1] for i in range(30)]
    tokens = SampleSet.from_tokens(ids, name="t")
    assert holds_only(tokens, [SampleSet.from_tokens(ids[3:9], name="u")])
    assert not holds_only(tokens, [SampleSet.from_tokens([[1], [2]], name="u")])
    pixels = rng.integers(0, 256, (20, 4, 4, 3), dtype=np.uint8)
    images = SampleSet.from_images(pixels, name="i")
    assert holds_only(images, [SampleSet.from_images(pixels[::-1].copy(), name="j")])
    assert not holds_only(images, [SampleSet.from_images(255 - pixels, name="j")])
    assert not holds_only(images, [tokens])


@given(st.lists(st.integers(0, 8), max_size=30), st.lists(st.integers(0, 9), max_size=12))
def test_a_part_is_a_multiset_within_a_set_of_mostly_different_ones(ours, theirs):
    once = sum(ours.count(x) == 1 for x in ours)
    fits = all(theirs.count(x) <= ours.count(x) for x in theirs)
    expected = bool(theirs) and bool(ours) and once >= 0.9 * len(ours) and fits
    assert is_part(np.array(ours, int), np.array(theirs, int)) == expected


def test_a_copy_is_neither_closest_nor_best_nor_tested(compared):
    assert compared["copy"].is_reference
    assert not compared["near"].is_reference
    verdict = compared.verdict
    assert verdict.closest[0] == "near"
    about = [finding for finding in verdict.findings if "copy" in finding.systems]
    assert [finding.kind for finding in about] == ["reference"]
    assert str(about[0]) == "copy holds only samples of the reference and is not ranked."
    assert not any(caution.system == "copy" for caution in verdict.cautions)
    for metric in compared.shown:
        assert 0 not in standing(compared, metric).best
    assert {marks[0] for marks in all_marks(compared, compared.shown)} == {"R"}
    assert not any("copy" in (test.a, test.b) for test in between_systems(compared))
    assert "R" in BRIEF
    assert "R" in MARKS


def test_a_copy_changes_nothing_about_the_others(rows, compared):
    reference, systems = rows
    alone = compare(reference, systems, **CHEAP)
    assert between_systems(alone) == between_systems(compared)
    for name in systems:
        assert alone[name].scores == compared[name].scores
    said = [
        str(f) for f in compared.verdict.findings if f.kind not in ("reference", "distinguishable")
    ]
    assert said == [str(f) for f in alone.verdict.findings if f.kind != "distinguishable"]


def test_it_stands_last_and_is_shown(compared):
    assert order(compared) == [1, 2, 0]
    assert 2 in first_shown(compared)
    text = str(compared)
    assert "copy holds only samples of the reference" in text
    assert "R the reference's own samples" in text


def test_it_sets_no_scale(rows):
    reference, _ = rows
    rng = np.random.default_rng(1)
    many = {f"s{i}": rng.normal(2 + i / 20, 1, (60, 4)) for i in range(9)}
    compared = compare(reference, {"copy": reference, **many}, **CHEAP)
    (plane,) = [p for p in plane_data(compared, [""]) if p["up"] == "precision"][:1]
    (point,) = [p for p in plane["points"] if p["system"] == 0]
    assert point["x"] == 1.0
    assert plane["bulk"][0][1] < 1.0


def test_an_only_system_that_is_the_reference_is_said_and_scored(rows):
    reference, _ = rows
    compared = compare(reference, {"copy": reference}, **CHEAP)
    assert [str(f) for f in compared.verdict.findings] == [
        "copy holds only samples of the reference and is not ranked."
    ]
    assert compared["copy"]["recall"].value == 1.0


def test_without_tests_it_is_not_the_best_either(rows):
    reference, systems = rows
    compared = compare(reference, {"copy": reference, **systems}, level=None, **CHEAP)
    assert all_marks(compared, compared.shown)[0][:2] == ("R", "▲")
    assert compared.verdict.closest == ("near",)


def test_the_same_samples_under_two_names_are_said_once(rows):
    reference, systems = rows
    both = {**systems, "twin": systems["near"], "a": systems["far"], "copy": reference}
    compared = compare(reference, both, **CHEAP)
    same = [str(f) for f in compared.verdict.findings if f.kind == "same"]
    assert same == ["near and twin hold the same samples; so do far and a among themselves."]


def test_it_is_kept_in_json_and_zip(compared, tmp_path):
    data = json.loads(json.dumps(compared.to_dict()))
    assert [system["is_reference"] for system in data["systems"]] == [True, False, False]
    assert calipers.Comparison.from_dict(data)["copy"].is_reference
    compared.save(tmp_path / "run.zip")
    assert calipers.load(tmp_path / "run.zip")["copy"].is_reference


def test_texts_in_another_format_and_letter_case(tmp_path):
    lines = [f"Story {i} of a Fox that ran {i * 7} miles" for i in range(30)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    (tmp_path / "b.jsonl").write_text(
        "\n".join(json.dumps({"text": line.lower() + " "}) for line in lines)
    )
    systems = {"b": calipers.read_samples(tmp_path / "b.jsonl"), "own": [f"own {i}" for i in lines]}
    options = {"embedder": "tfidf", "floor": False, "metrics": ["recall"]}
    compared = compare(tmp_path / "a.txt", systems, **options)
    assert compared["b"].is_reference
    assert not compared["own"].is_reference


def test_a_copy_that_was_cut_to_the_size_of_the_others(rows):
    reference, systems = rows
    short = {"copy": reference, "near": systems["near"][:50]}
    assert compare(reference, short, **CHEAP)["copy"].is_reference


def test_rank_leaves_it_out(compared, rows):
    truth = {"near": 2.0, "far": 1.0, "copy": 9.0}
    ranking = calipers.rank(compared, truth=truth)
    assert ranking.systems == ("near", "far")
    assert "'copy' left out: only samples of the reference" in ranking.notes
    assert not any("copy" in note and "no scores" in note for note in ranking.notes)
    reference, systems = rows
    only = compare(reference, {"copy": reference, "near": systems["near"]}, **CHEAP)
    with pytest.raises(InputError, match=r"found 'near'; 'copy' left out: only samples"):
        calipers.rank(only, truth=truth)


def test_judgements_of_it_are_kept_as_those_of_the_reference(compared):
    pairs = [
        ("near", "far", "a"),
        ("copy", "near", "a"),
        ("near", "far", "b"),
        ("far", "copy", "a"),
    ]
    judged = [{"a": a, "b": b, "winner": w} for a, b, w in pairs * 5]
    ranking = calipers.rank(compared, judgements=judged)
    fit = next(iter(ranking.truths.values())).fit
    assert {player.name for player in fit.players} == {"near", "far", "copy"}


def test_statistics_of_texts_mark_no_copy():
    human = [f"{i} a fox ran over hill number {i * 3} and hid" for i in range(20)]
    dull = ["a fox ran"] * 10 + [f"a fox sat {i}" for i in range(10)]
    found = calipers.measure_texts(
        {"copy": human[::-1], "dull": dull, "dim": dull[::-1]}, reference=human
    )
    assert found["copy"].is_reference
    assert not found["dull"].is_reference
    assert calipers.TextComparison.from_dict(found.to_dict())["copy"].is_reference
    text = " ".join(str(found).split())
    assert "copy holds only texts of the reference and is not ranked" in text
    statistics = text.partition("statistics that differ from the reference beyond chance: ")[2]
    assert "copy" not in statistics.partition("system ")[0]
