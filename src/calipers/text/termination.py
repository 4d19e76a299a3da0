"""Non-termination: texts that were cut off.

- With `limit`, the share of texts of at least so many tokens, which is the ratio of Welleck et
  al., "Consistency of a Recurrent Language Model With Respect to Incomplete Decoding", EMNLP 2020:
  what reached the greatest length that decoding allowed did not end by itself. The limit must
  be counted in tokens of the same tokenizer.
- Without one, as most files no longer tell how they were cut, by the last character: the share of
  texts that do not stop with the mark that ends a sentence in their script, quotes, brackets and
  white space behind it aside. This is a sign of a cut, and no proof. Titles, verse, lists, code,
  and texts that end in an emoji all count as not ended, and a text that was cut right after a full
  stop counts as ended: compare it with people's texts of the same kind. Thai and Lao do not mark
  the end, so a text that stops behind one of their letters without a mark has no value.
"""

from __future__ import annotations

import unicodedata

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric.validation import check_whole
from calipers.score import Score
from calipers.text.scoring import Chosen, TextPair, mean_score, raw_texts, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus

# The marks that Unicode gives the property Sentence_Terminal (below U+10000), in hexadecimal; then
# the ellipses and the strokes that end a Tibetan clause
_MARKS = """
    21 2e 3f 589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e
    1735-1736 17d4-17d5 1803 1809 1944-1945 1aa8-1aab 1b4e-1b4f 1b5a-1b5b 1b5e-1b5f 1b7d-1b7f
    1c3b-1c3c 1c7e-1c7f 2024 203c-203d 2047-2049 2cf9-2cfb 2e2e 2e3c 2e53-2e54 2e60-2e61 3002 a4ff
    a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe12 fe15-fe16
    fe52 fe56-fe57 ff01 ff0e ff1f ff61
    2026 22ef fe19 f0d-f11
"""

_BEHIND = frozenset(["Pe", "Pf", "Pi", "Cf", "Zs", "Zl", "Zp", "Cc", "Mn"])
"""Categories of what may stand behind the mark: brackets, quotes, white space, selectors."""

_QUOTES = frozenset("\"'`´*_~＂＇")
"""Quotes that open and close alike, and the marks of emphasis in Markdown."""


def _spread(marks: str) -> frozenset[str]:
    ends = [span.partition("-")[::2] for span in marks.split()]
    return frozenset(
        chr(code) for low, high in ends for code in range(int(low, 16), int(high or low, 16) + 1)
    )


ENDS = _spread(_MARKS)
_GREEK_QUESTION = ";", "\u037e"
"""Marks that end a question in Greek alone."""
_UNMARKED = range(0x0E00, 0x0F00)
"""Thai and Lao, whose sentences end without a mark."""


def ends_sentence(text: str) -> bool:
    """Whether the last character, after quotes, brackets and white space, ends a sentence.

    Examples
    --------
    >>> [ends_sentence(text) for text in ("Yes.", "“Yes?”)", "はい。」", "Τι κάνεις;", "and then;")]
    [True, True, True, True, False]
    """
    mark = ""
    for place in range(len(text) - 1, -1, -1):
        character = text[place]
        if character in ENDS:
            return not mark
        if character in _GREEK_QUESTION and not mark:
            mark = character
        elif mark:
            return "GREEK" in unicodedata.name(character, "")
        elif character not in _QUOTES and unicodedata.category(character) not in _BEHIND:
            return False
    return False


def marks_no_end(text: str) -> bool:
    """Whether the last letter of a text is of a script that does not mark ends of sentences.

    Examples
    --------
    >>> marks_no_end("ฉันชอบกาแฟ 2 "), marks_no_end("I like ไทย food")
    (True, False)
    """
    for place in range(len(text) - 1, -1, -1):
        if text[place].isalpha() or unicodedata.category(text[place])[0] == "M":
            return ord(text[place]) in _UNMARKED
    return False


@checks_keywords
def non_termination(
    texts: Texts, *, limit: int | None = None, tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell how many texts were cut off before they came to an end.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    limit
        Tokens at which the texts were cut, at least 1; None to judge by the last character.
    tokenizer
        The tokenizer whose tokens `limit` counts; a corpus keeps its own tokens.

    Returns
    -------
    Score
        In [0, 1], closest to the reference's own value is best. ``per_sample`` is 1 for each text
        that did not end and else 0, shape ``(n,)``; without `limit`, NaN for a text of nothing but
        white space, and for one in Thai or Lao without a mark at its end.

    Raises
    ------
    InputError
        If `limit` is not a whole number from 1.

    Examples
    --------
    >>> texts = ["It ended.", "It ended?)", "It went on and"]
    >>> non_termination(texts).per_sample.tolist()
    [0.0, 0.0, 1.0]
    >>> non_termination(texts, limit=4, tokenizer="whitespace").per_sample.tolist()
    [0.0, 0.0, 1.0]
    """
    if limit is not None:
        limit = check_whole("limit", limit, 1)
        corpus = as_corpus(texts, tokenizer)
        cut = (corpus.lengths >= limit).astype(np.float64)
        return text_score("non_termination", cut.mean(), corpus, per_sample=cut, limit=limit)
    rows = raw_texts(texts)
    values = [_went_on(text) for text in rows]
    blank = all(not text or text.isspace() for text in rows)
    return mean_score(
        "non_termination",
        np.array(values, dtype=np.float64),
        rows,
        reason="every text is empty or white space"
        if blank
        else "every text is in a script that does not mark the end of sentences, as Thai, or empty",
        by="last_character",
    )


def _went_on(text: str) -> float:
    if not text or text.isspace():
        return np.nan
    if ends_sentence(text):
        return 0.0
    return np.nan if marks_no_end(text) else 1.0


def read_non_termination(pair: TextPair, options: Chosen) -> Score:
    return non_termination(pair.texts, limit=options["limit"] or None)
