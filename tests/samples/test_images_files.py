from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, image_files, images, read_samples

RNG = np.random.default_rng(0)


def noise(height: int = 4, width: int = 6) -> Any:
    return Image.fromarray(RNG.integers(0, 256, (height, width, 3), dtype=np.uint8))


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Make a folder of images under their names, all of one size."""

    def make(*names: str) -> Path:
        for name in names:
            path = tmp_path / "images" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            noise().save(path)
        return tmp_path / "images"

    return make


def refusal(value: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        as_sample_set(value, **options)
    return str(caught.value)


def paths_of(samples: SampleSet, base: Path) -> list[str]:
    return [os.path.relpath(path, base) for path in samples.data.paths]  # type: ignore[attr-defined]


def test_a_folder_is_read_with_all_beneath_it_in_order(folder: Callable[..., Path]) -> None:
    names = ["b.png", "a/2.jpg", "a/1.JPEG", "a/c/0.bmp", "z.gif", "e.tif", "f.tiff", "g.ppm"]
    base = folder(*names, "h.webp")
    samples = read_samples(base)
    assert paths_of(samples, base) == sorted([*names, "h.webp"])
    assert (samples.kind, samples.name, samples.source) == ("images", "images", str(base))
    with Image.open(base / "b.png") as image:
        np.testing.assert_array_equal(samples[3], np.asarray(image))
    assert as_sample_set(base).content_hash == samples.content_hash


def test_hidden_files_are_left_out_and_other_files_noted(folder: Callable[..., Path]) -> None:
    base = folder("a.png", ".b.png", ".cache/c.png", "d/._e.png")
    for name in ("labels.csv", "d/readme.md", ".DS_Store"):
        (base / name).write_text("x")
    samples = read_samples(base)
    assert paths_of(samples, base) == ["a.png"]
    assert samples.notes == (
        "2 files without the suffix of an image left out ('labels.csv' and 'readme.md')",
    )


def test_a_folder_without_images(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('"a"\n')
    message = refusal(tmp_path)
    assert "not one saved by Hugging Face datasets (it has no state.json)" in message
    assert "neither images (.png, .jpg, …) nor texts (.txt) lie in it" in message
    assert f"NAME='{tmp_path}/*.jsonl'" in message


def test_one_image_is_no_set(folder: Callable[..., Path]) -> None:
    path = folder("a.png") / "a.png"
    assert refusal(path).startswith(f"{path}: is one image, but a set needs many: give the folder")


def test_a_list_of_paths(folder: Callable[..., Path]) -> None:
    base = folder("a.png", "b.png", "c.png")
    paths = [base / "c.png", base / "a.png"]
    samples = as_sample_set(paths, name="mine")
    assert paths_of(samples, base) == ["c.png", "a.png"]
    assert as_sample_set([str(path) for path in paths]).content_hash == samples.content_hash
    grouped = SampleSet.from_images(paths, name="a", groups=["x", "y"])
    assert grouped.groups.tolist() == ["x", "y"]


def test_a_list_that_mixes_images_and_others(folder: Callable[..., Path]) -> None:
    image = str(folder("a.png") / "a.png")
    assert refusal([image, "a text"]) == (
        f"samples: item 1 is the path of an image file, {image!r}, but item 2 is the string "
        "'a text'; give images alone, or texts alone"
    )
    assert "item 2 is the path of an image file" in refusal([Path("a.txt"), Path(image)])
    assert as_sample_set(["see a.png", "no.png"]).kind == "texts"


def spoilt(base: Path) -> Path:
    whole = (base / "2.jpg").read_bytes()
    (base / "2.jpg").write_bytes(whole[: len(whole) // 2])
    (base / "3.png").write_bytes(b"")
    (base / "4.png").write_text("hello")
    return base


def test_bad_files_are_all_named_in_one_message(folder: Callable[..., Path]) -> None:
    base = spoilt(folder("1.png", "2.jpg", "3.png", "4.png", "5.png"))
    lines = refusal(base).splitlines()
    assert lines[0] == (
        f"{base}: 3 of 5 image files cannot be read; to leave them out, use `skip_bad=True`:"
    )
    assert lines[1].startswith(f"  {base}/2.jpg: is damaged: ")
    assert lines[2] == f"  {base}/3.png: is empty"
    assert lines[3].startswith(f"  {base}/4.png: is not an image of a known format (PNG, JPEG")
    for i in range(6):
        (base / f"0{i}.png").write_bytes(b"")
    assert refusal(base).splitlines()[-1] == "  and 4 more"


def test_one_corrupt_file_among_100(folder: Callable[..., Path]) -> None:
    base = folder(*(f"{i:03}.jpg" for i in range(100)))
    (base / "041.jpg").write_bytes((base / "041.jpg").read_bytes()[:300])
    assert refusal(base).startswith(f"{base}: 1 of 100 image files cannot be read; to leave it out")
    samples = read_samples(base, skip_bad=True)
    assert len(samples) == 99
    assert samples.notes[0].startswith(
        "1 of 100 image files could not be read and was left out (the first: "
    )


def test_bad_files_are_skipped_where_asked(folder: Callable[..., Path]) -> None:
    base = spoilt(folder("1.png", "2.jpg", "3.png", "4.png", "5.png"))
    samples = read_samples(base, skip_bad=True)
    assert paths_of(samples, base) == ["1.png", "5.png"]
    assert samples.notes[0].startswith("3 of 5 image files could not be read and were left out")
    labelled = SampleSet.from_images(
        [base / f"{i}.png" for i in (1, 3, 5)], name="a", groups="xyz", skip_bad=True
    )
    assert labelled.groups.tolist() == ["x", "z"]
    for name in ("1.png", "5.png"):
        (base / name).write_bytes(b"")
    assert "none of 5 image files can be read:" in refusal(base, skip_bad=True)


def test_missing_and_odd_files(folder: Callable[..., Path]) -> None:
    base = folder("a.png")
    (base / "b.png").symlink_to(base / "nowhere")
    (base / "c.png").symlink_to(base / "c.png")
    os.mkfifo(base / "d.png")
    message = refusal(base)
    assert f"{base}/b.png: is a link to a file that does not exist" in message
    assert f"{base}/c.png: cannot be read: " in message
    assert f"{base}/d.png: is not a regular file" in message
    assert "no.png: there is no such file" in refusal([base / "a.png", base / "no.png"])
    (base / "e.png").mkdir()
    assert "e.png: is a folder" in refusal([base / "a.png", base / "e.png"])


def test_files_that_are_too_large(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = folder("a.png", "b.png")
    (base / "b.png").write_bytes(bytes(1001))
    monkeypatch.setattr(image_files, "MAX_BYTES", 1000)
    assert "b.png: has 1,001 bytes; at most 1,000 are read" in refusal(base)


def test_links_are_followed_once(folder: Callable[..., Path], tmp_path: Path) -> None:
    base = folder("a.png")
    (base / "loop").symlink_to(base)
    (tmp_path / "other").mkdir()
    noise().save(tmp_path / "other" / "x.png")
    (base / "one").symlink_to(tmp_path / "other")
    (base / "two").symlink_to(tmp_path / "other")
    samples = read_samples(base)
    assert paths_of(samples, base) == ["a.png", "one/x.png"]
    assert samples.notes == ("2 links to folders that were read already left out",)


def test_a_folder_that_cannot_be_read(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, scandir = folder("a.png", "b/c.png"), os.scandir

    def refusing(path: str) -> Any:
        if path.endswith("/b"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert refusal(base) == f"{base}/b: the folder cannot be read: Permission denied"


def test_files_that_changed_or_vanished(folder: Callable[..., Path]) -> None:
    base = folder("a.png", "b.png", "c.png")
    samples = read_samples(base)
    noise().save(base / "b.png")
    (base / "c.png").unlink()
    assert samples[0].shape == (4, 6, 3)
    with pytest.raises(InputError, match=r"b\.png: .*content"):
        samples[1]
    with pytest.raises(InputError, match=r"c\.png: .*no such file"):
        list(samples.take(np.array([0, 2])))


def test_sizes_colours_and_frames_are_noted(folder: Callable[..., Path]) -> None:
    base = folder("a.png", "b.png")
    noise(5, 6).save(base / "c.png")
    noise().convert("L").save(base / "d.png")
    noise().save(base / "e.png", save_all=True, append_images=[noise()])
    assert read_samples(base).notes == (
        "images of 2 sizes (width × height): 4 of 6 × 4, 1 of 6 × 5",
        "images of several colour modes, all read as RGB: 4 RGB, 1 grey",
        "1 of 5 images holds several frames or pages; the first is taken",
    )


def test_images_that_show_nothing_are_counted(folder: Callable[..., Path]) -> None:
    base = folder("a.png", "b.png")
    Image.new("RGB", (6, 4), (9, 30, 200)).save(base / "c.png")
    said = "1 of 3 images is of one colour throughout, and shows nothing"
    assert read_samples(base).notes == (said,)
    assert read_samples(base).take(np.array([0, 1])).data.notes() == ()
    Image.new("L", (6, 4), 3).save(base / "d.png")
    assert (
        "2 of 4 images are of one colour throughout, and show nothing" in read_samples(base).notes
    )
    noise(1, 1).save(base / "e.png")
    assert any(note.startswith("3 of 5 images are of") for note in read_samples(base).notes)
    arrays = [np.zeros((4, 6), np.uint8), *RNG.integers(0, 256, (2, 4, 6, 3), np.uint8)]
    assert said in as_sample_set(SampleSet.from_images(arrays, name="x")).notes
    stack = np.stack([np.full((4, 6, 3), 7, np.uint8), arrays[1], arrays[2]])
    assert SampleSet.from_images(stack, name="x").notes == (said,)


def test_content_hash_is_of_the_files(folder: Callable[..., Path], tmp_path: Path) -> None:
    # Caches and signatures depend on it: it changes with a new major version only.
    base = folder("a.png", "b.png")
    digests = [hashlib.sha256((base / name).read_bytes()).digest() for name in ("a.png", "b.png")]
    chunk = hashlib.sha256(b"image files 2 " + b"".join(digests)).digest()
    samples = read_samples(base)
    assert samples.content_hash == hashlib.sha256(b"chunks " + chunk).hexdigest()
    base.rename(tmp_path / "moved")
    assert read_samples(tmp_path / "moved").content_hash == samples.content_hash
    assert samples.take(np.array([1, 0])).content_hash != samples.content_hash
    assert samples.take(np.array([0, 1])).content_hash == samples.content_hash


def test_going_through_holds_few_images_at_a_time(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = folder(*(f"{i}.png" for i in range(7)))
    noise(40, 60).save(base / "3.png")
    samples = read_samples(base)
    monkeypatch.setattr(images, "PIXELS_AT_ONCE", 50)
    assert list(samples.images._few()) == [(0, 2), (2, 3), (3, 4), (4, 6), (6, 7)]
    assert [image.shape[0] for image in samples] == [4, 4, 4, 40, 4, 4, 4]
    monkeypatch.setattr(images, "PIXELS_AT_ONCE", 10**9)
    monkeypatch.setattr(images, "AT_ONCE", 3)
    assert list(samples.images._few()) == [(0, 3), (3, 6), (6, 7)]


def test_threads_decode_the_same(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = read_samples(folder(*(f"{i:02}.png" for i in range(20))))
    alone = list(samples)
    monkeypatch.setattr(image_files, "FEW", 0)
    np.testing.assert_array_equal(samples.images[:], alone)


def test_groups_are_sub_folders(folder: Callable[..., Path]) -> None:
    base = folder("cat/1.png", "cat/2.png", "dog/1.png", "dog/puppies/2.png")
    samples = read_samples(base, group="folder")
    assert samples.groups.tolist() == ["cat", "cat", "dog", "dog"]
    (base / "cat" / "1.png").write_bytes(b"")
    skipped = read_samples(base, group="folder", skip_bad=True)
    assert skipped.groups.tolist() == ["cat", "dog", "dog"]
    assert read_samples(base, group="x", group_needed=False, skip_bad=True).groups is None
    assert "images have no field 'x'; their only group is 'folder'" in refusal(base, group="x")


def test_groups_that_are_missing(folder: Callable[..., Path]) -> None:
    base = folder("1.png")
    assert read_samples(base, group="folder", group_needed=False).groups is None
    assert "the group 'folder' is missing for 1 of 1 image" in refusal(base, group="folder")
    folder("cat/1.png")
    for needed in (True, False):
        message = refusal(base, group="folder", group_needed=needed)
        assert "missing for 1 of 2 images: give each group a sub-folder; the first" in message
        assert message.endswith(f"lies in none is {base}/1.png")


def test_progress_is_told(folder: Callable[..., Path]) -> None:
    told: list[Any] = []

    class Recorder:
        @contextmanager
        def task(self, description: str, total: int | None) -> Any:
            told.append((description, total))
            yield told.append

    base = folder("1.png", "2.png", "3.png")
    read_samples(base, progress=Recorder())
    assert told == [(f"Reading {base}", 3), 1, 1, 1]


def test_what_pillow_finds_odd_is_not_told(folder: Callable[..., Path]) -> None:
    base = folder("1.tif", "2.tif")
    data = bytearray((base / "2.tif").read_bytes())
    (base / "2.tif").write_bytes(bytes(data[:-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_samples(base, skip_bad=True)) >= 1


def test_what_is_taken_of_a_set_is_all_that_is_told_and_hashed(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{row}.png") for row in range(6)]
    for row, path in enumerate(paths):
        noise(4, 6 + row // 3).convert("L" if row % 2 else "RGB").save(path)
    everything = as_sample_set(paths)
    assert [note.partition(":")[0] for note in everything.notes] == [
        "images of 2 sizes (width × height)",
        "images of several colour modes, all read as RGB",
    ]
    rows = np.array([4, 0])
    part, alone = everything.take(rows), as_sample_set([paths[row] for row in rows])
    assert (
        part.notes == alone.notes == ("images of 2 sizes (width × height): 1 of 7 × 4, 1 of 6 × 4",)
    )
    assert everything.take(np.array([0, 2])).notes == ()
    assert [part.data.pixels(row) for row in (0, 1)] == [28, 24]  # type: ignore[attr-defined]
    assert part.data.hash(0, 2) == alone.data.hash(0, 2)
    assert everything.data.hash(1, 3) == as_sample_set(paths[1:3]).data.hash(0, 2)
    assert everything.data.hash(1, 3) != everything.data.hash(1, 4)
    np.testing.assert_array_equal(part[0], everything[4])
