"""Images as arrays, and what becomes of each kind of image file: RGB, 8 bits each."""

from __future__ import annotations

import hashlib
import io
import mmap
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from PIL import Image

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, image_files, images, read_samples
from calipers.samples.image_files import BadImageError, decode_bytes
from calipers.samples.images import as_rgb
from calipers.samples.sample_set import CHUNK
from extras import need

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
    assert samples.groups.tolist() == list("012345")
    assert repr(samples) == "SampleSet('a', 6 images, '<list>')"
    taken = samples.take(np.array([4, 0]))
    np.testing.assert_array_equal(list(taken), COLOUR[[4, 0]])
    assert taken.groups.tolist() == ["4", "0"]
    assert samples.renamed("b").content_hash == samples.content_hash
    assert list(samples.with_groups("abcdef").groups.tolist()) == list("abcdef")


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
    torch = need("torch")
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


@pytest.mark.slow
def test_digits_are_images_when_divided_by_16() -> None:
    digits = need("sklearn.datasets").load_digits().images
    samples = as_sample_set(digits / 16)
    assert (len(samples), samples[0].shape) == (1797, (8, 8, 3))
    np.testing.assert_allclose(samples[5][..., 0], digits[5] / 16 * 255, atol=0.5)
    with pytest.raises(InputError, match=r"0 to 16.*images / 16"):
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
    assert np.shares_memory(samples.data.arrays, COLOUR)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        samples.data.arrays[0, 0] = 1  # type: ignore[attr-defined]
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


def test_items_decode_what_is_taken() -> None:
    array = RNG.integers(0, 256, (CHUNK + 3, 2, 2), dtype=np.uint8)
    samples = images_of(array)
    items = samples.items(np.arange(2, CHUNK + 3))
    assert isinstance(items[1:3], list)
    np.testing.assert_array_equal(items[1:3][0][..., 0], array[3])
    np.testing.assert_array_equal(np.stack(list(items))[..., 1], array[2:])
    scattered = samples.items(np.array([0, 5, CHUNK + 2]))
    np.testing.assert_array_equal(np.stack(list(scattered))[..., 2], array[[0, 5, CHUNK + 2]])


def test_each_image_has_a_hash_of_its_own() -> None:
    array = RNG.integers(0, 256, (6, 4, 9), dtype=np.uint8)
    hashes = images_of(array).row_hashes()
    assert len(set(hashes.tolist())) == 6
    np.testing.assert_array_equal(images_of(array[[4, 4, 0]]).row_hashes(), hashes[[4, 4, 0]])
    turned = images_of(array.reshape(6, 9, 4, 1)).row_hashes()
    assert not set(turned.tolist()) & set(hashes.tolist())


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
    with pytest.raises(InputError, match=r"one image.*list"):
        as_sample_set(Image.fromarray(COLOUR[0]))


def test_tensors_of_half_precision_and_without_values() -> None:
    torch = need("torch")
    assert as_sample_set(torch.ones(2, 4, 4, dtype=torch.bfloat16)).kind == "images"
    with pytest.raises(InputError, match="cannot be read as an array"):
        as_sample_set(torch.ones(2, 4, 4, device="meta"))


def owner(array: Any) -> Any:
    """Find what holds the memory of an array in the end."""
    return owner(array.base) if getattr(array, "base", None) is not None else array


def test_npy_and_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", COLOUR)
    np.savez(tmp_path / "a.npz", images=GREY, label=[0, 1, 0, 1, 0, 1])
    samples = read_samples(tmp_path / "a.npy")
    assert (samples.kind, samples.name, samples.source) == ("images", "a", str(tmp_path / "a.npy"))
    assert isinstance(owner(samples.data.arrays), mmap.mmap)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(list(samples), COLOUR)
    grouped = read_samples(tmp_path / "a.npz", field="images", group="label")
    assert grouped.groups.tolist() == list("010101")
    assert grouped.content_hash == images_of(GREY).content_hash
    np.save(tmp_path / "b.npy", GREY / 2.0)
    with pytest.raises(InputError, match=r"b\.npy: .*\(6, 4, 5\)"):
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


PIXELS = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
WIDE = np.array([[0, 1, 128, 129, 257, 32896, 65535]], np.uint16)


def saved(image: Any, kind: str = "PNG", **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def pixels_of(image: Any, kind: str = "PNG", **options: Any) -> NDArray[np.uint8]:
    pixels = decode_bytes(saved(image, kind, **options)).pixels
    assert pixels.dtype == np.uint8
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3
    return pixels


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM"])
def test_colours_of_lossless_files_are_kept(kind: str) -> None:
    np.testing.assert_array_equal(pixels_of(Image.fromarray(PIXELS), kind), PIXELS)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_colours_of_lossy_files_are_near(kind: str) -> None:
    smooth = np.linspace(0, 255, 32 * 32 * 3).reshape(32, 32, 3).astype(np.uint8)
    found = pixels_of(Image.fromarray(smooth), kind, quality=95).astype(int)
    assert np.abs(found - smooth).mean() < 4


@pytest.mark.parametrize("kind", ["PNG", "GIF", "TIFF", "PPM"])
def test_grey_has_three_equal_channels(kind: str) -> None:
    grey = PIXELS[..., 0]
    expected = np.stack([grey] * 3, axis=2)
    np.testing.assert_array_equal(pixels_of(Image.fromarray(grey), kind), expected)


def test_black_and_white_and_palettes() -> None:
    ink = PIXELS[..., 0] > 100
    found = pixels_of(Image.fromarray(ink))
    np.testing.assert_array_equal(found, np.repeat(ink[..., None], 3, axis=2) * 255)
    palette = Image.fromarray(np.array([[0, 1, 2]], np.uint8), "L").convert("P")
    palette.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90])
    assert pixels_of(palette).tolist() == [[[10, 20, 30], [40, 50, 60], [70, 80, 90]]]


def test_what_is_transparent_is_laid_on_white() -> None:
    # By hand: 100 · ½ + 255 · ½ with alpha 128 of 255 is 177.2.
    values = [[100, 0, 255, 0], [100, 0, 255, 128], [100, 0, 255, 255]]
    image = Image.fromarray(np.array([values], np.uint8))
    assert pixels_of(image).tolist() == [[[255] * 3, [177, 127, 255], [100, 0, 255]]]


def test_transparency_of_grey_and_of_palettes_and_of_one_colour() -> None:
    both = Image.fromarray(np.array([[[0, 0], [0, 255]]], np.uint8))
    assert pixels_of(both).tolist() == [[[255] * 3, [0] * 3]]
    plain = Image.fromarray(np.array([[7, 9]], np.uint8))
    assert pixels_of(plain, transparency=7).tolist() == [[[255] * 3, [9] * 3]]
    palette = plain.convert("P")
    palette.putpalette([5] * 3 * 10)
    assert pixels_of(palette, transparency=9).tolist() == [[[5] * 3, [255] * 3]]


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_16_bits_are_scaled_to_8(kind: str) -> None:
    expected = np.rint(WIDE / 257).astype(int)
    np.testing.assert_array_equal(pixels_of(Image.fromarray(WIDE), kind)[..., 1], expected)


def test_cmyk_is_converted() -> None:
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    red, green, blue = pixels_of(image, "JPEG")[4, 4].astype(int)
    assert red > 200
    assert max(green, blue) < 50


@pytest.mark.parametrize(("kind", "mode"), [("TIFF", "F"), ("TIFF", "I")])
def test_values_without_a_known_white_are_refused(kind: str, mode: str) -> None:
    with pytest.raises(BadImageError, match="whose black and white are not known"):
        pixels_of(Image.new(mode, (3, 3), 5), kind)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize(
    ("noted", "corner"),
    [(1, (0, 0)), (2, (0, 1)), (3, (1, 1)), (4, (1, 0)), (6, (0, 1)), (8, (1, 0))],
)
def test_the_noted_orientation_is_applied(kind: str, noted: int, corner: tuple[int, int]) -> None:
    stored = np.full((16, 32, 3), 255, np.uint8)
    stored[:8, :16] = 0
    exif = Image.Exif()
    exif[274] = noted
    found = pixels_of(Image.fromarray(stored), kind, exif=exif)
    assert found.shape == ((16, 32, 3) if noted < 5 else (32, 16, 3))
    down, right = corner
    dark = found[4 if not down else -4, 4 if not right else -4]
    assert dark.max() < 60
    assert (found.mean(axis=2) < 128).mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("noted", [5, 7])
def test_mirrored_orientations(noted: int) -> None:
    exif = Image.Exif()
    exif[274] = noted
    found = pixels_of(Image.fromarray(PIXELS), exif=exif)
    turned = PIXELS.transpose(1, 0, 2)
    np.testing.assert_array_equal(found, turned if noted == 5 else turned[::-1, ::-1])


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_a_damaged_note_of_the_camera_does_no_harm() -> None:
    data = saved(Image.fromarray(PIXELS), exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")
    np.testing.assert_array_equal(decode_bytes(data).pixels, PIXELS)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG"])
def test_the_first_frame_is_taken(kind: str) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("black", "white", "red")]
    options = {"lossless": True} if kind == "WEBP" else {}
    decoded = decode_bytes(
        saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    )
    assert decoded.several
    assert decoded.pixels.max() == 0
    assert not decode_bytes(saved(frames[0], kind)).several


def test_a_file_may_be_of_another_format_than_its_name_says() -> None:
    # Only the bytes are looked at.
    assert decode_bytes(saved(Image.fromarray(PIXELS), "BMP")).mode == "RGB"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"hello", "is not an image of a known format (PNG, JPEG, WEBP, BMP, GIF, TIFF, PPM)"),
        (b'<?xml version="1.0"?><svg/>', "is not an image but a text that begins like SVG or HTML"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is not an image but a Git LFS pointer"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "is not an image of a known format"),
        (saved(Image.fromarray(PIXELS), "JPEG")[:-40], "is damaged: "),
    ],
)
def test_what_is_no_image(data: bytes, message: str) -> None:
    with pytest.raises(BadImageError) as caught:
        decode_bytes(data)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "PPM"])
def test_files_cut_short_are_refused(kind: str) -> None:
    data = saved(Image.fromarray(np.tile(PIXELS, (9, 9, 1))), kind)
    for part in (0.1, 0.5, 0.9, 0.98):
        with pytest.raises(BadImageError):
            decode_bytes(data[: int(len(data) * part)])


def test_wrong_checksums_of_png_are_found() -> None:
    data = bytearray(saved(Image.fromarray(PIXELS)))
    # The length, the type and the check sum of the last chunk take 12 bytes; before it, the data's.
    data[-14] ^= 1
    with pytest.raises(BadImageError, match="is damaged"):
        decode_bytes(bytes(data))


def png_of(width: int, height: int, rows: bytes | None = None) -> bytes:
    """Claim a size in few bytes, of colours; with all rows, of one bit a pixel."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        sum_of = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + sum_of

    bits, colour = (8, 2) if rows is None else (1, 0)
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    content = zlib.compress(rows or b"", 1)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", content), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("size", [(11_000, 11_000), (30_000, 30_000), (2**31 - 1, 2**31 - 1)])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_bombs_are_refused_before_they_grow(size: tuple[int, int]) -> None:
    with pytest.raises(BadImageError, match=r"pixels; at most 89,478,485 are read"):
        decode_bytes(png_of(*size))


def test_a_whole_picture_of_twenty_thousand_pixels_a_side_is_refused_undecoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = 20_000
    huge = png_of(side, side, bytes(side * (1 + side // 8)))
    assert len(huge) < 1_000_000
    for number in range(2):
        (tmp_path / f"{number}.png").write_bytes(saved(Image.fromarray(PIXELS)))
    (tmp_path / "huge.png").write_bytes(huge)
    decoded, whole = [], image_files.image_pixels

    def counted(image: Any) -> Any:
        decoded.append(image.size)
        return whole(image)

    monkeypatch.setattr(image_files, "image_pixels", counted)
    says = r"huge\.png.* has 400,000,000 pixels; at most 89,478,485 are read"
    with pytest.raises(InputError, match=says):
        read_samples(tmp_path)
    assert len(read_samples(tmp_path, skip_bad=True)) == 2
    assert set(decoded) == {(7, 5)}


def test_the_limit_is_on_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_files, "MAX_PIXELS", 34)
    with pytest.raises(BadImageError, match="has 7 × 5 pixels"):
        pixels_of(Image.fromarray(PIXELS))
    monkeypatch.setattr(image_files, "MAX_PIXELS", 35)
    assert pixels_of(Image.fromarray(PIXELS)).shape == (5, 7, 3)


def test_alpha_is_rounded_to_the_nearest() -> None:
    alpha, value = (grid.ravel() for grid in np.meshgrid(np.arange(256), np.arange(256)))
    array = np.stack([value, value, value, alpha], axis=1)[None].astype(np.uint8)
    exact = (value * alpha + 255 * (255 - alpha)) / 255
    np.testing.assert_array_equal(as_rgb(array)[0, :, 0], np.floor(exact + 0.5))
