"""From a comparison to its explanations, its report data and its zip, and back."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import calipers
from calipers.comparison import Comparison
from calipers.comparison.explaining import Against
from calipers.comparison.report_data import EXCERPT, _thinned
from calipers.embed.embedder import EncodedBatch
from calipers.errors import InputError
from calipers.explain import sample_map
from calipers.samples import SampleSet

TOPICS = {
    "sea": ["harbour", "ship", "sailor", "anchor", "storm", "tide", "captain", "sails"],
    "law": ["judge", "court", "trial", "verdict", "lawyer", "witness", "appeal", "crime"],
    "food": ["kitchen", "soup", "recipe", "butter", "oven", "salt", "baker", "supper"],
}


def written(rng, topics, size):
    texts = []
    for _ in range(size):
        words = TOPICS[topics[rng.integers(len(topics))]]
        texts.append(" ".join(rng.choice(words, 12)))
    return texts


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(5)
    systems = {
        "narrow": written(rng, ["sea", "law"], 150),
        "strange": written(rng, ["sea", "law", "food"], 150),
        "two": [
            SampleSet.from_texts(written(rng, ["law"], 150), name=f"two-{i}") for i in range(2)
        ],
    }
    return calipers.compare(
        written(rng, ["sea", "law", "food"], 150), systems, embedder="tfidf", floor=False
    )


def test_runs_from_before_there_was_a_choice_looked_for_neighbours_on_joint_axes(comparison):
    samples, settings = comparison.reference_samples, dict(comparison.settings)
    assert settings["projection"] == "none"
    assert Against.of(samples, settings).projection == "none"
    del settings["projection"]
    assert Against.of(samples, settings).projection == "union"


def test_the_topic_that_a_system_lacks_is_named_first(comparison):
    explanation = comparison["narrow"].explain()
    worst = explanation.missed[0]
    assert set(worst.words[:5]) <= set(TOPICS["food"])
    assert (worst.generated, worst.uncovered) == (0, worst.reference)
    assert all(set(each.text.split()) <= set(TOPICS["food"]) for each in worst.missed_samples)


def test_contributions_add_up_to_the_score_of_the_table(comparison):
    for name in ("narrow", "strange"):
        explanation = comparison[name].explain()
        score = comparison[name]["frontier_integral_star"].value
        assert explanation.score == pytest.approx(score, rel=1e-12)
        assert sum(each.contribution for each in explanation.topics) == pytest.approx(score)


def test_shares_of_topics_are_smoothed_by_half_a_sample_for_each_cell(comparison):
    topics = comparison["narrow"].explain().topics
    cells = sum(len(each.cells) for each in topics)
    for each in topics:
        for count, share in ((each.reference, each.expected), (each.generated, each.produced)):
            assert share == pytest.approx((count + len(each.cells) / 2) / (150 + cells / 2))
    assert any(each.reference != each.generated for each in topics)


def test_cells_are_those_that_the_score_was_read_from_in_a_shared_space_too(rng):
    sets = {name: rng.standard_normal((60, 3)) + shift for name, shift in (("a", 0.5), ("b", 3))}
    found = calipers.compare(rng.standard_normal((60, 3)), sets, shared=True, floor=False)
    for system in found:
        assert system.explain().score == pytest.approx(system["frontier_integral_star"].value)


def test_distances_are_those_of_the_shared_space():
    rng = np.random.default_rng(0)
    scales = np.linspace(2, 0.2, 30)
    reference, odd, far = rng.standard_normal((3, 200, 30)) * scales
    odd[:100] = 2 * odd[:100] + 3
    sets = {"odd": odd, "far": 20 * far / scales * scales[::-1]}
    found = calipers.compare(reference, sets, shared=True, floor=False)
    outside = found["odd"].explain().outside
    assert outside
    for each in outside:
        distances = [neighbour.distance for neighbour in each.nearest]
        assert distances == sorted(distances)


def test_counts_are_those_of_the_scores(comparison):
    explanation, scores = comparison["narrow"].explain(), comparison["narrow"].scores
    assert explanation.uncovered_count == round(150 * (1 - scores["coverage"].value))
    assert explanation.outside_count == round(150 * (1 - scores["precision"].value))
    assert explanation.copies_count == round(150 * scores["near_copies"].value)


def test_of_several_files_the_first_is_explained(comparison):
    explanation = comparison["two"].explain()
    assert (explanation.n, explanation.m) == (150, 150)
    first = comparison["two"].samples[0].listed
    assert all(first[each.row] == each.text for each in explanation.outside)


def test_the_first_file_is_explained_by_what_was_measured_of_it(rng):
    files = [
        SampleSet.from_vectors(rng.standard_normal((size, 3)) + np.array(place), name=str(size))
        for size, place in ((70, (3, 3, 0)), (90, (0, 6, 0)))
    ]
    reference = rng.standard_normal((80, 3)) + np.array([6, 0, 0])
    system = calipers.compare(reference, {"x": files}, keep_sizes=True, floor=False)["x"]
    alone = calipers.compare(reference, {"x": files[0]}, keep_sizes=True, floor=False)["x"]
    assert system["precision"].seeds[0] > system["precision"].seeds[1]
    assert system.explain() == alone.explain()
    assert system.explain().m == 70
    assert system.explain().outside


def test_a_map_has_both_coordinates_of_each_sample(comparison):
    data = comparison.report_data()["map"]["wording"]["sets"]
    vectors = [
        comparison.reference_samples.vectors,
        *(each.samples[0].vectors for each in comparison),
    ]
    points = sample_map([each["wording"] for each in vectors]).coordinates
    for each, place in zip(data, points, strict=True):
        assert np.column_stack([each["x"], each["y"]]) == pytest.approx(place, abs=1e-5)


def test_what_cannot_be_explained_says_why(comparison):
    with pytest.raises(InputError, match=r"view of 'narrow' 'form'"):
        comparison["narrow"].explain("form")
    alone = calipers.comparison.SystemResult(comparison["narrow"].summary, {}, {})
    with pytest.raises(InputError, match="narrow: cannot be explained without its samples"):
        alone.explain()


def test_a_zip_gives_back_what_was_kept_and_computes_nothing(comparison, tmp_path, monkeypatch):
    comparison.save(tmp_path / "run.zip")
    expected = comparison.report_data()
    monkeypatch.setattr("calipers.comparison.explaining.explain_pair", None)
    monkeypatch.setattr("calipers.explain.sample_map", None)
    loaded = Comparison.load(tmp_path / "run.zip")
    assert loaded.report_data() == expected
    assert loaded["narrow"].explain() == comparison["narrow"].explain()
    assert loaded["narrow"].explain().missed[0].reference_medoids[0].text


class Odd:
    """Views whose names hold what parts names of files and keys elsewhere."""

    name, identity = "odd", "odd"
    signature: dict[str, str] = {}  # noqa: RUF012
    views = ("a/b", "layer:6/c.d%2F")

    def embed(self, samples):
        rows = np.array([[len(t), t.count("a"), t.count("e")] for t in samples], np.float32)
        views = {view: rows + i for i, view in enumerate(self.views)}
        return EncodedBatch(views, np.zeros(len(rows), bool))


def test_views_of_any_name_are_kept(tmp_path):
    rng = np.random.default_rng(1)
    sets = [written(rng, ["sea", "law"], 110) for _ in range(2)]
    found = calipers.compare(sets[0], {"x": sets[1]}, embedder=Odd(), floor=False, cache=False)
    found.save(tmp_path / "run.zip")
    loaded = Comparison.load(tmp_path / "run.zip")
    assert set(loaded["x"].explained) == set(loaded.maps) == set(Odd.views)
    assert loaded.report_data() == found.report_data()


def test_texts_stand_in_the_zip_once(comparison, tmp_path):
    comparison.save(tmp_path / "run.zip")
    text = comparison["narrow"].explain().topics[0].reference_medoids[0].text
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        holding = [name for name in archive.namelist() if text.encode() in archive.read(name)]
    assert holding == ["reference/texts.jsonl"]


def test_report_data_is_strict_json_with_a_place_for_every_sample(comparison):
    data = json.loads(json.dumps(comparison.report_data(), allow_nan=False))
    sets = data["map"]["wording"]["sets"]
    assert [each["role"] for each in sets] == ["reference", *["generated"] * 3]
    assert [each["name"] for each in data["excerpts"]] == [each["name"] for each in sets]
    for each, texts in zip(sets, data["excerpts"], strict=True):
        assert len(each["rows"]) == len(each["x"]) == len(each["y"]) == len(texts["excerpts"])
    held = comparison["narrow"]["precision"].per_sample
    assert sets[1]["inside"] == held.astype(int).tolist()
    errors, curve = data["curve_errors"]["narrow"]["prd"], data["curves"]["narrow"]["prd"]
    assert np.shape(errors) == np.shape(curve)
    pairs = {"precision|recall", "density|coverage", "prd_f8|prd_f1_8"}
    assert pairs <= set(data["correlations"]["narrow"])


@pytest.mark.parametrize("kind", ["plane", "curves", "frontiers"])
def test_a_plot_gathers_what_it_shows_alone(comparison, kind, monkeypatch):
    monkeypatch.setattr("calipers.comparison.report_data._explanations", None)
    monkeypatch.setattr("calipers.comparison.report_data._maps", None)
    assert comparison.plot(kind).has_data()


@pytest.mark.parametrize("kind", ["cells", "map"])
def test_a_plot_gathers_explanations_and_map_where_it_shows_them(comparison, kind):
    assert comparison.plot(kind, view="wording").has_data()


def test_a_plot_of_no_kind_is_named(comparison):
    with pytest.raises(InputError, match=r"'plain'.*did you mean 'plane'"):
        comparison.plot("plain")


def test_redacted_data_holds_no_text(comparison):
    text = json.dumps(comparison.report_data(redact=True))
    every = [*comparison.reference_samples.listed, *comparison["narrow"].samples[0].listed]
    assert not any(each in text for each in every)
    assert all(each["excerpts"] is None for each in json.loads(text)["excerpts"])


def test_large_sets_are_thinned_evenly_and_long_texts_cut():
    rows = _thinned(10_001)
    assert (len(rows), len(set(rows)), rows[0], rows[-1]) == (4000, 4000, 0, 10_000)
    assert set(np.diff(rows)) == {2, 3}
    found = calipers.compare(["a" * 999, *"bcdefghij"], {"x": list("bcdefghijk")}, embedder="tfidf")
    assert found.report_data()["excerpts"][0]["excerpts"][0] == "a" * EXCERPT


def test_a_damaged_explanation_is_named(comparison, tmp_path):
    comparison.save(tmp_path / "run.zip")
    with (
        zipfile.ZipFile(tmp_path / "run.zip") as old,
        zipfile.ZipFile(tmp_path / "bad.zip", "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("explanations/wording.json"):
                content = content.replace(b'"outside_count": ', b'"outside_count": "x", "was": ')
            new.writestr(name, content)
    with pytest.raises(InputError, match=r"bad\.zip: .*outside_count"):
        Comparison.load(tmp_path / "bad.zip")


def test_a_map_that_does_not_fit_its_samples_is_refused(comparison, tmp_path):
    comparison.save(tmp_path / "run.zip")
    with (
        zipfile.ZipFile(tmp_path / "run.zip") as old,
        zipfile.ZipFile(tmp_path / "bad.zip", "w") as new,
    ):
        for name in old.namelist():
            if name != "map/wording/3.npy":
                new.writestr(name, old.read(name))
    with pytest.raises(InputError, match=r"bad\.zip: .*the map of 'wording' has not a place"):
        Comparison.load(tmp_path / "bad.zip")
