"""GGUF files: a tiny model says of texts what its transformers folder says; what is wrong is named.

The real models are looked for in the folder that the variable CALIPERS_MODELS names.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest

from calipers.embedders import load_embedder
from calipers.embedders.models import gguf as heads
from calipers.embedders.models.find import find_model
from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage, Request

gguf = pytest.importorskip("gguf")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("accelerate")

CPU = EmbedderOptions(device="cpu")
TEXTS = [
    "In 1987 the 23 workers of plant 4501 went home, and nobody told them why.",
    "The old woman sat by the window. It is late, she said; the children aren't back yet.",
    "  Zwei  Männer — 3,5 Millionen",
    "",
]
END = "<|endoftext|>"
TURN = "<|im_end|>"
TEMPLATE = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}[assistant] "
LAYER = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
HEADS, KEY_HEADS = 4, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny Llama with a tokenizer that takes digits one by one, as a transformers folder."""
    place = tmp_path_factory.mktemp("models") / "tiny"
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=[END, TURN],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS * 3, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=END, eos_token=END
    )
    tokenizer.save_pretrained(place)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=made.get_vocab_size(),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS,
        max_position_embeddings=128,
        tie_word_embeddings=False,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.2,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(place)
    return place


def turned(weight: np.ndarray, heads_of: int) -> np.ndarray:
    """Rows of a head in the order of llama.cpp, whose rotary pairs stand side by side."""
    shape = (heads_of, 2, len(weight) // heads_of // 2, weight.shape[1])
    return weight.reshape(shape).swapaxes(1, 2).reshape(weight.shape)


def write(place: Path, folder: Path, *, kind: str = "F32", drop=(), **changes) -> Path:
    """Write a GGUF file of the model in a folder, as llama.cpp's converter does."""
    import json

    model = transformers.LlamaForCausalLM.from_pretrained(folder)
    config = model.config
    stated = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    tokens = sorted(stated["vocab"], key=stated["vocab"].get)
    merges = [" ".join(pair) if isinstance(pair, list) else pair for pair in stated["merges"]]
    values = {
        "general.name": "tiny",
        "general.file_type": int(
            gguf.LlamaFileType[f"ALL_{kind}" if kind == "F32" else f"MOSTLY_{kind}"]
        ),
        "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size,
        "llama.block_count": config.num_hidden_layers,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KEY_HEADS,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "llama.rope.freq_base": 10000.0,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if token in (END, TURN) else 1 for token in tokens],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 0,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
        **changes,
    }
    writer = gguf.GGUFWriter(place, values.pop("architecture", "llama"))
    for key, value in values.items():
        if key in drop:
            continue
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    for name, tensor in model.state_dict().items():
        weight, base = tensor.numpy(), name.removesuffix(".weight")
        if base.startswith("model.layers."):
            number, part = base.removeprefix("model.layers.").split(".", 1)
            if part == "self_attn.q_proj":
                weight = turned(weight, HEADS)
            elif part == "self_attn.k_proj":
                weight = turned(weight, KEY_HEADS)
            called = f"blk.{number}.{LAYER[part]}.weight"
        else:
            called = f"{names[base]}.weight"
        stored = gguf.GGMLQuantizationType[kind if weight.ndim == 2 else "F32"]
        writer.add_tensor(called, gguf.quants.quantize(weight, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return place


@pytest.fixture(scope="module")
def file(folder, tmp_path_factory):
    """The same model in plain numbers, with its name in capitals, beside files of another kind."""
    place = tmp_path_factory.mktemp("files")
    (place / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    (place / "config.json").write_text('{"model_type": "bert"}')
    return write(place / "Tiny-F32.GGUF", folder)


def load(path, options=CPU):
    from calipers.language_model.models import find_language_model

    return find_language_model(str(path), options)


def scores(model, texts=TEXTS, **how):
    return model.score([Passage(text) for text in texts], **how).log_probability


def test_a_gguf_file_says_of_texts_what_its_folder_says(folder, file):
    ours, theirs = load(file), load(folder)
    for first in ("skip", "bos"):
        np.testing.assert_allclose(
            scores(ours, first=first), scores(theirs, first=first), rtol=0, atol=2e-5
        )
    assert ours.context == theirs.context == 128
    assert ours.name == "Tiny-F32"
    assert ours.signature["quantised"] == "F32"
    assert len(ours.revision) == 12


def test_it_writes_what_its_folder_writes_and_knows_what_ends_a_turn(folder, file):
    request = [Request(number, prompt=text[:20]) for number, text in enumerate(TEXTS[:2])]
    greedy = Decoding.parse("greedy")
    ours, theirs = (
        [text.text for text in model.generate(request, greedy, max_tokens=12, seed=0)]
        for model in (load(file), load(folder))
    )
    assert ours == theirs
    assert load(file).end_marks == (END, TURN)


def test_its_chat_template_is_used(file):
    model = load(file)
    assert model.chats
    asked = Request(0, messages=({"role": "user", "content": "Hi"},))
    (prompt,) = model._tokens.read_prompts([asked], max_tokens=4, context=128)
    assert model._tokens._text(prompt.tolist()) == "[user] Hi\n[assistant] "


def test_quantised_weights_are_the_numbers_that_they_stand_for(folder, tmp_path):
    """Q8_0 against the same model whose weights were rounded by the package gguf."""
    path = write(tmp_path / "tiny-q8.gguf", folder, kind="Q8_0")
    model = transformers.LlamaForCausalLM.from_pretrained(folder)
    kind = gguf.GGMLQuantizationType.Q8_0
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                rounded = gguf.quants.quantize(parameter.numpy(), kind)
                parameter.copy_(torch.from_numpy(gguf.quants.dequantize(rounded, kind)))
    rounded = tmp_path / "rounded"
    model.save_pretrained(rounded)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(rounded)
    ours = load(path)
    np.testing.assert_allclose(scores(ours), scores(load(rounded)), rtol=0, atol=2e-5)
    assert np.abs(scores(ours) - scores(load(folder))).max() > 1e-3
    assert ours.signature["quantised"] == "Q8_0"


def test_a_gguf_file_embeds_as_its_folder_does(folder, file):
    ours, theirs = load_embedder(str(file), device="cpu"), load_embedder(str(folder), device="cpu")
    for view in ("meaning", "form"):
        np.testing.assert_allclose(
            ours.embed(TEXTS[:2]).views[view], theirs.embed(TEXTS[:2]).views[view], atol=1e-4
        )
    assert ours.signature["quantised"] == "F32"
    assert ours.signature["revision"] == find_model(str(file), CPU).revision


def test_the_head_of_a_file_is_read_once_for_the_model_and_once_for_the_tokenizer(
    file, monkeypatch
):
    read, build = [], gguf.GGUFReader.__init__

    def counted(self, path, *given, **named):
        read.append(path)
        build(self, path, *given, **named)
        assert not isinstance(self.data, np.memmap)

    monkeypatch.setattr(gguf.GGUFReader, "__init__", counted)
    before = gguf.GGUFReader
    load(file)
    assert len(read) == 2
    assert gguf.GGUFReader is before


def test_the_revision_is_of_the_bytes_of_the_file(file, tmp_path):
    other = tmp_path / file.name
    content = bytearray(file.read_bytes())
    other.write_bytes(content)
    same = find_model(str(other), CPU)
    assert same.revision == find_model(str(file), CPU).revision
    content[-5] ^= 1
    other.write_bytes(content)
    assert find_model(str(other), CPU).revision != same.revision


def refused(path, message):
    with pytest.raises(InputError, match=message):
        load(path)


def test_what_is_no_whole_gguf_file_is_refused(file, tmp_path):
    path = tmp_path / "m.gguf"
    refused(path, "m.gguf: there is no such file .*not looked up anywhere else")
    path.write_bytes(b"<html>not found</html>")
    refused(path, "m.gguf: is not a GGUF file")
    path.write_bytes(b"")
    refused(path, "is not a GGUF file")
    content = file.read_bytes()
    for length in (6, 30, 700, 5_000):
        path.write_bytes(content[:length])
        refused(path, "cut short or damaged: it ends within its head")
    path.write_bytes(content[:-100])
    refused(path, "cut short: its tensors end at byte [0-9,]+, but it has [0-9,]+ bytes")
    path.write_bytes(content[:4] + struct.pack("<I", 1) + content[8:])
    refused(path, "version 2 or 3; found version 1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"general.type": "mmproj"}, "part of a model that reads images .mmproj"),
        ({"general.type": "adapter"}, "whole model; found one of the type 'adapter'"),
        ({"split.count": 3}, "one of 3 parts .*llama-gguf-split --merge"),
        ({"drop": ("tokenizer.ggml.tokens",)}, "llama model, but no tokenizer"),
        ({"tokenizer.ggml.pre": "brand-new"}, "rule 'brand-new' .tokenizer.ggml.pre."),
        ({"tokenizer.ggml.model": "rwkv"}, "cannot load the tokenizer"),
    ],
)
def test_what_is_no_language_model_that_can_be_read_is_refused(folder, tmp_path, changes, message):
    refused(write(tmp_path / "m.gguf", folder, **changes), message)


def test_an_unknown_architecture_is_named(folder, tmp_path):
    path = write(tmp_path / "m.gguf", folder, architecture="brandnew")
    refused(path, "cannot load the .*brandnew.*newer version of transformers")


def test_a_missing_package_is_named(file, monkeypatch):
    import sys

    from calipers.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingExtraError, match=r"calipers\[gguf\]"):
        find_model(str(file), CPU)


def test_a_revision_has_no_meaning_for_a_file(file):
    with pytest.raises(InputError, match="is a file, and a revision names"):
        find_model(str(file), EmbedderOptions(device="cpu", revision="main"))


def test_the_folder_of_a_gguf_file_says_to_give_the_file(file, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    os.link(file, tmp_path / "tiny.gguf")
    refused(tmp_path, "of a GGUF model give the file itself: .*tiny.gguf")


def test_no_name_of_a_gguf_file_reaches_the_hub(monkeypatch):
    from calipers.embedders.models import find

    monkeypatch.setattr(find, "from_hub", lambda *_: pytest.fail("the hub was asked"))
    for name in ("someone/model.gguf", "model.GGUF"):
        with pytest.raises(InputError, match="there is no such file"):
            load_embedder(name, device="cpu")
        with pytest.raises(InputError, match="there is no such file"):
            load(name)


def test_lists_of_a_head_that_have_no_end_are_damage(tmp_path):
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    path = tmp_path / "m.gguf"
    value = text("general.architecture") + struct.pack("<IIQ", 9, 8, 1 << 60)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + value)
    with pytest.raises(InputError, match=r"a list has [0-9,]+ entries"):
        heads.read_head(path)


REAL = {
    "smollm2-135m-instruct": "gguf/smollm2-135m-instruct-q4_1.gguf",
    "gemma-3-270m": "gguf/gemma-3-270m-q4_k_m.gguf",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_models_say_what_their_folders_say(name):
    root = os.environ.get("CALIPERS_MODELS")
    if not root or not (Path(root) / REAL[name]).is_file():
        pytest.skip("needs CALIPERS_MODELS, a folder with the models as folders and GGUF files")
    ours, theirs = load(Path(root) / REAL[name]), load(Path(root) / name)
    np.testing.assert_allclose(scores(ours), scores(theirs), rtol=0, atol=1e-3)
