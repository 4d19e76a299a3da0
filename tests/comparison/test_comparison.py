import json
import zipfile

import numpy as np
import pytest

from calipers.comparison import Comparison, Samples, SetSummary, SystemResult
from calipers.errors import CalipersError, InputError
from calipers.score import Score


@pytest.fixture
def comparison(rng):
    scores = {
        "precision": Score(0.75, signature="metric:precision", per_sample=np.array([True, False])),
        "form.precision": Score(0.5, interval=(0.4, 0.6), level=0.95, seeds=(0.4, 0.6)),
        "frechet_distance": Score(
            np.nan, range=(0, np.inf), better="lower", reason="too few", noise_floor=0.25
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
