"""String kernels: how alike two texts are by what they share literally, as distances.

Both are positive definite, so texts are points of a feature space, and the distance is the one
there, ‖φ(x) − φ(y)‖ = sqrt(2 − 2κ(x, y)), in [0, √2], for kernels with κ(x, x) = 1:

- :class:`NgramKernel`: κ = |A ∩ B| / |A ∪ B| of the sets of n-grams of both texts (Pillutla et al.,
  JMLR 2023, section 7.5.4);
- :class:`SubsequenceKernel`: one feature for each sequence z of N tokens, the sum of λ^len(i) over
  all index sequences i at which a text reads z, gaps allowed, len(i) their span (Lodhi et al., JMLR
  2002); normalised, κ(x, y) / sqrt(κ(x, x) κ(y, y)), so that long texts are not far from all.

A text of fewer than N tokens has no feature in either. It gets one of its own, that only an equal
text shares: κ = 1 with equal texts, 0 with all others.

What they do not detect: anything about meaning; a paraphrase is as far away as a text on something
else. Most pairs of texts share little, so most distances are close to √2, and many equal to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calipers.errors import InputError
from calipers.estimate.tiles import Span
from calipers.estimate.validate import check_whole, is_positive
from calipers.text.checks import check_order
from calipers.text.corpus import Corpus, join
from calipers.text.text_distances import Doubles, TextDistances, equal_ones, equal_texts

LONGEST_ORDER = 20  # beyond, the number of subsequences of long texts overflows


@dataclass(frozen=True)
class NgramKernel:
    """How large a part of their n-grams two texts share (Jaccard).

    Attributes
    ----------
    order
        Tokens of an n-gram; the paper's best is 3.
    """

    order: int = 3

    def __post_init__(self) -> None:
        check_order(self.order)

    @property
    def name(self) -> str:
        """As in signatures."""
        return f"ngram_jaccard(order={self.order})"

    def distances(
        self, reference: Corpus, generated: Corpus, *, threads: int | None = None
    ) -> TextDistances:
        """Make ready to tell the distances of two sets that were tokenised together."""
        from calipers.text.jaccard_kernels import count_shared, texts_of

        union = join(reference, generated)
        ngrams = union.ngrams(self.order)
        found = ngrams.within
        texts, ends = texts_of(found.ids, found.starts, ngrams.size)
        same = equal_texts(union)

        def similarity(rows: Span, columns: Span) -> Doubles:
            shared = np.zeros((rows[1] - rows[0], columns[1] - columns[0]), np.int32)
            count_shared(found.ids, found.starts, texts, ends, rows, columns, shared)
            left, right = found.different[slice(*rows)], found.different[slice(*columns)]
            either = left[:, None] + right - shared
            alike = np.divide(shared, either, out=np.zeros(shared.shape), where=either > 0)
            return equal_ones(alike, same, rows, columns)

        return TextDistances(self.name, (len(reference), len(generated)), similarity)


@dataclass(frozen=True)
class SubsequenceKernel:
    """How many subsequences two texts share, those with gaps counting less.

    Attributes
    ----------
    order
        Tokens of a subsequence, up to 20; the paper's best is 5.
    decay
        λ, what each further token in the span of a subsequence multiplies its weight by, above 0
        and at most 1; the paper's best is 0.5.
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
        """As in signatures."""
        return f"subsequence(order={self.order},decay={self.decay:g})"

    def distances(
        self, reference: Corpus, generated: Corpus, *, threads: int | None = None
    ) -> TextDistances:
        """Make ready to tell the distances of two sets that were tokenised together.

        Raises
        ------
        InputError
            If a text is so long that its own kernel takes more than 1e9 pairs of equal tokens.
        """
        from calipers.text.subsequences import Subsequences

        union, decay = join(reference, generated), float(self.decay)
        ready = Subsequences.of(union, self.order, decay, threads)
        return TextDistances(self.name, (len(reference), len(generated)), ready.similarity)
