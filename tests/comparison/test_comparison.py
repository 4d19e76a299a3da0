import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from calipers.comparison import Comparison, Samples, SetSummary, SystemResult
from calipers.comparison.plain import score_data
from calipers.errors import CalipersError, InputError
from calipers.score import NoiseFloor, Score


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
    with pytest.raises(
        InputError, match=r"unknown score of .* 'precison'; did you mean 'precision'"
    ):
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
    with pytest.raises(CalipersError, match=r"run\.zip: cannot be written: No space left"):
        comparison.save(path)
    assert path.read_bytes() == b"older"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.zip"]


def test_saving_where_there_is_no_folder(comparison, tmp_path):
    with pytest.raises(CalipersError, match="cannot be written: No such file or directory"):
        comparison.save(tmp_path / "nowhere" / "run.zip")


def test_loading_what_is_no_comparison(comparison, tmp_path):
    with pytest.raises(InputError, match=r"gone\.zip: cannot be read: No such file"):
        Comparison.load(tmp_path / "gone.zip")
    text = tmp_path / "text.zip"
    text.write_text("no zip")
    with pytest.raises(InputError, match=r"text\.zip: is no comparison saved by calipers"):
        Comparison.load(text)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(InputError, match="is no comparison saved by calipers"):
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
    shown = str(comparison)
    assert "human" in shown
    assert "0.750" in shown


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
        data = score_data(Score(value, interval=(0.1, value), seeds=(0.5, value)), False)
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
    assert score_data(score, True)["per_sample"] == [0.5, None, None]
    assert score_data(Score(0.5, per_sample=np.array([True, False])), True)["per_sample"] == [
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
