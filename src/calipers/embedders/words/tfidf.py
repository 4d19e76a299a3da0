"""Texts as TF-IDF weights of their words on the leading axes of the reference: no model at all.

Term frequency is 1 + ln(count), inverse document frequency ln((1 + n) / (1 + df)) + 1, rows have
length one; the axes are the leading right singular vectors, those of latent semantic analysis. They
are fitted on the reference alone, so that adding a system changes nothing, and whatever the order
of its texts.

A text that the axes were fitted on lies farther out on them than any other text can: fitted on 250
stories and asked about 250 others by the same people, the plain recipe gives a recall of 0.11. So
the reference is fitted in two halves, and every text, reference or generated, is read by the half
that it is not in; which half that is depends on its words alone. With P_h the projection on the
axes of half h, words(x) = P_{h(x)} tfidf_{h(x)}(x), as coordinates in the span of all axes.

Each half equals scikit-learn's ``TfidfVectorizer(sublinear_tf=True, min_df=2)`` and
``TruncatedSVD`` on the same words. It does not see the order of words, their case, spelling or
meaning: a word that the reference does not hold is unknown, and the share of those is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from calipers.embedders.embedder import Embedder, EncodedBatch
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.reading import ReadingCounts, word_count
from calipers.embedders.words.words import REMEMBERED, UNKNOWN, Chunks, parts, split_chunk
from calipers.errors import InputError

_ROUND = 1 << 64


class Bag(NamedTuple):
    """The words of a text without their order.

    Attributes
    ----------
    words
        Numbers of the different words in rising order, int32; those unknown are left out.
    counts
        How often each occurs, int32.
    length
        Words of the text, unknown ones too.
    draw
        A number below 2^64 that is as good as random, and the same for equal bags.
    reading
        Words of the text without punctuation, and how many of them have no number.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    length: int
    draw: int
    reading: tuple[int, int] = (0, 0)


class Bags:
    """Makes bags; what stands between white space is cut into words once and remembered.

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
        """Give the numbers of a chunk's words, and keep what it adds to the draw of a text."""
        words = [part for word in split_chunk(chunk.lower()) for part in parts(word)]
        self._draws[chunk] = sum(map(_draw, words)) % _ROUND
        return ((word, self._number(word)) for word in words)


def _chunks_of(sample: Any, row: int) -> list[str]:
    if isinstance(sample, str):
        return sample.split()
    ids = np.asarray(sample)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InputError(
            f"sample {row} must be a text or a list of token ids; found {type(sample).__name__}"
        )
    return list(map(str, ids.tolist()))  # a token id is a word like any other


def _draw(word: str) -> int:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


LEAST_TEXTS = 2
"""A word that stands in fewer texts of the reference is unknown."""
MOST_WORDS = 50_000
"""Most words that are known: those that stand in the most texts."""
_ROUNDS, _SPARE = 4, 16
"""Power iterations of the randomised SVD, and axes that it finds beyond those that are kept."""


@dataclass(frozen=True, eq=False)
class Axes:
    """What was fitted.

    Attributes
    ----------
    idf
        Weight of each word, float64 of shape (words,); 0 for one that is unknown.
    axes
        Orthonormal rows, float64 of shape (components, words).
    """

    idf: NDArray[np.float64]
    axes: NDArray[np.float64]


def fit_axes(bags: Sequence[Bag], words: int, *, components: int) -> Axes | None:
    """Fit weights and axes.

    Parameters
    ----------
    bags
        Bags whose words are numbered below `words`.
    words
        How many words have a number.
    components
        Most axes; there are fewer than texts and known words in any case.

    Returns
    -------
    Axes or None
        None if there are not two texts and two words.
    """
    texts = np.bincount(np.concatenate([bag.words for bag in bags]), minlength=words)
    least = LEAST_TEXTS if np.count_nonzero(texts >= LEAST_TEXTS) > 1 else 1
    known = np.flatnonzero(texts >= least)
    if len(known) > MOST_WORDS:
        known = np.sort(known[np.argsort(-texts[known], kind="stable")[:MOST_WORDS]])
    components = min(components, len(bags) - 1, len(known) - 1)
    if components < 1:
        return None
    idf = np.zeros(words)
    idf[known] = np.log((1 + len(bags)) / (1 + texts[known])) + 1
    axes = np.zeros((components, words))
    axes[:, known] = leading_axes(weigh(bags, idf)[:, known], components)
    return Axes(idf, axes)


def leading_axes(rows: Any, components: int) -> NDArray[np.float64]:
    """Find the leading right singular vectors of a sparse matrix, each up to its sign.

    By power iterations from a random start (Halko, Martinsson and Tropp, 2011, algorithm 4.4). The
    start is random in the columns, so that the order of the rows cannot matter. The vectors are
    those of scikit-learn's ``randomized_svd`` from the same start, to rounding.

    Returns
    -------
    ndarray
        Shape (components, columns), orthonormal rows.
    """
    from scipy.linalg import qr, svd

    def basis(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(qr(vectors, mode="economic", check_finite=False)[0])

    span = np.random.RandomState(0).normal(size=(rows.shape[1], components + _SPARE))
    for _ in range(_ROUNDS):
        span = basis(rows.T @ basis(rows @ span))
    span = basis(rows @ span)
    right_vectors = svd(span.T @ rows, full_matrices=False, check_finite=False)[2]
    return np.asarray(right_vectors[:components])


def weigh(bags: Sequence[Bag], idf: NDArray[np.float64]) -> Any:
    """Give bags as rows of TF-IDF weights, each of length one or zero.

    Returns
    -------
    scipy.sparse.csr_array
        float64 of shape (bags, words).
    """
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(len(bag.words) for bag in bags)])
    words = np.concatenate([np.empty(0, np.int32), *(bag.words for bag in bags)])
    counts = np.concatenate([np.empty(0, np.int32), *(bag.counts for bag in bags)])
    weights = (1 + np.log(counts)) * idf[words]
    rows = csr_array((weights, words, starts), shape=(len(bags), len(idf)))
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(starts))
    return rows


def common_axes(halves: Sequence[Axes]) -> list[NDArray[np.float32]]:
    """Bring the axes of both halves into one space, without changing a distance.

    A text projected on its half's axes is x·VᵀV, a row in the space of all words. All these rows
    lie in the span of both halves' axes, so they are told by their coordinates in it.

    Returns
    -------
    list of array
        For each half float32 of shape (words, sum of components): weights to coordinates.
    """
    basis = np.linalg.qr(np.concatenate([half.axes for half in halves]).T)[0]
    largest = basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])]
    basis *= np.where(largest < 0, -1, 1)
    return [(half.axes.T @ (half.axes @ basis)).astype(np.float32) for half in halves]


MOST_TEXTS = 50_000
"""Most texts that are fitted on; of a larger reference those with the smallest draws."""
_AT_ONCE = 1024
_LEAST = 4
CHOICES = f"sublinear|df:{LEAST_TEXTS}|words:{MOST_WORDS}|texts:{MOST_TEXTS}|halves|lower"


@dataclass(frozen=True, eq=False)
class TfidfFit:
    """What was fitted on a reference.

    Attributes
    ----------
    vocabulary
        Word to its number.
    halves
        Weights of the words in the lower and in the upper half, by the draw of a text.
    border
        The least draw of the upper half.
    digest
        Hex SHA-256 of the reference's samples.
    """

    vocabulary: dict[str, int]
    halves: tuple[Axes, Axes]
    border: int
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
    draws = sorted({bag.draw for bag in bags if bag.length})
    if len(draws) < _LEAST:
        raise _too_small(len(draws))
    border = draws[len(draws) // 2]
    vocabulary, bags = _in_order(words, bags)
    # An empty text has no words to learn from, but it would be counted
    filled = [bag for bag in bags if bag.length]
    sides = [[bag for bag in filled if (bag.draw >= border) == upper] for upper in (False, True)]
    fit_side = partial(fit_axes, words=len(vocabulary), components=components)
    # One thread of BLAS each: as fast for such small matrices, and the same to the last bit
    with threadpool_limits(1), ThreadPoolExecutor(2) as pool:
        lower, upper = pool.map(fit_side, sides)
    if lower is None or upper is None:
        raise _too_small(len(draws))
    return TfidfFit(vocabulary, (lower, upper), border, digest)


def _too_small(words: int) -> InputError:
    return InputError(
        f"the embedder 'tfidf' must be fitted on a reference of at least {_LEAST} texts with "
        f"different words, and hundreds to be of use; found {words}. Choose an embedder that is "
        "not fitted, such as 'minilm'"
    )


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
            chosen_bags = _chosen(chosen_bags)
    return _chosen(chosen_bags), list(numbers), digest.hexdigest()


def _chosen(bags: list[Bag]) -> list[Bag]:
    """Keep the texts with the smallest draws, in their order: a choice that no order can bias."""
    if len(bags) <= MOST_TEXTS:
        return bags
    border = np.partition(np.array([bag.draw for bag in bags], np.uint64), MOST_TEXTS)[MOST_TEXTS]
    return [bag for bag in bags if bag.draw < border]


def _in_order(words: list[str], bags: list[Bag]) -> tuple[dict[str, int], list[Bag]]:
    """Number the words of the bags in alphabetical order, so that no order of texts matters."""
    used = np.unique(np.concatenate([bag.words for bag in bags]))
    order = sorted(used.tolist(), key=words.__getitem__)
    number = np.full(len(words), UNKNOWN, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    renumbered = []
    for bag in bags:
        places = np.argsort(number[bag.words])
        renumbered.append(bag._replace(words=number[bag.words][places], counts=bag.counts[places]))
    return {words[old]: new for new, old in enumerate(order)}, renumbered


class FittedTfidf(Embedder):
    """TF-IDF on the leading axes of a reference. Made by :meth:`Tfidf.fitted`."""

    name = "tfidf"
    views = ("wording",)
    reads = frozenset({"texts", "tokens"})
    leaves_out = True
    kept = False

    def __init__(self, reference_fit: TfidfFit) -> None:
        import scipy

        components = [len(half.axes) for half in reference_fit.halves]
        self._bags = Bags(lambda word: reference_fit.vocabulary.get(word, UNKNOWN))
        self._idf = [half.idf for half in reference_fit.halves]
        self._axes = common_axes(reference_fit.halves)
        self._border = reference_fit.border
        self._sizes = np.array([word_count(word) for word in reference_fit.vocabulary], np.int64)
        self.signature = {"embedder": self.name, "revision": reference_fit.digest[:12]}
        self.view_signature = {"wording": f"svd_{sum(components)}_halves"}
        versions = f"numpy:{np.__version__}|scipy:{scipy.__version__}"
        self.identity = f"tfidf|{reference_fit.digest}|components:{components}|{CHOICES}|{versions}"

    def encode(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed texts or lists of token ids, each by the half of the reference it is not in.

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
        rows = np.zeros((len(bags), self._axes[0].shape[1]), np.float32)
        counts = np.zeros((len(bags), 2), np.int32)
        for half in (0, 1):
            # The lower half is read by what was fitted on the upper one
            in_half = [
                row for row, bag in enumerate(bags) if (bag.draw >= self._border) != bool(half)
            ]
            if in_half:
                chosen = [bags[row] for row in in_half]
                rows[in_half] = weigh(chosen, self._idf[half]).astype(np.float32) @ self._axes[half]
                counts[in_half] = [self._read(bag, self._idf[half]) for bag in chosen]
        return EncodedBatch(
            {"wording": rows},
            np.zeros(len(bags), np.bool_),
            ReadingCounts(counts[:, 0], counts[:, 1]),
        )

    def _read(self, bag: Bag, idf: NDArray[np.float64]) -> tuple[int, int]:
        """Count the words of a text, and those that have no weight in a half."""
        words, unread = bag.reading
        lost = idf[bag.words] == 0
        word_sizes = self._sizes[bag.words[lost]]
        sizes = np.maximum(word_sizes, 1)  # punctuation is no word, unless it is unknown
        times = bag.counts[lost]
        every = words + int(times @ (sizes - word_sizes))
        return every, min(every, unread + int(times @ sizes))


TAKES = frozenset({"size"})
SIZE = 128
"""Numbers of a vector: half of them for the axes of each half."""


def load(name: str, options: EmbedderOptions) -> Tfidf:
    """Make the embedder, to be fitted on a reference."""
    return Tfidf(size=options.size or SIZE)


class Tfidf(Embedder):
    """TF-IDF and its leading axes, before it is fitted.

    Parameters
    ----------
    size
        Numbers of a vector, an even number; fewer where the reference is small.

    Raises
    ------
    InputError
        If `size` is odd.
    """

    name = "tfidf"
    views = ("wording",)
    reads = frozenset({"texts", "tokens"})
    leaves_out = True
    needs_fitting = True
    kept = False  # fitting is the work, and no part of it can be kept for another reference

    def __init__(self, *, size: int = SIZE) -> None:
        if size % 2:
            raise InputError(f"size must be even for the embedder 'tfidf'; found {size}")
        self._size = size
        self.identity = f"tfidf|unfitted|size:{size}"
        self.signature = {"embedder": self.name}
        self.view_signature = {"wording": f"svd_{size}"}

    def fitted(self, samples: Iterable[Any]) -> FittedTfidf:
        """Fit it on the reference.

        Parameters
        ----------
        samples
            The reference: texts, or lists of token ids.

        Raises
        ------
        InputError
            If there are fewer than four texts with different words.
        """
        return FittedTfidf(fit(samples, components=self._size // 2))

    def encode(self, samples: Sequence[Any]) -> NoReturn:
        """Refuse, since nothing is known before a reference is.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            "the embedder 'tfidf' must be fitted on a reference first: "
            "load_embedder('tfidf').fitted(texts).embed(more)"
        )
