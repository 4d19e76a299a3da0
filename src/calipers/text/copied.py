"""Copied spans: what stands word for word in the references, and where.

At each token of a text starts a longest span that the references hold too, as one run of tokens
within one of their texts. The longest of these is the text's longest copied span (McCoy et al.,
"How much do language models copy from their training data?", TACL 2023, report passages of more
than 1,000 words; Lee et al., "Deduplicating training data makes language models better", ACL 2022,
take out copies of 50 tokens). Spans are found exactly, by sorting the suffixes of texts and
references together, in O(N log² N) steps at most for N tokens, whatever the lengths of the copies.

A text without tokens has no value. Every text that shares a token with the references has a span of
at least 1, and common phrases, quotations and formulas count like any other: hold the value against
that of held-out texts of people. It rises with the length of the texts and with the number of
references. A copy with one changed word counts as two spans, a paraphrase as none. Where generated
texts and references begin with the same prompt, the prompt is a copied span: take it off first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from calipers.estimate.validate import check_choice, check_whole
from calipers.score import Score
from calipers.text.copied_search import matches
from calipers.text.corpus import Corpus
from calipers.text.signing import FROM_ZERO, mean_score, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora


@dataclass(frozen=True, slots=True)
class CopiedSpan:
    """A run of tokens that stands in a text and in a reference; rows and tokens count from 0.

    Attributes
    ----------
    row
        The text.
    start
        Its first token in the text.
    length
        Its number of tokens.
    reference
        A reference that holds it; there may be others.
    reference_start
        Its first token in that reference.
    """

    row: int
    start: int
    length: int
    reference: int
    reference_start: int
    _texts: Corpus = field(repr=False, compare=False)

    @property
    def tokens(self) -> list[str]:
        """The tokens themselves."""
        first = self._texts.starts[self.row] + self.start
        numbers = self._texts.tokens[first : first + self.length].tolist()
        return [self._texts.words[number] for number in numbers]


def longest_copied_span(
    texts: Texts,
    references: Texts,
    *,
    over: Literal["mean", "largest"] = "mean",
    tokenizer: AnyTokenizer = "nltk",
) -> Score:
    """Tell how long the passages are that texts share word for word with the references.

    Parameters
    ----------
    texts
        Generated texts: strings, or a corpus that was tokenised together with the references.
    references
        What they may have been copied from: the references, or the training set.
    over
        The value is the ``"mean"`` over the texts, or the ``"largest"`` of them.
    tokenizer
        Splits strings into tokens.

    Returns
    -------
    Score
        In tokens, 0 or more, lower is better. ``per_sample`` has the length of every text's longest
        copied span, NaN for texts without tokens.

    Raises
    ------
    InputError
        If a set is empty, or only one of the sets is a corpus.

    Examples
    --------
    >>> references = ["the cat sat on the mat", "a dog barked"]
    >>> texts = ["the cat sat down", "a dog sat on the sofa"]
    >>> longest_copied_span(texts, references, tokenizer="whitespace").per_sample.tolist()
    [3.0, 3.0]
    """
    check_choice("over", over, ("mean", "largest"))
    own, known = as_corpora(texts, references, tokenizer)
    spans = matches(own, known).longest
    pins: dict[str, Any] = {
        "over": over,
        "references": len(known),
        "better": "lower",
        "range": FROM_ZERO,
    }
    reason = "no text has a token"
    if over == "mean" or np.isnan(spans).all():
        return mean_score("longest_copied_span", spans, own, reason=reason, **pins)
    largest = np.nanmax(spans)
    return text_score("longest_copied_span", largest, own, per_sample=spans, **pins)


def copied_spans(
    texts: Texts,
    references: Texts,
    *,
    least: int = 10,
    tokenizer: AnyTokenizer = "nltk",
) -> list[CopiedSpan]:
    """Show which passages of texts stand word for word in the references, and where.

    Parameters
    ----------
    texts, references, tokenizer
        As for :func:`longest_copied_span`.
    least
        Shortest span to show, in tokens, at least 1.

    Returns
    -------
    list of CopiedSpan
        In the order of the texts. No span lies within another of its text, though two may overlap.

    Raises
    ------
    InputError
        If `least` is no whole number of at least 1, a set is empty, or only one of the sets is a
        corpus.

    Examples
    --------
    >>> references = ["the cat sat on the mat", "a dog barked"]
    >>> for span in copied_spans(["a dog sat on the sofa"], references, least=3,
    ...                          tokenizer="whitespace"):
    ...     print(span.start, span.reference, " ".join(span.tokens))
    2 0 sat on the
    """
    least = check_whole("least", least, 1)
    own, known = as_corpora(texts, references, tokenizer)
    found = matches(own, known)
    return [
        CopiedSpan(row, start, length, reference, beginning, own)
        for row, start, length, reference, beginning in found.spans(least).tolist()
    ]
