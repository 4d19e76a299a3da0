"""Text models of transformers: what may be chosen, and every kind against plain code."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from extras import need

torch = need("torch")
transformers = need("transformers")
tokenizers = need("tokenizers")

from calipers.embedders import embed  # noqa: E402
from calipers.embedders.models.find import FoundModel  # noqa: E402
from calipers.embedders.options import EmbedderOptions, token_budget  # noqa: E402
from calipers.embedders.reading import UnknownTokens  # noqa: E402
from calipers.embedders.states import packed, transformer, transformer_states  # noqa: E402
from calipers.embedders.states.dense import FastLinear, quicken  # noqa: E402
from calipers.embedders.states.pooling import SentencePlan, form_layer  # noqa: E402
from calipers.embedders.states.transformer import TokenReader, TransformersEmbedder  # noqa: E402
from calipers.embedders.states.transformer_states import Trial  # noqa: E402
from calipers.errors import CalipersError, InputError  # noqa: E402
from calipers.samples import SampleSet  # noqa: E402

WORDS = ["<s>", "<pad>", "</s>", "<unk>", "a", "bird", "sings", "in", "the", "morning"]
WORDS += ["and", "Then", "another", "one"]
LIMIT = 24
TEXTS = ["a bird sings in the morning", "", "one", "and Then another one sings", "one " * 30]
CONFIGS = {
    "gpt2": transformers.GPT2Config(
        vocab_size=len(WORDS), n_embd=32, n_layer=3, n_head=4, n_positions=LIMIT,
        bos_token_id=0, eos_token_id=2, initializer_range=0.3,
    ),
    "roberta": transformers.RobertaConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=LIMIT + 2, pad_token_id=1,
        initializer_range=0.3,
    ),
}  # fmt: skip


def tokenizer(kind, **options):
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    if kind == "roberta":
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **options)


def save(folder, kind, **options):
    torch.manual_seed(0)
    transformers.AutoModel.from_config(CONFIGS[kind]).save_pretrained(folder)
    tokenizer(kind, **options).save_pretrained(folder)
    return FoundModel(folder, kind, "abc", {})


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    return save(tmp_path_factory.mktemp("gpt2"), "gpt2", eos_token="</s>", padding_side="left")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    marks = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    return save(tmp_path_factory.mktemp("roberta"), "roberta", **marks)


def load(found, plan=None, **options):
    return TransformersEmbedder(found, EmbedderOptions(device="cpu", **options), plan=plan)


def states(found, ids):
    """The last states of one text by plain code."""
    model = transformers.AutoModel.from_pretrained(found.folder).eval()
    with torch.inference_mode():
        return model(torch.tensor([ids]))[0][0].numpy()


def ids_of(text):
    return [WORDS.index(word) for word in text.split()]


def meaning(embedder, samples):
    return embedder.embed(samples).views["meaning"]


def near(one, two, tolerance=1e-5):
    return np.abs(np.asarray(one) - np.asarray(two)).max() < tolerance


def test_a_causal_model_gives_the_state_of_the_last_token(gpt2):
    embedder = load(gpt2)
    assert embedder.signature == {
        "embedder": "gpt2",
        "revision": "abc",
        "max_length": str(LIMIT),
        "dtype": "float32",
        "device": "cpu",
    }
    form = "mean_tokens_without_sinks_layer2"
    assert embedder.view_signature == {"meaning": "last_token_layer3", "form": form}
    for text, row in zip(TEXTS, meaning(embedder, TEXTS), strict=True):
        ids = ids_of(text)[:LIMIT] or [WORDS.index("</s>")]
        assert near(row, states(gpt2, ids)[-1])
    assert embedder.embed(TEXTS).truncated.tolist() == [False, False, False, False, True]


def test_a_masked_model_gives_the_mean_and_keeps_its_end_mark(roberta):
    embedder = load(roberta)
    assert embedder.view_signature["meaning"] == "mean_tokens_without_sinks_layer3"
    for text, row in zip(TEXTS, meaning(embedder, TEXTS), strict=True):
        ids = [0, *ids_of(text)[: LIMIT - 2], 2]
        assert near(row, states(roberta, ids).mean(0))


def test_padding_tokens_within_a_text_are_counted_as_roberta_counts_them(roberta):
    texts = ["a <pad> bird <pad> sings", "one", "a bird"]
    expected = [states(roberta, [0, *ids_of(text), 2]).mean(0) for text in texts]
    assert near(meaning(load(roberta), texts), expected)


@pytest.mark.parametrize("kind", ["gpt2", "roberta"])
def test_token_ids_equal_their_texts(kind, request):
    embedder = load(request.getfixturevalue(kind))
    ids = [ids_of(text) for text in TEXTS]
    if kind == "roberta":
        ids = [[0, *each, 2] for each in ids]
    by_text, by_ids = embedder.embed(TEXTS), embedder.embed([np.array(each, int) for each in ids])
    assert by_text.truncated.tolist() == by_ids.truncated.tolist()
    for view in embedder.views:
        assert np.array_equal(by_text.views[view], by_ids.views[view])


def test_ids_without_end_marks_keep_their_first_tokens(roberta):
    ids = np.arange(40) % 8 + 4
    found = meaning(load(roberta, max_length=6), [ids])
    assert near(found[0], states(roberta, ids[:6].tolist()).mean(0))


@pytest.mark.parametrize(
    ("pooling", "pooled"),
    [
        ("last", lambda rows: rows[-1]),
        ("mean", lambda rows: rows.mean(0)),
        ("cls", lambda rows: rows[0]),
        ("max", lambda rows: rows.max(0)),
    ],
)
def test_pooling_changes_the_meaning_alone(pooling, pooled, roberta):
    usual, chosen = load(roberta), load(roberta, pooling=pooling)
    expected = [pooled(states(roberta, [0, *ids_of(text), 2])) for text in TEXTS[:4]]
    assert near(meaning(chosen, TEXTS[:4]), expected)
    form = [each.embed(TEXTS).views["form"] for each in (usual, chosen)]
    assert np.array_equal(*form)
    assert (usual.identity == chosen.identity) == (pooling == "mean")


def test_a_prefix_is_put_before_texts_and_not_before_ids(gpt2):
    embedder = load(gpt2, prefix="a bird ")
    assert near(meaning(embedder, ["sings"]), meaning(load(gpt2), ["a bird sings"]))
    assert embedder.signature["prefix"] == "'a bird '"
    with pytest.raises(InputError, match="prefix 'a bird '"):
        embedder.embed([np.array([4])])


def test_a_plan_is_carried_out_in_its_order(roberta):
    rng = np.random.default_rng(0)
    weight, bias = torch.tensor(rng.normal(size=(5, 64))).float(), torch.arange(5).float()
    plan = SentencePlan(
        pooling="weighted_mean+mean_sqrt_len",
        prefix="A ",
        lower=True,
        max_length=6,
        dense=((weight, bias, "tanh"),),
    )
    embedder = load(roberta, plan)
    rows = states(roberta, [0, *ids_of("a bird sings in"), 2])
    place = np.arange(1, 7)[:, None]
    pooled = np.concatenate([(rows * place).sum(0) / 21, rows.sum(0) / 6**0.5])
    expected = np.tanh(weight.numpy() @ pooled + bias.numpy())
    found = meaning(embedder, ["Bird SINGS in the morning"])
    assert near(found[0], expected / np.linalg.norm(expected))
    assert embedder.view_signature["meaning"] == "weighted_mean+mean_sqrt_len_layer3_dense_norm"
    assert embedder.embed([]).views["meaning"].shape == (0, 5)


def test_the_tokens_of_an_instruction_may_be_left_out_of_pooling(roberta):
    plan = SentencePlan(normalise=False, skipped=3)
    rows = states(roberta, [0, *ids_of("a bird sings"), 2])
    assert near(meaning(load(roberta, plan), ["a bird sings"])[0], rows[3:].mean(0))
    short = states(roberta, [0, 4, 2])
    assert near(meaning(load(roberta, plan), ["a"])[0], short.mean(0))  # nothing else would be left


def test_all_that_can_move_a_vector_is_in_the_identity(roberta):
    plans = (SentencePlan(), SentencePlan(lower=True), SentencePlan(skipped=1))
    found = {load(roberta, plan).identity for plan in plans}
    assert len(found) == 3
    versions = (f"transformers:{transformers.__version__}", f"torch:{torch.__version__}")
    assert all(version in each for version in versions for each in found)


def test_a_limit_below_the_end_marks_leaves_some_of_them():
    how = {"name": "x", "encode": None, "stand_in": 0, "vocabulary": 9, "max_length": 1}
    reader = TokenReader(**how, known=UnknownTokens(None, list), starts=(7,), ends=(1, 2))
    assert [each.tolist() for each in reader.read([np.array([7, 4, 1, 2])]).ids] == [[2]]


def test_misspelt_plans_are_refused():
    with pytest.raises(InputError, match=r"pooling 'men'.*'mean'"):
        SentencePlan(pooling="men")
    with pytest.raises(InputError, match="unknown activation 'tan'"):
        SentencePlan(dense=((torch.ones(1, 1), None, "tan"),))


@pytest.mark.parametrize("padding_side", ["left", "right"])
@pytest.mark.parametrize("pad_token", [None, "</s>", "<pad>"])
def test_padding_changes_nothing(padding_side, pad_token, gpt2, tmp_path):
    found = save(tmp_path, "gpt2", eos_token="</s>", pad_token=pad_token, padding_side=padding_side)
    assert np.array_equal(meaning(load(found), TEXTS), meaning(load(gpt2), TEXTS))


def test_a_limit_on_length_is_the_tokenizers_unless_a_person_asks(tmp_path):
    found = save(tmp_path, "gpt2", eos_token="</s>", model_max_length=9)
    assert load(found).signature["max_length"] == "9"
    assert load(found, max_length=20).signature["max_length"] == "20"
    assert load(found, SentencePlan(max_length=99)).signature["max_length"] == str(LIMIT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": 4}, "layer .*1 to 3.* 4"),
        ({"max_length": 25}, "max_length .*3 to 24.* 25"),
        ({"max_length": 2}, "max_length .*3 to 24.* 2"),
    ],
)
def test_what_the_model_cannot_do_is_said(options, message, roberta):
    with pytest.raises(InputError, match=message):
        load(roberta, **options)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([np.array([1, 2]), np.array([3, 14])], "sample 2: token ids .*0 to 13.*d 14 at p"),
        ([np.array([-1])], "sample 1: token ids .*0 to 13, .* roberta knows.* -1"),
        ([[1.5]], "sample 1: .*text or a list of token ids.* list"),
        (["a", 3], "text 2 must be a string; found int"),
        (["a", "\ud800"], "text 2 must be valid Unicode"),
    ],
)
def test_samples_that_cannot_be_read_are_named(samples, message, roberta):
    with pytest.raises(InputError, match=message):
        load(roberta).embed(samples)


def test_a_sample_that_cannot_be_read_is_named_by_its_place_in_its_set(gpt2):
    rows = [[4, 5]] * 2_500
    rows[2_345] = [4, 14]
    samples = SampleSet.from_tokens(rows, name="human")
    with pytest.raises(InputError, match=r"^human: sample 2,346: .*0 to 13"):
        embed(samples, load(gpt2))


@pytest.mark.parametrize("kind", ["gpt2", "roberta"])
@pytest.mark.parametrize("marked", [True, False])
def test_a_tokenizer_that_cuts_on_the_left_keeps_the_end_of_a_text(kind, marked, tmp_path):
    marks = {"bos_token": "<s>", "eos_token": "</s>", "truncation_side": "left"}
    found = save(tmp_path, kind, **marks)
    text = "a bird sings in the morning and Then another one"
    fast = transformers.AutoTokenizer.from_pretrained(tmp_path)
    kept = fast(text, truncation=True, max_length=6)["input_ids"]
    assert kept[-2 if kind == "roberta" else -1] == WORDS.index("one")
    embedder = load(found, max_length=6)
    given = [text] if marked else [np.array(ids_of(text))]
    rows = states(found, kept if marked else ids_of(text)[-6:])
    assert near(meaning(embedder, given)[0], rows[-1] if kind == "gpt2" else rows.mean(0))
    assert embedder.embed(given).truncated.tolist() == [True]


def test_dense_layers_that_do_not_fit_are_refused(roberta):
    layer = (torch.ones(5, 64), None, "identity")
    load(roberta, SentencePlan(pooling="mean+max", dense=(layer,)))
    with pytest.raises(InputError, match=r"64 numbers, .*'mean' .*32"):
        load(roberta, SentencePlan(pooling="mean+max", dense=(layer,)), pooling="mean")
    with pytest.raises(InputError, match="layer for vectors of 64 numbers"):
        load(roberta, SentencePlan(dense=((torch.ones(9, 32), None, "relu"), layer)))


def test_a_tokenizer_of_another_model_is_noticed(gpt2, tmp_path):
    found = save(tmp_path, "gpt2", eos_token="</s>")
    fast = transformers.AutoTokenizer.from_pretrained(tmp_path)
    fast.add_tokens(["zebra"])
    fast.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="token 14"):
        load(found).embed(["zebra"])


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_files_that_do_not_belong_together_are_named(tmp_path):
    found = save(tmp_path, "gpt2", eos_token="</s>")
    edit(tmp_path / "config.json", n_embd=64)
    with pytest.raises(InputError, match=r"config\.json: h\.0\..*\(96,\)"):
        load(found)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"load the tokenizer: .*(lack the entry 'ad|proto)"):
        load(found)


def test_a_pickled_file_that_would_run_code_is_refused_without_advice_to_run_it(tmp_path):
    class Evil:
        def __reduce__(self):
            return (print, ("code ran",))

    from safetensors.torch import load_file

    found = save(tmp_path, "gpt2", eos_token="</s>")
    tensors = load_file(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match="cannot load the model"):
        load(found)
    load(found, allow_pickle=True)
    torch.save({"wte.weight": Evil()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError) as caught:
        load(found, allow_pickle=True)
    assert "cannot load the model" in str(caught.value)
    assert "weights_only" not in str(caught.value)


def test_damaged_weights_and_overflow_are_told_apart(gpt2, tmp_path, monkeypatch):
    from safetensors.torch import load_file, save_file

    save(tmp_path, "gpt2", eos_token="</s>")
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["ln_f.weight"][:] = torch.nan
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CalipersError, match=r"gpt2 .*not finite"):
        load(FoundModel(tmp_path, "gpt2", "0", {})).embed(["a"])
    monkeypatch.setattr(transformer, "choose_dtype", lambda *which: "bfloat16")
    embedder = load(gpt2)
    embedder._plan = dataclasses.replace(
        embedder._plan, dense=((torch.ones(1, 32) / 0, None, "relu"),)
    )
    with pytest.raises(CalipersError, match=r"bfloat16 .*dtype"):
        embedder.embed(["a"])


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        MemoryError(),
    ],
)
def test_a_batch_that_does_not_fit_is_halved_and_that_is_remembered(error, gpt2, monkeypatch):
    embedder = load(gpt2)
    expected = meaning(embedder, TEXTS * 3)
    whole, seen = embedder._states, []

    class Small:
        def __getattr__(self, name):
            return getattr(whole, name)

        def __call__(self, tokens, runs):
            seen.append(len(tokens))
            if len(tokens) > 30:
                raise error
            return whole(tokens, runs)

    embedder._states = Small()
    assert near(meaning(embedder, TEXTS * 3), expected)
    assert seen[0] > 60 >= seen[1]
    assert len(seen) > 6
    before = len(seen)
    assert near(meaning(embedder, TEXTS * 3), expected)
    assert max(seen[before:]) <= 30
    monkeypatch.setattr(Small, "__call__", lambda *given: (_ for _ in ()).throw(error))
    with pytest.raises(InputError, match=r"memory .* 24 tokens"):
        embedder.embed(TEXTS)


@pytest.mark.parametrize(
    ("gigabytes", "tokens"), [(80, 32_768), (8, 16_384), (1, 2_048), (0.01, 1_024)]
)
def test_the_first_batch_on_a_gpu_takes_half_of_its_free_memory(gigabytes, tokens, monkeypatch):
    free = int(gigabytes * 2**30)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 80 * 2**30))
    assert token_budget("cuda:1", torch) == tokens


def test_other_errors_are_not_taken_for_a_lack_of_memory(gpt2):
    embedder = load(gpt2)

    def broken(tokens, runs):
        raise RuntimeError("shape mismatch")

    embedder._states = broken
    with pytest.raises(RuntimeError, match="shape mismatch"):
        embedder.embed(["a"])


def test_nothing_is_written_on_the_terminal(gpt2, capfd):
    load(gpt2).embed(TEXTS)
    assert capfd.readouterr() == ("", "")


VOCABULARY, LAYERS, POSITIONS = 120, 3, 40
SIZE = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": LAYERS}
SIZE |= {"num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": POSITIONS}
MARKS = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1}
GROUPED = {**SIZE, **MARKS, "num_key_value_heads": 2, "head_dim": 8}
NEW = int(transformers.__version__.split(".")[0]) >= 5
FACTORS = {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
LONG_ROPE = {"rope_scaling": {"type": "longrope", **FACTORS}}
if NEW:
    FACTORS |= {"rope_theta": 10_000.0, "original_max_position_embeddings": 12}
    LONG_ROPE = {"rope_parameters": {"rope_type": "longrope", **FACTORS}}
NARROW = {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
NARROW |= {"sliding_window": 6}

CAUSAL = {
    "gpt2": ("GPT2Config", {**MARKS, "vocab_size": 120, "n_embd": 32, "n_layer": 3, "n_head": 4}),
    "opt": ("OPTConfig", {**SIZE, **MARKS, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "llama": ("LlamaConfig", GROUPED),
    "qwen2": ("Qwen2Config", GROUPED),
    "qwen3": ("Qwen3Config", GROUPED),
    "gemma": ("GemmaConfig", GROUPED),
    "gemma2": ("Gemma2Config", {**GROUPED, **NARROW, "attn_logit_softcapping": 0.5}),
    "gemma3": ("Gemma3TextConfig", {**GROUPED, **NARROW}),
    "mistral": ("MistralConfig", {**GROUPED, "sliding_window": 5}),
    "phi": ("PhiConfig", {**SIZE, **MARKS}),
    "phi3": ("Phi3Config", {**SIZE, **MARKS, "num_key_value_heads": 2}),
    "gpt_neox": ("GPTNeoXConfig", {**SIZE, **MARKS}),
    "bloom": (
        "BloomConfig",
        {**MARKS, "vocab_size": 120, "hidden_size": 32, "n_layer": 3, "n_head": 4},
    ),
    "mixtral": ("MixtralConfig", {**GROUPED, "num_local_experts": 3}),
}
MASKED = {
    "bert": ("BertConfig", SIZE),
    "roberta": ("RobertaConfig", {**SIZE, **MARKS}),
    "distilbert": (
        "DistilBertConfig",
        {
            "vocab_size": 120,
            "dim": 32,
            "n_layers": 3,
            "n_heads": 4,
            "hidden_dim": 48,
            "max_position_embeddings": POSITIONS,
        },
    ),
    "albert": ("AlbertConfig", {**SIZE, "embedding_size": 16}),
    "electra": ("ElectraConfig", {**SIZE, "embedding_size": 16}),
    "deberta": (
        "DebertaV2Config",
        {**SIZE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
    ),
    "xlm_roberta": ("XLMRobertaConfig", {**SIZE, **MARKS}),
    "mpnet": ("MPNetConfig", {**SIZE, **MARKS}),
    "modernbert": (
        "ModernBertConfig",
        {
            **SIZE,
            **MARKS,
            "local_attention": 8,
            "global_attn_every_n_layers": 2,
            "cls_token_id": 0,
            "sep_token_id": 2,
        },
    ),
    "bart": (
        "BartConfig",
        {
            **MARKS,
            "vocab_size": 120,
            "d_model": 32,
            "encoder_layers": 3,
            "encoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_layers": 1,
            "decoder_attention_heads": 4,
            "decoder_ffn_dim": 48,
            "max_position_embeddings": POSITIONS,
        },
    ),
    "t5": (
        "T5Config",
        {
            "vocab_size": 120,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 48,
            "num_layers": 3,
            "num_heads": 4,
            "pad_token_id": 1,
        },
    ),
}
ENCODER_DECODER = {"d_model": 32, "encoder_layers": 3, "encoder_attention_heads": 4}
ENCODER_DECODER |= {"decoder_layers": 1, "decoder_attention_heads": 4, "vocab_size": 120, **MARKS}
ODD = {
    "gpt_neo": (
        "GPTNeoConfig",
        {
            **MARKS,
            "vocab_size": 120,
            "hidden_size": 32,
            "num_layers": 3,
            "num_heads": 4,
            "attention_types": [[["global", "local", "global"], 1]],
            "window_size": 6,
            "max_position_embeddings": POSITIONS,
        },
    ),
    "mpt": (
        "MptConfig",
        {"vocab_size": 120, "d_model": 32, "n_layers": 3, "n_heads": 4, "max_seq_len": POSITIONS},
    ),
    "led": (
        "LEDConfig",
        {**ENCODER_DECODER, "attention_window": 8, "max_encoder_position_embeddings": POSITIONS},
    ),
    "reformer": (
        "ReformerConfig",
        {
            **MARKS,
            "vocab_size": 120,
            "hidden_size": 32,
            "num_attention_heads": 4,
            "attention_head_size": 8,
            "attn_layers": ["local", "local", "local"],
            "local_attn_chunk_length": 8,
            "axial_pos_embds": False,
            "max_position_embeddings": POSITIONS,
        },
    ),
    "phi3_long": (
        "Phi3Config",
        {
            **SIZE,
            **MARKS,
            "num_key_value_heads": 4,
            "original_max_position_embeddings": 12,
            **LONG_ROPE,
        },
    ),
    "llama4": (
        "Llama4TextConfig",
        {
            **GROUPED,
            "num_local_experts": 2,
            "intermediate_size_mlp": 48,
            "attention_chunk_size": 11,
            "no_rope_layers": [1, 1, 0],
        },
    ),
}
"""Kinds that keep texts apart in a way of their own, call their positions otherwise, or have
states that depend on the longest text of a batch."""
PACKED = {*CAUSAL, *MASKED} - {"bloom", "deberta", "mpnet", "bart", "t5"}
rng = np.random.default_rng(0)
ROWS = [rng.integers(3, VOCABULARY, n).astype(np.int32) for n in (5, 17, 1, 5, 30, 2, 17)]


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    root = tmp_path_factory.mktemp("zoo")

    def get(kind):
        folder = root / kind
        if not folder.exists():
            name, sizes = {**CAUSAL, **MASKED, **ODD}[kind]
            if not hasattr(transformers, name):
                pytest.skip(f"this version of transformers has no {name}")
            config = getattr(transformers, name)(**sizes, initializer_range=0.3)
            torch.manual_seed(0)
            transformers.AutoModel.from_config(config).save_pretrained(folder)
            save_tokenizer(folder)
        return FoundModel(folder, kind, "0", {})

    return get


def save_tokenizer(folder):
    words = {f"w{i}": i for i in range(VOCABULARY)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w3"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(tokenizer_object=made).save_pretrained(folder)


def plain(found, rows, dtype=torch.float32):
    """What plain transformers code gives: for each text the states of all layers."""
    model = transformers.AutoModel.from_pretrained(found.folder).eval().to(dtype)
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    with torch.inference_mode():
        for row in rows:
            ids = torch.tensor(row[None].astype(np.int64))
            mask = torch.ones_like(ids)
            states = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            found = [*states.hidden_states[:-1], states[0]]  # Reformer gives padding too
            yield [each[:, : len(row)].float() for each in found]


def mean_states(rows, *, causal):
    """The mean over tokens but for the first, which is an attention sink of a causal model."""
    return (rows[1:] if causal and len(rows) > 1 else rows).mean(0)


@pytest.mark.parametrize("kind", [*CAUSAL, *MASKED])
def test_both_views_equal_plain_code_whatever_the_company(kind, zoo):
    embedder = TransformersEmbedder(zoo(kind), EmbedderOptions(device="cpu"))
    states = list(plain(zoo(kind), ROWS))
    pooled = (lambda rows: rows[-1]) if kind in CAUSAL else (lambda rows: rows.mean(0))
    expected = {
        "meaning": np.array([pooled(each[LAYERS][0].numpy()) for each in states]),
        "form": np.array(
            [
                mean_states(each[form_layer(LAYERS)][0].numpy(), causal=kind in CAUSAL)
                for each in states
            ]
        ),
    }
    check(embedder.embed(ROWS), expected, range(len(ROWS)), 1e-4)
    base = embedder.embed(ROWS).views
    order = [5, 3, 4, 0, 6, 1, 2]
    for max_tokens in (1, 9, 40):
        embedder._batches.max_tokens = max_tokens
        check(embedder.embed([ROWS[row] for row in order]), base, order, 1e-5)
    if NEW:
        assert embedder._states.packed == (kind in PACKED)
        assert type(embedder._states._forward).__name__ == "Captured"


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.slow
def test_many_texts_of_an_odd_kind_do_not_exceed_its_positions(kind, zoo, capfd):
    folder = zoo(kind)
    capfd.readouterr()
    embedder = TransformersEmbedder(folder, EmbedderOptions(device="cpu"))
    rows = [*ROWS, np.full(90, 7, dtype=np.int32)] * 2
    found = embedder.embed(rows)
    assert capfd.readouterr() == ("", "")
    assert embedder.signature["max_length"] == str(POSITIONS)
    assert not embedder._states.packed
    states = list(plain(folder, [row[:POSITIONS] for row in rows]))
    causal = embedder._states.causal
    form = [mean_states(each[form_layer(LAYERS)][0].numpy(), causal=causal) for each in states]
    form = np.array(form)
    assert apart(found.views["form"], form).max() < 1e-4
    last = [each[LAYERS][0].numpy() for each in states]
    pooled = [each[-1] if causal else each.mean(0) for each in last]
    assert apart(found.views["meaning"], np.array(pooled)).max() < 1e-4


@pytest.mark.parametrize("kind", ["T5", "MT5", "UMT5", "LongT5"])
@pytest.mark.slow
def test_an_encoder_that_was_saved_alone_gives_what_the_whole_model_gives(kind, tmp_path):
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**MASKED["t5"][1])
    alone = getattr(transformers, f"{kind}EncoderModel")(config).eval()
    whole = getattr(transformers, f"{kind}Model")(
        getattr(transformers, f"{kind}Config")(**MASKED["t5"][1])
    ).eval()
    whole.encoder.load_state_dict(alone.encoder.state_dict())
    whole.shared.load_state_dict(alone.shared.state_dict())
    with torch.inference_mode():
        expected = [alone(torch.tensor(row[None].astype(np.int64)))[0][0] for row in ROWS]
    for name, model in (("alone", alone), ("whole", whole)):
        model.save_pretrained(tmp_path / name)
        save_tokenizer(tmp_path / name)
        embedder = TransformersEmbedder(
            FoundModel(tmp_path / name, name, "0", {}), EmbedderOptions(device="cpu")
        )
        found = embedder.embed(ROWS).views["meaning"]
        assert apart(found, np.array([each.mean(0).numpy() for each in expected])).max() < 1e-5


@pytest.mark.parametrize(("plan", "length"), [(None, 1_024), (SentencePlan(), 1_500)])
@pytest.mark.slow
def test_only_sentence_models_read_long_texts_to_their_end_unasked(plan, length, zoo):
    embedder = TransformersEmbedder(zoo("t5"), EmbedderOptions(device="cpu"), plan=plan)
    assert embedder.signature["max_length"] == ("1024" if plan is None else "any")
    row = rng.integers(3, VOCABULARY, 1_500)
    expected = next(plain(zoo("t5"), [row[:length]]))[form_layer(LAYERS)][0].numpy().mean(0)
    assert apart(embedder.embed([row]).views["form"], expected[None]).max() < 1e-4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WhisperConfig", "'odd' gives no states .*: .*input_(features|ids)"),
        ("CanineConfig", r"'odd' \(canine\) .*no table"),
    ],
)
def test_models_that_do_not_read_tokens_are_refused(name, message, tmp_path):
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 8, "num_hidden_layers": 1}
    sizes |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    sizes |= {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8, **MARKS}
    sizes |= {"vocab_size": 120} if name == "WhisperConfig" else {}
    config = getattr(transformers, name)(**sizes, decoder_start_token_id=2)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    with pytest.raises(InputError, match=message):
        TransformersEmbedder(FoundModel(tmp_path, "odd", "0", {}), EmbedderOptions(device="cpu"))


def check(found, expected, order, tolerance):
    assert list(found.views) == ["meaning", "form"]
    for view, rows in found.views.items():
        assert rows.dtype == np.float32
        scale = np.abs(expected[view]).max()
        assert np.abs(rows - expected[view][list(order)]).max() <= tolerance * scale


@pytest.mark.parametrize("kind", ["gpt2", "gemma2", "roberta", "albert", "t5", "deberta"])
@pytest.mark.parametrize("layer", [1, 2])
def test_a_lower_layer_is_that_of_plain_code(kind, layer, zoo):
    options = EmbedderOptions(device="cpu", layer=layer, pooling="max")
    embedder = TransformersEmbedder(zoo(kind), options)
    first = int(kind in CAUSAL)
    expected = [each[layer][0].numpy() for each in plain(zoo(kind), ROWS)]
    expected = [(rows[first:] if len(rows) > 1 else rows).max(0) for rows in expected]
    assert np.abs(embedder.embed(ROWS).views["meaning"] - expected).max() < 1e-4
    assert embedder.view_signature["meaning"] == f"max_tokens_without_sinks_layer{layer}"


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma3", "bert", "modernbert", "t5", "bloom"])
def test_lower_precision_stays_closer_to_float32_than_that_of_plain_code(kind, zoo, monkeypatch):
    exact = TransformersEmbedder(zoo(kind), EmbedderOptions(device="cpu")).embed(ROWS).views
    monkeypatch.setattr(transformer, "choose_dtype", lambda *which: "bfloat16")
    embedder = TransformersEmbedder(zoo(kind), EmbedderOptions(device="cpu", dtype="auto"))
    if kind == "modernbert" and not NEW:
        pytest.skip("its attention mixes precisions in earlier versions; float32 is taken")
    assert embedder.signature["dtype"] == "bfloat16"
    usual = np.array(
        [
            mean_states(each[form_layer(LAYERS)][0].numpy(), causal=kind in CAUSAL)
            for each in plain(zoo(kind), ROWS, torch.bfloat16)
        ]
    )
    found = embedder.embed(ROWS).views
    ours, theirs = (apart(rows, exact["form"]).mean() for rows in (found["form"], usual))
    assert 0 < ours < 0.02
    assert ours < theirs
    assert 0 < apart(found["meaning"], exact["meaning"]).max() < 0.1


def apart(rows, exact):
    return np.linalg.norm(rows - exact, axis=1) / np.linalg.norm(exact, axis=1)


def test_a_model_kept_in_bfloat16_loses_nothing_in_float32(zoo, tmp_path):
    model = transformers.AutoModel.from_pretrained(zoo("qwen2").folder).bfloat16()
    shutil.copytree(zoo("qwen2").folder, tmp_path, dirs_exist_ok=True)
    model.save_pretrained(tmp_path)
    found = FoundModel(tmp_path, "half", "0", {})
    expected = [each[LAYERS][0, -1].numpy() for each in plain(found, ROWS)]
    got = TransformersEmbedder(found, EmbedderOptions(device="cpu")).embed(ROWS).views["meaning"]
    assert np.abs(got - expected).max() < 1e-4


def test_packed_attention_that_is_wrong_is_not_trusted(zoo, monkeypatch):
    sdpa = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        packed, "_plain", lambda *parts, mask, causal, scale: sdpa(*parts, scale=scale)
    )
    embedder = TransformersEmbedder(zoo("gpt2"), EmbedderOptions(device="cpu"))
    assert not embedder._states.packed
    expected = [each[LAYERS][0, -1].numpy() for each in plain(zoo("gpt2"), ROWS)]
    assert np.abs(embedder.embed(ROWS).views["meaning"] - expected).max() < 1e-4


@pytest.mark.parametrize("broken", ["layer_stack", "quicken"])
def test_models_that_are_built_otherwise_take_a_slower_way(broken, zoo, monkeypatch):
    if broken == "layer_stack":
        monkeypatch.setattr(transformer_states, "layer_stack", lambda model, layers: None)
    else:
        wrong = torch.nn.Embedding.from_pretrained(torch.zeros(VOCABULARY, 32))
        monkeypatch.setattr(
            transformer_states, "quicken", lambda model, *how: setattr(model, "wte", wrong)
        )
    embedder = TransformersEmbedder(zoo("gpt2"), EmbedderOptions(device="cpu"))
    kind = transformer_states.Whole if broken == "layer_stack" else transformer_states.Captured
    assert type(embedder._states._forward) is kind
    expected = [each[LAYERS][0, -1].numpy() for each in plain(zoo("gpt2"), ROWS)]
    assert np.abs(embedder.embed(ROWS).views["meaning"] - expected).max() < 1e-4


def test_layers_behind_the_deepest_that_is_wanted_are_not_computed(zoo):
    for kind, count in (("gpt2", len), ("albert", lambda layers: layers.config.num_hidden_layers)):
        states = TransformersEmbedder(zoo(kind), EmbedderOptions(device="cpu", layer=1))._states
        model = states._forward._model
        assert count(model if kind == "albert" else model.h) == form_layer(LAYERS)


@pytest.mark.parametrize("length", [64, 65, 130, 192, 768, 769])
def test_causal_attention_step_by_step_is_that_of_torch(length):
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 4, length, 8).unbind(0)
    found = packed._plain(query, key, value, mask=None, causal=True, scale=0.5)
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, is_causal=True, scale=0.5
    )
    assert torch.allclose(found, expected, atol=1e-5)


def test_one_text_of_a_trial_is_longer_than_the_model_sees():
    lengths = [run.length for run in Trial(50, set(), reach=40, window=20).runs]
    assert max(lengths) > 20
    assert max(run.length for run in Trial(50, set(), reach=40, window=40).runs) < 20


def test_a_trial_notices_texts_that_see_their_company_a_little():
    table = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    trial = Trial(50, set(), reach=40)

    def apart_from(leak):
        def forward(tokens, runs):
            states = table[tokens]
            return {1: states + leak * states.sum(0)}

        return forward

    expected = trial.alone(apart_from(0))
    assert trial.passes(apart_from(0), expected, 0.1)
    assert not trial.passes(apart_from(1e-3), expected, 0.1)


@pytest.mark.parametrize("name", ["none", "gelu", "gelu_tanh", "relu", "silu"])
@pytest.mark.parametrize("bias", [True, False])
def test_a_fast_layer_computes_what_torch_computes(name, bias):
    torch.manual_seed(0)
    weight, states = torch.randn(48, 32), torch.randn(2, 7, 32)
    offset = torch.randn(48) if bias else None
    layer = FastLinear(weight, offset)
    layer.follow(name)
    linear = torch.nn.functional.linear(states, weight, offset)
    expected = {
        "none": linear,
        "gelu": torch.nn.functional.gelu(linear),
        "gelu_tanh": torch.nn.functional.gelu(linear, approximate="tanh"),
        "relu": linear.relu(),
        "silu": linear * linear.sigmoid(),
    }
    assert torch.allclose(layer(states), expected[name], atol=1e-5)


class Shared(torch.nn.Module):
    """Two activations of one layer, and one activation of two."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = (torch.nn.Linear(8, 8) for _ in range(3))
        self.gelu, self.silu, self.relu = torch.nn.GELU(), torch.nn.SiLU(), torch.nn.ReLU()

    def forward(self, states):
        both = self.one(states)
        return self.gelu(both) * self.silu(both) + self.relu(self.two(states)) * self.relu(
            self.three(states)
        )


def test_activations_are_joined_to_a_layer_only_where_nothing_else_shares_them():
    torch.manual_seed(0)
    model, states = Shared(), torch.randn(5, 8)
    with torch.inference_mode():
        expected = model(states)
        quicken(model, torch.float32, lambda: model(states))
        assert torch.allclose(model(states), expected, atol=1e-6)
