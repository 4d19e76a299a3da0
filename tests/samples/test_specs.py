"""What a person types for a set: names, files, fields, and folders that tell files apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calipers.errors import InputError
from calipers.samples import as_sample_set, read_samples, read_systems
from calipers.samples.reading import can_be_read
from calipers.samples.specs import named_beside, one_set

ROWS = [{"gold": f"gold {n}", "model": f"model {n}", "b@c": f"odd {n}"} for n in range(3)]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write the same rows to files beneath the current folder."""
    monkeypatch.chdir(tmp_path)

    def make(*names: str):
        for name in names:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    return make


def names_of(*specs, **options):
    return [system.name for system in read_systems(specs, field="model", **options)]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("results/a/out.jsonl", "results/b/out.jsonl"), ["a", "b"]),
        (("results/a/gen/out.jsonl", "results/b/gen/out.jsonl"), ["a", "b"]),
        (("a/1/out.jsonl", "a/2/out.jsonl", "b/1/out.jsonl"), ["a/1", "a/2", "b/1"]),
        (("runs/t=0.7/out.jsonl", "runs/t=1/out.jsonl", "x.jsonl"), ["t=0.7", "t=1", "x"]),
        (("one.jsonl", "two/three.jsonl"), ["one", "three"]),
        (("results/a/model_outputs.jsonl",), ["a"]),
        (("model_outputs.jsonl",), ["model_outputs"]),
    ],
)
def test_files_of_one_name_are_called_by_the_folders_that_tell_them_apart(write, files, names):
    write(*files)
    assert names_of(*files) == names


def test_given_names_stay_and_the_others_are_told_apart(write):
    write("a/out.jsonl", "b/out.jsonl", "c/out.jsonl")
    assert names_of("mine=a/out.jsonl", "b/out.jsonl", "c/out.jsonl") == ["mine", "b", "c"]
    assert names_of("mine=a/out.jsonl", "b/out.jsonl") == ["mine", "out"]
    with pytest.raises(InputError, match=r"have the name 'out'"):
        names_of("a/out.jsonl", "./a/out.jsonl")


def test_a_reference_of_the_same_file_name_is_told_apart_too(write):
    write("a/out.jsonl", "b/out.jsonl", "human.jsonl")
    assert names_of("a/out.jsonl", beside=["b/out.jsonl"]) == ["a"]
    assert named_beside("b/out.jsonl", ["a/out.jsonl"], can_be_read) == "b=b/out.jsonl"
    assert named_beside("b/out.jsonl", ["m=a/out.jsonl"], can_be_read) == "b/out.jsonl"
    assert named_beside("r=b/out.jsonl", ["a/out.jsonl"], can_be_read) == "r=b/out.jsonl"
    assert named_beside("b/out.jsonl@gold", ["a/out.jsonl"], can_be_read) == "b=b/out.jsonl@gold"
    assert named_beside("human.jsonl", ["a/out.jsonl"], can_be_read) == "human.jsonl"


def test_a_reference_is_named_as_a_system_is(write):
    write("human.jsonl")
    for read in (read_samples, as_sample_set):
        samples = read("people=human.jsonl@gold")
        assert (samples.name, list(samples)) == ("people", ["gold 0", "gold 1", "gold 2"])
        assert samples.source == "human.jsonl"
    assert read_samples(Path("human.jsonl"), field="gold").name == "human"


def test_every_file_may_have_a_field_of_its_own(write):
    write("one.jsonl", "two.jsonl", "three.jsonl")
    systems = read_systems(["one.jsonl@gold", "m=two.jsonl@model", "three.jsonl"], field="b@c")
    assert [next(iter(system.sets[0])) for system in systems] == ["gold 0", "model 0", "odd 0"]
    assert [system.name for system in systems] == ["one", "m", "three"]
    seeds = read_systems(["m=t*.jsonl@gold"])[0]
    assert [next(iter(samples)) for samples in seeds.sets] == ["gold 0", "gold 0"]


@pytest.mark.parametrize(
    ("files", "typed", "path", "field"),
    [
        ("a@b.jsonl", "a@b.jsonl", "a@b.jsonl", None),
        ("a@b.jsonl", "a@b.jsonl@gold", "a@b.jsonl", "gold"),
        ("a.jsonl", "a.jsonl@b@c", "a.jsonl", "b@c"),
        ("a.jsonl", "a.jsonl@", "a.jsonl", None),
        ("a@b.jsonl", "a@b.jsonl@", "a@b.jsonl", None),
        ("user@host/a.jsonl", "user@host/a.jsonl@gold", "user@host/a.jsonl", "gold"),
        ("a.jsonl a.jsonl@gold", "a.jsonl@gold", "a.jsonl@gold", None),
        ("a.jsonl a.jsonl@gold", "./a.jsonl@gold@", "./a.jsonl@gold", None),
        ("folder/x.jsonl", "folder@gold", "folder", "gold"),
        ("x", "gone@here.jsonl", "gone@here.jsonl", None),
        ("x", "gone.jsonl@gold", "gone.jsonl", "gold"),
        ("x", "-@gold", "-", "gold"),
        ("x", "s3://key@bucket/x.jsonl", "s3://key@bucket/x.jsonl", None),
        ("x", "s3://key@bucket/x.jsonl@gold", "s3://key@bucket/x.jsonl", "gold"),
        ("a=b.jsonl", "a=b.jsonl@gold", "a=b.jsonl", "gold"),
    ],
)
def test_what_exists_is_a_file_and_the_rest_behind_it_a_field(write, files, typed, path, field):
    write(*files.split())
    spec = one_set(typed, can_be_read)
    assert (spec.paths, spec.field, spec.name) == ((path,), field, "")


def test_parts_that_are_missing_are_named(write):
    write("a.jsonl")
    for typed in ("=a.jsonl@gold", "name="):
        for read in (read_samples, lambda typed: read_systems([typed])):
            with pytest.raises(InputError, match="must be FILE or NAME=PATTERN"):
                read(typed)
    with pytest.raises(InputError, match=r"gone\.jsonl: there is no such file"):
        read_samples("gone.jsonl@gold")
    with pytest.raises(InputError, match="no field 'nope'"):
        read_samples("a.jsonl@nope")
