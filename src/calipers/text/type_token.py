"""Moving-average type–token ratio: lexical variety independent of text length.

    MATTR = mean over the L - w + 1 windows of w tokens of (different tokens in the window) / w

of each text, averaged over the texts: Covington and McFall, "Cutting the Gordian Knot", Journal of
Quantitative Linguistics 17, 2010. It is defined from w tokens on. A shorter text has no value here,
since the plain ratio that some tools fall back to is the very one that rises as texts get shorter;
choose a smaller window for short texts. All tokens count, marks too, and "The" is not "the".

It does not see what comes back at a distance of more than w tokens, nor between texts.
"""

from __future__ import annotations

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric import native
from calipers.numeric.arrays import Ints, Longs
from calipers.numeric.validation import check_whole
from calipers.score import Score
from calipers.text.scoring import Chosen, TextPair, mean_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus


def window_types(tokens: Ints, starts: Longs, window: int, vocabulary: int) -> Longs:
    """Sum the distinct tokens over all windows of each text; 0 where none fits."""
    sums = np.empty(len(starts) - 1, np.int64)
    _count_types(tokens, starts, window, np.zeros(vocabulary, np.int64), sums)
    return sums


_count_types = native.kernel(
    "count_window_types",
    "tokens i4[total]",
    "starts i8[bounds]",
    "window int",
    "counts i8[vocabulary] out",
    "sums i8[texts] out",
)


@checks_keywords
def moving_average_ttr(
    texts: Texts, *, window: int = 50, tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell how varied the words of a text are within windows of `window` tokens.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    window
        Tokens of a window, at least 1.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        In [0, 1], never below 1 / window; closest to the reference's own value is best.
        ``per_sample`` holds the value of each text, shape ``(n,)``; NaN where a text is shorter
        than the window.

    Raises
    ------
    InputError
        If `window` is not a whole number from 1.

    Examples
    --------
    The windows "a b", "b b" and "b c" have 2, 1 and 2 different words of two.

    >>> round(moving_average_ttr(["a b b c"], window=2, tokenizer="whitespace").value, 6)
    0.833333
    """

    window = check_whole("window", window, 1)
    corpus = as_corpus(texts, tokenizer)
    single = corpus.ngrams(1)
    reach = min(window, len(single.ids) + 1)  # no text is so long; a larger number may not fit
    windows = corpus.lengths - reach + 1
    sums = window_types(single.ids, single.starts, reach, single.size)
    values = np.full(len(corpus), np.nan)
    np.divide(sums, windows * reach, out=values, where=windows > 0)
    return mean_score(
        "moving_average_ttr",
        values,
        corpus,
        reason=f"no text has the {window} tokens of a window",
        window=window,
    )


def read_moving_average_ttr(pair: TextPair, options: Chosen) -> Score:
    return moving_average_ttr(pair.texts, window=options["window"])
