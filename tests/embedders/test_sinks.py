"""Attention sinks are left out of means: by their place, and by the length of their states."""

import numpy as np
import pytest

from extras import need

torch = need("torch")
transformers = need("transformers")
tokenizers = need("tokenizers")

from calipers.embedders.models.find import FoundModel  # noqa: E402
from calipers.embedders.options import EmbedderOptions  # noqa: E402
from calipers.embedders.states.batches import LengthRun  # noqa: E402
from calipers.embedders.states.pooling import SentencePlan, form_layer, pool  # noqa: E402
from calipers.embedders.states.sinks import pool_without_sinks, stand_out  # noqa: E402
from calipers.embedders.states.transformer import TransformersEmbedder  # noqa: E402

LAYERS, VOCABULARY, SINK = 3, 60, 7
SIZES = {
    "gpt2": ("GPT2Config", {"n_embd": 32, "n_layer": LAYERS, "n_head": 4, "n_positions": 64}),
    "llama": (
        "LlamaConfig",
        {
            "hidden_size": 32, "num_hidden_layers": LAYERS, "num_attention_heads": 4,
            "intermediate_size": 48, "max_position_embeddings": 64,
        },
    ),
    "t5": (
        "T5Config",
        {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": LAYERS, "num_heads": 4},
    ),
}  # fmt: skip


def save(folder, kind, *, planted, opens=False):
    """A random model in which token SINK, or of GPT-2 the first place, has a huge state."""
    torch.manual_seed(0)
    name, sizes = SIZES[kind]
    marks = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    config = getattr(transformers, name)(vocab_size=VOCABULARY, **sizes, **marks)
    model = transformers.AutoModel.from_config(config)
    with torch.no_grad():
        table = model.wpe.weight if kind == "gpt2" else model.get_input_embeddings().weight
        table[0 if kind == "gpt2" else SINK] *= planted
    model.save_pretrained(folder)
    words = {f"w{i}": i for i in range(VOCABULARY)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w3"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    if opens:
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single="w0 $A", special_tokens=[("w0", 0)]
        )
    transformers.PreTrainedTokenizerFast(tokenizer_object=made).save_pretrained(folder)
    return FoundModel(folder, kind, "0", {})


def load(found, plan=None, **options):
    return TransformersEmbedder(found, EmbedderOptions(device="cpu", **options), plan=plan)


def form_states(found, ids):
    """States of one text at the layer of the form view, by plain code."""
    model = transformers.AutoModel.from_pretrained(found.folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    with torch.inference_mode():
        states = model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    return states[form_layer(LAYERS)][0].numpy()


def near(one, two):
    return np.abs(one - two).max() <= 1e-5 * np.abs(two).max()


def rows(n=6, *, seed=0, avoid=(SINK,)):
    rng = np.random.default_rng(seed)
    usual = [token for token in range(3, VOCABULARY) if token not in avoid]
    return [rng.choice(usual, length).tolist() for length in rng.integers(2, 30, n)]


def test_a_state_that_stands_out_is_left_out_by_hand():
    usual = torch.tensor([[3.0, 4.0], [0.0, 5.0], [5.0, 0.0]])
    text = torch.cat([usual, torch.tensor([[30.1, 0.0]])])[None]  # 30.1 against 6 times 5
    assert stand_out(text).tolist() == [[False, False, False, True]]
    mean = pool_without_sinks(text, lambda rows: rows.mean(dim=1), opening=0)
    assert mean.tolist() == [usual.mean(0).tolist()]
    within = torch.cat([usual, torch.tensor([[30.0, 0.0]])])[None]
    assert not stand_out(within).any()
    both = pool_without_sinks(text, lambda rows: rows.mean(dim=1), opening=1)
    assert both.tolist() == [usual[1:].mean(0).tolist()]


def test_a_text_of_nothing_else_keeps_its_token():
    text = torch.tensor([[[1.0, 2.0]]])
    assert pool_without_sinks(text, lambda rows: rows.mean(dim=1), opening=1).tolist() == [[1, 2]]


@pytest.mark.parametrize("how", ["mean", "max", "mean_sqrt_len", "weighted_mean", "cls", "last"])
def test_sinks_count_in_no_way_to_pool_that_goes_over_tokens(how):
    states = torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
    states = torch.cat([1000 * states[:1].abs(), states])  # what opens, and ten more
    run = [LengthRun(0, 1, 11)]
    whole = pool(states, run, how)
    found = pool(states, run, how, opening=1)
    if how in ("cls", "last"):
        assert torch.equal(found, whole)
    else:
        assert torch.equal(found, pool(states[1:], [LengthRun(0, 1, 10)], how))
        assert not torch.allclose(found, whole)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_the_first_token_of_a_causal_model_is_left_out(kind, tmp_path):
    found = save(tmp_path, kind, planted=1.0)
    ids = rows()
    expected = [form_states(found, text)[1:].mean(0) for text in ids]
    assert near(load(found).embed(ids).views["form"], np.array(expected))


def test_of_a_model_with_a_mark_before_texts_the_mark_alone_is_left_out(tmp_path):
    found = save(tmp_path, "llama", planted=1.0, opens=True)
    ids = rows()
    expected = [form_states(found, [0, *text])[1:].mean(0) for text in ids]
    texts = [" ".join(f"w{token}" for token in text) for text in ids]
    assert near(load(found).embed(texts).views["form"], np.array(expected))


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_a_token_within_a_text_whose_state_is_huge_is_left_out(kind, tmp_path):
    found = save(tmp_path, kind, planted=1e4)
    ids = [[5, 6, 8, SINK, 9, 10, 11], [12, SINK, 13, 14, 15, SINK, 16], [5, 6, 8, 9, 10, 11, 12]]
    expected = []
    for text in ids:
        states = form_states(found, text)
        kept = np.array(text) != SINK
        kept[0] &= kind == "t5"
        norms = np.linalg.norm(states, axis=1)
        assert norms[np.array(text) == SINK].min(initial=np.inf) > 6 * np.median(norms)
        expected.append(states[kept].mean(0))
    assert near(load(found).embed(ids).views["form"], np.array(expected))


def test_form_does_not_tell_the_length_of_texts(tmp_path):
    """A mean that holds the sink holds a share of 1/10 and 1/40 of it, whatever the texts say."""
    found = save(tmp_path, "gpt2", planted=1e4)
    rng = np.random.default_rng(1)
    short, long = (rng.integers(3, VOCABULARY, (20, length)).tolist() for length in (10, 40))

    def ratio_of_lengths(vectors):
        norms = [np.linalg.norm(vectors(texts), axis=1).mean() for texts in (short, long)]
        return norms[0] / norms[1]

    def whole(texts):
        return np.array([form_states(found, text).mean(0) for text in texts])

    assert ratio_of_lengths(whole) == pytest.approx(4, rel=0.01)
    assert ratio_of_lengths(lambda texts: load(found).embed(texts).views["form"]) < 2.5


def test_what_a_sentence_model_was_trained_with_counts(tmp_path):
    found = save(tmp_path, "gpt2", planted=1.0)
    ids = rows()
    model = transformers.AutoModel.from_pretrained(found.folder).eval()
    plan = SentencePlan(pooling="mean", normalise=False)
    with torch.inference_mode():
        expected = [model(input_ids=torch.tensor([text]))[0][0].mean(0).numpy() for text in ids]
    embedder = load(found, plan)
    assert near(embedder.embed(ids).views["meaning"], np.array(expected))
    assert embedder.view_signature["meaning"] == "mean_tokens_layer3"
    assert (
        load(found, pooling="mean").view_signature["meaning"] == "mean_tokens_without_sinks_layer3"
    )


@pytest.mark.parametrize("max_tokens", [1, 7, 1000])
def test_neither_company_nor_order_moves_a_vector(max_tokens, tmp_path):
    found = save(tmp_path, "llama", planted=1e4)
    ids = [*rows(8, avoid=()), [5, SINK, 6, 8], [5, 6, 8, 9]]
    embedder = load(found)
    base = embedder.embed(ids).views["form"]
    order = np.random.default_rng(0).permutation(len(ids))
    embedder._batches.max_tokens = max_tokens
    again = embedder.embed([ids[row] for row in order]).views["form"]
    assert near(again, base[order])
