"""Near duplicates: texts that share most of their n-grams with another text.

    J(A, B) = |A ∩ B| / |A ∪ B| ≥ threshold

for the sets A and B of two texts' n-grams (Broder, "On the resemblance and containment of
documents", SEQUENCES 1997); 5-grams are the choice of Lee et al., "Deduplicating training data
makes language models better", ACL 2022. A score is the share of texts that have such a copy among
the other texts, or among references.

Texts with equal sets are put into one group first, and only groups are compared. Candidates are
pairs whose MinHash signatures (by datasketch; equal n-grams hash alike in every corpus) agree in a
band, and every candidate's similarity is computed exactly, so nothing is called a copy that is
none. Bands are chosen so that a pair just at the threshold is missed with a chance of at most 1 %,
and pairs of higher similarity less (with 21 bands of 6 rows, the usual ones, 0.2 % at 0.8 and 1 in
ten million at 0.9). What is missed depends on `seed` and the two texts alone, not on the order of
the texts or on the others. Where very many texts are each just below the threshold to all others,
nearly all pairs are candidates, and the time grows with the square of their number (14 s for
10,000).

A changed word takes up to n n-grams with it, so texts of 12 tokens are no near copies by their
5-grams as soon as one word differs: take a lower `order` for short texts. Texts of fewer tokens
than `order` have no value. Copies of a part are for :func:`calipers.text.copied_spans`, copies in
other words for :func:`calipers.metrics.near_copies`. The share within a set rises with its size.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, checks_keywords, require
from calipers.numeric import native
from calipers.numeric.arrays import Flags, Floats, Ints, Longs
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.validation import check_whole, is_positive
from calipers.score import Score
from calipers.text.corpus import Corpus, join
from calipers.text.distinct_ngrams import too_short
from calipers.text.ngrams import NGrams, TextCounts, check_order
from calipers.text.replicates import MeasuredTexts, TextReplicates, means_without, ratio
from calipers.text.scoring import Chosen, TextPair, mean_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora, as_corpus

MISSED = 0.01
"""Largest chance to miss a pair that is just at the threshold."""

DATASKETCH = {"extra": "duplicates", "purpose": "the search for near duplicates"}
"""Why that package is needed, and the extra that brings it."""

CHUNK = 8192
"""N-grams that are hashed at once: MinHash takes about a kilobyte for each."""

MIX = np.uint64(0x9E3779B97F4A7C15)


def bands(threshold: float, permutations: int) -> tuple[int, int]:
    """Choose the number of bands and rows: fewest candidates with a miss probability of 1 %.

    Sets of similarity s agree in a band of r rows with chance s^r, so b bands miss them with
    chance (1 - s^r)^b (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", section 3.4).

    Raises
    ------
    InputError
        If the permutations are too few for the threshold.
    """
    for rows in range(permutations, 0, -1):
        count = permutations // rows
        if (1 - threshold**rows) ** count <= MISSED:
            return count, rows
    raise InputError(
        f"{permutations} permutations would miss {(1 - threshold) ** permutations:.0%} of the "
        f"pairs of similarity {threshold:g}; raise permutations or threshold"
    )


def minhashes(
    sets: list[Ints], hashes: NDArray[np.uint32], permutations: int, seed: int
) -> NDArray[Any]:
    """Compute MinHash signatures of sets of n-grams.

    Parameters
    ----------
    sets
        The numbers of each set's n-grams, none empty.
    hashes
        The hash of each n-gram, from :func:`hash_ngrams`.
    permutations, seed
        As of datasketch's ``MinHash``.

    Returns
    -------
    ndarray
        Shape ``(sets, permutations)``.
    """
    blank = require("datasketch", **DATASKETCH).MinHash(
        num_perm=permutations, seed=seed, hashfunc=int
    )
    signed = np.empty((len(sets), permutations), blank.hashvalues.dtype)
    for row, numbers in enumerate(sets):
        signature = blank.copy()
        for start in range(0, len(numbers), CHUNK):
            signature.update_batch(hashes[numbers[start : start + CHUNK]].tolist())
        signed[row] = signature.hashvalues
    return signed


def hash_ngrams(corpus: Corpus, ngrams: NGrams) -> NDArray[np.uint32]:
    """Hash the words of each n-gram, shape (size,), independent of the corpus's numbering."""
    starts = np.repeat(corpus.starts[:-1] - ngrams.starts[:-1], ngrams.totals)
    places = np.empty(ngrams.size, np.int64)
    places[ngrams.ids] = np.arange(len(ngrams.ids)) + starts
    words = _hash_words(corpus)
    mixed = np.zeros(ngrams.size, np.uint64)
    for step in range(ngrams.order):
        mixed = (mixed ^ words[corpus.tokens[places + step]]) * MIX
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(32)).astype(np.uint32)


def _hash_words(corpus: Corpus) -> NDArray[np.uint64]:
    """64 bits for each word in use; lone surrogates count as any other character."""
    hashes = np.zeros(len(corpus.words), np.uint64)
    for number in np.unique(corpus.tokens).tolist():
        word = corpus.words[number].encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(word, digest_size=8).digest()
        hashes[number] = int.from_bytes(digest, "little")
    return hashes


_find_near = native.kernel(
    "find_near_sets",
    "ids i4[total]",
    "spans i8[sets, 2]",
    "rows i8[candidates]",
    "runs i8[bounds]",
    "least int",
    "threshold float",
    "near i8[asked] out",
    "similarity f8[asked] out",
)


@dataclass(frozen=True)
class NearSettings:
    """The threshold of similarity, and the bands of the signature with the rows of each."""

    order: int
    threshold: float
    permutations: int
    bands: tuple[int, int]
    seed: int


@dataclass(frozen=True, eq=False)
class Near:
    """The texts that are near another one, with that one; all of shape (n,).

    Attributes
    ----------
    defined
        Whether the text has an n-gram at all.
    matched
        Whether it is near another text of its set, or near a reference.
    source
        The earlier text of its set, or the reference, that it is near; -1 for none.
    similarity
        The Jaccard similarity to that one.
    """

    defined: Flags
    matched: Flags
    source: Longs
    similarity: Floats


@dataclass(frozen=True, eq=False)
class _Groups:
    """Texts with equal sets: each text's group (-1 for an empty set), each group's first text.

    Groups are numbered by their first texts.
    """

    of: Longs
    first: Longs
    keys: dict[bytes, int]


def near_within(corpus: Corpus, settings: NearSettings) -> Near:
    """Compare the texts of one set with each other."""
    groups = _group(corpus.ngrams(settings.order).within, 0, len(corpus))
    other, similarity = np.full(len(groups.first), -1), np.zeros(len(groups.first))
    _search(corpus, groups.first, settings, 0, other, similarity)
    defined = groups.of >= 0
    of, rows = groups.of[defined], np.flatnonzero(defined)
    first, size = groups.first[of], np.bincount(of)[of]
    near = np.where(other[of] >= 0, groups.first[other[of]], -1)
    source = np.where(rows > first, first, np.where(near < rows, near, -1))
    shares = np.where(rows > first, 1.0, similarity[of])
    return _near(defined, (size > 1) | (near >= 0), source, shares)


def near_references(corpus: Corpus, known: Corpus, settings: NearSettings) -> Near:
    """Compare the texts of one set with those of another."""
    both = join(corpus, known)
    within = both.ngrams(settings.order).within
    groups, others = _group(within, 0, len(corpus)), _group(within, len(corpus), len(both))
    asked = len(groups.first)
    equal = np.array([others.keys.get(key, -1) for key in groups.keys], np.int64)
    other, similarity = np.where(equal >= 0, asked + equal, -1), (equal >= 0).astype(float)
    rows = np.concatenate([groups.first, others.first])
    _search(both, rows, settings, asked, other, similarity)
    defined = groups.of >= 0
    near = other[groups.of[defined]]
    source = np.where(near >= 0, rows[near] - len(corpus), -1)
    return _near(defined, near >= 0, source, similarity[groups.of[defined]])


def _near(defined: Flags, matched: Flags, source: Longs, similarity: Floats) -> Near:
    """Return the texts without n-grams their places back."""
    size = len(defined)
    near = Near(defined, np.zeros(size, bool), np.full(size, -1), np.zeros(size))
    near.matched[defined], near.source[defined] = matched, source
    near.similarity[defined] = similarity
    return near


def _group(within: TextCounts, start: int, end: int) -> _Groups:
    of = np.full(end - start, -1)
    keys: dict[bytes, int] = {}
    first: list[int] = []
    for row in range(start, end):
        key = within.ids[within.starts[row] : within.starts[row + 1]].tobytes()
        if key:
            group = of[row - start] = keys.setdefault(key, len(keys))
            if group == len(first):
                first.append(row)
    return _Groups(of, np.array(first, np.int64), keys)


def _search(
    corpus: Corpus,
    rows: Longs,
    settings: NearSettings,
    asked: int,
    other: Longs,
    similarity: Floats,
) -> None:
    """Find for each of the first groups one that is near: among those behind them, or all."""
    ngrams = corpus.ngrams(settings.order)
    ids, starts = ngrams.within.ids, ngrams.within.starts
    bounds = np.stack([starts[rows], starts[rows + 1]], axis=1)
    sets = [ids[start:end] for start, end in bounds.tolist()]
    hashes = hash_ngrams(corpus, ngrams)
    signed = minhashes(sets, hashes, settings.permutations, settings.seed)
    for order, runs in _runs(signed, settings.bands):
        _find_near(ids, bounds, order, runs, asked, settings.threshold, other, similarity)


def _runs(signed: NDArray[np.integer], bands: tuple[int, int]) -> Iterator[tuple[Longs, Longs]]:
    """Yield for each band the groups with equals in it, next to each other, and the runs' ends."""
    count, rows = bands
    for band in range(count):
        part = np.ascontiguousarray(signed[:, band * rows : (band + 1) * rows])
        keys = part.view(f"V{part.itemsize * rows}").ravel()
        _, runs, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        order = np.argsort(runs, kind="stable")
        order = order[sizes[runs[order]] > 1]
        yield order, np.concatenate([[0], np.cumsum(sizes[sizes > 1])])


LAST_SEED = 2**32 - 1
MOST_PERMUTATIONS = 4096


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A text and the text that it nearly copies; rows count from 0.

    Attributes
    ----------
    row
        The text.
    source
        An earlier text of its set, or a reference where these were given.
    similarity
        Share of their n-grams that both hold (Jaccard), 1 where they have the same.
    """

    row: int
    source: int
    similarity: float


@checks_keywords
def near_duplicates(
    texts: Texts,
    references: Texts | None = None,
    *,
    order: int = 5,
    threshold: float = 0.8,
    permutations: int = 128,
    seed: int = 1,
    tokenizer: AnyTokenizer = "auto",
) -> Score:
    """Tell which texts are nearly the same as another text of the set, or as a reference.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    references
        Texts that may have been copied, such as the training set; without them, the texts are
        compared with each other.
    order
        Tokens of an n-gram, 1 to 100.
    threshold
        Jaccard similarity of the n-gram sets from which on two texts are near, above 0, at most 1.
    permutations
        Length of the signatures, 1 to 4,096; more lets a lower threshold be searched.
    seed
        Picks the permutations of MinHash, 0 to 2³² - 1.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        The share of such texts, in [0, 1]. Within one set, closest to the reference's own value is
        best; against references, lower. ``per_sample`` is 1 for each such text, 0 for others, NaN
        for those of fewer than `order` tokens.

    Raises
    ------
    InputError
        If an option is out of range, a set is empty, or corpora were not tokenised together.
    MissingExtraError
        If datasketch is not installed.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "so the cat sat on the mat", "a dog barked"]
    >>> near_duplicates(texts, order=2, tokenizer="whitespace").per_sample.tolist()
    [1.0, 1.0, 0.0]
    """
    settings = _settings(order, threshold, permutations, seed)
    if references is None:
        corpus = as_corpus(texts, tokenizer)
        return _score(corpus, near_within(corpus, settings), settings)
    corpus, known = as_corpora(texts, references, tokenizer)
    near = near_references(corpus, known, settings)
    return replace(_score(corpus, near, settings, references=len(known)), better="lower")


@checks_keywords
def near_duplicate_pairs(
    texts: Texts,
    references: Texts | None = None,
    *,
    order: int = 5,
    threshold: float = 0.8,
    permutations: int = 128,
    seed: int = 1,
    tokenizer: AnyTokenizer = "auto",
) -> list[NearDuplicate]:
    """Find the text that each near copy copies, for inspection or removal.

    Parameters
    ----------
    texts, references, order, threshold, permutations, seed, tokenizer
        As for :func:`near_duplicates`.

    Returns
    -------
    list of NearDuplicate
        At most one for each text, in their order. Without references the source is an earlier text,
        and the set without all these rows has no two texts that were found near. The source is the
        first text with the same n-grams where there is one, else the first that was found near.

    Raises
    ------
    InputError, MissingExtraError
        As for :func:`near_duplicates`.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "so the cat sat on the mat", "a dog barked"]
    >>> near_duplicate_pairs(texts, order=2, tokenizer="whitespace")
    [NearDuplicate(row=1, source=0, similarity=0.8333333333333334)]
    """
    settings = _settings(order, threshold, permutations, seed)
    if references is None:
        near = near_within(as_corpus(texts, tokenizer), settings)
    else:
        near = near_references(*as_corpora(texts, references, tokenizer), settings)
    rows = np.flatnonzero(near.source >= 0)
    columns = (rows, near.source[rows], near.similarity[rows])
    return list(map(NearDuplicate, *(column.tolist() for column in columns)))


def _settings(order: int, threshold: float, permutations: int, seed: int) -> NearSettings:
    order = check_order(order)
    permutations = check_whole("permutations", permutations, 1)
    if permutations > MOST_PERMUTATIONS:
        raise InputError(
            f"permutations must be at most {MOST_PERMUTATIONS:,}; found {permutations:,}"
        )
    if not is_positive(threshold) or threshold > 1:
        raise InputError(f"threshold must be above 0 and at most 1; found {threshold!r}")
    if check_whole("seed", seed, 0) > LAST_SEED:
        raise InputError(f"seed must be at most {LAST_SEED:,}; found {seed:,}")
    require("datasketch", **DATASKETCH)
    chosen = bands(threshold, permutations)
    return NearSettings(order, float(threshold), permutations, chosen, int(seed))


def _score(corpus: Corpus, near: Near, settings: NearSettings, **rest: Any) -> Score:
    values = np.where(near.defined, near.matched, np.nan)
    count, rows = settings.bands
    return mean_score(
        "near_duplicates",
        values,
        corpus,
        reason=too_short(settings.order),
        order=settings.order,
        threshold=settings.threshold,
        permutations=settings.permutations,
        bands=f"{count}x{rows}",
        seed=settings.seed,
        **rest,
    )


def near_duplicates_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the share of near copies; texts linked through others count as near."""
    pairs = near_duplicate_pairs(
        measured.texts,
        measured.against,
        order=measured.options["n"],
        threshold=measured.options["threshold"],
    )
    defined = ~np.isnan(measured.by_text)
    if measured.against is None:
        shares = _clusters_without(pairs, defined, measured.labels)
        return TextReplicates(texts=shares, approximate=True)
    mine = means_without(measured)
    if not measured.drawn:
        return TextReplicates(texts=mine, approximate=True)
    holders = measured.reference_labels[[pair.source for pair in pairs]]
    lost = np.bincount(holders, minlength=DEFAULT_BLOCKS)
    theirs = (len(pairs) - lost) / max(int(defined.sum()), 1)
    return TextReplicates(texts=mine, references=theirs, approximate=True)


def _clusters_without(pairs: list[NearDuplicate], defined: Flags, labels: Longs) -> Floats:
    """The share of texts that have another of their cluster left, without each block."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(labels)
    rows, sources = [pair.row for pair in pairs], [pair.source for pair in pairs]
    links = coo_array((np.ones(len(pairs)), (rows, sources)), shape=(n, n))
    cluster = connected_components(links, directed=False)[1]
    table = np.zeros((cluster.max() + 1, DEFAULT_BLOCKS))
    np.add.at(table, (cluster[defined], labels[defined]), 1)
    left = table.sum(axis=1, keepdims=True) - table
    return ratio(np.where(left > 1, left, 0.0).sum(axis=0), left.sum(axis=0))


def read_near_duplicates(pair: TextPair, options: Chosen) -> Score:
    return near_duplicates(
        pair.texts, pair.against, order=options["n"], threshold=options["threshold"]
    )
