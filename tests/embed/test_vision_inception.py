"""Inception by a stand-in for torch-fidelity, with its interface and a small network of its own."""

import hashlib
import pickle
import sys
import types

import numpy as np
import pytest

from calipers.embed.catalogue import load_embedder
from calipers.errors import InputError, MissingExtraError

torch = pytest.importorskip("torch")

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
    package.__version__ = "9.9"
    module = types.ModuleType("torch_fidelity.feature_extractor_inceptionv3")
    module.URL_INCEPTION_V3, module.FeatureExtractorInceptionV3 = ADDRESS, Network
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    monkeypatch.delenv("CALIPERS_INCEPTION", raising=False)


@pytest.fixture
def named(fidelity, weights, monkeypatch):
    monkeypatch.setenv("CALIPERS_INCEPTION", str(weights))


@pytest.fixture
def images(rng):
    sizes = [(8, 8), (5, 9), (8, 8), (30, 20), (5, 9)]
    return [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]


def test_features_of_mixed_sizes_keep_their_order(named, weights, images):
    found = load_embedder("inception", batch_size=1, device="cpu").embed(images)
    tensors = torch.load(weights)
    means = np.array([image[0].mean(axis=0) / 255 for image in images])
    expected = means @ tensors["mix.weight"].numpy().T + tensors["mix.bias"].numpy()
    assert found.views["image"].dtype == np.float32
    np.testing.assert_allclose(found.views["image"], expected, atol=1e-5)
    together = load_embedder("inception", device="cpu").embed(images)
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
    with pytest.raises(InputError, match=rf"looked for .*{FILE}.*nothing may be downloaded"):
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
    with pytest.raises(InputError, match=r"no route to host\); bring the file to .*CALIPERS_INCE"):
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
    with pytest.raises(InputError, match="these are not the weights of Inception"):
        load_embedder("inception")


def test_a_named_file_must_be_there(fidelity, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIPERS_INCEPTION", str(tmp_path / "none.pth"))
    with pytest.raises(InputError, match=r"none\.pth: no such file; CALIPERS_INCEPTION must name"):
        load_embedder("inception")


def test_without_torch_fidelity_the_command_that_brings_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[inception\]'"):
        load_embedder("inception")


def test_options_without_meaning_are_refused():
    with pytest.raises(InputError, match="does not take the option 'layer'"):
        load_embedder("inception", layer=2)


def test_texts_are_no_images(named):
    with pytest.raises(InputError, match="image 1 must be an array of uint8"):
        load_embedder("inception").embed(["a text"])
