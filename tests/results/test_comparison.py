"""A comparison, its explanations, its report data and its zip, and back."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.embedders.embedder import EncodedBatch
from calipers.errors import CalipersError, InputError
from calipers.evaluate.verdict import decided
from calipers.explain import sample_map
from calipers.report.placed import EXCERPT, shown_rows
from calipers.results import Comparison, Samples, SetSummary, SystemResult
from calipers.results.system import Against
from calipers.samples import SampleSet
from calipers.score import NoiseFloor, Score
from calipers.serialise import plain


@pytest.fixture
def comparison(rng):
    scores = {
        "precision": Score(0.75, signature="metric:precision", per_sample=np.array([True, False])),
        "form.precision": Score(0.5, interval=(0.4, 0.6), level=0.95, seeds=(0.4, 0.6)),
        "frechet_distance": Score(
            np.nan,
            range=(0, np.inf),
            better="lower",
            reason="too few",
            floor=NoiseFloor(0.25, 0.01, 0.5, 0.02, 1, 10),
        ),
    }
    about = SetSummary(
        "human", "human.jsonl", 2, 3, {"mean": 4.5, "median": 4.0}, "ab" * 32, ("n",)
    )
    system = SystemResult(
        summary=SetSummary("model/a: [x]", "a.jsonl", 2, 2, None, "cd" * 32, ("one",)),
        scores=scores,
        curves={"prd": rng.random((5, 2)), "form.frontier": rng.random((3, 3))},
        seeds=("a1", "a2"),
        samples=(Samples(["first\nline", 'ünïcode \u2028 "q"'], {"meaning": rng.random((2, 4))}),),
        warnings=("two",),
    )
    samples = Samples(["x", ""], {"meaning": np.ones((2, 4), np.float32)})
    return Comparison(about, (system,), {"k": 4, "views": ["meaning", "form"]}, ("w",), samples)


def test_looking_things_up(comparison):
    system = comparison["model/a: [x]"]
    assert system.scores["precision"].value == float(system["precision"]) == 0.75
    assert list(comparison) == [system]
    assert len(comparison) == 1
    with pytest.raises(InputError, match="unknown system 'model_b'"):
        comparison["model_b"]
    with pytest.raises(InputError, match=r"score of .* 'precison'.*'precision'"):
        system["precison"]


def test_plain_data_is_strict_json(comparison):
    data = json.loads(json.dumps(comparison.to_dict(per_sample=True), allow_nan=False))
    assert data["reference"]["n_given"] == 3
    assert data["reference"]["warnings"] == ["n"]
    system = data["systems"][0]
    assert system["name"] == "model/a: [x]"
    assert system["warnings"] == ["one", "two"]
    assert system["seeds"] == ["a1", "a2"]
    scores = system["scores"]
    assert scores["precision"]["per_sample"] == [True, False]
    assert scores["form.precision"]["interval"] == [0.4, 0.6]
    assert scores["form.precision"]["seeds"] == [0.4, 0.6]
    assert scores["frechet_distance"]["value"] is None
    assert scores["frechet_distance"]["reason"] == "too few"
    assert scores["frechet_distance"]["range"] == [0.0, None]
    assert "per_sample" not in comparison.to_dict()["systems"][0]["scores"]["precision"]


def test_saving_keeps_everything(comparison, tmp_path):
    path = tmp_path / "run.zip"
    comparison.save(path)
    loaded = Comparison.load(path)
    assert loaded.to_dict(per_sample=True) == comparison.to_dict(per_sample=True)
    ours, theirs = comparison.systems[0], loaded.systems[0]
    assert theirs.curves.keys() == ours.curves.keys()
    np.testing.assert_array_equal(theirs.curves["form.frontier"], ours.curves["form.frontier"])
    assert list(theirs.samples[0].texts) == list(ours.samples[0].texts)
    np.testing.assert_array_equal(
        theirs.samples[0].vectors["meaning"], ours.samples[0].vectors["meaning"]
    )
    assert list(loaded.reference_samples.texts) == ["x", ""]
    assert loaded.reference_samples.vectors["meaning"].dtype == np.float32
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.zip"]


def test_saving_over_an_older_file_is_all_or_nothing(comparison, tmp_path, monkeypatch):
    path = tmp_path / "run.zip"
    path.write_bytes(b"older")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(CalipersError, match=r"run\.zip: .*No space left"):
        comparison.save(path)
    assert path.read_bytes() == b"older"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.zip"]


def test_saving_where_there_is_no_folder(comparison, tmp_path):
    with pytest.raises(CalipersError, match="written: No such file"):
        comparison.save(tmp_path / "nowhere" / "run.zip")


def test_loading_what_is_no_comparison(comparison, tmp_path):
    with pytest.raises(InputError, match=r"gone\.zip: .*No such file"):
        Comparison.load(tmp_path / "gone.zip")
    text = tmp_path / "text.zip"
    text.write_text("no zip")
    with pytest.raises(InputError, match=r"text\.zip: .*not a comparison"):
        Comparison.load(text)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(InputError, match="not a comparison saved"):
        Comparison.load(other)


def test_pickled_arrays_are_never_loaded(comparison, tmp_path):
    path, evil = tmp_path / "run.zip", tmp_path / "evil.npy"
    comparison.save(path)
    np.save(evil, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "a") as archive:
        archive.write(evil, "systems/0/curves/evil.npy")
    with pytest.raises(InputError, match="Object arrays cannot be loaded"):
        Comparison.load(path)


def test_a_damaged_array_is_noticed(comparison, tmp_path):
    path = tmp_path / "run.zip"
    comparison.save(path)
    content = bytearray(path.read_bytes())
    place = content.find(b"\x93NUMPY") + 200
    content[place] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="or is damaged"):
        Comparison.load(path)


def test_printing_shows_the_table(comparison):
    shown = str(decided(comparison))
    assert "human" in shown
    assert ".750" in shown


def test_saving_takes_the_place_of_the_older_file_in_one_step(comparison, tmp_path):
    path, linked = tmp_path / "run.zip", tmp_path / "older"
    path.write_bytes(b"older")
    os.link(path, linked)
    comparison.save(path)
    assert linked.read_bytes() == b"older"  # another name of the old file: never written into
    assert zipfile.is_zipfile(path)


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of posix")
def test_a_saved_file_may_be_read_as_any_new_file(comparison, tmp_path):
    comparison.save(tmp_path / "run.zip")
    (tmp_path / "plain").touch()
    modes = {(tmp_path / name).stat().st_mode & 0o777 for name in ("run.zip", "plain")}
    assert len(modes) == 1


def test_every_system_keeps_its_own_samples_and_values(comparison, tmp_path):
    first = comparison.systems[0]
    several = tuple(Samples(None, {"meaning": np.full((2, 4), float(i))}) for i in range(3))
    score = Score(0.5, per_sample=np.array([0.25, 0.75]), seeds=(np.nan, np.inf, 0.5))
    second = SystemResult(
        SetSummary("b", "b.npy", 2, 9, None, "ef" * 32, ("own",)),
        {"precision": score, "frechet_distance": Score(np.inf, range=(0, np.inf), better="lower")},
        {"prd": np.zeros((2, 2))},
        samples=several,
    )
    path = tmp_path / "run.zip"
    replace(comparison, systems=(first, second), version="0.0.1").save(path)
    loaded = Comparison.load(path)
    assert loaded.version == "0.0.1"
    assert loaded["b"].scores["frechet_distance"].range == (0, np.inf)
    assert loaded["b"].scores["frechet_distance"].better == "lower"
    np.testing.assert_array_equal(loaded["b"]["precision"].per_sample, [0.25, 0.75])
    np.testing.assert_array_equal(loaded[first.name]["precision"].per_sample, [True, False])
    assert loaded[first.name]["form.precision"].per_sample is None
    np.testing.assert_array_equal(loaded["b"].curves["prd"], np.zeros((2, 2)))
    assert [found.vectors["meaning"][0, 0] for found in loaded["b"].samples] == [0, 1, 2]
    assert [found.texts for found in loaded["b"].samples] == [None] * 3
    data = loaded.to_dict()["systems"]
    assert [row["warnings"] for row in data] == [["one", "two"], ["own"]]
    assert data[1]["scores"]["precision"]["seeds"] == [None, None, 0.5]


def test_numbers_that_json_lacks_are_null(comparison):
    for value in (np.nan, np.inf, -np.inf):
        data = plain(Score(value, interval=(0.1, value), seeds=(0.5, value)))
        assert (data["value"], data["interval"], data["seeds"]) == (None, [0.1, None], [0.5, None])


def test_arrays_of_objects_are_never_written(comparison, tmp_path):
    odd = replace(comparison.systems[0], curves={"odd": np.array([{"a": 1}], dtype=object)})
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        replace(comparison, systems=(odd,)).save(tmp_path / "run.zip")
    assert list(tmp_path.iterdir()) == []


def test_membership_formats_and_short_names(comparison):
    assert "model/a: [x]" in comparison
    assert "model_b" not in comparison
    assert repr(comparison) == "<Comparison of 'model/a: [x]' with 'human'>"
    assert f"{comparison['model/a: [x]']['precision']:.2f}" == "0.75"


def test_any_damage_is_said_and_never_raised_raw(comparison, tmp_path, rng):
    path, broken = tmp_path / "run.zip", tmp_path / "broken.zip"
    comparison.save(path)
    whole = path.read_bytes()
    refused = 0
    for _ in range(300):
        content = bytearray(whole)
        for place in rng.integers(0, len(content), 4):
            content[place] = rng.integers(0, 256)
        broken.write_bytes(bytes(content))
        try:
            Comparison.load(broken)
        except InputError:
            refused += 1
    assert refused > 100


def test_values_of_samples_that_json_lacks_are_null():
    score = Score(0.5, per_sample=np.array([0.5, np.inf, np.nan]))
    assert plain(score, per_sample=True)["per_sample"] == [0.5, None, None]
    assert plain(Score(0.5, per_sample=np.array([True, False])), per_sample=True)["per_sample"] == [
        True,
        False,
    ]


def test_a_locked_part_is_said_as_damage(comparison, tmp_path):
    path = tmp_path / "run.zip"
    comparison.save(path)
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"PK\x01\x02")
    content[entry + 8] |= 1  # the flag of an encrypted member
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="or is damaged"):
        Comparison.load(path)


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
def explained():
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


def test_topics_of_clusters_are_tested_by_clusters(tmp_path):
    rng = np.random.default_rng(8)
    prompts = [str(place) for place in np.repeat(range(30), 5)]
    sets = [
        SampleSet.from_texts(written(rng, topics, 150), name=name).with_clusters(prompts)
        for name, topics in (("human", ["sea", "law", "food"]), ("narrow", ["sea", "law"]))
    ]
    found = calipers.compare(sets[0], sets[1], cluster="prompt", embedder="tfidf", floor=False)
    explanation = found["narrow"].explain()
    note = "topics were tested by permuting whole clusters: 30 in the reference, 30 in the"
    assert any(each.startswith(note) for each in explanation.notes)
    assert set(explanation.under_represented[0].keywords[:5]) <= set(TOPICS["food"])
    found.save(tmp_path / "run.zip")
    loaded = Comparison.load(tmp_path / "run.zip")
    assert loaded["narrow"].explain() == explanation
    kept = loaded["narrow"].samples[0].clusters
    assert (kept == found["narrow"].samples[0].clusters).all()
    assert (kept == loaded.reference_samples.clusters).all()
    unkept = replace(loaded["narrow"], explained={})
    assert unkept.explain() == explanation


def test_topics_are_tested_at_the_level_of_the_run(explained):
    assert explained["narrow"].explain().level == explained.settings["level"] == 0.95
    samples, settings = explained.reference_samples, dict(explained.settings)
    assert Against.of(samples, {**settings, "level": 0.99}).level == 0.99
    assert Against.of(samples, {**settings, "level": None}).level == 0.95


def test_a_system_of_the_same_texts_has_no_significant_topic(explained):
    found = explained["strange"].explain()
    assert not found.under_represented + found.over_represented
    assert "no topic is significantly under- or over-represented" in str(found)


def test_the_topic_that_a_system_lacks_is_named_first(explained):
    explanation = explained["narrow"].explain()
    worst = explanation.under_represented[0]
    assert set(worst.keywords[:5]) <= set(TOPICS["food"])
    assert (worst.generated, worst.uncovered) == (0, worst.reference)
    assert all(set(each.text.split()) <= set(TOPICS["food"]) for each in worst.uncovered_samples)


def test_contributions_add_up_to_the_score_of_the_table(explained):
    for name in ("narrow", "strange"):
        explanation = explained[name].explain()
        score = explained[name]["frontier_integral_star"].value
        assert explanation.score == pytest.approx(score, rel=1e-12)
        assert sum(each.contribution for each in explanation.topics) == pytest.approx(score)


def test_shares_of_topics_are_smoothed_by_half_a_sample_for_each_cell(explained):
    topics = explained["narrow"].explain().topics
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


@pytest.mark.slow
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


def test_counts_are_those_of_the_scores(explained):
    explanation, scores = explained["narrow"].explain(), explained["narrow"].scores
    assert explanation.uncovered_count == round(150 * (1 - scores["coverage"].value))
    assert explanation.outside_count == round(150 * (1 - scores["precision"].value))
    assert explanation.copies_count == round(150 * scores["near_copies"].value)


def test_of_several_files_the_first_is_explained(explained):
    explanation = explained["two"].explain()
    assert (explanation.n, explanation.m) == (150, 150)
    first = explained["two"].samples[0].listed
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


def test_a_map_has_both_coordinates_of_each_sample(explained):
    data = explained.report_data()["map"]["wording"]["sets"]
    vectors = [
        explained.reference_samples.vectors,
        *(each.samples[0].vectors for each in explained),
    ]
    points = sample_map([each["wording"] for each in vectors]).coordinates
    for each, place in zip(data, points, strict=True):
        assert np.column_stack([each["x"], each["y"]]) == pytest.approx(place, abs=1e-5)


def test_what_cannot_be_explained_says_why(explained):
    with pytest.raises(InputError, match=r"view of 'narrow' 'form'"):
        explained["narrow"].explain("form")
    alone = calipers.results.SystemResult(explained["narrow"].summary, {}, {})
    with pytest.raises(InputError, match=r"narrow: .*without its samples"):
        alone.explain()


def test_a_zip_gives_back_what_was_kept_and_computes_nothing(explained, tmp_path, monkeypatch):
    explained.save(tmp_path / "run.zip")
    expected = explained.report_data()
    monkeypatch.setattr("calipers.results.system.explain_pair", None)
    monkeypatch.setattr("calipers.explain.sample_map", None)
    loaded = Comparison.load(tmp_path / "run.zip")
    assert loaded.report_data() == expected
    assert loaded["narrow"].explain() == explained["narrow"].explain()
    assert loaded["narrow"].explain().under_represented[0].reference_medoids[0].text


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


def test_texts_stand_in_the_zip_once(explained, tmp_path):
    explained.save(tmp_path / "run.zip")
    text = explained["narrow"].explain().topics[0].reference_medoids[0].text
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        holding = [name for name in archive.namelist() if text.encode() in archive.read(name)]
    assert holding == ["reference/texts.jsonl"]


def test_report_data_is_strict_json_with_a_place_for_every_sample(explained):
    data = json.loads(json.dumps(explained.report_data(), allow_nan=False))
    sets = data["map"]["wording"]["sets"]
    assert [each["role"] for each in sets] == ["reference", *["generated"] * 3]
    assert [each["name"] for each in data["excerpts"]] == [each["name"] for each in sets]
    for each, texts in zip(sets, data["excerpts"], strict=True):
        assert len(each["rows"]) == len(each["x"]) == len(each["y"]) == len(texts["excerpts"])
    held = explained["narrow"]["precision"].per_sample
    assert sets[1]["inside"] == held.astype(int).tolist()
    errors, curve = data["curve_errors"]["narrow"]["prd"], data["curves"]["narrow"]["prd"]
    assert np.shape(errors) == np.shape(curve)
    drawn = {"precision|recall", "precision|coverage"}  # of what is shown
    assert set(data["correlations"]["narrow"]) == drawn


@pytest.mark.parametrize("kind", ["plane", "curves", "frontiers"])
def test_a_plot_gathers_what_it_shows_alone(explained, kind, monkeypatch):
    monkeypatch.setattr(Comparison, "with_explanations", None)
    monkeypatch.setattr(Comparison, "with_maps", None)
    assert explained.plot(kind).has_data()


@pytest.mark.parametrize("kind", ["cells", "map"])
def test_a_plot_gathers_explanations_and_map_where_it_shows_them(explained, kind):
    assert explained.plot(kind, view="wording").has_data()


def test_a_plot_without_a_kind_is_the_plane(explained):
    drawn = explained.plot()
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == tuple(
        getattr(explained.plot("plane"), f"get_{axis}label")() for axis in "xy"
    )
    assert "ecall" in drawn.get_xlabel()


def test_a_plot_of_no_kind_is_named(explained):
    with pytest.raises(InputError, match=r"'plain'.*did you mean 'plane'"):
        explained.plot("plain")


def test_redacted_data_holds_no_text(explained):
    text = json.dumps(explained.report_data(redact=True))
    every = [*explained.reference_samples.listed, *explained["narrow"].samples[0].listed]
    assert not any(each in text for each in every)
    assert all(each["excerpts"] is None for each in json.loads(text)["excerpts"])


def test_large_sets_are_thinned_evenly_and_long_texts_cut():
    rows = shown_rows(10_001)
    assert (len(rows), len(set(rows)), rows[0], rows[-1]) == (4000, 4000, 0, 10_000)
    assert set(np.diff(rows)) == {2, 3}
    found = calipers.compare(["a" * 999, *"bcdefghij"], {"x": list("bcdefghijk")}, embedder="tfidf")
    assert found.report_data()["excerpts"][0]["excerpts"][0] == "a" * EXCERPT


def test_a_damaged_explanation_is_named(explained, tmp_path):
    explained.save(tmp_path / "run.zip")
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


def test_a_map_that_does_not_fit_its_samples_is_refused(explained, tmp_path):
    explained.save(tmp_path / "run.zip")
    with (
        zipfile.ZipFile(tmp_path / "run.zip") as old,
        zipfile.ZipFile(tmp_path / "bad.zip", "w") as new,
    ):
        for name in old.namelist():
            if name != "map/wording/3.npy":
                new.writestr(name, old.read(name))
    with pytest.raises(InputError, match=r"bad\.zip: .*map of 'wording'"):
        Comparison.load(tmp_path / "bad.zip")
