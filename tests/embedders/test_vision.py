"""Vision models against plain transformers code, Inception by a stand-in, and raw pixels."""

import hashlib
import importlib
import inspect
import json
import pickle
import shutil
import sys
import types
import weakref

import numpy as np
import pytest
from PIL import Image

from calipers.embedders.catalogue import load_embedder
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.pipeline import embed as embed_samples
from calipers.embedders.vision import images as batching
from calipers.embedders.vision import pixels
from calipers.embedders.vision.images import ImageBatches, checked_images
from calipers.errors import InputError, MissingExtraError
from calipers.samples import SampleSet
from calipers.samples import images as sample_images
from calipers.samples.images import ImageArrays
from extras import need

torch = need("torch")
transformers = need("transformers")
vision = need("calipers.embedders.vision.vision")
FoundModel = need("calipers.embedders.models.find").FoundModel

SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 64, "image_size": 32, "patch_size": 8, "initializer_range": 0.5}
WORDS = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
WORDS |= {"intermediate_size": 8, "bos_token_id": 0, "eos_token_id": 1}
STAGES = {"hidden_sizes": [8, 16], "depths": [1, 2]}
T = transformers
CLIP = T.CLIPVisionConfig(**SIZES)
KINDS = {
    "vit": T.ViTConfig(**SIZES),
    "deit": T.DeiTConfig(**SIZES),
    "beit": T.BeitConfig(**SIZES),
    "vit_mae": T.ViTMAEConfig(**SIZES),
    "dinov2": T.Dinov2Config(**SIZES),
    "clip_tower": CLIP,
    "clip": T.CLIPConfig(text_config=WORDS, vision_config=CLIP.to_dict()),
    "chinese_clip": T.ChineseCLIPConfig(text_config=WORDS, vision_config=SIZES),
    "siglip": T.SiglipVisionConfig(**SIZES),
    "siglip_both": T.SiglipConfig(text_config=WORDS, vision_config=SIZES),
    "swin": T.SwinConfig(
        image_size=32, patch_size=4, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=4
    ),
    "convnext": T.ConvNextConfig(num_stages=2, **STAGES),
    "resnet": T.ResNetConfig(embedding_size=8, layer_type="basic", **STAGES),
}
if hasattr(T, "Dinov2WithRegistersConfig"):
    KINDS["registers"] = T.Dinov2WithRegistersConfig(**SIZES, num_register_tokens=4)
PROCESSORS = {
    "dinov2": (
        "BitImageProcessor",
        {"shortest_edge": 36},
        {"crop_size": {"height": 32, "width": 32}},
    ),
    "clip": (
        "CLIPImageProcessor",
        {"shortest_edge": 32},
        {"crop_size": {"height": 32, "width": 32}},
    ),
    "convnext": ("ConvNextImageProcessor", {"shortest_edge": 32}, {}),
    "siglip": ("SiglipImageProcessor", {"height": 32, "width": 32}, {}),
}
PLAIN = ("ViTImageProcessor", {"height": 32, "width": 32}, {})


def processor(kind):
    name, size, more = PROCESSORS.get(kind, PLAIN)
    return (getattr(T, f"{name}Pil", None) or getattr(T, name))(size=size, **more)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Vision models of many kinds with random weights, and their image processors."""
    root = tmp_path_factory.mktemp("vision")
    for name, config in KINDS.items():
        torch.manual_seed(0)
        model = T.AutoModel.from_config(config)
        for part in model.modules():  # else states would hardly depend on the image
            if type(part).__name__.endswith("LayerScale"):
                torch.nn.init.constant_(part.lambda1, 1.0)
        model.save_pretrained(root / name)
        processor(name).save_pretrained(root / name)
    return root


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    sizes = [(32, 32), (8, 8), (50, 35), (3, 7), (40, 90), (32, 32), (1, 5)]
    noise = [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]
    grey = np.repeat(rng.integers(0, 256, (20, 24, 1), dtype=np.uint8), 3, axis=2)
    return [*noise, grey, np.zeros((30, 30, 3), dtype=np.uint8)]


def load(folder, **options):
    config = json.loads((folder / "config.json").read_text())
    return vision.VisionEmbedder(
        FoundModel(folder, folder.name, "rev", config), EmbedderOptions(**options)
    )


def embed(embedder, images):
    return embedder.embed(images).views["image"]


def plain(folder, images, read):
    """What transformers gives for one image at a time."""
    model, prepare = T.AutoModel.from_pretrained(folder).eval().float(), processor(folder.name)
    model = getattr(model, "vision_model", model)
    more = {}
    if folder.name == "vit_mae":
        model.config.mask_ratio, more = 0.0, {"noise": torch.arange(16.0)[None]}
    rows = []
    for image in images:
        pixels = prepare(image, return_tensors="pt", input_data_format="channels_last")
        with torch.no_grad():
            output = model(pixels["pixel_values"], output_hidden_states=True, **more)
        rows.append(read(output).flatten().numpy())
    return np.array(rows)


def first(output):
    return output.last_hidden_state[:, 0]


def pooler(output):
    return output.pooler_output


def patches_from(start):
    return lambda output: output.last_hidden_state[:, start:].mean(dim=1)


BY_DEFAULT = {
    "vit": (first, "cls_layer3"),
    "deit": (first, "cls_layer3"),
    "beit": (first, "cls_layer3"),
    "vit_mae": (first, "cls_layer3"),
    "dinov2": (first, "cls_layer3"),
    "registers": (first, "cls_layer3"),
    "clip_tower": (pooler, "cls_layer3"),
    "clip": (pooler, "cls_layer3"),
    "chinese_clip": (pooler, "cls_layer3"),
    "siglip": (pooler, "own_pool_layer3"),
    "siglip_both": (pooler, "own_pool_layer3"),
    "swin": (pooler, "own_pool_layer2"),
    "convnext": (pooler, "own_pool_layer2"),
    "resnet": (pooler, "own_pool_layer2"),
}


def close(found, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found / scale, expected / scale, atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_equal_plain_transformers_code_one_image_at_a_time(kind, folders, images):
    read, words = BY_DEFAULT[kind]
    embedder = load(folders / kind, batch_size=4)
    found = embed(embedder, images)
    expected = plain(folders / kind, images, read)
    assert found.dtype == np.float32
    assert embedder.view_signature == {"image": words}
    assert np.ptp(expected, axis=0).max() > 0.01 * np.abs(expected).max()
    close(found, expected)


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_half_precision_is_computed_in_with_and_without_dense_layers(
    kind, folders, images, monkeypatch
):
    exact = embed(load(folders / kind), images)
    monkeypatch.setattr(vision, "choose_dtype", lambda *asked: "bfloat16")
    found = embed(load(folders / kind, dtype="auto"), images)
    assert found.dtype == np.float32
    assert 0 < np.abs(found - exact).max() < 0.15 * np.abs(exact).max()


def test_code_of_the_folder_goes_before_the_tower_alone(folders):
    own = {"model_type": "clip", "auto_map": {"AutoModel": "own.Model"}}
    find = vision._class
    assert find(FoundModel(folders, "own", "rev", own), T) is T.AutoModel
    assert find(FoundModel(folders, "clip", "rev", {"model_type": "clip"}), T) is T.CLIPVisionModel


@pytest.mark.parametrize("kind", ["clip", "chinese_clip", "siglip_both"])
def test_the_tower_that_reads_texts_is_not_loaded(kind, folders, images, monkeypatch):
    expected = plain(folders / kind, images, pooler)
    monkeypatch.setattr(T.AutoModel, "from_pretrained", None)
    close(embed(load(folders / kind), images), expected)


@pytest.mark.parametrize(
    ("kind", "start"), [("vit", 1), ("deit", 2), ("dinov2", 1), ("registers", 5), ("siglip", 0)]
)
def test_the_mean_leaves_out_class_and_register_tokens(kind, start, folders, images):
    if kind not in KINDS:
        pytest.skip("this transformers does not know the kind")
    embedder = load(folders / kind, pooling="mean")
    assert embedder.view_signature == {"image": "mean_patches_layer3"}
    close(embed(embedder, images), plain(folders / kind, images, patches_from(start)))


@pytest.mark.parametrize("kind", ["vit", "dinov2", "clip"])
def test_a_lower_layer_is_its_raw_class_token_and_the_rest_is_not_computed(kind, folders, images):
    embedder = load(folders / kind, layer=2)
    assert embedder.view_signature == {"image": "cls_layer2"}
    close(
        embed(embedder, images), plain(folders / kind, images, lambda o: o.hidden_states[2][:, 0])
    )
    stacks = [
        part for part in embedder._tower._tower.modules() if type(part) is torch.nn.ModuleList
    ]
    assert max(map(len, stacks)) == 2


@pytest.mark.parametrize("kind", ["resnet", "convnext"])
def test_a_lower_stage_of_a_convolutional_model_is_averaged_over_places(kind, folders, images):
    embedder = load(folders / kind, layer=1)
    assert embedder.view_signature == {"image": "mean_patches_layer1"}
    read = lambda output: output.hidden_states[1].mean(dim=(2, 3))  # noqa: E731
    close(embed(embedder, images), plain(folders / kind, images, read))


@pytest.mark.parametrize("kind", ["dinov2", "clip", "swin", "resnet"])
def test_the_last_layer_is_what_is_read_by_default(kind, folders, images):
    usual = load(folders / kind)
    last = load(folders / kind, layer=int(usual.view_signature["image"][-1]))
    assert last.identity == usual.identity
    np.testing.assert_array_equal(embed(last, images), embed(usual, images))


def test_the_largest_over_patches(folders, images):
    found = embed(load(folders / "vit", pooling="max"), images)
    read = lambda output: output.last_hidden_state[:, 1:].amax(dim=1)  # noqa: E731
    close(found, plain(folders / "vit", images, read))


@pytest.mark.parametrize("kind", ["dinov2", "convnext"])
def test_neither_batch_nor_order_changes_a_vector(kind, folders, images, rng):
    whole = embed(load(folders / kind), images)
    order = rng.permutation(len(images))
    shuffled = embed(load(folders / kind, batch_size=2), [images[row] for row in order])
    close(shuffled, whole[order])


def test_images_whose_preparation_keeps_their_shape_share_no_batch(folders, images, tmp_path):
    shutil.copytree(folders / "resnet", tmp_path / "resnet")
    path = tmp_path / "resnet" / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"do_resize": False}))
    wide = [image for image in images if min(image.shape[:2]) >= 20]
    embedder = load(tmp_path / "resnet")
    assert len({each.shape for each in embedder.prepare(wide)}) > 2
    together = embed(embedder, wide)
    close(together, np.concatenate([embed(embedder, [image]) for image in wide]))


def test_auto_dtype_changes_little(folders, images):
    exact, fast = (
        embed(load(folders / "vit", dtype=dtype), images) for dtype in ("float32", "auto")
    )
    assert np.abs(fast - exact).max() < 0.15 * np.abs(exact).max()


def test_the_identity_pins_model_preparation_and_versions(folders, tmp_path):
    shutil.copytree(folders / "vit", tmp_path / "vit")
    path = tmp_path / "vit" / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"resample": 3}))
    usual, other = load(folders / "vit"), load(tmp_path / "vit")
    said = json.loads((folders / "vit" / path.name).read_text())
    path.write_text(json.dumps(dict(reversed(said.items())), indent=1))
    assert usual.identity == load(tmp_path / "vit").identity
    assert usual.identity != other.identity
    assert usual.identity == load(folders / "vit").identity
    assert usual.identity != load(folders / "vit", pooling="mean").identity
    assert f"transformers:{T.__version__}" in usual.identity
    assert usual.signature == {
        "embedder": "vit",
        "revision": "rev",
        "dtype": "float32",
        "device": "cpu",
    }


def test_it_is_found_by_its_folder_and_goes_the_whole_road(folders, images):
    from calipers.embedders.pipeline import embed as embed_samples

    embedder = load_embedder(str(folders / "dinov2"), device="cpu")
    assert embedder.reads == {"images"}
    samples = SampleSet.from_images(images, name="noise")
    found = embed_samples(samples, embedder)
    close(found.views["image"], embed(load(folders / "dinov2"), images))
    assert found.notes == ()


def test_a_batch_too_large_for_the_memory_is_halved(folders, images, monkeypatch):
    embedder = load(folders / "vit", batch_size=8)
    whole, forward, seen = embed(embedder, images[:8]), embedder._forward, []

    def narrow(pixels):
        seen.append(len(pixels))
        if len(pixels) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return forward(pixels)

    monkeypatch.setattr(embedder, "_forward", narrow)
    close(embed(embedder, images[:8]), whole)
    assert seen == [8, 4, 2, 2, 2, 2]


def test_an_image_too_large_for_the_memory_is_told(folders, images, monkeypatch):
    embedder = load(folders / "vit")

    def none(pixels):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(embedder, "_forward", none)
    with pytest.raises(InputError, match=r"'vit' .*memory .*3 × 32"):
        embedder.embed(images)


def test_no_images_give_no_rows(folders):
    assert len(load(folders / "vit").embed([]).truncated) == 0


def test_a_folder_must_say_how_images_are_prepared(folders, tmp_path):
    shutil.copytree(folders / "vit", tmp_path / "vit")
    (tmp_path / "vit" / "preprocessor_config.json").unlink()
    with pytest.raises(InputError, match=r"vit: .*how images"):
        load(tmp_path / "vit")


@pytest.mark.parametrize("content", ["{", "[]", '{"image_processor_type": "Nonsense"}'])
def test_an_unreadable_preparation_is_named(content, folders, tmp_path):
    shutil.copytree(folders / "vit", tmp_path / "vit")
    (tmp_path / "vit" / "preprocessor_config.json").write_text(content)
    with pytest.raises(InputError, match=r"vit(/preprocessor_config.json)?: "):
        load(tmp_path / "vit")


def test_weights_that_lack_tensors_are_refused(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folders / "vit", tmp_path / "vit")
    path = tmp_path / "vit" / "model.safetensors"
    tensors = load_file(path)
    kept = {name: part for name, part in tensors.items() if "layernorm_before" not in name}
    save_file(kept, path, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lack 6 tensors.*layernorm_before"):
        load(tmp_path / "vit")


def test_a_pooler_that_is_not_used_may_be_missing(folders, tmp_path, images):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folders / "vit", tmp_path / "vit")
    path = tmp_path / "vit" / "model.safetensors"
    kept = {name: part for name, part in load_file(path).items() if "pooler" not in name}
    save_file(kept, path, metadata={"format": "pt"})
    close(embed(load(tmp_path / "vit"), images), embed(load(folders / "vit"), images))


def test_a_token_for_masked_patches_may_be_missing(folders, tmp_path, images):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folders / "dinov2", tmp_path / "dinov2")
    path = tmp_path / "dinov2" / "model.safetensors"
    kept = {name: part for name, part in load_file(path).items() if "mask_token" not in name}
    save_file(kept, path, metadata={"format": "pt"})
    close(embed(load(tmp_path / "dinov2"), images), embed(load(folders / "dinov2"), images))


def test_pickled_weights_are_read_only_when_asked(folders, tmp_path, images):
    from safetensors.torch import load_file

    shutil.copytree(folders / "vit", tmp_path / "vit")
    path = tmp_path / "vit" / "model.safetensors"
    torch.save(load_file(path), tmp_path / "vit" / "pytorch_model.bin")
    path.unlink()
    with pytest.raises(InputError):
        load(tmp_path / "vit")
    found = embed(load(tmp_path / "vit", allow_pickle=True), images)
    close(found, embed(load(folders / "vit"), images))


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("vit", {"layer": 4}, "layer: the model 'vit' has 3 layers.* 4"),
        ("vit", {"pooling": "last"}, r"must be 'cls', 'mean' or 'max'"),
        ("siglip", {"pooling": "cls"}, r"'siglip' has no class token there"),
        ("resnet", {"pooling": "cls"}, r"'resnet' has no class token there"),
        ("vit", {"max_length": 8}, r"does not take the option 'max_length'"),
        ("vit", {"prefix": "a"}, r"does not take the option 'prefix'"),
    ],
)
def test_options_without_meaning_are_refused(kind, options, words, folders):
    with pytest.raises(InputError, match=words):
        load(folders / kind, **options)


def test_a_model_that_needs_more_than_pixels_is_refused(folders, tmp_path):
    tower = {name: SIZES[name] for name in WORDS.keys() & SIZES.keys()}
    config = T.Siglip2VisionConfig(**tower, patch_size=8, num_patches=16)
    T.Siglip2VisionModel(config).save_pretrained(tmp_path)
    shutil.copy(folders / "vit" / "preprocessor_config.json", tmp_path)
    with pytest.raises(InputError, match="pixels of an image alone"):
        load(tmp_path)


def test_an_image_that_cannot_be_prepared_is_told_by_its_size(folders, images, monkeypatch):
    embedder = load(folders / "vit")

    def narrow(image, **more):
        raise ValueError("too narrow")

    monkeypatch.setattr(embedder._processor, "_process", narrow)
    with pytest.raises(InputError, match=r"vit: .*7 × 3 pixels .*narrow"):
        embedder.prepare(images[3:4])


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("a text", "image 2 .*array of uint8 .* 'a text'"),
        (np.zeros((4, 4), np.uint8), r"found an array of uint8 with the shape \(4, 4\)"),
        (np.zeros((4, 4, 3)), r"found an array of float64"),
        (np.zeros((0, 4, 3), np.uint8), r"shape \(0, 4, 3\)"),
        (np.zeros((4, 4, 4), np.uint8), r"shape \(4, 4, 4\)"),
        (None, r"found a NoneType"),
    ],
)
def test_what_is_no_image_is_refused(item, words, folders, images):
    with pytest.raises(InputError, match=words):
        load(folders / "vit").embed([images[0], item])


FILE = "weights-inception-2015-12-05-6726825d.pth"
ADDRESS = f"https://example.invalid/{FILE}"


class Network(torch.nn.Module):
    """Means of the channels in the upper row, mixed by the weights into 2,048 features."""

    def __init__(self, name, features_list, feature_extractor_weights_path=None):
        super().__init__()
        assert isinstance(name, str)
        assert features_list == ["2048"]
        self.mix = torch.nn.Linear(3, 2048)
        self.load_state_dict(torch.load(feature_extractor_weights_path))

    def forward(self, images):
        assert images.dtype == torch.uint8
        assert images.shape[1] == 3
        return (self.mix(images[:, :, 0].float().mean(dim=2) / 255),)


@pytest.fixture
def weights(tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "mine.pth"
    torch.save({"mix.weight": torch.randn(2048, 3), "mix.bias": torch.randn(2048)}, path)
    return path


@pytest.fixture
def fidelity(monkeypatch, tmp_path):
    package = types.ModuleType("torch_fidelity")
    module = types.ModuleType("torch_fidelity.feature_extractor_inceptionv3")
    module.URL_INCEPTION_V3, module.FeatureExtractorInceptionV3 = ADDRESS, Network
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("calipers.embedders.vision.inception.version", lambda name: "9.9")
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    monkeypatch.delenv("CALIPERS_INCEPTION", raising=False)


@pytest.fixture
def named(fidelity, weights, monkeypatch):
    monkeypatch.setenv("CALIPERS_INCEPTION", str(weights))


@pytest.fixture
def mixed_sizes(rng):
    sizes = [(8, 8), (5, 9), (8, 8), (30, 20), (5, 9)]
    return [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]


def test_features_of_mixed_sizes_keep_their_order(named, weights, mixed_sizes):
    found = load_embedder("inception", batch_size=1, device="cpu").embed(mixed_sizes)
    tensors = torch.load(weights)
    means = np.array([image[0].mean(axis=0) / 255 for image in mixed_sizes])
    expected = means @ tensors["mix.weight"].numpy().T + tensors["mix.bias"].numpy()
    assert found.views["image"].dtype == np.float32
    np.testing.assert_allclose(found.views["image"], expected, atol=1e-5)
    together = load_embedder("inception", device="cpu").embed(mixed_sizes)
    np.testing.assert_allclose(together.views["image"], expected, atol=1e-5)


def test_the_weights_are_pinned_by_their_hash(named, weights):
    embedder = load_embedder("inception", device="cpu")
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert embedder.signature["revision"] == digest[:12]
    assert digest in embedder.identity
    assert "torch_fidelity:9.9" in embedder.identity
    assert (embedder.views, embedder.reads) == (("image",), {"images"})


def test_what_torch_fidelity_has_downloaded_is_used(fidelity, weights, tmp_path):
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    weights.rename(folder / FILE)
    assert load_embedder("inception", offline=True).signature["embedder"] == "inception"


def test_offline_downloads_nothing_and_tells_where_it_looked(fidelity, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "download_url_to_file", None)
    with pytest.raises(InputError, match=rf"{FILE}.*downloaded"):
        load_embedder("inception", offline=True)


def test_a_download_goes_where_torch_fidelity_looks_and_is_checked(
    fidelity, weights, tmp_path, monkeypatch
):
    asked = []

    def download(address, path, hash_prefix, progress):
        asked.append((address, hash_prefix))
        weights.rename(path)

    monkeypatch.setattr(torch.hub, "download_url_to_file", download)
    load_embedder("inception")
    load_embedder("inception")
    assert asked == [(ADDRESS, "6726825d")]
    assert (tmp_path / "hub" / "checkpoints" / FILE).is_file()


def test_a_failed_download_tells_where_to_bring_the_file(fidelity, monkeypatch):
    def download(*args, **more):
        raise OSError("no route to host")

    monkeypatch.setattr(torch.hub, "download_url_to_file", download)
    with pytest.raises(InputError, match=r"no route to host.*CALIPERS_INCE"):
        load_embedder("inception")


class Harmful:
    def __reduce__(self):
        return (pytest.fail, ("code of the file was run",))


@pytest.mark.parametrize(
    "save", [torch.save, lambda what, path: path.write_bytes(pickle.dumps(what, 2))]
)
def test_code_in_the_file_is_not_run(save, named, weights):
    save({"mix.weight": Harmful()}, weights)
    with pytest.raises(InputError, match="holds something else than tensors"):
        load_embedder("inception")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short"])
def test_a_damaged_file_is_named(content, named, weights):
    weights.write_bytes(content)
    with pytest.raises(InputError, match=r"mine\.pth: "):
        load_embedder("inception")


def test_tensors_of_something_else_are_refused(named, weights):
    torch.save({"mix.weight": torch.zeros(2, 2)}, weights)
    with pytest.raises(InputError, match="not the weights of Inception"):
        load_embedder("inception")


def test_a_named_file_must_be_there(fidelity, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIPERS_INCEPTION", str(tmp_path / "none.pth"))
    with pytest.raises(InputError, match=r"none\.pth: .*CALIPERS_INCEPTION"):
        load_embedder("inception")


def test_without_torch_fidelity_the_command_that_brings_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity", None)
    with pytest.raises(MissingExtraError, match="pip install --no-deps torch-fidelity"):
        load_embedder("inception")


def test_torch_fidelity_is_used_without_its_torchvision(weights, tmp_path, monkeypatch):
    """The package imports torchvision, which may be missing or broken; its network does not."""
    folder = tmp_path / "site" / "torch_fidelity"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('torchvision is broken')")
    (folder / "helpers.py").write_text("import torch\n")
    (folder / "feature_extractor_inceptionv3.py").write_text(
        "from torch_fidelity.helpers import torch\n"
        f"URL_INCEPTION_V3 = {ADDRESS!r}\n\n\n{inspect.getsource(Network)}\n"
        "FeatureExtractorInceptionV3 = Network\n"
    )
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.setenv("CALIPERS_INCEPTION", str(weights))
    embedder = load_embedder("inception", device="cpu")
    assert embedder.embed([np.zeros((5, 5, 3), np.uint8)]).views["image"].shape == (1, 2048)
    assert not [name for name in sys.modules if name.startswith("torch_fidelity")]
    with pytest.raises(RuntimeError, match="torchvision is broken"):  # as without Calipers
        importlib.import_module("torch_fidelity")


def test_texts_are_no_images(named):
    with pytest.raises(InputError, match="image 1 must be an array of uint8"):
        load_embedder("inception").embed(["a text"])


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
        with pytest.raises(InputError, match="image is 8 × 4"):
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
    with pytest.raises(InputError, match=r"image 1 .*uint8 .*'word'"):
        load_embedder("pixels").embed(["word"])
    with pytest.raises(InputError, match=r"image 1 .*float32"):
        load_embedder("pixels").embed([np.zeros((2, 2, 3), np.float32)])


def test_no_images_give_no_rows_of_pixels():
    assert len(load_embedder("pixels").embed([]).truncated) == 0


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
    monkeypatch.setattr(sample_images, "PIXELS_AT_ONCE", 1)
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
    torch = need("torch")
    transformers = need("transformers")
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
    with pytest.raises(InputError, match=r"photos: 10 .*50 × 100 pixels.*'pixels:size=64'"):
        load_embedder("pixels").fitted(samples)
    monkeypatch.setattr(pixels, "free_memory", lambda *where: None)
    load_embedder("pixels").fitted(samples)


def test_a_part_of_the_images_travels_without_the_others(rng):
    stack = rng.integers(0, 256, (500, 8, 8, 3), dtype=np.uint8)
    items = SampleSet.from_images(stack, name="all").items(np.arange(500))
    part = items.part(20, 25)
    sent = pickle.dumps(part)
    assert len(sent) < 5 * 8 * 8 * 3 + 1000
    for one, two in zip(pickle.loads(sent), part, strict=True):  # noqa: S301
        np.testing.assert_array_equal(one, two)
