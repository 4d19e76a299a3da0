import numpy as np
import pytest
from PIL import Image

from calipers.embed.catalogue import load_embedder
from calipers.embed.pipeline import embed_samples
from calipers.errors import InputError
from calipers.samples import SampleSet


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
