"""Sets of one size, for statistics that the number of texts alone moves."""

from __future__ import annotations

from calipers.numeric.subsample import subsample_rows
from calipers.text.corpus import Corpus


def cut(corpus: Corpus, size: int, *, seed: int = 0) -> Corpus:
    """Keep `size` random texts in their order; the corpus itself if it has no more than that.

    The rows are those that :meth:`calipers.samples.SampleSet.subsample` keeps by the same seed.

    Examples
    --------
    >>> from calipers.text.tokens import tokenise
    >>> (corpus,) = tokenise(["a b", "c", "d e f"], tokenizer="whitespace")
    >>> cut(corpus, 2).texts, cut(corpus, 2).starts
    (['a b', 'd e f'], array([0, 2, 5]))
    """
    if size >= len(corpus):
        return corpus
    return corpus.take(subsample_rows(len(corpus), size, seed=seed))
