"""Whether texts are in a script without spaces, which most tokenizers leave in one piece."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from calipers.text.corpus import Corpus

SAMPLE = 100
"""Texts that are looked at, spread evenly over the set."""

HAN_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
OTHERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer, with their vowel signs."""

LONG_HAN, LONG_OTHER = 4, 12
"""Signs a token from which on tokens are no words: words have about 2, and about 5."""


def script_warnings(corpus: Corpus) -> Iterator[str]:
    """Say that a set is in such a script, and that its tokens are no words.

    The sizes of its tokens tell, not the name of the tokenizer: texts in which spaces were put
    between words need no other one.
    """
    rows = np.unique(np.linspace(0, len(corpus) - 1, SAMPLE).astype(int))
    texts = [corpus.texts[row] for row in rows]
    letters = sum(sum(map(str.isalpha, text)) for text in texts)
    han, other = (_count(texts, script) for script in (HAN_KANA, OTHERS))
    if not letters or max(han, other) <= letters / 2:
        return
    tokens = max(1, int(corpus.lengths[rows].sum()))
    if max(han / LONG_HAN, other / LONG_OTHER) < tokens:
        return
    mean, name = corpus.lengths.mean(), re.sub(r"-\d[\d.]*$", "", corpus.tokenizer)
    pieces = "one piece" if mean < 1.5 else "long pieces"
    fit = "zh, ja-mecab or characters" if han > other else "characters"
    yield (
        f"its texts are in a script without spaces, which {name!r} leaves in {pieces} "
        f"({mean:.1f} tokens a text); take --tokenizer {fit}"
    )


def _count(texts: list[str], script: re.Pattern[str]) -> int:
    return sum(len(script.findall(text)) for text in texts)
