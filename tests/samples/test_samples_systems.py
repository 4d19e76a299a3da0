"""Generated systems as the command line names them: files, seeds or images by a pattern."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

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


@pytest.fixture
def fill(tmp_path: Path) -> Callable[..., Path]:
    """Put images under names in a new folder."""

    def make(*names: str) -> Path:
        for number, name in enumerate(names):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.full((2, 3), number, np.uint8)).save(path)
        return tmp_path

    return make


def refusal(spec: str) -> str:
    with pytest.raises(InputError) as caught:
        read_systems([spec])
    return str(caught.value)


def test_images_of_a_pattern_are_one_set(fill: Callable[..., Path]) -> None:
    base = fill("fake/2.png", "fake/1.jpg", "fake/3.png", "real/1.png")
    (system,) = read_systems([f"model={base}/fake/*"])
    (samples,) = system.sets
    assert (system.name, samples.name, len(samples)) == ("model", "model", 3)
    assert samples.source == f"{base}/fake/*"
    assert [int(image[0, 0, 0]) for image in samples] == [1, 0, 2]


def test_folders_are_one_set_each(fill: Callable[..., Path]) -> None:
    base = fill("run1/1.png", "run1/2.png", "run2/1.png")
    plain, named = read_systems([f"{base}/run1", f"all={base}/run*"])
    assert (plain.name, len(plain.sets[0])) == ("run1", 2)
    assert [(each.name, len(each)) for each in named.sets] == [("run1", 2), ("run2", 1)]


def test_two_stars_reach_into_folders(fill: Callable[..., Path]) -> None:
    base = fill("fake/cat/1.png", "fake/cat/2.png", "fake/dog/1.png")
    for pattern in ("fake/**", "fake/*/*.png", "fake/**/*.png"):
        (system,) = read_systems([f"m={base}/{pattern}"], group="folder")
        assert system.sets[0].groups.to_pylist() == ["cat", "cat", "dog"]


def test_images_beside_other_files(fill: Callable[..., Path]) -> None:
    base = fill("fake/1.png", "fake/2.png")
    (base / "fake" / "labels.csv").write_text("x")
    message = refusal(f"m={base}/fake/*")
    assert message.startswith(f"m={base}/fake/*: matches 2 image files and 1 other path (")
    assert message.endswith(
        "give a pattern that matches images alone, or the folder that holds them"
    )


def test_one_image(fill: Callable[..., Path]) -> None:
    base = fill("fake/1.png")
    assert (
        refusal(f"m={base}/fake/*") == f"m={base}/fake/*: matches one image, but a set needs many"
    )
    for spec in (f"{base}/fake/1.png", f"m={base}/fake/1.png"):
        assert f"pattern NAME='{base}/fake/*.png' in quotes" in refusal(spec)


def test_bad_images_are_skipped_where_asked(fill: Callable[..., Path]) -> None:
    base = fill("fake/1.png", "fake/2.png", "fake/3.png")
    (base / "fake" / "2.png").write_bytes(b"")
    assert f"{base}/fake/*: 1 of 3 image files cannot be read" in refusal(f"m={base}/fake/*")
    (system,) = read_systems([f"m={base}/fake/*"], skip_bad=True)
    assert len(system.sets[0]) == 2
    (folder,) = read_systems([f"{base}/fake"], skip_bad=True)
    assert len(folder.sets[0]) == 2
