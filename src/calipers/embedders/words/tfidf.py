"""TF-IDF weights of words, projected on the leading axes of the reference, without a model.

Weights and axes are those of :mod:`calipers.embedders.words.fitted_axes`, fitted in two halves of
the reference; which half a text is in depends on its words alone. Each half equals scikit-learn's
``TfidfVectorizer(sublinear_tf=True, min_df=2)`` and ``TruncatedSVD`` on the same words. It does not
see the order of words, their case, spelling or meaning: a word that the reference does not hold is
unknown, and the share of those is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import Embedder, EncodedBatch
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.words.fitted_axes import (
    LEAST_TEXTS,
    SIZE,
    Bag,
    Halves,
    HalvesReader,
    UnfittedAxes,
    border_of,
    fit_halves,
    least_draws,
)
from calipers.embedders.words.words import REMEMBERED, UNKNOWN, Chunks, parts, split_chunk
from calipers.errors import InputError
from calipers.unicode.composition import composed
from calipers.unicode.words import word_count
from calipers.unicode.written_words import split_words

_ROUND = 1 << 64


class Bags:
    """Makes bags of words; the words of each whitespace-separated chunk are remembered.

    Parameters
    ----------
    number
        Gives a word its number, or `UNKNOWN`.
    """

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number, self._chunks = number, Chunks(self._cut)
        self._draws: dict[str, int] = {}

    def of(self, samples: Sequence[Any], *, first: int = 1) -> Iterator[Bag]:
        """Make the bag of each text or list of token ids; messages count them from `first`.

        Raises
        ------
        InputError
            If a sample is neither.
        """
        for row, sample in enumerate(samples, start=first):
            if len(self._chunks) > REMEMBERED:
                self._chunks.clear()
                self._draws.clear()
            chunks = _chunks_of(sample, row)
            words = self._chunks.of(chunks)
            known, counts = np.unique(words[words != UNKNOWN], return_counts=True)
            draw = sum(map(self._draws.__getitem__, chunks)) % _ROUND
            read = self._chunks.read(chunks)
            yield Bag(known, counts.astype(np.int32), len(words), draw, read)

    def _cut(self, chunk: str) -> Iterator[tuple[str, int]]:
        """Return the numbers of a chunk's words, and keep what it adds to the draw of a text."""
        words = [part for word in split_chunk(composed(chunk).lower()) for part in parts(word)]
        self._draws[chunk] = sum(map(_draw, words)) % _ROUND
        return ((word, self._number(word)) for word in words)


def _chunks_of(sample: Any, row: int) -> list[str]:
    if isinstance(sample, str):
        return split_words(sample)  # few and short, so that most were met before
    ids = np.asarray(sample)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InputError(
            f"sample {row} must be a text or a list of token ids; found {type(sample).__name__}"
        )
    return list(map(str, ids.tolist()))  # a token id is a word like any other


def _draw(word: str) -> int:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


MOST_WORDS = 50_000
"""Most words that are known: those that stand in the most texts."""
MOST_TEXTS = 50_000
"""Most texts that are fitted on; of a larger reference those with the smallest draws."""
_AT_ONCE = 1024
CHOICES = f"sublinear|df:{LEAST_TEXTS}|words:{MOST_WORDS}|texts:{MOST_TEXTS}|halves|lower|nfc|units"


@dataclass(frozen=True, eq=False)
class TfidfFit:
    """The fit of TF-IDF on a reference.

    Attributes
    ----------
    vocabulary
        Word to its number.
    halves
        What was fitted on each half.
    digest
        Hex SHA-256 of the reference's samples.
    """

    vocabulary: dict[str, int]
    halves: Halves
    digest: str


def fit(samples: Iterable[Any], *, components: int) -> TfidfFit:
    """Fit TF-IDF and axes on each half of a reference.

    Parameters
    ----------
    samples
        Texts or lists of token ids; they are gone through once.
    components
        Most axes of each half.

    Raises
    ------
    InputError
        If there are fewer than four texts with different words.
    """
    bags, words, digest = _read(samples)
    border = border_of(bags, Tfidf.name)
    vocabulary, bags = _in_order(words, bags)
    halves = fit_halves(
        bags,
        len(vocabulary),
        border,
        components=components,
        most=MOST_WORDS,
        embedder=Tfidf.name,
    )
    return TfidfFit(vocabulary, halves, digest)


def _read(samples: Iterable[Any]) -> tuple[list[Bag], list[str], str]:
    """Make bags of all samples, or of a random choice of many; give all words and the hash."""
    numbers: dict[str, int] = {}
    bags = Bags(lambda word: numbers.setdefault(word, len(numbers)))
    digest, chosen_bags = hashlib.sha256(), list[Bag]()
    remaining, first = iter(samples), 1
    while block := list(islice(remaining, _AT_ONCE)):
        chosen_bags += bags.of(block, first=first)
        for sample in block:
            if isinstance(sample, str):
                content = b"t" + sample.encode("utf-8", "surrogatepass")
            else:
                content = b"i" + np.asarray(sample).astype("<i8").tobytes()
            digest.update(len(content).to_bytes(8, "little") + content)
        first += len(block)
        if len(chosen_bags) > 2 * MOST_TEXTS:
            chosen_bags = least_draws(chosen_bags, MOST_TEXTS)
    return least_draws(chosen_bags, MOST_TEXTS), list(numbers), digest.hexdigest()


def _in_order(words: list[str], bags: list[Bag]) -> tuple[dict[str, int], list[Bag]]:
    """Number the words of the bags in alphabetical order, so that no order of texts matters."""
    used = np.unique(np.concatenate([bag.terms for bag in bags]))
    order = sorted(used.tolist(), key=words.__getitem__)
    number = np.full(len(words), UNKNOWN, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    renumbered = []
    for bag in bags:
        places = np.argsort(number[bag.terms])
        renumbered.append(bag._replace(terms=number[bag.terms][places], counts=bag.counts[places]))
    return {words[old]: new for new, old in enumerate(order)}, renumbered


class FittedTfidf(Embedder):
    """TF-IDF on the leading axes of a reference, made by :meth:`Tfidf.fitted`."""

    name = "tfidf"
    views = ("wording",)
    reads = frozenset({"texts", "tokens"})
    leaves_out = True
    kept = False

    def __init__(self, reference_fit: TfidfFit) -> None:
        import scipy

        components = [len(half.axes) for half in reference_fit.halves.axes]
        self._bags = Bags(lambda word: reference_fit.vocabulary.get(word, UNKNOWN))
        self._reader = HalvesReader(reference_fit.halves)
        self._sizes = np.array([word_count(word) for word in reference_fit.vocabulary], np.int64)
        self.signature = {"embedder": self.name, "revision": reference_fit.digest[:12]}
        self.view_signature = {"wording": f"svd_{sum(components)}_halves"}
        versions = f"numpy:{np.__version__}|scipy:{scipy.__version__}"
        self.identity = f"tfidf|{reference_fit.digest}|components:{components}|{CHOICES}|{versions}"

    def encode(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed texts or lists of token ids, each by the half of the reference that it is not in.

        Returns
        -------
        EncodedBatch
            ``wording``, float32 of shape (n, d); a row of zeros where no word is known.

        Raises
        ------
        InputError
            If a sample is neither a text nor a list of token ids.
        """
        bags = list(self._bags.of(samples))
        counts = [
            self._read(bag, self._reader.idf[half])
            for bag, half in zip(bags, self._reader.read_by(bags), strict=True)
        ]
        return EncodedBatch(
            {"wording": self._reader.vectors(bags)},
            np.zeros(len(bags), np.bool_),
            ReadingCounts.of(counts),
        )

    def _read(self, bag: Bag, idf: NDArray[np.float64]) -> tuple[int, int]:
        """Count the words of a text, and those that have no weight in a half."""
        words, unread = bag.reading
        lost = idf[bag.terms] == 0
        word_sizes = self._sizes[bag.terms[lost]]
        sizes = np.maximum(word_sizes, 1)  # punctuation is no word, unless it is unknown
        times = bag.counts[lost]
        every = words + int(times @ (sizes - word_sizes))
        return every, min(every, unread + int(times @ sizes))


TAKES = frozenset({"size"})


def load(name: str, options: EmbedderOptions) -> Tfidf:
    """Make the embedder, which is fitted on a reference later."""
    return Tfidf(size=options.size or SIZE)


class Tfidf(UnfittedAxes):
    """TF-IDF and its leading axes, before fitting."""

    name = "tfidf"
    views = ("wording",)
    reads = frozenset({"texts", "tokens"})

    def fitted(self, samples: Iterable[Any]) -> FittedTfidf:
        """Fit weights and axes on the reference.

        Parameters
        ----------
        samples
            The reference: texts, or lists of token ids.

        Raises
        ------
        InputError
            If there are fewer than four texts with different words.
        """
        fitted = FittedTfidf(fit(samples, components=self._components))
        fitted.unfitted = self
        return fitted
