"""TF-IDF that has seen its reference: what embeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.protocol import EncodedBatch
from calipers.embed.words.tfidf_axes import common_axes, weigh
from calipers.embed.words.tfidf_bags import UNKNOWN, Bag, Bags
from calipers.embed.words.tfidf_halves import CHOICES, Fit


class FittedTfidf:
    """TF-IDF on the leading axes of a reference. Made by :meth:`Tfidf.fitted`."""

    name = "tfidf"
    views = ("wording",)
    reads = frozenset({"texts", "tokens"})
    kept = False

    def __init__(self, found: Fit) -> None:
        import scipy
        import sklearn

        components = [len(half.axes) for half in found.halves]
        self._bags = Bags(lambda word: found.vocabulary.get(word, UNKNOWN))
        self._idf = [half.idf for half in found.halves]
        self._axes = common_axes(found.halves)
        self._border = found.border
        self.signature = {"embedder": self.name, "revision": found.digest[:12]}
        self.view_signature = {"wording": f"svd_{sum(components)}_halves"}
        versions = f"numpy:{np.__version__}|scipy:{scipy.__version__}|sklearn:{sklearn.__version__}"
        self.identity = f"tfidf|{found.digest}|components:{components}|{CHOICES}|{versions}"

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed texts or lists of token ids, each by the half of the reference it is not in.

        Returns
        -------
        EncodedBatch
            ``wording``, float32 of shape (n, d); a row of zeros where no word is known. ``unknown``
            is the share of a text's words that are not; 0 for a text without words.

        Raises
        ------
        InputError
            If a sample is neither a text nor a list of token ids.
        """
        bags = list(self._bags.of(samples))
        rows = np.zeros((len(bags), self._axes[0].shape[1]), np.float32)
        unknown = np.zeros(len(bags), np.float32)
        for half in (0, 1):
            # The lower half is read by what was fitted on the upper one
            own = [row for row, bag in enumerate(bags) if (bag.draw >= self._border) != bool(half)]
            if own:
                chosen = [bags[row] for row in own]
                rows[own] = weigh(chosen, self._idf[half]).astype(np.float32) @ self._axes[half]
                unknown[own] = [_unknown(bag, self._idf[half]) for bag in chosen]
        return EncodedBatch({"wording": rows}, np.zeros(len(bags), np.bool_), unknown)


def _unknown(bag: Bag, idf: NDArray[np.float64]) -> float:
    known = int(bag.counts[idf[bag.words] > 0].sum())
    return 1 - known / bag.length if bag.length else 0.0
