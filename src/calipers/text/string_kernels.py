"""String kernels: distances of texts by shared n-grams or subsequences.

Both are positive definite, so texts are points of a feature space, and the distance is the one
there, ‖φ(x) − φ(y)‖ = sqrt(2 − 2κ(x, y)), in [0, √2], for kernels with κ(x, x) = 1:

- :class:`NgramKernel`: κ = |A ∩ B| / |A ∪ B| of the sets of n-grams of both texts (Pillutla et al.,
  JMLR 2023, section 7.5.4);
- :class:`SubsequenceKernel`: one feature for each sequence z of N tokens, the sum of λ^len(i) over
  all index sequences i at which a text reads z, gaps allowed, len(i) their span (Lodhi et al., JMLR
  2002); normalised, κ(x, y) / sqrt(κ(x, x) κ(y, y)), so that long texts are not far from all.

A text of fewer than N tokens has no feature in either. It gets one of its own, that only an equal
text shares: κ = 1 with equal texts, 0 with all others.

The subsequence kernel is computed as a sum over pairs of equal tokens. With S_p(a, b) the
weight of all common subsequences of p tokens that end at token a of one text and token b of the
other,

    S_1(a, b) = 1,   S_{p+1}(a, b) = Σ λ^(a − a' − 1 + b − b' − 1) S_p(a', b')  over a' < a, b' < b

where the tokens a and b are equal, 0 elsewhere, and the kernel is the sum of all S_N (Rousu &
Shawe-Taylor, JMLR 2005, over matches alone). The inner sum comes from a Fenwick tree over b', whose
nodes hold sums that are discounted to the row where they were last touched and to the last column
that they cover. So all terms are positive, none overflows for a long text, and what underflows is
below 1e-300 of the terms that are kept.

What they do not detect: anything about meaning; a paraphrase is as far away as a text on something
else. Most pairs of texts share little, so most distances are close to √2, and many equal to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calipers.errors import InputError
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs
from calipers.numeric.threads import workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import check_whole, is_positive
from calipers.text.corpus import Corpus, join
from calipers.text.ngrams import check_order


@dataclass(frozen=True, eq=False)
class TextDistances:
    """Distances of texts under a kernel with κ(x, x) = 1.

    Attributes
    ----------
    name
        The kernel and its options.
    sizes
        Reference and generated texts.
    similarity
        κ of some texts of the union with others, in [0, 1], exactly 1 for equal texts.
    """

    name: str
    sizes: tuple[int, int]
    similarity: Callable[[Span, Span], Floats]

    def tile(self, rows: Span, columns: Span) -> Floats:
        """Return distances in the kernel's feature space, sqrt(2 − 2κ), in [0, √2]."""
        distances: Floats = np.sqrt(2 - 2 * self.similarity(rows, columns))
        return distances


def equal_texts(corpus: Corpus) -> Longs:
    """Return, for every text, the first text with the same tokens, shape (n,)."""
    tokens, starts, firsts = corpus.tokens, corpus.starts.tolist(), dict[bytes, int]()
    return np.array(
        [
            firsts.setdefault(tokens[starts[text] : starts[text + 1]].tobytes(), text)
            for text in range(len(corpus))
        ],
        dtype=np.int64,
    )


def equal_ones(alike: Floats, same: Longs, rows: Span, columns: Span) -> Floats:
    """Set the similarity of equal texts to 1, in place."""
    alike[same[slice(*rows)][:, None] == same[slice(*columns)]] = 1.0
    return alike


def texts_of(ids: Ints, starts: Longs, size: int) -> tuple[Ints, Longs]:
    """Invert the n-grams of each text into the texts of each n-gram, ascending."""
    texts, ends = np.empty(len(ids), np.int32), np.empty(size + 1, np.int64)
    _list_texts(ids, starts, texts, ends)
    return texts, ends


_list_texts = native.kernel(
    "list_texts_of_ngrams",
    "ids i4[total]",
    "starts i8[bounds]",
    "texts i4[total] out",
    "ends i8[grams_and_one] out",
)


def count_shared(
    ids: Ints, starts: Longs, texts: Ints, ends: Longs, rows: Span, columns: Span
) -> Ints:
    """Count the distinct n-grams that texts share, by the texts of each n-gram."""
    shared = np.empty((rows[1] - rows[0], columns[1] - columns[0]), np.int32)
    _count_shared(ids, starts, texts, ends, rows[0], columns[0], shared)
    return shared


_count_shared = native.kernel(
    "count_shared_ngrams",
    "ids i4[total]",
    "starts i8[bounds]",
    "texts i4[total]",
    "ends i8[grams_and_one]",
    "row0 int",
    "column0 int",
    "shared i4[n, m] out",
)


def order_positions(tokens: Ints, starts: Longs) -> tuple[Ints, Ints]:
    """Return the positions of each text's tokens, sorted by token, and the sorted tokens."""
    places, ordered = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int32)
    keys = np.empty((2, int(np.diff(starts).max(initial=0))), np.uint64)
    _order_positions(tokens, starts, keys, places, ordered)
    return places, ordered


_order_positions = native.kernel(
    "order_positions",
    "tokens i4[total]",
    "starts i8[bounds]",
    "keys u8[2, longest] out",
    "places i4[total] out",
    "ordered i4[total] out",
)

_TEXTS = (
    "starts i8[bounds]",
    "places i4[total]",
    "ordered i4[total]",
    "powers f8[exponents]",
    "row0 int",
)
_ROOM = (
    "ranges i8[longest, 2] out",
    "tree f8[nodes, order] out",
    "stamps i8[nodes] out",
    "sums f8[longest, order] out",
)

_fill_tile = native.kernel(
    "fill_subsequence_tile",
    *_TEXTS,
    "column0 int",
    "rank i8[texts]",
    "same i8[texts]",
    *_ROOM,
    "tile f8[n, m] out",
)

_fill_own = native.kernel("fill_own_subsequences", *_TEXTS, *_ROOM, "kernels f8[n] out")


def _room(longest: int, order: int) -> tuple[Longs, Floats, Longs, Floats]:
    """What one pair needs: where each token's matches are, the tree, its stamps, the sums."""
    return (
        np.empty((longest, 2), np.int64),
        np.empty((longest + 1, order)),
        np.empty(longest + 1, np.int64),
        np.empty((longest, order)),
    )


MOST_MATCHES = 10**9


@dataclass(frozen=True, eq=False)
class Subsequences:
    """Precomputed data for the kernel of every pair, and of every text with itself.

    Attributes
    ----------
    order, decay
        Of the kernel.
    arrays
        Where each text starts, and each text's tokens in order with their places.
    powers
        The powers of the decay, up to one more than the longest text.
    rank
        An order of the texts that depends on their tokens alone.
    same
        The first equal text, for every text.
    own
        The kernel of every text with itself.
    """

    order: int
    decay: float
    arrays: tuple[Longs, Ints, Ints]
    powers: Floats
    rank: Longs
    same: Longs
    own: Floats

    @classmethod
    def of(cls, corpus: Corpus, order: int, decay: float, threads: int | None) -> Subsequences:
        """Prepare the data, and compute the kernel of every text with itself."""
        _check_matches(corpus)
        tokens, starts = corpus.tokens, corpus.starts
        arrays = starts, *order_positions(tokens, starts)
        powers = decay ** np.arange(int(corpus.lengths.max()) + 2.0)
        self_kernels = np.zeros(len(corpus))

        def work(span: Span) -> None:
            room = _room(int(corpus.lengths[slice(*span)].max()), order)
            _fill_own(*arrays, powers, span[0], *room, self_kernels[slice(*span)])

        with workers(threads) as pool:
            for _ in pool.map(work, spans(len(corpus), 16)):
                pass
        return cls(order, decay, arrays, powers, _rank(corpus), equal_texts(corpus), self_kernels)

    def similarity(self, rows: Span, columns: Span) -> Floats:
        """Compute the normalised kernel of some texts with others."""
        tile = np.zeros((rows[1] - rows[0], columns[1] - columns[0]))
        texts, firsts = (*self.arrays, self.powers), (rows[0], columns[0])
        room = _room(len(self.powers) - 2, self.order)
        _fill_tile(*texts, *firsts, self.rank, self.same, *room, tile)
        left, right = self._lengths[slice(*rows)], self._lengths[slice(*columns)]
        lengths = left[:, None] * right
        alike = np.divide(tile, lengths, out=np.zeros(tile.shape), where=lengths > 0)
        return equal_ones(np.minimum(alike, 1.0), self.same, rows, columns)

    @cached_property
    def _lengths(self) -> Floats:
        """‖φ(x)‖ of every text."""
        lengths: Floats = np.sqrt(self.own)
        return lengths


def _rank(corpus: Corpus) -> Longs:
    """Number the texts by their lengths and words, so that the order of the rows plays no part."""
    words, tokens = corpus.words, corpus.tokens.tolist()
    split = [
        [words[token] for token in tokens[first:last]]
        for first, last in itertools.pairwise(corpus.starts.tolist())
    ]
    ranked = sorted(range(len(split)), key=lambda text: (len(split[text]), split[text]))
    rank = np.empty(len(split), np.int64)
    rank[ranked] = np.arange(len(split))
    return rank


def _check_matches(corpus: Corpus) -> None:
    """Refuse a text whose pairs of equal tokens are too many to go through."""
    counted = corpus.ngrams(1).within
    squares = np.concatenate([[0.0], np.cumsum(counted.counts.astype(np.float64) ** 2)])
    matches = np.diff(squares[counted.starts])
    text = int(np.argmax(matches))
    if matches[text] > MOST_MATCHES:
        raise InputError(
            f"the subsequence kernel goes through all pairs of equal tokens, of which a text may "
            f"have {MOST_MATCHES:,} with itself; one of {corpus.lengths[text]:,} tokens has "
            f"{matches[text]:,.0f}. Cut long texts, or take the n-gram kernel"
        )


LONGEST_ORDER = 20  # beyond, the number of subsequences of long texts overflows


@dataclass(frozen=True)
class NgramKernel:
    """The n-gram kernel: the share of n-grams that two texts have in common (Jaccard).

    Attributes
    ----------
    order
        Tokens of an n-gram; the paper's best is 3.

    Examples
    --------
    >>> NgramKernel(order=2).name
    'ngram_jaccard(order=2)'
    """

    order: int = 3

    def __post_init__(self) -> None:
        check_order(self.order)

    @property
    def name(self) -> str:
        """The name of the kernel in signatures."""
        return f"ngram_jaccard(order={self.order})"

    def distances(
        self, reference: Corpus, generated: Corpus, *, threads: int | None = None
    ) -> TextDistances:
        """Prepare the distances between two sets that were tokenised together."""

        union = join(reference, generated)
        ngrams = union.ngrams(self.order)
        within = ngrams.within
        texts, ends = texts_of(within.ids, within.starts, ngrams.size)
        same = equal_texts(union)

        def similarity(rows: Span, columns: Span) -> Floats:
            shared = count_shared(within.ids, within.starts, texts, ends, rows, columns)
            left, right = within.different[slice(*rows)], within.different[slice(*columns)]
            either = left[:, None] + right - shared
            alike = np.divide(shared, either, out=np.zeros(shared.shape), where=either > 0)
            return equal_ones(alike, same, rows, columns)

        return TextDistances(self.name, (len(reference), len(generated)), similarity)


@dataclass(frozen=True)
class SubsequenceKernel:
    """The subsequence kernel: shared subsequences, those with gaps counting less.

    Attributes
    ----------
    order
        Tokens of a subsequence, up to 20; the paper's best is 5.
    decay
        λ, what each further token in the span of a subsequence multiplies its weight by, above 0
        and at most 1; the paper's best is 0.5.

    Examples
    --------
    >>> SubsequenceKernel(order=3, decay=0.5).name
    'subsequence(order=3,decay=0.5)'
    """

    order: int = 5
    decay: float = 0.5

    def __post_init__(self) -> None:
        if check_whole("order", self.order, 1) > LONGEST_ORDER:
            raise InputError(f"order must be at most {LONGEST_ORDER}; found {self.order}")
        if not (is_positive(self.decay) and self.decay <= 1):
            raise InputError(f"decay must be above 0 and at most 1; found {self.decay!r}")

    @property
    def name(self) -> str:
        """The name of the kernel in signatures."""
        return f"subsequence(order={self.order},decay={self.decay:g})"

    def distances(
        self, reference: Corpus, generated: Corpus, *, threads: int | None = None
    ) -> TextDistances:
        """Prepare the distances between two sets that were tokenised together.

        Raises
        ------
        InputError
            If a text is so long that its own kernel takes more than 1e9 pairs of equal tokens.
        """

        union, decay = join(reference, generated), float(self.decay)
        ready = Subsequences.of(union, self.order, decay, threads)
        return TextDistances(self.name, (len(reference), len(generated)), ready.similarity)
