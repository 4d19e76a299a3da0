"""The languages of texts, and other content: code, numbers, sequences, emoji.

**Scripts** tell many languages by themselves: kana Japanese, Hangul Korean, Thai letters Thai.
Chinese characters without kana are Chinese, in simplified or traditional characters by those that
only one of the two writes. A language of another script that is not told apart is called by its
script.

**Words of grammar** tell those of the Latin, Cyrillic and Arabic scripts (`grammar_words.py`). A
word adds to each language in whose list it stands, the more the more frequent it is there, and one
with letters that a language does not write takes from it. A text has the language with the most,
where enough of its different words stand in that list; a short text is undecided. The undecided
texts of a set are joined and decided as one, and in a set relatives (Danish and Norwegian, Spanish
and Galician) are called by the more common one, unless a text says the other clearly.

**Endings** tell that a text in none of the listed languages is not in English either: of its
different words in small letters 4 or 5 in a hundred end in *a*, *i*, *o* or *u* in English stories,
news and answers, and at most 20 in all but one of 8,600 texts; in most of the languages in plain
Latin letters that are not listed it is a third or more.

**No language**: code and logs have many signs and few words of grammar; proteins and DNA are long
words of capitals, or single letters; numbers and emoji have few letters at all.

A set is read by up to `SAMPLED` of its texts, which stand evenly in the order of their hashes. So
neither the order of the texts nor a seed changes what is found, and of a million texts only the
hashes are made. A tenth of a set in another language is found in all but one case in a thousand.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.samples.grammar_words import GRAMMAR, LETTERS, SCRIPTS, SIMPLIFIED, TRADITIONAL
from calipers.unicode.composition import composed

SAMPLED = 200
"""Texts of a set that are looked at."""

CHARACTERS = 900
"""Characters of each that are looked at: about 150 words."""

NOTICED = 0.05
"""A twentieth of the texts: fewer are quotations, names and slips."""

CODE, NUMBERS, SEQUENCES, EMOJI = "code or logs", "numbers", "sequences of letters", "emoji"
NO_LANGUAGE = (CODE, NUMBERS, SEQUENCES, EMOJI)
"""What texts are that are in no language."""

ANOTHER = "another language"
"""Latin letters with accents, or words that end as hardly one does in English, and words of grammar
of no language that is listed."""

UNDECIDED = "undecided"
"""Texts with too few words of grammar, in the Latin script."""

SIMPLE, OLD = "Chinese (simplified)", "Chinese (traditional)"

_BY_SCRIPT = {
    "Hangul": "Korean",
    "Thai": "Thai",
    "Greek": "Greek",
    "Hebrew": "Hebrew",
    "Armenian": "Armenian",
    "Georgian": "Georgian",
    "Lao": "Lao",
    "Khmer": "Khmer",
    "Myanmar": "Burmese",
    "Sinhala": "Sinhala",
    "Tamil": "Tamil",
    "Telugu": "Telugu",
    "Kannada": "Kannada",
    "Malayalam": "Malayalam",
    "Gujarati": "Gujarati",
    "Gurmukhi": "Punjabi",
    "Oriya": "Odia",
    "Tibetan": "Tibetan",
}
"""A script that one language writes, or nearly so, to that language."""

_WORDS = re.compile(r"[^\W\d_]+")
WIDTHS = ("FULLWIDTH", "HALFWIDTH", "MATHEMATICAL", "MODIFIER", "COMBINING")
"""Words before the script in the names of letters."""
_EAST = ("Han", "Hiragana", "Katakana", "Bopomofo")
_SPELT = ("Latin", "Cyrillic", "Arabic")
_TOLD = 4.0
"""Evidence, in nats, from which on a text is in a language."""
_CLEAR = 6.0
"""By how much more it must be in a relative of the most common language."""
_GRAMMAR_SHARE, _DIFFERENT, _TOGETHER = 0.06, 3, 5
"""Least share of the words of a text that are grammar, and least number of different ones, of one
text and of several that are decided together."""
_FOREIGN_LETTER = 2.5
_ENOUGH, _ACCENTED = 30, 0.1
"""Words of a text from which on it says that it is in none of the languages, and the share of them
that is not in ASCII then."""
_OPEN_OF_FEW, _OPEN_OF_MANY, _FEW, _MANY = 1 / 3, 0.2, 20, 100
"""Share of the different words in small letters that end in an open vowel from which on texts are
not in English, of few such words and of many, and what few and many are."""
_MOSTLY_ENGLISH = 0.25
"""Share of words of English grammar from which on texts are in English, however words end."""
_SMALL_WORDS = re.compile(r"(?<![^\W_])[a-z]{2,}(?![^\W_])")
_PART = 0.2
"""Least share of a text's letters that make a part of it in another script."""


@dataclass(frozen=True)
class TextLanguages:
    """The languages of the texts of a set.

    Attributes
    ----------
    languages
        Language, or what they are instead (`NO_LANGUAGE`, `UNDECIDED`), to the share of the texts,
        0 to 1, the largest first; empty where no text holds a sign.
    scripts
        Script to its share of the letters, 0 to 1, the largest first.
    n
        Texts that were looked at and hold a sign.
    """

    languages: Mapping[str, float]
    scripts: Mapping[str, float]
    n: int

    @classmethod
    def joined(cls, parts: Sequence[TextLanguages]) -> TextLanguages:
        """Combine several sets, weighted by their numbers of texts."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            _pooled([(part.languages, part.n) for part in parts]),
            _pooled([(part.scripts, part.n) for part in parts]),
            sum(part.n for part in parts),
        )

    @property
    def noticed(self) -> tuple[str, ...]:
        """Languages of at least a twentieth of the texts, and of two texts or half of all."""
        least = max(NOTICED, min(0.5, 1.9 / max(1, self.n)))
        return tuple(
            name for name, share in self.languages.items() if name not in _NONE and share >= least
        )

    @property
    def kind(self) -> str | None:
        """The kind of most texts that are in no language; None where most are in one."""
        shares = {name: self.languages.get(name, 0.0) for name in NO_LANGUAGE}
        most = max(shares, key=lambda name: shares[name])
        return most if sum(shares.values()) > 0.5 else None


_NONE = frozenset({*NO_LANGUAGE, UNDECIDED})


def is_described(name: str) -> bool:
    """Whether a language has a description instead of a name, as ``in Devanagari script``."""
    return name == ANOTHER or name.endswith(" script")


def sampled_rows(hashes: NDArray[np.bytes_]) -> NDArray[np.intp]:
    """Choose `SAMPLED` rows, evenly spaced in the order of all hashes; ascending."""
    count = len(hashes)
    keys = np.ascontiguousarray(hashes).view(np.uint64).reshape(count, -1)[:, 0]
    places = np.linspace(0, count - 1, SAMPLED).astype(np.intp)
    return np.sort(np.argsort(keys, kind="stable")[places])


def read_languages(texts: Sequence[str]) -> TextLanguages:
    """Find the languages of some texts.

    Examples
    --------
    >>> read_languages(["The house is on the hill.", "Das Haus ist nicht auf dem Berg."]).languages
    {'English': 0.5, 'German': 0.5}
    >>> read_languages(["これは本です。", "这是一本书。"]).languages
    {'Chinese (simplified)': 0.5, 'Japanese': 0.5}
    """
    texts = list(map(composed, texts))
    table = SignTable.of(texts)
    shares: dict[str, float] = {}
    parts = [part for part in text_parts(texts, table) if part]
    for part in parts:
        for name, share in part.items():
            shares[name] = shares.get(name, 0.0) + share
    letters = {name: int(column.sum()) for name, column in table.letters.items()}
    return TextLanguages(
        _largest({name: share / len(parts) for name, share in shares.items()}),
        _largest({name: n / max(1, sum(letters.values())) for name, n in letters.items() if n}),
        len(parts),
    )


def _pooled(sets: Sequence[tuple[Mapping[str, float], int]]) -> dict[str, float]:
    """Average shares of several sets, each with a weight."""
    total = sum(n for _, n in sets) or 1
    shares: dict[str, float] = {}
    for of, n in sets:
        for name, share in of.items():
            shares[name] = shares.get(name, 0.0) + share * n / total
    return _largest(shares)


def _largest(shares: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def text_parts(texts: Sequence[str], table: SignTable | None = None) -> list[dict[str, float]]:
    """Return for each text its languages and the share of each; empty without characters.

    Parameters
    ----------
    texts
        In NFC.
    table
        Their signs, where they are counted already.
    """
    table = SignTable.of(texts) if table is None else table
    parts: list[dict[str, float]] = [{} for _ in texts]
    spelt: dict[str, list[tuple[int, float]]] = {}
    for row in range(len(texts)):
        for script, share in _scripts_of_text(table, row).items():
            if script in _SPELT:
                spelt.setdefault(script, []).append((row, share))
            else:
                parts[row][_by_signs(script, table, row)] = share
        if table.visible[row] and not table.all_letters[row]:
            parts[row][EMOJI if table.pictures[row] > table.visible[row] / 2 else NUMBERS] = 1.0
    for script, found in sorted(spelt.items()):
        evidence = Evidence.of([texts[row] for row, _ in found], script)
        kinds: list[str | None] = [None] * len(found)
        if script == "Latin":
            told = evidence.best() >= 0
            kinds = [
                _no_language(table, row, texts[row], int(evidence.words[at]), told=bool(told[at]))
                for at, (row, _) in enumerate(found)
            ]
        prose = [at for at, kind in enumerate(kinds) if kind is None]
        names = dict(zip(prose, evidence.take(prose).called(), strict=True))
        for at, ((row, share), kind) in enumerate(zip(found, kinds, strict=True)):
            name = kind or names[at]
            parts[row][name] = parts[row].get(name, 0.0) + share
    return [_without_names(part) for part in parts]


def _without_names(parts: dict[str, float]) -> dict[str, float]:
    """Leave out Latin names and commands within a text of another script."""
    known = {name: share for name, share in parts.items() if name not in _NONE} or parts
    total = sum(known.values())
    return {name: share / total for name, share in known.items()}


def _scripts_of_text(table: SignTable, row: int) -> dict[str, float]:
    """The scripts of a good part of a text; those of Japanese and Chinese count as one."""
    counts: dict[str, float] = {}
    for script, column in table.letters.items():
        if n := int(column[row]):
            name = "East" if script in _EAST else script
            counts[name] = counts.get(name, 0.0) + n
    total = sum(counts.values())
    return {name: n / total for name, n in counts.items() if n >= _PART * total}


def _by_signs(script: str, table: SignTable, row: int) -> str:
    """Name the language of a script that needs no words."""
    if script != "East":
        return _BY_SCRIPT.get(script, f"{script} script")
    counts = [int(table.letters[name][row]) if name in table.letters else 0 for name in _EAST]
    if 20 * (counts[1] + counts[2]) > sum(counts):
        return "Japanese"
    simplified, traditional = table.simplified[row], table.traditional[row]
    if simplified == traditional:  # a short text is as the others are
        simplified, traditional = table.simplified.sum(), table.traditional.sum()
    return OLD if traditional > simplified else SIMPLE


def _no_language(table: SignTable, row: int, text: str, words: int, *, told: bool) -> str | None:
    """Tell what a text in Latin letters is, where it is no prose.

    Parameters
    ----------
    table, row
        Its signs.
    text
        The text.
    words
        How many it has.
    told
        Whether its words of grammar tell a language.
    """
    visible, letters = int(table.visible[row]), int(table.all_letters[row])
    signs, digits = table.signs[row] / visible, table.digits[row] / visible
    if table.pictures[row] > visible / 2:
        return EMOJI
    if 3 * letters < visible:
        return NUMBERS if signs < digits else CODE
    if letters >= 20 and _is_sequence(text, letters / max(1, words)):
        return SEQUENCES
    many = signs >= 0.07 and table.signs[row] >= 4
    if many or (not told and signs >= 0.02 and signs + digits >= 0.25):
        return CODE
    return None


def _is_sequence(text: str, length: float) -> bool:
    """Whether a text is long words of one case, or single letters apart."""
    return length > 18 or (length < 1.3 and text.upper() == text)


# Signs -------------------------------------------------------------------------------------------


class SignTable(NamedTuple):
    """Counts of the characters of each text by kind; each array of shape (n,).

    Attributes
    ----------
    letters
        Script to the number of its letters.
    all_letters, digits, signs, pictures
        Letters of any script, digits, signs that prose hardly has, and emoji and the like.
    visible
        All that is no white space, marks or format.
    simplified, traditional
        Chinese characters of which the other way of writing has another form.
    """

    letters: Mapping[str, NDArray[np.int64]]
    all_letters: NDArray[np.int64]
    digits: NDArray[np.int64]
    signs: NDArray[np.int64]
    pictures: NDArray[np.int64]
    visible: NDArray[np.int64]
    simplified: NDArray[np.int64]
    traditional: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> SignTable:
        """Count the characters of texts."""
        joined = "".join(texts).encode("utf-32-le", "surrogatepass")
        points = np.frombuffer(joined, np.uint32)
        used, places = np.unique(points, return_inverse=True)
        kinds = [sign_kind(chr(point)) for point in used.tolist()]
        names = sorted({*kinds, *_COUNTED})
        columns = np.array([names.index(kind) for kind in kinds], np.int64)
        rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        shape = (len(texts), len(names))
        cells = np.zeros(shape[0] * shape[1], np.int64)
        if len(points):
            cells = np.bincount(rows * shape[1] + columns[places], minlength=len(cells))
        table = dict(zip(names, cells.reshape(shape).T, strict=True))
        simplified, traditional = table.pop("Han:s"), table.pop("Han:t")
        if "Han" in table or simplified.any() or traditional.any():
            table["Han"] = table.get("Han", 0) + simplified + traditional
        letters = {name: table[name] for name in table if name not in _COUNTED}
        total = sum(letters.values(), np.zeros(len(texts), np.int64))
        counted = table[_DIGIT], table[_SIGN], table[_PICTURE]
        visible = total + sum(counted) + table[_POINT]
        return cls(letters, total, *counted, visible, simplified, traditional)


_SPACE, _DIGIT, _SIGN, _PICTURE, _POINT = " ", "0", "{", "☺", "."
_COUNTED = (_SPACE, _DIGIT, _SIGN, _PICTURE, _POINT, "Han:s", "Han:t")
_OF_CODE = frozenset("{}[]()<>=_/\\|+*&^%$#@~`;")
_SIMPLE, _OLD = frozenset(SIMPLIFIED), frozenset(TRADITIONAL)


@lru_cache(maxsize=1 << 15)
def sign_kind(sign: str) -> str:
    """Return the script of a letter, or the kind of another character.

    Examples
    --------
    >>> [sign_kind(sign) for sign in "жé7{."]
    ['Cyrillic', 'Latin', '0', '{', '.']
    """
    if sign in _OF_CODE:
        return _SIGN
    if sign.isalpha():
        if sign in _SIMPLE:
            return "Han:s"
        if sign in _OLD:
            return "Han:t"
        return script_of(sign)
    category = unicodedata.category(sign)
    if category[0] == "N":
        return _DIGIT
    if category[0] in "MZ" or category in ("Cc", "Cf"):
        return _SPACE
    return _PICTURE if category in ("So", "Co", "Cn", "Sk") else _POINT


@lru_cache(maxsize=1 << 15)
def script_of(sign: str) -> str:
    """Return the script of a letter, from the first word of its Unicode name.

    Examples
    --------
    >>> script_of("ж"), script_of("é"), script_of("漢")
    ('Cyrillic', 'Latin', 'Han')
    """
    words = unicodedata.name(sign, "other").split()
    script = next((word for word in words if word not in WIDTHS), "other")
    return "Han" if script == "CJK" else script.capitalize()


# Words -------------------------------------------------------------------------------------------


class _Lexicon(NamedTuple):
    """The languages of a script, and what their words of grammar and their letters say.

    Attributes
    ----------
    names
        The languages.
    numbers
        Word of grammar to its number.
    weights
        What each of them adds to each language, float64 of shape (words, languages).
    long
        1 for those of two letters or more, 0 for others, float64 of shape (words,).
    letters
        The letters of each language.
    """

    names: tuple[str, ...]
    numbers: Mapping[str, int]
    weights: NDArray[np.float64]
    long: NDArray[np.float64]
    letters: tuple[frozenset[str], ...]


@cache
def _lexicon(script: str) -> _Lexicon:
    names = tuple(name for name in GRAMMAR if SCRIPTS.get(name, "Latin") == script)
    listed = {name: list(dict.fromkeys(GRAMMAR[name].casefold().split())) for name in names}
    numbers = {word: at for at, word in enumerate(dict.fromkeys(chain(*listed.values())))}
    weights = np.zeros((len(numbers), len(names)))
    for place, name in enumerate(names):
        for rank, word in enumerate(listed[name]):
            weights[numbers[word], place] = np.log(1 + 200 / (rank + 3))
    letters = tuple(frozenset(LETTERS.get(name, "").casefold()) for name in names)
    return _Lexicon(
        names, numbers, weights, np.array([float(len(w) > 1) for w in numbers]), letters
    )


@lru_cache(maxsize=1 << 14)
def _penalty_of(word: str, script: str) -> NDArray[np.float64] | None:
    """What the letters of a word take from each language that does not write them; None if none."""
    if script == "Latin":
        signs = frozenset(s for s in word if s > "\x7f" and script_of(s) == script)
    else:
        signs = frozenset(word)
    letters = _lexicon(script).letters
    taken = np.array([0.0 if signs <= own else _FOREIGN_LETTER for own in letters])
    return taken if taken.any() else None


def _is_in(word: str, script: str) -> bool:
    """Whether a word begins with a letter of a script."""
    return (word.isascii() and script == "Latin") or script_of(word[0]) == script


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence from function words for each language of a script, by text.

    Attributes
    ----------
    script
        Which script.
    words
        Words of each text, shape (n,).
    accented
        Different words of each that are not in ASCII, shape (n,).
    known
        The numbers of the different words of grammar of each, n arrays.
    score, hits, different
        Evidence for each language in nats, its words of grammar, and the different ones of two
        letters or more, shape (n, languages).
    small
        Different words of each in small letters of ASCII, of two letters or more.
    """

    script: str
    words: NDArray[np.int64]
    accented: NDArray[np.int64]
    known: Sequence[NDArray[np.int64]]
    score: NDArray[np.float64]
    hits: NDArray[np.float64]
    different: NDArray[np.float64]
    small: Sequence[frozenset[str]]

    @classmethod
    def of(cls, texts: Sequence[str], script: str) -> Evidence:
        """Count the function words in texts."""
        lexicon = _lexicon(script)
        shape = len(texts), len(lexicon.names)
        score, hits, different = np.zeros((3, *shape))
        words, accented = np.zeros((2, len(texts)), np.int64)
        known, small = [], []
        there = (lexicon.weights > 0).astype(float)
        for row, text in enumerate(texts):
            counts = Counter(_WORDS.findall(text.casefold()))
            if not text.isascii():
                counts = Counter({w: n for w, n in counts.items() if _is_in(w, script)})
            listed = [(lexicon.numbers[w], n) for w, n in counts.items() if w in lexicon.numbers]
            numbers, times = np.array(listed, np.int64).reshape(-1, 2).T
            known.append(numbers)
            small.append(frozenset(_SMALL_WORDS.findall(text) if script == "Latin" else ()))
            words[row] = sum(counts.values())
            # The same word over and over says little more than once
            score[row] = np.minimum(times, 3) @ lexicon.weights[numbers]
            hits[row] = times @ there[numbers]
            different[row] = lexicon.long[numbers] @ there[numbers]
            for word in counts if not text.isascii() else ():
                if not word.isascii():
                    penalty = _penalty_of(word, script)
                    accented[row] += script == "Latin" and penalty is not None
                    score[row] -= 0 if penalty is None else penalty
        return cls(script, words, accented, known, score, hits, different, small)

    def take(self, rows: Sequence[int]) -> Evidence:
        """Keep the evidence on some texts."""
        rows = list(rows)
        return Evidence(
            self.script,
            self.words[rows],
            self.accented[rows],
            [self.known[row] for row in rows],
            self.score[rows],
            self.hits[rows],
            self.different[rows],
            [self.small[row] for row in rows],
        )

    def joined(self) -> Evidence:
        """Sum the evidence over all texts."""
        lexicon = _lexicon(self.script)
        known = np.unique(np.concatenate([np.zeros(0, np.int64), *self.known]))
        different = lexicon.long[known] @ (lexicon.weights[known] > 0).astype(float)
        return Evidence(
            self.script,
            self.words.sum(keepdims=True),
            self.accented.sum(keepdims=True),
            [known],
            self.score.sum(axis=0, keepdims=True),
            self.hits.sum(axis=0, keepdims=True),
            different[None],
            [frozenset[str]().union(*self.small)],
        )

    def best(self, different: int = _DIFFERENT) -> NDArray[np.int64]:
        """Return the number of each text's language, -1 where the evidence is too weak.

        Parameters
        ----------
        different
            Least number of different words of grammar of two letters or more.
        """
        if not len(self.words):
            return np.zeros(0, np.int64)
        names, rows = _lexicon(self.script).names, np.arange(len(self.words))
        place = np.argmax(self.score, axis=1)
        english = names.index("English") if "English" in names else None
        told = (
            (self.score[rows, place] >= _TOLD)
            & (self.different[rows, place] >= different)
            & (self.hits[rows, place] >= _GRAMMAR_SHARE * self.words)
        )
        if english is not None:
            beyond = self.score[rows, place] - self.score[:, english]
            told &= np.where(place == english, ~self.ends_open(), beyond >= _TOLD)
        return np.where(told, place, -1)

    def ends_open(self) -> NDArray[np.bool_]:
        """Whether words of each text end unlike English ones, bool of shape (n,)."""
        open_words = [sum(word[-1] in "aiou" for word in words) for words in self.small]
        different = np.array(list(map(len, self.small)), np.int64)
        least = np.where(different >= _MANY, _OPEN_OF_MANY, _OPEN_OF_FEW)
        hits = self.hits[:, _lexicon(self.script).names.index("English")]
        return (
            (different >= _FEW)
            & (np.array(open_words, np.int64) >= least * different)
            & (hits < _MOSTLY_ENGLISH * self.words)
        )

    def unknown(self) -> str:
        """Describe a text that is in none of these languages."""
        if self.script != "Latin":
            return f"{self.script} script"
        names, enough = _lexicon(self.script).names, int(self.words[0]) >= _ENOUGH
        english = self.hits[0, names.index("English")] / max(1, int(self.words[0]))
        accented = self.accented[0] >= _ACCENTED * self.words[0] and english < _MOSTLY_ENGLISH
        return ANOTHER if enough and (accented or self.ends_open()[0]) else UNDECIDED

    def called(self) -> list[str]:
        """Name the language of each text, using what the other texts make likely."""
        names, first = _lexicon(self.script).names, self.best()
        undecided = np.flatnonzero(first < 0)
        joined = self.take(undecided.tolist()).joined()
        none = joined.unknown()
        if len(undecided):
            first[undecided] = joined.best(_TOGETHER)[0]
        told = np.flatnonzero(first >= 0)
        if not len(told):
            return [none] * len(first)
        counts = np.bincount(first[told], minlength=len(names))
        common = int(np.argmax(counts))
        beyond = self.score[told, first[told]] - self.score[told, common]
        clear = np.bincount(first[told][beyond >= _CLEAR], minlength=len(names))
        kept = clear >= NOTICED * len(told)
        kept[common] = True
        among = np.where(kept, self.score, -np.inf).argmax(axis=1)
        spoken = joined.score[0, common]
        if self.script != "Latin" and (spoken > 0 or (not spoken and joined.words[0] < _ENOUGH)):
            none = names[common]  # nothing speaks against it
        return [names[at] if place >= 0 else none for at, place in zip(among, first, strict=True)]
