"""Quality BLEU: how far are generated texts made of phrases that the references hold?

The BLEU of each text with the whole corpus of references as its references, averaged (Zhu et al.,
"Texygen", SIGIR 2018, section 2.3), with the formula and smoothing of
:mod:`calipers.text.bleu_self`: NLTK's ``sentence_bleu`` with ``method1``, to the last bits. Texygen
itself takes the first 500 references by default; here all count.

It says nothing of diversity: one good sentence, written over and over, scores as that sentence
does, and a copied reference scores 1. It rises with the number of references. What the references
score among themselves is their Self-BLEU, each against the others.
"""

from __future__ import annotations

import numpy as np

from calipers.score import Score
from calipers.text.bleu_sentences import against_all
from calipers.text.checks import check_order, check_threads
from calipers.text.corpus import Corpus, join
from calipers.text.signing import text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora


def corpus_match_bleu(
    texts: Texts,
    references: Texts,
    *,
    order: int = 4,
    tokenizer: AnyTokenizer = "nltk",
    threads: int | None = None,
) -> Score:
    """Tell how far each text is made of what any of the references says.

    Parameters
    ----------
    texts, references
        Lists of strings of any lengths, not aligned; or two corpora, tokenised together.
    order
        Longest n-grams that count, 1 to 100; n-grams of length 1 to `order` have equal weights.
    tokenizer
        What splits texts into tokens; no effect on corpora.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        In [0, 1], higher is better. ``per_sample`` gives the BLEU of each text; an empty one has
        0, as NLTK says. NaN where no text or no reference has a token.

    Raises
    ------
    InputError
        If a set is empty, the order is no sensible number, or corpora do not belong together.

    Examples
    --------
    >>> references = ["the cat sat on the mat", "a dog ran in the park"]
    >>> found = corpus_match_bleu(["a dog ran on the mat"], references, tokenizer="whitespace")
    >>> round(found.value, 3)
    0.34
    """
    order, threads = check_order(order), check_threads(threads)
    first, second = as_corpora(texts, references, tokenizer)
    both = join(first, second)
    rows, pool = np.split(np.arange(len(both)), [len(first)])
    values = against_all(both, rows, pool, order=order, threads=threads)
    reason = _undefined(first, second)
    return text_score(
        "corpus_match_bleu",
        np.nan if reason else float(np.mean(values)),
        first,
        better="higher",
        reason=reason,
        per_sample=values,
        order=order,
        smoothing="method1",
        references=len(second),
    )


def _undefined(texts: Corpus, references: Corpus) -> str | None:
    for name, corpus in (("text", texts), ("reference", references)):
        if len(corpus.tokens) == 0:
            return f"no {name} has a token"
    return None
