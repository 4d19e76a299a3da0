"""What a person may choose about a transformers model, and what is refused."""

import dataclasses
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from calipers.embed import embed_samples  # noqa: E402
from calipers.embed.models.find import FoundModel  # noqa: E402
from calipers.embed.options import Options  # noqa: E402
from calipers.embed.states import transformer  # noqa: E402
from calipers.embed.states.pooling import SentencePlan  # noqa: E402
from calipers.embed.states.transformer import Reader  # noqa: E402
from calipers.embed.states.transformer import TransformersEmbedder  # noqa: E402
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
    return TransformersEmbedder(found, Options(device="cpu", **options), plan=plan)


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
    assert embedder.view_signature == {"meaning": "last_token_layer3", "form": "mean_tokens_layer2"}
    for text, row in zip(TEXTS, meaning(embedder, TEXTS), strict=True):
        ids = ids_of(text)[:LIMIT] or [WORDS.index("</s>")]
        assert near(row, states(gpt2, ids)[-1])
    assert embedder.embed(TEXTS).truncated.tolist() == [False, False, False, False, True]


def test_a_masked_model_gives_the_mean_and_keeps_its_end_mark(roberta):
    embedder = load(roberta)
    assert embedder.view_signature["meaning"] == "mean_tokens_layer3"
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
    with pytest.raises(InputError, match="prefix 'a bird ' can be put before texts only"):
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
    reader = Reader(**how, starts=(7,), ends=(1, 2))
    assert [each.tolist() for each in reader.read([np.array([7, 4, 1, 2])]).ids] == [[2]]


def test_misspelt_plans_are_refused():
    with pytest.raises(InputError, match="unknown pooling 'men'; did you mean 'mean'"):
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
        ({"layer": 4}, "layer must be 1 to 3, the layers of the model; found 4"),
        ({"max_length": 25}, "max_length must be 3 to 24, the most that the model reads; found 25"),
        ({"max_length": 2}, "max_length must be 3 to 24, the most that the model reads; found 2"),
    ],
)
def test_what_the_model_cannot_do_is_said(options, message, roberta):
    with pytest.raises(InputError, match=message):
        load(roberta, **options)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([np.array([1, 2]), np.array([3, 14])], r"sample 2: token ids must be 0 to 13.*d 14 at p"),
        ([np.array([-1])], r"sample 1: token ids must be 0 to 13, .* roberta knows; found -1"),
        ([[1.5]], "sample 1: must be a text or a list of token ids; found list"),
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
    with pytest.raises(InputError, match=r"^human: sample 2,346: token ids must be 0 to 13"):
        embed_samples(samples, load(gpt2))


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
    with pytest.raises(
        InputError, match="layer for vectors of 64 numbers, but pooling 'mean' gives it 32; leave"
    ):
        load(roberta, SentencePlan(pooling="mean+max", dense=(layer,)), pooling="mean")
    with pytest.raises(InputError, match="layer for vectors of 64 numbers"):
        load(roberta, SentencePlan(dense=((torch.ones(9, 32), None, "relu"), layer)))


def test_a_tokenizer_of_another_model_is_noticed(gpt2, tmp_path):
    found = save(tmp_path, "gpt2", eos_token="</s>")
    fast = transformers.AutoTokenizer.from_pretrained(tmp_path)
    fast.add_tokens(["zebra"])
    fast.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="do not belong together: there is a token 14, but the mo"):
        load(found).embed(["zebra"])


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_files_that_do_not_belong_together_are_named(tmp_path):
    found = save(tmp_path, "gpt2", eos_token="</s>")
    edit(tmp_path / "config.json", n_embd=64)
    with pytest.raises(
        InputError, match=r"do not fit config\.json: h\.0\..* has the shape \(96,\), but must have"
    ):
        load(found)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(
        InputError, match=r"cannot load the tokenizer: .*(lack the entry 'ad|proto)"
    ):
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
    with pytest.raises(CalipersError, match="gpt2 gives vectors that are not finite; its weights"):
        load(FoundModel(tmp_path, "gpt2", "0", {})).embed(["a"])
    monkeypatch.setattr(transformer, "choose_dtype", lambda *which: "bfloat16")
    embedder = load(gpt2)
    embedder._plan = dataclasses.replace(
        embedder._plan, dense=((torch.ones(1, 32) / 0, None, "relu"),)
    )
    with pytest.raises(CalipersError, match="in bfloat16 its numbers grow too large: choose dtype"):
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
    with pytest.raises(
        InputError, match=r"not enough memory for a single text of 24 tokens; lower"
    ):
        embedder.embed(TEXTS)


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
