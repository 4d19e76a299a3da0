"""A tiny causal model and its tokenizer, made here, and texts that it is compared with."""

from types import SimpleNamespace

import numpy as np
import pytest

from extras import need

WORDS = ["stone", "river", "cloud", "engine", "lamp", "paper", "tiger", "wheel", "garden", "mirror"]


def drawn_texts(n, seed, words=WORDS):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, 6)) for _ in range(n)]


@pytest.fixture(scope="session")
def tiny():
    """`tiny.model()` makes a GPT-2 of random weights; `tiny.tokenizer`, words and two marks."""
    return tiny_model()


def tiny_model():
    torch = need("torch")
    transformers = need("transformers")
    tokenizers = need("tokenizers")
    vocabulary = {word: place for place, word in enumerate(["<s>", "</s>", *WORDS])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<s>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )

    def model(seed=0):
        torch.manual_seed(seed)
        return transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=len(vocabulary), n_embd=16, n_layer=1, n_head=2, n_positions=32,
                bos_token_id=0, eos_token_id=1, pad_token_id=1,
            )
        )  # fmt: skip

    return SimpleNamespace(model=model, tokenizer=tokenizer, texts=drawn_texts, words=WORDS)


@pytest.fixture(scope="session")
def human(tiny):
    """A reference of 120 texts, by word counts."""
    import calipers

    return calipers.Reference(drawn_texts(120, 1), embedder="tfidf:size=10", cache=False)


@pytest.fixture
def prompts():
    """One hundred prompts of one to three words."""
    return [" ".join(WORDS[place % 10 :][: 1 + place % 3]) for place in range(100)]
