from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from calipers.errors import InputError
from calipers.samples import read_systems

Write = Callable[..., Path]


def test_files_are_named_after_themselves(write: Write) -> None:
    paths = [write("model_a.jsonl.gz", '{"text": "a"}'), write("model-b.v2.txt", "b\n")]
    systems = read_systems([str(path) for path in paths])
    assert [system.name for system in systems] == ["model_a", "model-b.v2"]
    assert [system.sets[0].name for system in systems] == ["model_a", "model-b.v2"]
    assert [list(system.sets[0]) for system in systems] == [["a"], ["b"]]


def test_one_name_for_several_files(write: Write, tmp_path: Path) -> None:
    for seed in (2, 0, 1):
        write(f"runs/seed{seed}.txt", f"{seed}\n")
    (system,) = read_systems([f"model={tmp_path}/runs/*.txt"])
    assert system.name == "model"
    assert [each.name for each in system.sets] == ["seed0", "seed1", "seed2"]
    assert [each[0] for each in system.sets] == ["0", "1", "2"]
    assert system.sets[0].source == str(tmp_path / "runs" / "seed0.txt")


def test_one_name_for_one_file(write: Write) -> None:
    (system,) = read_systems([f"model={write('out.txt', 'a')}"])
    assert (system.name, system.sets[0].name) == ("model", "model")
    (system,) = read_systems([f"m={write('odd[1].txt', 'a')}"])
    assert list(system.sets[0]) == ["a"]


def test_a_path_with_an_equals_sign_is_a_file(write: Write) -> None:
    (system,) = read_systems([str(write("t=0.7.txt", "a\n"))])
    assert system.name == "t=0.7"


def test_the_field_is_for_all_files(write: Write) -> None:
    path = write("a.jsonl", '{"x": {"y": "a"}, "text": "b"}')
    assert list(read_systems([str(path)], field="x.y")[0].sets[0]) == ["a"]


def test_same_name_twice(write: Write) -> None:
    first, second = write("one/out.txt", "a"), write("two/out.jsonl", '"b"')
    with pytest.raises(InputError, match="two generated systems have the name 'out'") as caught:
        read_systems([str(first), str(second)])
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    with pytest.raises(InputError, match="'stdin'"):
        read_systems(["-", "-"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no.jsonl", r"^no\.jsonl: there is no such file"),
        ("A=*.nope", r"^A=\*\.nope: no file matches '\*\.nope'"),
        ("runs/*.jsonl", r"a pattern needs a name: NAME=runs/\*\.jsonl"),
        ("=a.txt", "must be FILE or NAME=PATTERN"),
        ("A=", "must be FILE or NAME=PATTERN"),
    ],
)
def test_wrong_specifications(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        read_systems([spec])


def test_a_name_that_is_missing_is_told_before_files_are_read(write: Write) -> None:
    broken = write("a.jsonl", "{")
    with pytest.raises(InputError, match="no file matches"):
        read_systems([str(broken), "B=/nowhere/*.txt"])
