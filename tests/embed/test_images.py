"""Images pixel by pixel, decoded once, few of them in memory at a time."""

import pickle
import weakref

import numpy as np
import pytest
from PIL import Image

from calipers.embed.catalogue import load_embedder
from calipers.embed.pipeline import embed_samples
from calipers.embed.vision import images as batching
from calipers.embed.vision import pixels
from calipers.embed.vision.images import ImageBatches, checked_images
from calipers.errors import InputError
from calipers.samples import SampleSet, images
from calipers.samples.images import ImageArrays


def solid(height, width, colour=(0, 0, 0)):
    return np.full((height, width, 3), colour, dtype=np.uint8)


def test_two_pixels_by_hand():
    image = np.array([[[255, 0, 51], [0, 102, 255]]], dtype=np.uint8)
    found = load_embedder("pixels").embed([image])
    assert found.views["pixels"].dtype == np.float32
    np.testing.assert_allclose(found.views["pixels"], [[1, 0, 0.2, 0, 0.4, 1]], atol=1e-7)
    assert not found.truncated.any()


def test_size_equals_pillow(rng):
    images = [rng.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in ((9, 9), (40, 7), (4, 4))]
    found = load_embedder("pixels", size=4).embed(images).views["pixels"]
    resized = [Image.fromarray(each).resize((4, 4), Image.Resampling.BILINEAR) for each in images]
    expected = np.array([np.asarray(each).reshape(-1) for each in resized]) / 255
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_shrinking_averages():
    checks = np.kron(np.indices((16, 16)).sum(axis=0) % 2, np.ones((1, 1))) * 255
    image = np.repeat(checks.astype(np.uint8)[:, :, None], 3, axis=2)
    found = load_embedder("pixels", size=2).embed([image]).views["pixels"]
    np.testing.assert_allclose(found, 0.5, atol=0.02)


def test_mixed_sizes_are_refused_with_both_sizes_and_the_way_out():
    words = r"the first image is 8 × 4 and another is 4 × 8: .*'pixels:size=32'"
    with pytest.raises(InputError, match=words):
        load_embedder("pixels").embed([solid(4, 8), solid(4, 8), solid(8, 4)])


def test_a_size_makes_mixed_sizes_fit():
    found = load_embedder("pixels:size=3").embed([solid(4, 8), solid(8, 4)])
    assert found.views["pixels"].shape == (2, 27)


def test_the_reference_decides_the_size_for_all_chunks_and_sets():
    reference = SampleSet.from_images([solid(4, 8)] * 3, name="real")
    other = SampleSet.from_images([solid(8, 4)] * 3, name="fake")
    late = SampleSet.from_images([solid(4, 8)] * 1100 + [solid(2, 16)], name="late")
    embedder = load_embedder("pixels").fitted(reference)
    assert embed_samples(reference, embedder).views["pixels"].shape == (3, 96)
    for samples in (other, late):  # of equally many pixels
        with pytest.raises(InputError, match=r"the first image is 8 × 4 and another is"):
            embed_samples(samples, embedder)


def test_fitting_leaves_the_embedder_itself_and_a_chosen_size_alone():
    reference = SampleSet.from_images([solid(4, 8)], name="real")
    free, sized = load_embedder("pixels"), load_embedder("pixels", size=4)
    free.fitted(reference)
    assert free.embed([solid(2, 2)]).views["pixels"].shape == (1, 12)
    assert sized.fitted(reference) is sized


def test_its_signature_tells_the_size():
    assert load_embedder("pixels").signature == {"embedder": "pixels", "size": "as_given"}
    assert load_embedder("pixels", size=4).signature == {"embedder": "pixels", "size": "4"}
    assert load_embedder("pixels", size=4).identity != load_embedder("pixels", size=5).identity


def test_texts_and_other_arrays_are_no_images():
    with pytest.raises(InputError, match=r"image 1 must be an array of uint8 .*'word'"):
        load_embedder("pixels").embed(["word"])
    with pytest.raises(InputError, match=r"image 1 .* found an array of float32"):
        load_embedder("pixels").embed([np.zeros((2, 2, 3), np.float32)])


def test_no_images_give_no_rows():
    assert len(load_embedder("pixels").embed([]).truncated) == 0


def test_options_without_meaning_are_refused():
    with pytest.raises(InputError, match="does not take the option 'layer'"):
        load_embedder("pixels", layer=2)


class Counted(ImageArrays):
    """Images that are decoded anew each time, and counted as long as they live."""

    def decode(self, start, stop):
        found = [np.array(each) for each in super().decode(start, stop)]
        for each in found:
            self.living.add(id(each))
            weakref.finalize(each, self.living.discard, id(each))
        self.tally.extend(range(start, stop))
        self.most.append(len(self.living))
        return found

    @property
    def living(self):
        return self.__dict__.setdefault("living", set())

    @property
    def tally(self):
        return self.__dict__.setdefault("tally", [])

    @property
    def most(self):
        return self.__dict__.setdefault("most", [])


@pytest.fixture
def counted(rng, monkeypatch):
    """Images of which a decoder gives one at a time, as it does of large ones."""
    monkeypatch.setattr(images, "PIXELS_AT_ONCE", 1)
    stack = rng.integers(0, 256, (100, 16, 16, 3), dtype=np.uint8)
    held = Counted(list(stack))
    plain = SampleSet.from_images(stack, name="plain")
    return SampleSet(name="counted", source="<list>", data=held), plain


def embed_both(embedder, sets):
    counted, plain = sets
    found = embed_samples(counted, embedder).views
    expected = embed_samples(plain, embedder).views
    for view, rows in expected.items():
        np.testing.assert_array_equal(found[view], rows)
    assert counted.data.tally == list(range(len(counted)))
    return max(counted.data.most)


def test_pixels_hold_few_images(counted):
    assert embed_both(load_embedder("pixels", size=4), counted) <= 3
    counted[0].data.tally.clear()
    assert embed_both(load_embedder("pixels"), counted) <= 5


def test_a_vision_model_holds_few_images(counted, tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 8, "image_size": 16, "patch_size": 8}
    torch.manual_seed(0)
    transformers.ViTModel(transformers.ViTConfig(**sizes)).save_pretrained(tmp_path / "vit")
    kind = getattr(transformers, "ViTImageProcessorPil", transformers.ViTImageProcessor)
    kind(size={"height": 16, "width": 16}).save_pretrained(tmp_path / "vit")
    embedder = load_embedder(str(tmp_path / "vit"), device="cpu")
    assert embed_both(embedder, counted) <= 3


def test_batches_hold_no_more_than_their_share(counted, monkeypatch):
    monkeypatch.setattr(batching, "HELD", 10 * 16 * 16 * 3)
    samples, plain = counted
    batches, seen = ImageBatches(size=64, name="mean"), []

    def forward(stack):
        seen.append(len(stack))
        return stack.mean(axis=(1, 2), dtype=np.float32)

    found = batches.run_bounded(checked_images(samples), forward)
    np.testing.assert_array_equal(found, batches.run(list(plain), forward))
    assert seen[:10] == [10] * 10
    assert samples.data.tally == list(range(100))
    assert max(samples.data.most) <= 13


def test_no_images_give_no_rows_in_batches():
    assert ImageBatches(size=4, name="none").run_bounded([], np.mean).shape == (0, 0)


def test_an_image_larger_than_the_share_is_run_alone(monkeypatch):
    monkeypatch.setattr(batching, "HELD", 20)
    sizes = [(1, 2), (9, 9), (1, 1), (1, 1)]
    given = [np.full((*size, 3), row, np.uint8) for row, size in enumerate(sizes)]
    seen = []

    def forward(stack):
        seen.append(stack.shape[:3])
        return stack.mean(axis=(1, 2), dtype=np.float32)

    found = ImageBatches(size=4, name="mean").run_bounded(given, forward)
    assert found[:, 0].tolist() == [0, 1, 2, 3]
    assert seen == [(1, 1, 2), (1, 9, 9), (2, 1, 1)]


def test_pixels_that_would_not_fit_are_refused_before_they_are_read(monkeypatch):
    stack = np.zeros((10, 100, 50, 3), np.uint8)
    samples = SampleSet.from_images(stack, name="photos")
    needed = 4 * 10 * 100 * 50 * 3 * 4
    monkeypatch.setattr(pixels, "free_memory", lambda *where: needed)
    load_embedder("pixels").fitted(samples)
    monkeypatch.setattr(pixels, "free_memory", lambda *where: needed - 1)
    load_embedder("pixels", size=8).fitted(samples)
    with pytest.raises(InputError, match=r"photos: 10 images of 50 × 100 pixels.*'pixels:size=64'"):
        load_embedder("pixels").fitted(samples)
    monkeypatch.setattr(pixels, "free_memory", lambda *where: None)
    load_embedder("pixels").fitted(samples)


def test_a_part_of_the_images_travels_without_the_others(rng):
    stack = rng.integers(0, 256, (500, 8, 8, 3), dtype=np.uint8)
    (chunk,) = SampleSet.from_images(stack, name="all").chunks()
    part = chunk.items.part(20, 25)
    sent = pickle.dumps(part)
    assert len(sent) < 5 * 8 * 8 * 3 + 1000
    for one, two in zip(pickle.loads(sent), part, strict=True):  # noqa: S301
        np.testing.assert_array_equal(one, two)
