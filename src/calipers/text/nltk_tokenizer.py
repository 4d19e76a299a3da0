"""NLTK's word tokenizer, with identical output, without NLTK, and faster on many texts.

The rules are those of ``NLTKWordTokenizer`` in NLTK 3.10.4 (Apache License 2.0, copyright NLTK
Project; after Robert MacIntyre's script for the Penn Treebank). Whether NLTK is installed, and in
which version, changes no number. One regular expression is applied after the other to a whole text,
which is split at white space in the end. NLTK compiles them with the package ``regex``, for which a
word character is any letter, mark, decimal digit, joiner or connecting punctuation, and white space
is Unicode's. Python's ``re`` knows no marks and no joiners: `_is_word` and `SPACE` do.

Of a text cut at its spaces (U+0020 alone; other white space stays inside its chunk), each chunk can
be tokenised on its own, because no substitution carries anything over a space of the text:

- None removes or changes such a space, so that it stays where it is until the last split.
- A match that holds the space holds nothing beyond it: the space is only ever the first
  (``([ (\\[{<])("|'{2})``, ``([^'])' ``, `` ('t)(is)\\b``) or the last (``([:,])([^\\d])``,
  ``([^' ])('[sS]|…) ``) character of a match, and look-arounds see one character, to which a
  space is what any other end of a word is.
- A space that one match has used up is missing to the next only in ``([^'])' ``, where it would
  have become two spaces instead of one.

What looks further depends on the ends of the text: an opening quote at the start (``^"``, and no
space before ``''``), and at the end the final full stop with all the closing brackets, quotes and
white space behind it, and a final colon or comma. Both ends are tokenised as ends, from the last
chunk that holds anything but closing marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from unicodedata import category

from calipers.text.chunk_memo import MARK, ChunkMemo, split_between
from calipers.text.word_numbers import Numbers, Vocabulary

OPENING = ('"', "'")
CLOSING = "])}>\"'»”’" + "".join(filter(str.isspace, map(chr, range(0x3001))))
"""What may stand behind a final full stop."""
CONTRACTED = frozenset(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"])
HEAD, TAIL, WHOLE = " h", " t", " w"
"""How the keys of chunks begin that stand at an end of their text; no chunk holds a space."""

SPACE = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""White space as the package ``regex`` has it; for Python, U+001C to U+001F are white space too."""


class NltkTokenizer:
    """NLTK's word tokenizer for whole texts."""

    name = "nltk-3.10.4"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its words and marks, by the rules alone."""
        return map(tokenize, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the tokens of each text, tokenising each distinct chunk once."""
        return ChunkMemo(self, vocabulary).number(texts)

    def keys(self, text: str) -> list[str]:
        """Split a text at its spaces, marking chunks to be tokenised as its start or its end."""
        if not text:
            return []
        if text[-1].isalnum():  # ends like any other chunk
            chunks = text.split(" ")
        else:
            cut = text.rfind(" ", 0, len(text.rstrip(CLOSING)))
            if cut < 0:
                return [WHOLE + text]
            chunks = [*text[:cut].split(" "), *_last(text[cut + 1 :])]
        if chunks[0].startswith(OPENING):
            chunks[0] = HEAD + chunks[0]
        return chunks

    def split_chunks(self, chunks: list[str]) -> Iterable[Sequence[str]]:
        """Tokenise chunks together, each as if between two others."""
        marked = [chunk for chunk in chunks if not _is_plain(chunk)]
        if any(MARK in chunk for chunk in marked):
            splits = [tokenize(f"x {chunk} x")[1:-1] for chunk in marked]
        else:
            joined = f" {MARK} ".join(["", *marked, ""])
            splits = list(split_between(tokenize(joined), MARK))
        tokens = dict(zip(marked, splits, strict=True))
        return [tokens.get(chunk, (chunk,)) for chunk in chunks]

    def split_edge(self, key: str) -> Sequence[str]:
        """Tokenise a chunk at the start or end of a text."""
        kind, chunk = key[:2], key[2:]
        if kind == HEAD:
            return tokenize(f"{chunk} x")[:-1]
        return tokenize(f"x {chunk}")[1:] if kind == TAIL else tokenize(chunk)


def tokenize(text: str) -> list[str]:
    """Split a text into words and marks as NLTK's ``NLTKWordTokenizer().tokenize`` does."""
    for rule, into in _OPENING_QUOTES:
        text = rule.sub(into, text)
    text = _APOSTROPHE.sub(_opened, text)
    for rule, into in _PUNCTUATION:
        text = rule.sub(into, text)
    text = f" {text} "
    for rule, into in _ENDING_QUOTES:
        text = rule.sub(into, text)
    for rule in _CONTRACTIONS:
        text = rule.sub(r" \1 \2 ", text)
    return text.split()


def _rules(*pairs: tuple[str, str]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(rule), into) for rule, into in pairs]


_OPENING_QUOTES = _rules(
    (r"([«“‘„]|[`]+)", r" \1 "),
    (r"^\"", r"``"),
    (r"(``)", r" \1 "),
    (r"([ \(\[{<])(\"|\'{2})", r"\1 `` "),
)
_APOSTROPHE = re.compile("'")
_CLITICS = [re.compile(f"(?i){ending}") for ending in ("re|ve|ll", "[mtsdn]")]
_PUNCTUATION = _rules(
    (rf"([^\.])(\.)([\]\)}}>\"\'»”’ ]*+){SPACE}*$", r"\1 \2 \3 "),
    (r"([:,])([^\d])", r" \1 \2"),
    (r"([:,])$", r" \1 "),
    (r"\.{2,}", r" \g<0> "),
    (r"[;@#$%&]", r" \g<0> "),
    (r"[\u2012-\u2015]", r" \g<0> "),
    (rf"([^\.])(\.)([\]\)}}>\"\']*){SPACE}*$", r"\1 \2\3 "),
    (r"[?!]", r" \g<0> "),
    (r"([^'])' ", r"\1 ' "),
    (r"[*]", r" \g<0> "),
    (r"[\]\[\(\)\{\}\<\>]", r" \g<0> "),
    (r"--", r" -- "),
)
_ENDING_QUOTES = _rules(
    (r"([»”’])", r" \1 "),
    (r"''", " '' "),
    (r'"', " '' "),
    (rf"{SPACE}+", " "),
    (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
    (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
)
_CONTRACTIONS = [
    re.compile(f"(?i){rule}")
    for rule in (
        *(r"\b(can)(not)\b", r"\b(d)('ye)\b", r"\b(gim)(me)\b", r"\b(gon)(na)\b"),
        *(r"\b(got)(ta)\b", r"\b(lem)(me)\b", r"\b(more)('n)\b", r"\b(wan)(na)(?=\s)"),
        *(r" ('t)(is)\b", r" ('t)(was)\b"),
    )
]
"""NLTK leaves these alone to Python's ``re``."""
RULES = [
    *(rule for rule, _ in (*_OPENING_QUOTES, *_PUNCTUATION, *_ENDING_QUOTES)),
    *(_APOSTROPHE, *_CLITICS, *_CONTRACTIONS),
]
"""Every expression that a text is searched with."""


_FURTHER = re.compile(
    "[\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)
"""Joiners, and letters in circles and squares: no letters for Python."""


def _opened(match: re.Match[str]) -> str:
    """Part an apostrophe that opens a word, such as a quote, from it; clitics keep theirs."""
    text, after = match.string, match.end()
    before = text[match.start() - 1] if match.start() else ""
    if _is_word(before) or not _is_word(text[after : after + 1]):
        return "'"
    for clitic in _CLITICS:
        ending = clitic.match(text, after)
        if ending and not _is_word(text[ending.end() : ending.end() + 1]):
            return "'"
    return "' "


def _is_word(character: str) -> bool:
    """Whether a character belongs to words in the way of the package ``regex``; none does not."""
    if not character or character.isascii():
        return character.isalnum() or character == "_"
    kind = category(character)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or bool(_FURTHER.match(character))


def _last(tail: str) -> list[str]:
    """Cut off a plain full stop, so that fewer different ends are to be tokenised."""
    if tail[-1] == "." and tail[:-1].isalnum():
        return [tail[:-1], f"{TAIL}."]
    return [TAIL + tail]


def _is_plain(chunk: str) -> bool:
    """Whether no rule can match: letters and digits that are not two words in one."""
    return chunk.isascii() and chunk.isalnum() and chunk.lower() not in CONTRACTED
