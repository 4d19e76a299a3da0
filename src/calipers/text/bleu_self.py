"""Self-BLEU: how much do generated texts repeat one another?

The BLEU of each text with all other texts as its references, averaged (Zhu et al., "Texygen",
SIGIR 2018). With c the length of a text, r the length closest to it among its
references (of two, the shorter), p_n the share of its n-grams that a reference holds, each counted
at most as often as in any one reference, and N the order:

    BLEU = exp(min(0, 1 - r/c)) · (p_1 · … · p_N)^(1/N)

where a p_n without any match becomes 0.1 / max(1, n-grams of the text), and the whole is 0 where
not even a token matches: NLTK's ``sentence_bleu`` with ``SmoothingFunction().method1``, whose
values it gives to the last bits for the same tokens. Only the text itself is left out: an
equal copy of it is a reference like any other. The BLEU of paper 002 has the same precisions and
the same penalty, summed over a corpus before they are divided, unsmoothed.

The formula is that of Texygen and Holtzman et al. (ICLR 2020); the tokens are not. Texygen and
others call NLTK's ``word_tokenize``, which splits sentences first, while `nltk` here takes a text
as one; Holtzman et al. score the word pieces of GPT-2. So published values need their tokens.

It rises with the number of texts, since more references match more, so hold it only against the
value of a reference set of the same size; and it sees shared phrases, not shared ideas.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calipers.estimate.validate import check_choice
from calipers.score import Score
from calipers.text.bleu_draw import draw
from calipers.text.bleu_sentences import against_all, against_each
from calipers.text.checks import check_order, check_threads
from calipers.text.signing import text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus

Average = Literal["all", "pairwise"]

_WORKS = {"all": against_all, "pairwise": against_each}


def self_bleu(
    texts: Texts,
    *,
    order: int = 4,
    tokenizer: AnyTokenizer = "nltk",
    sample: int | None = None,
    others: int | None = None,
    average: Average = "all",
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Tell how much each text repeats the others: the lower, the more diverse.

    Parameters
    ----------
    texts
        At least two, or their corpus.
    order
        Longest n-grams that count, 1 to 100; n-grams of length 1 to `order` have equal weights.
    tokenizer
        What splits texts into tokens; no effect on a corpus.
    sample
        How many texts to score, drawn without replacement; all by default. Each is still held
        against all others: Holtzman et al. (2020) score 1,000 of 5,000.
    others
        How many other texts to hold each against; all by default. A pool of ``others + 1`` texts
        is drawn without replacement before the sample, which is then drawn from the pool, and each
        text is held against the rest of the pool. ``sample=1000, others=4999`` is the protocol of
        Holtzman et al. for more than 5,000 texts.
    average
        ``"all"``: all others together are the references of a text, in time linear in the number
        of tokens. ``"pairwise"``: each other text alone is the one reference, and the scores are
        averaged over all ordered pairs of different rows; the time grows with the square of the
        number of texts (or with sample · others).
    seed
        Of the draws, at least 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        In [0, 1], to be held against the reference's own. ``per_sample`` gives the BLEU of each
        text (the mean over its pairs), NaN for those that were not drawn; an empty text has 0, as
        NLTK says. NaN where there is but one text, or no text has a token.

    Raises
    ------
    InputError
        If an option is none of the above, or more is to be drawn than there is.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "the cat sat on the rug", "so it goes"]
    >>> found = self_bleu(texts, tokenizer="whitespace")
    >>> found.per_sample.round(3).tolist()
    [0.76, 0.76, 0.0]
    """
    order = check_order(order)
    check_choice("average", average, tuple(_WORKS))
    threads = check_threads(threads)
    corpus = as_corpus(texts, tokenizer)
    values = np.full(len(corpus), np.nan)
    pins: dict[str, Any] = {"order": order, "smoothing": "method1", "average": average}
    if len(corpus) == 1:
        reason = "a single text has no others to be held against"
        return text_score("self_bleu", np.nan, corpus, reason=reason, per_sample=values, **pins)
    drawn = draw(len(corpus), sample=sample, others=others, seed=seed)
    work = _WORKS[average]
    values[drawn.rows] = work(corpus, drawn.rows, drawn.pool, order=order, threads=threads)
    empty = not corpus.lengths[drawn.pool].any()
    return text_score(
        "self_bleu",
        np.nan if empty else float(np.mean(values[drawn.rows])),
        corpus,
        reason="no text has a token" if empty else None,
        per_sample=values,
        **(pins | drawn.pins),
    )
