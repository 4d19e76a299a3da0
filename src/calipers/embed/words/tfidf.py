"""Texts as TF-IDF weights of their words on the leading axes of the reference: no model at all.

The axes are those of latent semantic analysis, fitted on the reference alone, so that adding a
system changes nothing. A text that the axes were fitted on lies farther out on them than any other
text can: fitted on 250 stories and asked about 250 others by the same people, the plain recipe
gives a recall of 0.11. So the reference is fitted in two halves, and every text, reference or
generated, is read by the half that it is not in; which half that is depends on its words alone.
With P_h the projection on the axes of half h, words(x) = P_{h(x)} tfidf_{h(x)}(x), as coordinates
in the span of both halves' axes.

Each half equals scikit-learn's ``TfidfVectorizer(sublinear_tf=True, min_df=2)`` and
``TruncatedSVD`` on the same words. It does not see the order of words, their case, spelling or
meaning: a word that the reference does not hold is unknown, and the share of those is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from calipers.embed.options import Options
from calipers.embed.words.tfidf_fitted import FittedTfidf
from calipers.embed.words.tfidf_halves import fit
from calipers.errors import InputError

TAKES = frozenset({"size"})
SIZE = 128
"""Numbers of a vector: half of them for the axes of each half."""


def load(name: str, options: Options) -> Tfidf:
    """Make the embedder, to be fitted on a reference."""
    return Tfidf(size=options.size or SIZE)


class Tfidf:
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

    def embed(self, samples: Sequence[Any]) -> NoReturn:
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
