"""Near duplicates: texts that share most of their n-grams with another text.

    J(A, B) = |A ∩ B| / |A ∪ B| ≥ threshold

for the sets A and B of two texts' n-grams (Broder, "On the resemblance and containment of
documents", SEQUENCES 1997); 5-grams are the choice of Lee et al., "Deduplicating training data
makes language models better", ACL 2022. A score is the share of texts that have such a copy among
the other texts, or among references.

Candidates are pairs whose MinHash signatures (by datasketch) agree in a band, and every candidate's
similarity is computed exactly, so nothing is called a copy that is none. Bands are chosen so that a
pair just at the threshold is missed with a chance of at most 1 %, and pairs of higher similarity
less (with 21 bands of 6 rows, the usual ones, 0.2 % at 0.8 and 1 in ten million at 0.9). What is
missed depends on `seed` and the two texts alone, not on the order of the texts or on the others.
Where very many texts are each just below the threshold to all others, nearly all pairs are
candidates, and the time grows with the square of their number (14 s for 10,000).

A changed word takes up to n n-grams with it, so texts of 12 tokens are no near copies by their
5-grams as soon as one word differs: take a lower `order` for short texts. Texts of fewer tokens
than `order` have no value. Copies of a part are for :func:`calipers.text.copied_spans`, copies in
other words for :func:`calipers.metrics.near_copies`. The share within a set rises with its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.estimate.validate import check_whole, is_positive
from calipers.score import Score
from calipers.text.checks import check_order
from calipers.text.corpus import Corpus
from calipers.text.distinct_ngrams import too_short
from calipers.text.minhash import bands, load_datasketch
from calipers.text.near_texts_search import (
    Near,
    Settings,
    near_references,
    near_within,
)
from calipers.text.signing import mean_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora, as_corpus

LAST_SEED = 2**32 - 1
MOST_PERMUTATIONS = 4096


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A text and what it is a near copy of; rows count from 0.

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


def near_duplicates(
    texts: Texts,
    references: Texts | None = None,
    *,
    order: int = 5,
    threshold: float = 0.8,
    permutations: int = 128,
    seed: int = 1,
    tokenizer: AnyTokenizer = "nltk",
) -> Score:
    """Tell which texts are nearly the same as another text of the set, or as a reference.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    references
        What the texts may have been copied from, such as the training set; without, the texts are
        held against each other.
    order
        Tokens of an n-gram, 1 to 100.
    threshold
        Jaccard similarity of the n-gram sets from which on two texts are near, above 0, at most 1.
    permutations
        Length of the signatures, 1 to 4,096; more lets a lower threshold be searched.
    seed
        Picks the permutations of MinHash, 0 to 2³² - 1.
    tokenizer
        What makes the tokens; a corpus keeps its own.

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
        own = as_corpus(texts, tokenizer)
        return _score(own, near_within(own, settings), settings, better="closest")
    own, known = as_corpora(texts, references, tokenizer)
    near = near_references(own, known, settings)
    return _score(own, near, settings, better="lower", references=len(known))


def near_duplicate_pairs(
    texts: Texts,
    references: Texts | None = None,
    *,
    order: int = 5,
    threshold: float = 0.8,
    permutations: int = 128,
    seed: int = 1,
    tokenizer: AnyTokenizer = "nltk",
) -> list[NearDuplicate]:
    """Show of which text each near copy is one, so that copies can be looked at or taken out.

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
    found = zip(
        rows.tolist(), near.source[rows].tolist(), near.similarity[rows].tolist(), strict=True
    )
    return [NearDuplicate(*each) for each in found]


def _settings(order: int, threshold: float, permutations: int, seed: int) -> Settings:
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
    load_datasketch()
    chosen = bands(threshold, permutations)
    return Settings(order, float(threshold), permutations, chosen, int(seed))


def _score(own: Corpus, near: Near, settings: Settings, **rest: Any) -> Score:
    values = np.where(near.defined, near.found, np.nan)
    count, rows = settings.bands
    return mean_score(
        "near_duplicates",
        values,
        own,
        reason=too_short(settings.order),
        order=settings.order,
        threshold=settings.threshold,
        permutations=settings.permutations,
        bands=f"{count}x{rows}",
        seed=settings.seed,
        **rest,
    )
