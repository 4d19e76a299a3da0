from __future__ import annotations

import hashlib
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, read_samples
from calipers.samples.readers import images
from calipers.samples.sample_set import CHUNK

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (6, 4, 5, 3), dtype=np.uint8)
COLOUR[0, 0, :2] = [[0] * 3, [255] * 3]
GREY = COLOUR[..., 0]


def images_of(images: Any, **options: Any) -> SampleSet:
    return SampleSet.from_images(images, name="a", **options)


def test_holds_what_it_was_given_in_order() -> None:
    samples = images_of(COLOUR, groups=range(6))
    assert (len(samples), samples.kind, samples.notes) == (6, "images", ())
    assert samples.texts is samples.vectors is samples.word_counts() is samples.token_counts()
    np.testing.assert_array_equal(list(samples), COLOUR)
    np.testing.assert_array_equal(samples[-1], COLOUR[5])
    np.testing.assert_array_equal(samples.images[1:3], COLOUR[1:3])
    assert samples.groups.to_pylist() == list("012345")
    assert repr(samples) == "SampleSet('a', 6 images, '<list>')"
    taken = samples.take(np.array([4, 0]))
    np.testing.assert_array_equal(list(taken), COLOUR[[4, 0]])
    assert taken.groups.to_pylist() == ["4", "0"]
    assert samples.renamed("b").content_hash == samples.content_hash
    assert list(samples.with_groups("abcdef").groups.to_pylist()) == list("abcdef")


def test_as_a_set_it_is_named_by_its_kind() -> None:
    samples = as_sample_set(COLOUR)
    assert (samples.name, samples.kind, samples.source) == ("images", "images", "<array>")
    assert as_sample_set(COLOUR, name="real").name == "real"
    assert as_sample_set(list(COLOUR)).content_hash == samples.content_hash
    assert as_sample_set(each for each in COLOUR).content_hash == samples.content_hash


def test_grey_of_three_shapes_is_one() -> None:
    expected = np.stack([GREY] * 3, axis=3)
    sets = [
        images_of(GREY),
        images_of(GREY[..., None]),
        images_of(GREY[:, None]),
        images_of(list(GREY)),
    ]
    for samples in sets:
        np.testing.assert_array_equal(list(samples), expected)
    assert len({samples.content_hash for samples in sets}) == 1


def test_channels_may_come_first_where_that_is_clear() -> None:
    np.testing.assert_array_equal(list(images_of(COLOUR.transpose(0, 3, 1, 2))), COLOUR)
    square = RNG.integers(0, 256, (2, 3, 3, 3), dtype=np.uint8)
    np.testing.assert_array_equal(list(images_of(square)), square)
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(COLOUR).permute(0, 3, 1, 2)
    np.testing.assert_array_equal(list(as_sample_set(tensor)), COLOUR)


def test_alpha_is_laid_on_white() -> None:
    clear = np.zeros((2, 3, 3, 4), np.uint8)
    assert np.unique(list(images_of(clear))).tolist() == [255]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_are_rounded_to_256_steps(dtype: str) -> None:
    floats = (GREY / 255).astype(dtype)
    samples = images_of(floats)
    np.testing.assert_array_equal(samples[0][..., 0], np.rint(floats[0].astype(float) * 255))
    if dtype != "f2":
        assert samples.content_hash == images_of(GREY).content_hash


def test_digits_are_images_when_divided_by_16() -> None:
    digits = pytest.importorskip("sklearn.datasets").load_digits().images
    samples = as_sample_set(digits / 16)
    assert (len(samples), samples[0].shape) == (1797, (8, 8, 3))
    np.testing.assert_allclose(samples[5][..., 0], digits[5] / 16 * 255, atol=0.5)
    with pytest.raises(InputError, match=r"run from 0 to 16; divide by .* such as images / 16"):
        as_sample_set(digits)


def test_lists_of_many_sizes_and_kinds_are_noted() -> None:
    images = [GREY[0], COLOUR[1], COLOUR[2], COLOUR[3][:3]]
    samples = images_of(images)
    assert [image.shape for image in samples] == [(4, 5, 3)] * 3 + [(3, 5, 3)]
    assert samples.notes == (
        "images of 2 sizes (width × height): 3 of 5 × 4, 1 of 5 × 3",
        "images of several colour modes, all read as RGB: 3 RGB, 1 grey",
    )
    assert samples.take(np.array([1, 2])).notes == ()
    many = images_of([np.zeros((i, 2), np.uint8) for i in range(1, 8)])
    assert many.notes[0].endswith("1 of 2 × 1, 1 of 2 × 2, 1 of 2 × 3 and 4 of others")


def test_pillow_images() -> None:
    images = [
        Image.fromarray(COLOUR[0]),
        Image.fromarray(GREY[1]),
        Image.fromarray(GREY[2]).convert("P"),
    ]
    samples = as_sample_set(images)
    np.testing.assert_array_equal(samples[0], COLOUR[0])
    np.testing.assert_array_equal(samples[2][..., 2], GREY[2])


def test_cannot_be_changed_and_is_not_copied() -> None:
    samples = images_of(COLOUR)
    assert np.shares_memory(samples.held.arrays, COLOUR)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        samples.held.arrays[0, 0] = 1  # type: ignore[attr-defined]
    assert COLOUR.flags.writeable


def test_content_hash_is_pinned() -> None:
    # Caches and signatures depend on it: it changes with a new major version only.
    array = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    each = [hashlib.sha256(b"(2, 3) " + image.tobytes()).digest() for image in array]
    chunk = hashlib.sha256(b"pixels 2 " + b"".join(each)).digest()
    stack = array[..., None]
    assert images_of(stack).content_hash == hashlib.sha256(b"chunks " + chunk).hexdigest()


def test_content_hash_sees_pixels_shapes_and_order() -> None:
    arrays = [COLOUR, COLOUR[::-1], COLOUR[:5], COLOUR.transpose(0, 2, 1, 3), 255 - COLOUR, GREY]
    assert len({images_of(array).content_hash for array in arrays}) == len(arrays)


def test_chunks_decode_what_is_taken() -> None:
    array = RNG.integers(0, 256, (CHUNK + 3, 2, 2), dtype=np.uint8)
    samples = images_of(array)
    first, second = samples.chunks()
    assert (first.start, len(first.items), second.start, len(second.items)) == (0, CHUNK, CHUNK, 3)
    assert isinstance(second.items[1:], list)
    np.testing.assert_array_equal(second.items[1:][0][..., 0], array[CHUNK + 1])
    np.testing.assert_array_equal(np.stack(list(first.items))[..., 1], array[:CHUNK])
    np.testing.assert_array_equal(first.items[-1][..., 1], array[CHUNK - 1])
    part = samples.take(np.arange(CHUNK, CHUNK + 3))
    assert next(part.chunks()).content_hash == second.content_hash


def test_images_are_a_sequence() -> None:
    images = images_of(COLOUR).images
    assert len(images) == 6
    assert len(images[::2]) == 3
    np.testing.assert_array_equal(images[4:1:-2], COLOUR[4:1:-2])
    np.testing.assert_array_equal(list(images.part(2, 5).part(1, 3)), COLOUR[3:5])
    assert images[3:3] == []
    with pytest.raises(IndexError):
        images[6]


SCALE = "must be uint8, or floats from 0 to 1, but"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (GREY.astype(int), f"{SCALE} these are int64; if they run from 0 to 255, give images.ast"),
        (GREY // 16 + 0.0, f"{SCALE} these run from 0 to 15; divide by the value of white, such"),
        ((GREY > 9).astype(int), f"{SCALE} these are int64; if 1 is white, give images.astype('u"),
        ((GREY // 32).astype(int), f"{SCALE} these are int64; they run from 0 to 7; divide by the"),
        (GREY / 1.0, f"{SCALE} these run from 0 to 255; if they run from 0 to 255, give images /"),
        (GREY > 9, f"{SCALE} these are bool; give images.astype('uint8') * 255"),
        (GREY / 127.5 - 1, f"{SCALE} these run from -1 to 1; if they run from -1 to 1, give (im"),
        (GREY / 255 * 1.05, f"{SCALE} these run from 0 to 1.05; if they only overshoot a little,"),
        (GREY / 50.0 - 2, f"{SCALE} these run from -2 to 3.1; undo their normalisation first"),
        (GREY * np.nan, f"{SCALE} some are NaN"),
        (GREY * 1j, f"{SCALE} these are complex128"),
        (GREY.astype(object), f"{SCALE} these are object"),
        (COLOUR[0], "an array of shape (4, 5, 3) looks like one image with 3 channels"),
        (
            np.ones((6, 8, 8, 2), "u1"),
            "images of shape (n, height, width, channels) need 1, 3 or 4 chann",
        ),
        (
            COLOUR[:0],
            "images must be an array of shape (n, height, width) or (n, height, width, 3)",
        ),
        (COLOUR[..., 0, 0], "images must be an array of shape (n, height, width) or"),
        ([], "holds no samples"),
        (3, "images must be a list of paths, arrays or Pillow images"),
        ("folder", "images must be a list of paths or an array, but this is one path, 'folder'"),
        ([GREY[0], "b.png"], "image 2: must be an array or a Pillow image, or all must be paths"),
        ([GREY[0], GREY[0] / 1.0], "image 2: an array of shape (1, 4, 5) holds images, whose"),
        ([GREY[0], GREY], "image 2: images of shape (n, height, width, channels) need"),
        (
            [GREY[0], GREY[0, 0]],
            "image 2: must have the shape (height, width) or (height, width, 3",
        ),
        ([Image.new("F", (2, 2))], "image 1: holds floats, whose black and white are not known"),
    ],
)
def test_refuses_what_is_no_image(array: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        images_of(array)
    assert message in str(caught.value)
    assert str(caught.value).startswith("a: ")


def test_one_image_is_no_set() -> None:
    with pytest.raises(InputError, match="this is one image; give a list of several"):
        as_sample_set(Image.fromarray(COLOUR[0]))


def test_tensors_that_numpy_cannot_hold() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match="cannot be read as an array"):
        as_sample_set(torch.ones(2, 4, 4, dtype=torch.bfloat16))


def owner(array: Any) -> Any:
    """Find what holds the memory of an array in the end."""
    return owner(array.base) if getattr(array, "base", None) is not None else array


def test_npy_and_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", COLOUR)
    np.savez(tmp_path / "a.npz", images=GREY, label=[0, 1, 0, 1, 0, 1])
    samples = read_samples(tmp_path / "a.npy")
    assert (samples.kind, samples.name, samples.source) == ("images", "a", str(tmp_path / "a.npy"))
    assert isinstance(owner(samples.held.arrays), mmap.mmap)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(list(samples), COLOUR)
    grouped = read_samples(tmp_path / "a.npz", field="images", group="label")
    assert grouped.groups.to_pylist() == list("010101")
    assert grouped.content_hash == images_of(GREY).content_hash
    np.save(tmp_path / "b.npy", GREY / 2.0)
    with pytest.raises(InputError, match=r"b\.npy: an array of shape \(6, 4, 5\) holds images"):
        read_samples(tmp_path / "b.npy")


def test_floats_are_scaled_to_the_last_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "BLOCK", 2 * GREY[0].size)
    for count in (1, 2, 5, 6):
        samples = images_of(GREY[:count] / 255)
        np.testing.assert_array_equal([each[..., 0] for each in samples], GREY[:count])


def test_tiny_grey_images_are_not_taken_for_one_in_colour() -> None:
    for height, width in ((3, 4), (4, 3), (1, 3), (3, 3)):
        assert len(images_of(np.ones((5, height, width), np.uint8))) == 5


def test_safetensors(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"images": COLOUR}, tmp_path / "a.safetensors")
    np.testing.assert_array_equal(list(read_samples(tmp_path / "a.safetensors")), COLOUR)


def test_other_arrays_are_what_they_were() -> None:
    assert as_sample_set(np.ones((3, 2))).kind == "vectors"
    assert as_sample_set(pa.array(["a"])).kind == "texts"
    assert as_sample_set(np.array(["a", "b"], object)).kind == "texts"
