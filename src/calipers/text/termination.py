"""Non-termination: texts that never came to an end.

- With `limit`, the share of texts of at least so many tokens, which is the ratio of Welleck et
  al., "Consistency of a Recurrent Language Model With Respect to Incomplete Decoding", EMNLP 2020:
  what reached the greatest length that decoding allowed did not end by itself. The limit must
  be counted in tokens of the same tokenizer.
- Without one, as most files no longer tell how they were cut, by the last character: the share of
  texts that do not stop with the mark that ends a sentence in their script, quotes, brackets and
  white space behind it aside. This is a sign of a cut, and no proof. Titles, verse, lists, code,
  texts that end in an emoji, and scripts that do not mark the end, such as Thai, all count as not
  ended, and a text that was cut right after a full stop counts as ended: hold it against people's
  texts of the same kind.
"""

from __future__ import annotations

import numpy as np

from calipers.estimate.validate import check_whole
from calipers.score import Score
from calipers.text.raw import raw_mean, raw_texts
from calipers.text.sentence_ends import ends_sentence
from calipers.text.signing import text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus


def non_termination(
    texts: Texts, *, limit: int | None = None, tokenizer: AnyTokenizer = "nltk"
) -> Score:
    """Tell how many texts were cut off before they came to an end.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    limit
        Tokens at which the texts were cut, at least 1; None to judge by the last character.
    tokenizer
        What makes the tokens that `limit` counts; a corpus keeps its own.

    Returns
    -------
    Score
        In [0, 1], closest to the reference's own value is best. ``per_sample`` is 1 for each text
        that did not end and else 0, shape ``(n,)``; without `limit`, NaN for a text of nothing but
        white space.

    Raises
    ------
    InputError
        If `limit` is no whole number from 1.

    Examples
    --------
    >>> texts = ["It ended.", "It ended?)", "It went on and"]
    >>> non_termination(texts).per_sample.tolist()
    [0.0, 0.0, 1.0]
    >>> non_termination(texts, limit=4, tokenizer="whitespace").per_sample.tolist()
    [0.0, 0.0, 1.0]
    """
    if limit is not None:
        limit = check_whole("limit", limit, 1)
        corpus = as_corpus(texts, tokenizer)
        cut = (corpus.lengths >= limit).astype(np.float64)
        return text_score("non_termination", cut.mean(), corpus, per_sample=cut, limit=limit)
    rows = raw_texts(texts)
    values = [np.nan if not text or text.isspace() else not ends_sentence(text) for text in rows]
    return raw_mean(
        "non_termination",
        np.array(values, dtype=np.float64),
        rows,
        reason="every text is empty or white space",
        by="last_character",
    )
