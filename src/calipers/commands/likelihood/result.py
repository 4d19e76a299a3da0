"""The result of ``likelihood``: how likely a language model finds the texts of each set."""

from __future__ import annotations

from dataclasses import dataclass

from calipers.results.result import Drawn
from calipers.results.texts import TextComparison


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodComparison(TextComparison, Drawn):
    """Likelihoods of several systems' texts under a language model, beside a reference.

    Look it up, print it, save it and write it as a :class:`TextComparison`;
    ``comparison["model_a"]["perplexity"].gap`` is |ppl(Q) - ppl(P)|.
    """

    kind = "likelihoods"

    def __repr__(self) -> str:
        return super().__repr__().replace("TextComparison", type(self).__name__, 1)
