"""Image files on the command line: a pattern that they match is one set, not many seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from calipers.errors import InputError
from calipers.samples import read_systems


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
