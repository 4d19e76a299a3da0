"""Word counts of a set of texts, and the keywords of regions.

Regions are named by class-based TF-IDF.

A word w of region c weighs tf(w, c)·log(1 + A / f(w)): its share of the region's words, the average
number A of words in a region, and how often f it is used anywhere (Grootendorst, "BERTopic",
2022, section 3.3). The share is counted in the texts of one side: in the reference's where they
are under-represented, in the generated ones where they are over-represented, so that keywords name
what is too rare or too common and not what both have.

Words that are as common elsewhere tell nothing. Without a list of stop words, and so in any
language, two rules leave them out: a word must be used twice as often in the region as outside it,
and it must not make up a thousandth of the words of most topics. Scripts without spaces have rules
of their own beside these (:mod:`calipers.explain.unspaced`). A third spares single persons: a
word must occur in five texts of the region, in two to four where both sets together have fewer than
200, so that a report without texts does not carry a name that only one text had.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.explain.unspaced import (
    EDGE,
    best_ngrams,
    is_fragment,
    is_ngram,
    name_candidates,
    repeated_candidates,
)
from calipers.numeric.arrays import Floats
from calipers.unicode.composition import composed
from calipers.unicode.written_words import is_spaced

Labels = NDArray[np.integer]

SHOWN = 10
LIFT = 2.0
COMMON = 1e-3
FEWEST_TEXTS = 5
SAMPLED = 5000
CONSIDERED = 300

APOSTROPHES = str.maketrans("’ʼ", "''")
# An apostrophe that counts as a letter keeps "don't" together, so that it can be left out whole
ENGLISH_NOT = "nʼt"
# What English and French hang on with one: 's, 're, d'
HUNG_ON = re.compile(r"(?<=\w)'\w{1,2}\b")
ZERO_WIDTH_SPACE = "\u200b"
LONGEST = 40


@dataclass(frozen=True, eq=False, repr=False)
class WordCounts:
    """Frequencies of words in a set of texts, in total and by text.

    Count a reference once with :meth:`of`, and pass the counts to all evidence with it.

    Attributes
    ----------
    vocabulary
        The different words, casefolded, in the order of their first use.
    counts
        How often each text uses each word: a sparse matrix, shape ``(texts, words)``.
    """

    vocabulary: tuple[str, ...]
    counts: Any

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __repr__(self) -> str:
        return f"Words({len(self):,} texts, {len(self.vocabulary):,} different words)"

    @classmethod
    def of(cls, texts: Sequence[str]) -> WordCounts:
        """Count the words of texts.

        A word is a run of letters and their marks in any script, casefolded. Omitted are parts
        after an apostrophe (``'s``, ``don't``), single letters of scripts that have capitals, and
        runs of more than 40 letters. Of scripts that put no spaces between words, n-grams of
        characters are counted (:mod:`calipers.explain.unspaced`); of sets of more than 5,000 texts
        those that as many texts, spread evenly, hold twice.

        Raises
        ------
        InputError
            If an item is not a string.
        """
        known = (
            None if len(texts) <= SAMPLED else repeated_candidates(texts[:: len(texts) // SAMPLED])
        )
        chunks = _Chunks(known)
        flat, starts = array("i"), array("q", [0])
        for row, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise InputError(f"texts must be strings; row {row} is {type(text).__name__}")
            flat.extend(map(chunks.__getitem__, text.split()))
            starts.append(len(flat))
        used = _matrix(flat, starts, len(chunks))
        return cls(tuple(chunks.vocabulary), (used @ chunks.words()).tocsr())

    def aligned(self, other: WordCounts) -> tuple[tuple[str, ...], Any, Any]:
        """Return both sets' counts over one vocabulary: these words, then the other's new ones."""
        from scipy import sparse

        place = {word: number for number, word in enumerate(self.vocabulary)}
        numbers = [place.setdefault(word, len(place)) for word in other.vocabulary]
        theirs = other.counts.tocoo()
        columns = np.array(numbers, np.int32)[theirs.col]
        joined = (theirs.data, (theirs.row, columns))
        mine = self.counts.copy()
        mine.resize(len(self), len(place))
        return tuple(place), mine, sparse.csr_matrix(joined, shape=(len(other), len(place)))


class _Chunks(dict[str, int]):
    """Numbers what stands between white space, and cuts it into words when it is new."""

    def __init__(self, known: Collection[str] | None) -> None:
        super().__init__()
        self._known = known
        self.vocabulary: dict[str, int] = {}
        self._flat, self._starts = array("i"), array("q", [0])
        self._letters = _Letters()

    def __missing__(self, chunk: str) -> int:
        number = self[chunk] = len(self)
        for word in self._cut(chunk):
            self._flat.append(self.vocabulary.setdefault(word, len(self.vocabulary)))
        self._starts.append(len(self._flat))
        return number

    def words(self) -> Any:
        """How often each chunk holds each word: a sparse matrix, shape ``(chunks, words)``."""
        return _matrix(self._flat, self._starts, len(self.vocabulary))

    def _cut(self, chunk: str) -> list[str]:
        folded = composed(chunk).casefold()
        if not folded.isalpha():
            folded = folded.translate(APOSTROPHES).replace("n't", ENGLISH_NOT)
            folded = HUNG_ON.sub(" ", folded).translate(self._letters)
        words = folded.split()
        if not is_spaced(folded):
            words = [
                word
                for run in words
                for word in name_candidates(run)
                if self._known is None or not is_ngram(word) or word in self._known
            ]
        return list(filter(_names, words))


class _Letters(dict[int, str | None]):
    """What each character becomes: itself, nothing, or the space that ends a word."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kind = unicodedata.category(letter)
        becomes: str | None = letter if kind[0] in "LM" else " "
        if kind == "Cf" and letter != ZERO_WIDTH_SPACE:  # marks of direction, soft hyphens
            becomes = None
        self[code] = becomes
        return becomes


def _names(word: str) -> bool:
    """Whether a word can name something."""
    single = len(word) == 1 and word != word.upper()
    return not single and len(word) <= LONGEST and not word.endswith(ENGLISH_NOT)


def _matrix(flat: array[int], starts: array[int], columns: int) -> Any:
    """How often each row holds each number: the numbers of all rows end to end."""
    from scipy import sparse

    numbers: NDArray[np.int32] = np.array(flat, np.int32)
    parts = np.ones(len(numbers), np.int32), numbers, np.array(starts, np.int64)
    counts = sparse.csr_matrix(parts, shape=(len(starts) - 1, columns))
    counts.sum_duplicates()
    return counts


class Keywords:
    """Names regions by the words of their texts.

    Parameters
    ----------
    reference, generated
        The counted words of both sets.
    topics
        The topic of every reference and of every generated text: words that are common in most
        topics name nothing.
    """

    def __init__(
        self, reference: WordCounts, generated: WordCounts, topics: tuple[Labels, Labels]
    ) -> None:
        self._vocabulary, *self._counts = reference.aligned(generated)
        self._present = [_present(counts) for counts in self._counts]
        first, second = (_row(counts.sum(axis=0)) for counts in self._counts)
        self._used = first + second
        self._total = float(self._used.sum())
        # A word of fewer texts may be the name of a single person
        texts = len(reference) + len(generated)
        self._fewest = min(FEWEST_TEXTS, max(2, texts // 40))
        self._common = self._in_most(topics, COMMON)
        self._part_of_phrase = self._phrases(topics)

    def of(
        self, labels: tuple[Labels, Labels], regions: int, sides: Mapping[int, int]
    ) -> list[tuple[str, ...]]:
        """Return the keywords of some regions, the most typical first.

        Parameters
        ----------
        labels
            The region of every reference and of every generated text.
        regions
            How many there are.
        sides
            For the regions in question whose texts to read: 0 the reference's, 1 the generated.
        """
        members = [_members(side_labels, regions) for side_labels in labels]
        used = [part @ side_counts for part, side_counts in zip(members, self._counts, strict=True)]
        texts = [
            part @ side_counts for part, side_counts in zip(members, self._present, strict=True)
        ]
        both, spread = (sum(pair).tocsr() for pair in (used, texts))
        return [
            self._name(used[side][place], both[place], spread[place], self._total / regions)
            for place, side in sides.items()
        ]

    def _name(self, region_counts: Any, both: Any, texts: Any, average: float) -> tuple[str, ...]:
        words, counts = region_counts.indices, region_counts.data.astype(np.float64)
        if not len(words):
            return ()
        share, used = counts / counts.sum(), self._used[words]
        inside, spread = _row(both[:, words].todense()), _row(texts[:, words].todense())
        elsewhere = (used - inside) / max(self._total - float(both.sum()), 1.0)
        telling = (spread >= self._fewest) & (share >= LIFT * elsewhere) & ~self._common[words]
        weights = np.where(telling, share * np.log1p(average / used), 0.0)
        weights[self._part_of_phrase[words]] = 0.0
        order = np.lexsort((words, -weights))[: min(CONSIDERED, int((weights > 0).sum()))]
        named = [self._vocabulary[words[i]] for i in order]
        chosen = best_ngrams(named, weights[order], counts[order], SHOWN)
        return tuple(named[place] for place in chosen)

    def _phrases(self, topics: tuple[Labels, Labels]) -> NDArray[np.bool_]:
        """Which n-grams name nothing: single units, and what a common unit happens to touch."""
        places = [place for place, word in enumerate(self._vocabulary) if is_ngram(word)]
        phrases = np.zeros(len(self._vocabulary), np.bool_)
        if not places:
            return phrases
        frequent = np.flatnonzero(self._in_most(topics, EDGE))
        common = {self._vocabulary[place] for place in frequent.tolist()}
        uses = {self._vocabulary[place]: float(self._used[place]) for place in places}
        for place in places:
            phrases[place] = is_fragment(self._vocabulary[place], common, uses)
        return phrases

    def _in_most(self, topics: tuple[Labels, Labels], least: float) -> NDArray[np.bool_]:
        """Which words make up such a share of the words of at least half of the topics."""
        count = max(int(side_labels.max()) for side_labels in topics) + 1
        parts = [
            _members(side_labels, count) @ counts
            for side_labels, counts in zip(topics, self._counts, strict=True)
        ]
        used = sum(parts).tocsr()
        sizes = np.maximum(_row(used.sum(axis=1)), 1.0)
        used.data = used.data >= least * np.repeat(sizes, np.diff(used.indptr))
        in_most: NDArray[np.bool_] = _row(used.sum(axis=0)) > count / 2
        return in_most


def _members(labels: Labels, regions: int) -> Any:
    """One row for each region, with a 1 for each of its texts."""
    from scipy import sparse

    places = labels, np.arange(len(labels))
    ones = np.ones(len(labels), np.int32)
    return sparse.csr_matrix((ones, places), shape=(regions, len(labels)))


def _present(counts: Any) -> Any:
    present = counts.copy()
    present.data = np.ones_like(present.data)
    return present


def _row(matrix: Any) -> Floats:
    return np.asarray(matrix, np.float64).ravel()
