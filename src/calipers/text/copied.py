"""Copied spans: passages that occur verbatim in the references, with their locations.

At each token of a text starts a longest span that the references hold too, as one run of tokens
within one of their texts. The longest of these is the text's longest copied span (McCoy et al.,
"How much do language models copy from their training data?", TACL 2023, report passages of more
than 1,000 words; Lee et al., "Deduplicating training data makes language models better", ACL 2022,
take out copies of 50 tokens).

A text without tokens has no value. Every text that shares a token with the references has a span of
at least 1, and common phrases, quotations and formulas count like any other: compare the value with
that of held-out texts of people. It rises with the length of the texts and with the number of
references. A copy with one changed word counts as two spans, a paraphrase as none. Where generated
texts and references begin with the same prompt, the prompt is a copied span: take it off first.

Spans are found exactly, by sorting the suffixes of texts and references together, texts first, in
O(N log² N) steps at most for N tokens, whatever the lengths of the copies. Prefix doubling (Manber
and Myers, SIAM Journal on Computing 1993) sorts groups of suffixes that agree in h tokens by the
ranks of their suffixes h tokens on, so that they then agree in 2h. Only groups that still hold
several suffixes are sorted again (after Larsson and Sadakane, Theoretical Computer Science 2007). A
suffix ends where its text ends, and the shorter of two goes first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from calipers.errors import InputError, checks_keywords
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.validation import check_choice, check_whole
from calipers.score import Score
from calipers.text.corpus import Corpus, join
from calipers.text.replicates import MeasuredTexts, TextReplicates, means_without
from calipers.text.scoring import Chosen, TextPair, mean_score, text_score
from calipers.text.tokens import MOST_TOKENS, AnyTokenizer, Texts, as_corpora


def sort_suffixes(tokens: Ints, left: Ints, text_length: int, vocabulary: int) -> Ints:
    """Sort all suffixes so that each of the first `text_length` is beside its nearest ones.

    Suffixes behind these that share a prefix which none of the first `text_length` has stay
    unsorted among themselves: whichever of them comes next to another suffix has as much in common
    with it.
    """
    order, rank = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int32)
    ends, places = np.empty((2, vocabulary), np.int64)
    groups = np.empty((min(text_length, vocabulary), 2), np.int32)
    count = _sort_by_first(tokens, text_length, ends, places, order, rank, groups)
    groups = groups[:count]
    keys = np.empty((2, int(np.diff(groups).max(initial=0))), np.uint64)
    reach = 1
    while len(groups):
        pairs = int((np.diff(groups) // 2).sum())
        refined = np.empty((min(pairs, text_length), 2), np.int32)
        count = _refine(order, rank, left, text_length, groups, keys, reach, refined)
        groups = refined[:count]
        reach *= 2
    return order


_sort_by_first = native.kernel(
    "sort_by_first_token",
    "tokens i4[total]",
    "text_length int",
    "ends i8[vocabulary] out",
    "places i8[vocabulary] out",
    "order i4[total] out",
    "rank i4[total] out",
    "groups i4[room, 2] out",
    returns="int",
)

_refine = native.kernel(
    "refine_groups",
    "order i4[total] out",
    "rank i4[total] out",
    "left i4[total]",
    "text_length int",
    "groups i4[count, 2]",
    "keys u8[2, largest] out",
    "reach int",
    "refined i4[room, 2] out",
    returns="int",
)


def tokens_left(starts: Longs) -> Ints:
    """Count the tokens from each position to the end of its text."""
    left = np.empty(int(starts[-1]), np.int32)
    _count_left(starts, left)
    return left


_count_left = native.kernel("count_tokens_left", "starts i8[bounds]", "left i4[total] out")


def nearest_suffixes(order: Ints, text_length: int) -> tuple[Ints, Ints]:
    """Find the reference suffixes before and after each suffix of a text; -1 for none."""
    before, behind = np.empty(text_length, np.int32), np.empty(text_length, np.int32)
    _find_nearest(order, False, before)
    _find_nearest(order, True, behind)
    return before, behind


_find_nearest = native.kernel(
    "find_nearest_suffixes", "order i4[total]", "behind bool", "nearest i4[text_length] out"
)


def common_lengths(tokens: Ints, left: Ints, other: Ints) -> Ints:
    """Count the tokens that each suffix shares with a given one."""
    lengths = np.empty(len(other), np.int32)
    _count_common(tokens, left, other, lengths)
    return lengths


_count_common = native.kernel(
    "count_common",
    "tokens i4[total]",
    "left i4[total]",
    "beside i4[text_length]",
    "lengths i4[text_length] out",
)


@dataclass(frozen=True, eq=False)
class Matches:
    """The longest span from each token of the texts that also occurs in the references.

    Attributes
    ----------
    own, known
        The texts and the references.
    lengths
        Tokens of the span from each token on, int32 of shape (T,); 0 for none.
    places
        Where it starts in the tokens of the references, int64 of shape (T,).
    """

    own: Corpus
    known: Corpus
    lengths: Ints
    places: Longs

    @property
    def longest(self) -> Floats:
        """The largest length in each text; NaN for texts without tokens."""
        longest = np.full(len(self.own), np.nan)
        filled = self.own.lengths > 0
        if filled.any():
            longest[filled] = np.maximum.reduceat(self.lengths, self.own.starts[:-1][filled])
        return longest

    def spans(self, least: int) -> Longs:
        """Row, start, length, reference row and start there of all maximal spans."""
        within = np.zeros(len(self.lengths), bool)
        within[1:] = self.lengths[1:] == self.lengths[:-1] - 1
        first = np.flatnonzero((self.lengths >= least) & ~within)
        row, start = _locate(self.own, first)
        reference, beginning = _locate(self.known, self.places[first])
        return np.stack([row, start, self.lengths[first], reference, beginning], axis=1)


def matches(corpus: Corpus, known: Corpus) -> Matches:
    """Find the spans from the order of the suffixes of both sets together.

    Raises
    ------
    InputError
        If there are too many tokens, or the sets were not tokenised together.
    """
    both, size = join(corpus, known), len(corpus.tokens)
    if len(both.tokens) > MOST_TOKENS:
        raise InputError(
            f"texts and references must have at most {MOST_TOKENS:,} tokens together; "
            f"found {len(both.tokens):,}"
        )
    left = tokens_left(both.starts)
    order = sort_suffixes(both.tokens, left, size, len(both.words))
    beside = nearest_suffixes(order, size)
    before, behind = (common_lengths(both.tokens, left, side) for side in beside)
    places = np.where(behind > before, beside[1], beside[0]).astype(np.int64) - size
    return Matches(corpus, known, np.maximum(before, behind), places)


def _locate(corpus: Corpus, places: Longs) -> tuple[Longs, Longs]:
    """Row of each token, and its place in the text."""
    rows = np.searchsorted(corpus.starts, places, side="right") - 1
    return rows, places - corpus.starts[rows]


@dataclass(frozen=True, slots=True)
class CopiedSpan:
    """A run of tokens that occurs in a text and in a reference; rows and tokens count from 0.

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


@checks_keywords
def longest_copied_span(
    texts: Texts,
    references: Texts,
    *,
    over: Literal["mean", "largest"] = "mean",
    tokenizer: AnyTokenizer = "auto",
) -> Score:
    """Tell how long the passages are that texts share verbatim with the references.

    Parameters
    ----------
    texts
        Generated texts: strings, or a corpus that was tokenised together with the references.
    references
        Texts that may have been copied: the references, or the training set.
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
    corpus, known = as_corpora(texts, references, tokenizer)
    spans = matches(corpus, known).longest
    pins: dict[str, Any] = {"over": over, "references": len(known)}
    reason = "no text has a token"
    if over == "mean" or np.isnan(spans).all():
        return mean_score("longest_copied_span", spans, corpus, reason=reason, **pins)
    largest = np.nanmax(spans)
    return text_score("longest_copied_span", largest, corpus, per_sample=spans, **pins)


@checks_keywords
def copied_spans(
    texts: Texts, references: Texts, *, least: int = 10, tokenizer: AnyTokenizer = "auto"
) -> list[CopiedSpan]:
    """Find the passages of texts that occur verbatim in the references, with their locations.

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
        If `least` is not a whole number of at least 1, a set is empty, or only one of the sets is a
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
    corpus, known = as_corpora(texts, references, tokenizer)
    copies = matches(corpus, known)
    return [
        CopiedSpan(row, start, length, reference, beginning, corpus)
        for row, start, length, reference, beginning in copies.spans(least).tolist()
    ]


def longest_copied_span_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the mean length without blocks of texts and of drawn references.

    The longest of all has none, since the one text with it decides.
    """
    if measured.options["over"] == "largest":
        return TextReplicates()
    mine = means_without(measured)
    if not measured.drawn:
        return TextReplicates(texts=mine)
    return TextReplicates(texts=mine, references=_means_without_references(measured))


def _means_without_references(measured: MeasuredTexts) -> Floats:
    """The mean longest span without each block of references, from one order of suffixes."""
    corpus, known = measured.texts, measured.references
    both, size = join(corpus, known), len(corpus.tokens)
    left = tokens_left(both.starts)
    order = sort_suffixes(both.tokens, left, size, len(both.words))
    blocks = np.repeat(measured.reference_labels, known.lengths)
    sides = [_side(both.tokens, left, order, behind, size, blocks) for behind in (False, True)]
    lengths, further, passed = (np.stack(side, axis=1) for side in zip(*sides, strict=True))
    longest = longest_without(corpus.starts, lengths, further, passed, DEFAULT_BLOCKS)
    means: Floats = longest[corpus.lengths > 0].mean(axis=0)
    return means


def _side(
    tokens: Ints, left: Ints, order: Ints, behind: bool, size: int, blocks: Longs
) -> tuple[Ints, Ints, Ints]:
    """What each token's suffix shares with the nearest, and with the next of another block."""
    nearest, further = nearest_of_others(order, behind, size, blocks)
    passed = np.full(size, -1, np.int32)
    passed[nearest >= 0] = blocks[nearest[nearest >= 0] - size]
    lengths = common_lengths(tokens, left, nearest)
    return lengths, common_lengths(tokens, left, further), passed


def nearest_of_others(
    order: Ints, behind: bool, text_length: int, blocks: Longs
) -> tuple[Ints, Ints]:
    """Find the reference suffix beside each suffix of a text, and the nearest of another block.

    -1 for none; `blocks` has the block of each token behind the first `text_length`.
    """
    nearest, further = np.empty(text_length, np.int32), np.empty(text_length, np.int32)
    _find_nearest_of_blocks(order, behind, blocks, nearest, further)
    return nearest, further


_find_nearest_of_blocks = native.kernel(
    "find_nearest_of_blocks",
    "order i4[total]",
    "behind bool",
    "blocks i8[reference_length]",
    "nearest i4[text_length] out",
    "further i4[text_length] out",
)


def longest_without(starts: Longs, lengths: Ints, further: Ints, passed: Ints, blocks: int) -> Ints:
    """Find the longest span of each text without each block, shape (n, blocks).

    `lengths`, `further` and `passed` have one column for either side: the tokens shared with the
    nearest suffix, with the next of another block, and the block of the nearest.
    """
    longest = np.empty((len(starts) - 1, blocks), np.int32)
    _find_longest_without(starts, lengths, further, passed, longest)
    return longest


_find_longest_without = native.kernel(
    "find_longest_without",
    "starts i8[bounds]",
    "lengths i4[text_length, 2]",
    "further i4[text_length, 2]",
    "passed i4[text_length, 2]",
    "longest i4[texts, blocks] out",
)


def read_longest_copied_span(pair: TextPair, options: Chosen) -> Score:
    return longest_copied_span(pair.texts, pair.references, over=options["over"])
