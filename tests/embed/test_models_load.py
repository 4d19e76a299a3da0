"""Every kind of model goes to the code that knows it, and what cannot be loaded is said before."""

import json

import numpy as np
import pytest

from calipers.embed import load_embedder
from calipers.embed.states import pretrained as memory
from calipers.errors import InputError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
TEXTS = ["", "one", "a longer text of a few words"]


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    """A small GPT-2 with random weights."""
    folder = tmp_path_factory.mktemp("models") / "gpt"
    words = tokenizers.ByteLevelBPETokenizer()
    words.train_from_iterator(TEXTS, vocab_size=300, show_progress=False)
    words.save(str(folder.parent / "tokenizer.json"))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder.parent / "tokenizer.json"), model_max_length=16
    )
    config = transformers.GPT2Config(
        vocab_size=300, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    torch.manual_seed(0)
    transformers.GPT2Model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def image_model(tmp_path_factory):
    """A small ViT with random weights."""
    folder = tmp_path_factory.mktemp("models") / "vit"
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.ViTConfig(**sizes, intermediate_size=16, image_size=16, patch_size=8)
    torch.manual_seed(0)
    transformers.ViTModel(config).save_pretrained(folder)
    settings = {"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16}}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture
def edited(text_model, tmp_path):
    """Copies of the text model with another configuration; its large files are linked."""

    def make(**changes):
        folder = tmp_path / "copy"
        folder.mkdir()
        for path in text_model.iterdir():
            (folder / path.name).symlink_to(path)
        (folder / "config.json").unlink()
        config = json.loads((text_model / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))
        return str(folder)

    return make


def test_texts_and_images_each_have_their_embedder(text_model, image_model):
    texts = load_embedder(str(text_model), device="cpu")
    assert (texts.name, texts.views, len(texts.signature["revision"])) == (
        "gpt",
        ("meaning", "form"),
        12,
    )
    assert texts.embed(TEXTS).views["meaning"].shape == (3, 16)
    pytest.importorskip("PIL")
    images = load_embedder(str(image_model), device="cpu")
    grey = np.full((20, 30, 3), 99, np.uint8)
    assert images.views == ("image",)
    assert images.embed([grey]).views["image"].shape == (1, 16)


def test_options_without_a_meaning_are_refused(text_model, image_model):
    pytest.importorskip("PIL")
    with pytest.raises(InputError, match="does not take the option 'size'"):
        load_embedder(str(text_model), size=3)
    for option in ({"max_length": 4}, {"prefix": "a"}):
        with pytest.raises(
            InputError, match=f"'vit' does not take the option '{next(iter(option))}"
        ):
            load_embedder(str(image_model), device="cpu", **option)


def test_code_of_a_model_is_not_run_unasked(edited):
    folder = edited(model_type="own", auto_map={"AutoConfig": "own.C", "AutoModel": "own.M"})
    with pytest.raises(InputError, match=r"needs code of its own \(auto_map .*--trust-remote-code"):
        load_embedder(folder, device="cpu")


def test_code_is_needed_where_only_the_architecture_is_new(edited):
    folder = edited(auto_map={"AutoModel": "own.M"}, architectures=["MyOwnModel"])
    with pytest.raises(InputError, match="needs code of its own"):
        load_embedder(folder, device="cpu")


def test_a_model_that_transformers_knows_needs_no_code(edited):
    folder = edited(auto_map={"AutoModel": "own.M"}, architectures=["GPT2LMHeadModel"])
    assert load_embedder(folder, device="cpu").embed(["a"]).views["form"].shape == (1, 16)


def test_a_type_that_transformers_does_not_know_is_named(edited):
    with pytest.raises(InputError, match="does not know the model_type 'gpt99'; a newer version"):
        load_embedder(edited(model_type="gpt99"), device="cpu")


def test_a_model_that_does_not_fit_is_not_loaded(text_model, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda device, torch: 20_000)
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", None)
    with pytest.raises(InputError, match=r"'gpt' does not fit in memory: .* but 20\.0 kB are free"):
        load_embedder(str(text_model), device="cpu")


def test_a_device_that_is_not_there_is_named(text_model):
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(InputError, match="finds no cuda device"):
        load_embedder(str(text_model), device="cuda")


def test_the_code_of_a_sentence_model_is_run_only_if_asked(text_model, tmp_path):
    pytest.importorskip("sentence_transformers")
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "mine.py").write_text(
        "import torch\n"
        "class Lengths(torch.nn.Module):\n"
        "    tokenizer = None\n"
        "    def preprocess(self, inputs, prompt=None, **kwargs):\n"
        "        return {'n': torch.tensor([[float(len(t))] for t in inputs])}\n"
        "    tokenize = preprocess\n"
        "    def forward(self, features, **kwargs):\n"
        "        return features | {'sentence_embedding': features['n']}\n"
        "    @staticmethod\n"
        "    def load(path):\n"
        "        return Lengths()\n"
    )
    (folder / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "", "type": "mine.Lengths"}])
    )
    with pytest.raises(InputError, match=r"needs code of its own \(mine.Lengths\)"):
        load_embedder(str(folder), device="cpu")
    found = load_embedder(str(folder), device="cpu", trust_remote_code=True).embed(["a", "abc"])
    assert found.views["meaning"].tolist() == [[1.0], [3.0]]
