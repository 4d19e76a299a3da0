"""MinHash of the n-grams of texts, by datasketch; equal n-grams hash alike in every corpus."""

from __future__ import annotations

import hashlib
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, require
from calipers.text.corpus import Corpus
from calipers.text.ngrams import NGrams

MISSED = 0.01
"""Largest chance to miss a pair that is just at the threshold."""

CHUNK = 8192
"""N-grams that are hashed at once: MinHash takes about a kilobyte for each."""

MIX = np.uint64(0x9E3779B97F4A7C15)


def bands(threshold: float, permutations: int) -> tuple[int, int]:
    """Choose how many bands of how many rows: as few candidates as a chance of 1 % to miss allows.

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


def load_datasketch() -> ModuleType:
    """Import datasketch, or say how to install it."""
    return require("datasketch", extra="duplicates", purpose="the search for near duplicates")


def minhashes(
    sets: list[NDArray[np.int32]], hashes: NDArray[np.uint32], permutations: int, seed: int
) -> NDArray[Any]:
    """Sign sets of n-grams.

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
    blank = load_datasketch().MinHash(num_perm=permutations, seed=seed, hashfunc=int)
    signed = np.empty((len(sets), permutations), blank.hashvalues.dtype)
    for row, numbers in enumerate(sets):
        each = blank.copy()
        for start in range(0, len(numbers), CHUNK):
            each.update_batch(hashes[numbers[start : start + CHUNK]].tolist())
        signed[row] = each.hashvalues
    return signed


def hash_ngrams(corpus: Corpus, ngrams: NGrams) -> NDArray[np.uint32]:
    """Hash the words of each n-gram, shape (size,), whatever numbers the corpus gave them."""
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
