"""What becomes of each kind of image file: always red, green and blue, 8 bits each."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from calipers.samples.readers import images
from calipers.samples.readers.images import BadImageError, as_rgb, decode_bytes

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
        (b"hello", "is no image of a known format (PNG, JPEG, WEBP, BMP, GIF, TIFF, PPM)"),
        (b'<?xml version="1.0"?><svg/>', "is no image, but a text that begins like SVG or HTML"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is no image, but a pointer of Git LFS"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "is no image of a known format"),
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


def png_of(width: int, height: int) -> bytes:
    """Claim a size in few bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        sum_of = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + sum_of

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"")), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("size", [(11_000, 11_000), (30_000, 30_000), (2**31 - 1, 2**31 - 1)])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_bombs_are_refused_before_they_grow(size: tuple[int, int]) -> None:
    with pytest.raises(BadImageError, match=r"pixels; at most 89,478,485 are read"):
        decode_bytes(png_of(*size))


def test_the_limit_is_on_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_PIXELS", 34)
    with pytest.raises(BadImageError, match="has 7 × 5 pixels"):
        pixels_of(Image.fromarray(PIXELS))
    monkeypatch.setattr(images, "MAX_PIXELS", 35)
    assert pixels_of(Image.fromarray(PIXELS)).shape == (5, 7, 3)


def test_alpha_is_rounded_to_the_nearest() -> None:
    alpha, value = (grid.ravel() for grid in np.meshgrid(np.arange(256), np.arange(256)))
    array = np.stack([value, value, value, alpha], axis=1)[None].astype(np.uint8)
    exact = (value * alpha + 255 * (255 - alpha)) / 255
    np.testing.assert_array_equal(as_rgb(array)[0, :, 0], np.floor(exact + 0.5))
