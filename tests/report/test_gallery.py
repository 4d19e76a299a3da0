"""Pictures of images in the page: which are seen, that each is what it is said to be, bounds."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import calipers
from calipers.explain.model import Copy, Explanation, Neighbour, Outlier, Sample
from calipers.report.comparison import explanation as on_screen
from calipers.report.html import gallery
from calipers.report.html.gallery import LADDER, Gallery
from calipers.report.render.text import plain
from calipers.results import Comparison
from calipers.results.pictures import LivePictures, StoredPictures, stored
from calipers.samples.images import Images, from_arrays
from calipers.samples.thumbnails import SIDE, media_type, thumbnail

IMG = re.compile(r'<img class="shot" src="(data:[^"]+)" alt="([^"]*)"')
RED, GREEN, BLUE = (200, 40, 40), (40, 200, 40), (40, 40, 200)


def drawn(path: Path, colours: list[tuple[int, int, int]], each: int, seed: int) -> None:
    """Write noisy squares of some colours, 8 × 8 pixels."""
    rng = np.random.default_rng(seed)
    path.mkdir()
    for place, colour in enumerate(colours):
        for number in range(each):
            pixels = np.clip(rng.normal(colour, 25, (8, 8, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(path / f"{place}-{number:03}.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("images")
    drawn(root / "real", [RED, GREEN], 60, 0)
    drawn(root / "train", [RED, GREEN], 60, 1)
    drawn(root / "fake", [GREEN, BLUE], 60, 2)
    for number in range(3):  # copies of the training set
        copied = (root / "train" / f"1-{number:03}.png").read_bytes()
        (root / "fake" / f"0-{number:03}.png").write_bytes(copied)
    return root


@pytest.fixture(scope="module")
def found(folder: Path) -> Comparison:
    sides = folder / "real", {"fake": folder / "fake"}
    comparison = calipers.compare(
        *sides, train=folder / "train", embedder="pixels", floor=False, cache=False
    )
    return comparison.explained()


def explanation(found: Comparison) -> Explanation:
    return next(iter(found["fake"].explained.values()))


def pixels_of(address: str) -> np.ndarray:
    head, _, data = address.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def test_every_picture_is_the_image_that_it_is_said_to_be(found, folder):
    shown = IMG.findall(found.html())
    assert len(shown) > 50
    for address, alt in shown:
        side, file = re.fullmatch(r"(\w+) row \d+, (.+)", alt).groups()
        assert Path(file).parent.name == {"training": "train"}.get(side, side).replace(
            "reference", "real"
        ).replace("generated", "fake")
        np.testing.assert_array_equal(pixels_of(address), np.asarray(Image.open(file)))


def test_the_worst_are_of_the_invented_colour_and_the_best_of_the_shared_one(found):
    told = explanation(found)
    assert all(Path(each.file).name.startswith("1-") for each in told.outside)  # blue
    assert told.best
    assert all(Path(each.file).name.startswith("0-") for each in told.best)
    assert all(Path(near.file).name.startswith("1-") for near in told.best[0].nearest)
    realism = [each.realism for each in told.best]
    assert realism == sorted(realism, reverse=True)


def test_copies_of_the_training_set_stand_beside_their_sources(found):
    told = explanation(found)
    exact = [copy for copy in told.train_copies if copy.distance == 0]
    pairs = {(Path(copy.file).name, Path(copy.source.file).name) for copy in exact}
    assert pairs == {(f"0-{n:03}.png", f"1-{n:03}.png") for n in range(3)}
    assert told.train_copies_count >= len(told.train_copies) >= 3
    page = found.html()
    assert "Near copies of the training set" in page
    assert "training row 60, " in page


@pytest.mark.parametrize("order", [("fake", "seed"), ("seed", "fake")])
def test_copies_of_the_training_set_in_the_first_of_several_files_are_listed(
    folder, order, tmp_path
):
    if not (folder / "seed").exists():
        drawn(folder / "seed", [GREEN, BLUE], 60, 3)
    comparison = calipers.compare(
        folder / "real",
        {"fake": [calipers.read_samples(folder / name) for name in order]},
        train=folder / "train",
        embedder="pixels",
        floor=False,
        cache=False,
    ).explained()
    told = explanation(comparison)
    exact = {Path(copy.file).name for copy in told.train_copies if copy.distance == 0}
    assert exact == ({f"0-{n:03}.png" for n in range(3)} if order[0] == "fake" else set())
    score = comparison["fake"].scores["near_copies:train"]
    assert told.train_copies_count == round(score.seeds[0] * 120)
    assert ("Near copies of the training set" in comparison.html()) == bool(told.train_copies)
    comparison.save(tmp_path / "run.zip")
    assert explanation(Comparison.load(tmp_path / "run.zip")).train_copies == told.train_copies


def test_modes_are_strips_of_pictures(found):
    told = explanation(found)
    missing, invented = told.under_represented, told.over_represented
    assert missing
    assert invented
    assert {Path(s.file).name[0] for t in missing for s in t.reference_medoids} == {"0"}
    assert {Path(s.file).name[0] for t in invented for s in t.generated_medoids} == {"1"}
    page = found.html()
    assert "Under-represented modes" in page
    assert "Over-represented modes" in page
    assert "no keywords" not in page


def test_the_screen_names_the_files(found):
    text = plain(on_screen.document(found))
    assert "mode, by its most typical image" in text
    assert "fake/1-" in text
    assert "real/" in text
    assert "near copies of training samples" in text
    assert "train/1-000.png" in text


def test_what_was_saved_shows_the_same_pictures(found, tmp_path):
    path = tmp_path / "run.zip"
    found.save(path)
    again = Comparison.load(path)
    assert IMG.findall(again.html()) == IMG.findall(found.html())
    assert explanation(again).train_copies == explanation(found).train_copies


def test_a_redacted_page_has_no_picture_and_no_folder(found, folder):
    page = found.html(redact=True)
    assert str(folder) not in page
    assert ">0-<wbr>000.<wbr>png<" in page  # the name of the file alone
    assert IMG.findall(page) == []


def test_texts_are_told_without_a_file_and_without_best_samples():
    told = Explanation("meaning", 1, 1, 4, outside=(Outlier(0, "text"),)).to_dict()
    assert "file" not in told["outside"][0]
    assert not {"best", "train_copies"} & set(told)


def test_what_has_a_file_is_read_back():
    near = (Neighbour(3, file="real/3.png", distance=0.5),)
    told = Explanation(
        "pixels",
        9,
        9,
        4,
        outside=(Outlier(1, file="a.png", realism=0.5, nearest=near),),
        best=(Outlier(2, file="b.png", nearest=near),),
        train_copies=(Copy(4, distance=0.1, source=Sample(5, file="t.png")),),
        train_copies_count=1,
    )
    assert Explanation.from_dict(told.to_dict()) == told
    sides = [(side, sample.row) for side, sample in told.listed()]
    assert sides == [
        ("generated", 1), ("reference", 3), ("generated", 2), ("reference", 3),
        ("generated", 4), ("train", 5),
    ]  # fmt: skip


def test_a_frechet_distance_is_called_by_its_embedder_and_never_fid(folder):
    sides = folder / "real", {"fake": folder / "fake"}
    found = calipers.compare(
        *sides, embedder="pixels", metrics="frechet_distance", level=None, floor=False, cache=False
    )
    text = plain(found)
    assert "Fréchet" in text
    assert "pixels" in text
    assert "FID" not in text
    assert "embedder:pixels" in found["fake"]["frechet_distance"].signature


# ------------------------------------------------------------------ thumbnails


def noise(height: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", [(1, 1), (8, 96), (96, 96)])
def test_a_small_image_is_kept_pixel_by_pixel(shape):
    data = thumbnail(noise(*shape))
    assert media_type(data) == "image/png"
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), noise(*shape))


@pytest.mark.parametrize(
    ("shape", "size"), [((97, 97), (96, 96)), ((300, 1200), (96, 24)), ((1000, 2), (1, 96))]
)
def test_a_large_image_is_made_smaller_in_proportion(shape, size):
    data = thumbnail(noise(*shape))
    assert media_type(data) == "image/jpeg"
    assert Image.open(io.BytesIO(data)).size == size
    assert len(data) < 2 * SIDE * SIDE


def test_a_thumbnail_keeps_the_colours():
    flat = np.full((400, 400, 3), RED, np.uint8)
    seen = np.asarray(Image.open(io.BytesIO(thumbnail(flat)))).astype(int)
    assert np.abs(seen - RED).max() <= 3


@pytest.mark.parametrize(
    "data", [b"", b"<svg onload=alert(1)>", b"GIF89a", b"\xff\xd8\xff" * 20_000]
)
def test_what_is_no_thumbnail_is_refused(data):
    with pytest.raises(ValueError, match="are not a thumbnail"):
        media_type(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "not an object"),
        ({"9": "AAAA"}, "of row 9, but there are 3 samples"),
        ({"-1": "AAAA"}, "of row -1"),
        ({"x": "AAAA"}, "invalid literal"),
        ({"0": 7}, "not a text"),
        ({"0": "?"}, "is damaged"),
        ({"0": base64.b64encode(b"<svg/>").decode()}, "are not a thumbnail"),
    ],
)
def test_stored_pictures_of_any_zip_are_checked(data, says):
    with pytest.raises((TypeError, ValueError), match=says):
        StoredPictures.of(data, 3)


def pictures_in_memory(count: int) -> LivePictures:
    return LivePictures(Images(from_arrays([noise(8, 8)] * count, "here"), 0, count))


def test_stored_pictures_are_those_that_were_made():
    live = pictures_in_memory(3)
    again = StoredPictures.of(stored(live, [2, 0, 2]), 3)
    assert again.thumbnail(0) == live.thumbnail(0) == again.thumbnail(2)
    assert again.thumbnail(1) is None


def test_a_file_that_has_changed_has_no_picture(tmp_path):
    Image.fromarray(noise(4, 4)).save(tmp_path / "a.png")
    data = calipers.read_samples(tmp_path).data
    pictures = LivePictures(Images.of(data), data.paths.tolist())
    Image.fromarray(noise(5, 5)).save(tmp_path / "a.png")
    assert pictures.thumbnail(0) is None


# ------------------------------------------------------------------ the size of the page


@pytest.mark.parametrize("room", [2_000, 20_000, 100_000, 2_000_000])
def test_pictures_take_no_more_than_their_room(found, room):
    chosen = Gallery.of(found, room)
    keys = list(gallery.mentions([(1, explanation(found))], LADDER[0]))
    taken = sum(len(chosen.address(*key)) for key in keys)
    assert taken <= room
    assert chosen.most in LADDER
    if room == 2_000_000:
        assert chosen.most == LADDER[0]
        assert chosen.missing == 0
    else:
        assert chosen.most < LADDER[0]
        assert f"first {chosen.most} images of each list" in chosen.says


def test_more_room_shows_more(found):
    most = [Gallery.of(found, room).most for room in (5_000, 50_000, 500_000)]
    assert most == sorted(most)
    assert most[0] < most[-1]


def test_texts_have_no_gallery(found):
    bare = found.systems[0]
    assert not Gallery()
    assert Gallery().address(1, "generated", 0) == ""
    assert bool(Gallery.of(found, 10_000))
    assert bare.samples[0].pictures is not None
