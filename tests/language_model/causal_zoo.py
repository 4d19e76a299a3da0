"""Tiny causal models of several kinds with random weights, as folders, and plain code for them."""

import tokenizers
import torch
import transformers

from calipers.embedders.options import EmbedderOptions
from calipers.embedders.states import loading
from calipers.language_model.causal import load_causal

TEXTS = [
    "A bird sings in the morning, and then another one.",
    "The cat sat on the mat; nobody knows why it did.",
    "One, two, three, four. Once I caught a fish alive!",
    "naïve café — 中文字符 🎉",
] * 3
LIMIT = 48
VOCABULARY = 330
SIZES = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48,
    "max_position_embeddings": LIMIT, "initializer_range": 0.3, "bos_token_id": 0,
    "eos_token_id": 1, "pad_token_id": None,
}  # fmt: skip
GEMMA = {**SIZES, "head_dim": 8}
KINDS = {
    "gpt2": ("GPT2Config", {
        "vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": LIMIT,
        "bos_token_id": 0, "eos_token_id": 1, "initializer_range": 0.3,
    }),
    "llama": ("LlamaConfig", SIZES),
    "opt": ("OPTConfig", {
        "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "ffn_dim": 48,
        "num_attention_heads": 4, "max_position_embeddings": LIMIT, "word_embed_proj_dim": 32,
        "init_std": 0.3, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1,
    }),
    "gemma": ("GemmaConfig", GEMMA),
    "gemma2": ("Gemma2Config", {**GEMMA, "sliding_window": 8, "final_logit_softcapping": 5.0}),
    "mistral": ("MistralConfig", {**SIZES, "sliding_window": 8}),
    "dynamic": ("LlamaConfig", {
        **SIZES, "rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4},
    }),
    "bloom": ("BloomConfig", {
        "vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4,
        "initializer_range": 0.3, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1,
    }),
    "mamba": ("MambaConfig", {
        "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4,
        "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1, "initializer_range": 0.3,
    }),
}  # fmt: skip


def byte_pairs(vocabulary=VOCABULARY):
    """A byte-level tokenizer as GPT-2 has one, with <s> and </s> as its first tokens."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS, trainer)
    return made


def save_tokenizer(folder, *, opens=False, made=None, **marks):
    made = made or byte_pairs()
    if opens:
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    found = transformers.PreTrainedTokenizerFast(tokenizer_object=made, **marks)
    found.save_pretrained(folder)
    return found


def save_model(folder, kind, **changes):
    name, sizes = KINDS[kind]
    torch.manual_seed(0)
    config = getattr(transformers, name)(**{**sizes, **changes})
    model = transformers.AutoModelForCausalLM.from_config(config)
    model.save_pretrained(folder)
    return folder


def save(folder, kind, *, opens=False, **changes):
    save_model(folder, kind, **changes)
    save_tokenizer(folder, opens=opens, bos_token="<s>", eos_token="</s>")
    return folder


def plain_model(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def plain_scores(model, ids, first=1):
    """Log-probabilities of the tokens of one text from `first` on, by plain code in float64."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([list(ids)])).logits[0].double()
    found = logits.log_softmax(-1)[torch.arange(len(ids) - 1), torch.tensor(list(ids[1:]))]
    return found[first - 1 :].numpy()


class Zoo:
    """Models made when first asked for, and kept."""

    TEXTS, LIMIT, VOCABULARY, KINDS = TEXTS, LIMIT, VOCABULARY, KINDS
    save = staticmethod(save)
    save_model = staticmethod(save_model)
    save_tokenizer = staticmethod(save_tokenizer)
    plain_scores = staticmethod(plain_scores)

    def __init__(self, root):
        self._root, self._loaded, self._plain = root, {}, {}

    def folder(self, kind):
        folder = self._root / kind
        if not folder.exists():
            with quiet():
                save(folder, kind)
        return folder

    def load(self, kind, **options):
        key = (kind, *sorted(options.items()))
        if key not in self._loaded:
            self._loaded[key] = load_causal(
                str(self.folder(kind)), EmbedderOptions(device="cpu", **options)
            )
        return self._loaded[key]

    def plain(self, kind):
        if kind not in self._plain:
            with quiet():
                self._plain[kind] = plain_model(self.folder(kind))
        return self._plain[kind]

    def tokenizer(self, kind):
        return transformers.AutoTokenizer.from_pretrained(self.folder(kind))


def quiet():
    return loading.quiet(transformers)
