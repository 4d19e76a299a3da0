"""Paragraphs of seven languages, and what is done to them: what the experiment on languages embeds.

Arabic, Chinese, French, German, Japanese and Russian are paragraphs of one technical book. English
are pieces of stories, whole sentences, as long as the German paragraphs are. A fixed choice of 250
paragraphs of each language is kept apart: models learn from them or continue them, and references
that those models are held against hold none of them.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from unicodedata import east_asian_width

import numpy as np

from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Request
from calipers.language_model.ngram import fit_ngram

LANGUAGES = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "fr": "French",
    "ja": "Japanese",
    "ru": "Russian",
    "zh": "Chinese",
}
UNSPACED = ("ja", "zh")
PARAGRAPHS, KEPT_APART = 600, 250
SHUFFLED, NGRAM, GEMMA = "words shuffled", "3-gram model", "Gemma 3 270M"
ORDER, MOST_TOKENS = 3, 400
PROMPT_COLUMNS = 30
"""How much of a paragraph Gemma is given: wide characters count two."""

_UNITS = re.compile(r"[A-Za-z0-9_./:@-]+|[\u30a1-\u30fa\u30fc]+|.", re.DOTALL)
"""Of texts without spaces: words in Latin letters, words in katakana, else single characters."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ENDS = re.compile(r"[.!?。!?؟](?=\s|$)|[。!?]")
_SPACE = "\u2423"


def read_texts(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def paragraphs(folder: Path, language: str) -> list[str]:
    """The 600 paragraphs of a language."""
    if language == "en":
        return _stories(folder)
    return read_texts(folder / "languages" / f"{language}.jsonl")


def _stories(folder: Path) -> list[str]:
    """Whole sentences of stories, as long as German paragraphs; the first sentence is a prompt."""
    lengths = [len(text) for text in read_texts(folder / "languages" / "de.jsonl")]
    stories = read_texts(folder / "writing_prompts" / "human.jsonl")
    left = [_SENTENCE.split(story)[1:] for story in stories]
    pieces: list[str] = []
    for turn in range(PARAGRAPHS):
        sentences = left[turn % len(left)]
        while len(pieces) == turn:
            if not sentences:  # a story of one sentence, or used up: the next that has some
                sentences = max(left, key=len)
            text = sentences.pop(0)
            # One more sentence while that brings the piece nearer to its length
            while sentences and len(text) + len(sentences[0]) / 2 < lengths[turn]:
                text = f"{text} {sentences.pop(0)}"
            if len(text) >= min(40, lengths[turn]):
                pieces.append(text[:900])
    return pieces


def order_of(language: str) -> np.ndarray:
    """The rows of a language in a fixed random order, those kept apart first."""
    return np.random.default_rng([0, *language.encode()]).permutation(PARAGRAPHS)


def kept_apart(texts: list[str], language: str) -> list[str]:
    return [texts[row] for row in order_of(language)[:KEPT_APART]]


def units(text: str, language: str) -> list[str]:
    """The words of a text; of one without spaces, what stands for them."""
    return _UNITS.findall(text) if language in UNSPACED else text.split()


def shuffled(texts: list[str], language: str) -> list[str]:
    """Every text with its words in a random order, which depends on its row alone."""
    joint = "" if language in UNSPACED else " "
    return [
        joint.join(np.random.default_rng([1, row]).permutation(units(text, language)))
        for row, text in enumerate(texts)
    ]


def by_ngrams(texts: list[str], language: str) -> list[str]:
    """As many texts of a 3-gram model that was fitted on these, by words or what stands for one."""
    apart = language in UNSPACED
    if apart:
        texts = [" ".join(units(text.replace(" ", _SPACE), language)) for text in texts]
    model = fit_ngram(texts, order=ORDER)
    requests = [Request(number) for number in range(len(texts))]
    made = model.generate(requests, Decoding.parse("ancestral"), max_tokens=MOST_TOKENS, seed=0)
    found = [sample.text for sample in made]
    if apart:
        found = [text.replace(" ", "").replace(_SPACE, " ") for text in found]
    return [text.strip() for text in found]


def prompt_of(text: str, language: str) -> str:
    """The beginning of a paragraph, at most half of it, in whole words where words have spaces."""
    columns = np.cumsum([1 + (east_asian_width(char) in "WF") for char in text])
    end = int(np.searchsorted(columns, min(PROMPT_COLUMNS, columns[-1] / 2), side="right"))
    start = text[:end]
    if language in UNSPACED or text[end : end + 1].isspace():
        return start.rstrip()
    return start.rpartition(" ")[0] or start


def ended(text: str, length: int) -> str:
    """Cut a text where the sentence ends that ends nearest to a length, if one does about there."""
    text = " ".join(text.split())
    ends = [found.end() for found in _ENDS.finditer(text)]
    near = [end for end in ends if 0.5 * length <= end <= 1.5 * length]
    if near:
        return text[: min(near, key=lambda end: abs(end - length))]
    return text[: round(1.5 * length)]
