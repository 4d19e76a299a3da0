"""Mean sentence BLEU: Self-BLEU, and BLEU against a whole set of references.

With c the length of a text, r the length closest to it among its references (of two, the shorter),
p_n the share of its n-grams that a reference holds, each counted at most as often as in any one
reference, and N the order:

    BLEU = exp(min(0, 1 - r/c)) · (p_1 · … · p_N)^(1/N)

where a p_n without any match becomes 0.1 / max(1, n-grams of the text), and the whole is 0 where
not even a token matches: NLTK's ``sentence_bleu`` with ``SmoothingFunction().method1``, whose
values it gives to the last bits for the same tokens. The BLEU of paper 002 has the same precisions
and the same penalty, summed over a corpus before they are divided, unsmoothed.

Self-BLEU has all other texts of the set as the references of a text (Zhu et al., "Texygen", SIGIR
2018) and tells how much generated texts repeat one another. Only the text itself is left out: an
equal copy of it is a reference like any other. The formula is that of Texygen and Holtzman et al.
(ICLR 2020); the tokens are not. Texygen and others call NLTK's ``word_tokenize``, which splits
sentences first, while `nltk` here takes a text as one; Holtzman et al. score the word pieces of
GPT-2. So published values need their tokens. It rises with the number of texts, since more
references match more, so hold it only against the value of a reference set of the same size; and it
sees shared phrases, not shared ideas.

Quality BLEU has the whole corpus of references as the references of each text (Texygen, section
2.3; its own code takes the first 500 by default, here all count) and tells how far generated texts
are made of phrases that people wrote. It says nothing of diversity: one good sentence, written over
and over, scores as that sentence does, and a copied reference scores 1. It rises with the number of
references. What the references score among themselves is their Self-BLEU, each against the others.

Both take time linear in the number of tokens. An n-gram of a text counts at most as often as any
one reference holds it; so its largest count over all references, the next largest, and which text
holds the largest tell how far it counts, also for a text that is itself among the references and
left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calipers.errors import InputError, checks_keywords
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import check_choice, check_threads, check_whole
from calipers.score import Score
from calipers.text.corpus import Corpus, join
from calipers.text.distinct_ngrams import too_short
from calipers.text.ngrams import NGrams, check_order, numbered
from calipers.text.replicates import BLOCKS, MeasuredTexts, TextReplicates, means_without
from calipers.text.scoring import Chosen, TextPair, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora, as_corpus

FEW_SHORT = 0.01
"""One text in a hundred may be shorter than the order without a word."""


def leaders(ids: Ints, counts: Ints, starts: Longs, size: int, pool: Longs) -> Ints:
    """Find for each n-gram its largest count in a text, the next largest, and the first's text.

    Returns
    -------
    ndarray
        int32 of shape (size, 3).
    """
    leading = np.empty((size, 3), np.int32)
    _find_leaders(ids, counts, starts, pool, leading)
    return leading


_WITHIN = ("ids i4[total]", "counts i4[total]", "starts i8[bounds]")

_find_leaders = native.kernel(
    "find_leaders", *_WITHIN, "pool i8[members]", "leaders i4[size, 3] out"
)


def clip(ids: Ints, counts: Ints, starts: Longs, rows: Longs, leading: Ints) -> Longs:
    """Clip each text's n-gram counts at the largest count in any one other text."""
    matches = np.empty(len(rows), np.int64)
    _clip(ids, counts, starts, rows, leading, matches)
    return matches


_clip = native.kernel(
    "clip_matches", *_WITHIN, "rows i8[m]", "leaders i4[size, 3]", "matches i8[m] out"
)


def sentence_scores(matches: Longs, lengths: Longs, closest: Longs) -> Floats:
    """Compute the BLEU of each text from matches of shape (m, order)."""
    scores = np.empty(len(matches))
    _score(matches, lengths, closest, scores)
    return scores


_score = native.kernel(
    "score_sentences",
    "matches i8[m, order]",
    "lengths i8[m]",
    "closest i8[m]",
    "scores f8[m] out",
)


def post(
    ids: Ints, counts: Ints, starts: Longs, size: int, pool: Longs
) -> tuple[Longs, Ints, Ints]:
    """List for each n-gram the members of the pool that contain it, with counts."""
    listed = int((starts[pool + 1] - starts[pool]).sum())
    ends = np.empty(size + 1, np.int64)
    members, often = np.empty(listed, np.int32), np.empty(listed, np.int32)
    _list_holders(ids, counts, starts, pool, ends, members, often)
    return ends, members, often


_list_holders = native.kernel(
    "list_holders",
    *_WITHIN,
    "pool i8[members]",
    "ends i8[grams_and_one] out",
    "holders i4[listed] out",
    "often i4[listed] out",
)

_add_matches = native.kernel(
    "add_pair_matches",
    *_WITHIN,
    "rows i8[m]",
    "ends i8[grams_and_one]",
    "holders i4[listed]",
    "often i4[listed]",
    "n int",
    "matches i4[m, members, order] out",
)


def pair_means(matches: Ints, lengths: Longs, itself: Longs, others: Longs) -> Floats:
    """Average each row's BLEU against every single member of the pool except itself.

    `matches` has shape (rows, pool, order), `itself` is the row's place in the pool, and `others`
    are the lengths of the pool.
    """
    means = np.empty(len(matches))
    room = np.empty((int(others.max()) + 1, matches.shape[2] + 2))
    _average_pairs(matches, lengths, itself, others, room, means)
    return means


_average_pairs = native.kernel(
    "average_pairs",
    "matches i4[m, members, order]",
    "lengths i8[m]",
    "itself i8[m]",
    "others i8[members]",
    "room f8[lengths_of_pool, columns] out",
    "means f8[m] out",
)

BLOCK = 8192
ROOM = 2**22
"""Matches that a block of pairs holds, four bytes each."""


def against_all(
    corpus: Corpus, rows: Longs, pool: Longs, *, order: int, threads: int | None
) -> Floats:
    """Score rows of a corpus, each with the whole pool except itself as references.

    Parameters
    ----------
    corpus
        What holds both.
    rows
        The texts to score, shape (m,).
    pool
        The references; either all of `rows` are among them or none is.
    order, threads
        As for :func:`calipers.text.self_bleu`.

    Returns
    -------
    ndarray
        As NLTK's ``sentence_bleu`` with ``method1``, shape (m,), in [0, 1].
    """
    lengths = corpus.lengths
    itself = int(np.isin(rows[0], pool))
    with workers(threads) as team:
        matches = [_matches(corpus.ngrams(n), rows, pool, team) for n in range(1, order + 1)]
    closest = closest_lengths(lengths[rows], lengths[pool], itself=itself)
    return sentence_scores(np.stack(matches, axis=1), lengths[rows], closest)


def against_each(
    corpus: Corpus, rows: Longs, pool: Longs, *, order: int, threads: int | None
) -> Floats:
    """Average each row's scores with every other text of the pool as single reference.

    Takes what :func:`against_all` does, where all rows are in the pool; the time is proportional
    to rows times pool.
    """
    grams = [corpus.ngrams(n) for n in range(1, order + 1)]
    lists = [post(*_within(gram), gram.size, pool) for gram in grams]
    lengths, places = corpus.lengths, np.searchsorted(pool, rows)

    def score(span: Span) -> Floats:
        mine = slice(*span)
        matches = np.zeros((span[1] - span[0], len(pool), order), np.int32)
        for n, (gram, posted) in enumerate(zip(grams, lists, strict=True)):
            _add_matches(*_within(gram), rows[mine], *posted, n, matches)
        return pair_means(matches, lengths[rows[mine]], places[mine], lengths[pool])

    with workers(threads) as team:
        blocks = spans(len(rows), max(1, ROOM // (len(pool) * order)))
        return np.concatenate(list(team.map(score, blocks)))


def closest_lengths(lengths: Longs, pool: Longs, *, itself: int) -> Longs:
    """Find the reference length closest to each text's; the shorter of two.

    `itself` is 1 where each text is itself in the pool and does not count, and 0 elsewhere.
    """
    pool = np.sort(pool)
    low, high = np.searchsorted(pool, lengths), np.searchsorted(pool, lengths, side="right")
    far = np.iinfo(np.int64).max // 4
    below = np.where(low > 0, pool[low - 1], -far)
    above = np.where(high < len(pool), pool[np.minimum(high, len(pool) - 1)], far)
    nearest = np.where(lengths - below <= above - lengths, below, above)
    return np.where(high - low > itself, lengths, nearest)


def _matches(gram: NGrams, rows: Longs, pool: Longs, team: Workers) -> Longs:
    within = _within(gram)
    leading = leaders(*within, gram.size, pool)
    parts = team.map(
        lambda span: clip(*within, rows[slice(*span)], leading), spans(len(rows), BLOCK)
    )
    return np.concatenate(list(parts))


def _within(gram: NGrams) -> tuple[Ints, Ints, Longs]:
    return gram.within.ids, gram.within.counts, gram.within.starts


@dataclass(frozen=True, eq=False)
class Draw:
    """A pool of texts, and a sample of them that is scored against the rest of the pool.

    Attributes
    ----------
    rows
        The texts that are scored, ascending, int64.
    pool
        The texts that they are compared with, ascending, int64.
    pins
        The choices behind it, for a signature.
    """

    rows: Longs
    pool: Longs
    pins: dict[str, int]


def draw(n: int, *, sample: int | None, others: int | None, seed: int) -> Draw:
    """Draw the pool, others + 1 of n texts, and from it the sample, both without replacement.

    Raises
    ------
    InputError
        If a number is none that can be drawn.
    """
    seed = check_whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    pins = {}
    rows = pool = np.arange(n)
    if others is not None:
        pins["others"] = _at_most("others", others, n - 1, "the texts less one")
        rows = pool = np.sort(rng.choice(n, pins["others"] + 1, replace=False))
    if sample is not None:
        pins["sample"] = _at_most("sample", sample, len(pool), "the texts to draw from")
        rows = np.sort(rng.choice(pool, pins["sample"], replace=False))
    return Draw(rows, pool, {**pins, "seed": seed} if pins else pins)


def _at_most(parameter: str, value: int, most: int, what: str) -> int:
    value = check_whole(parameter, value, least=1)
    if value > most:
        raise InputError(f"{parameter} must be at most {most:,}, {what}; found {value:,}")
    return value


Average = Literal["all", "pairwise"]

_WORKS = {"all": against_all, "pairwise": against_each}


@checks_keywords
def self_bleu(
    texts: Texts,
    *,
    order: int = 4,
    tokenizer: AnyTokenizer = "auto",
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
        The tokenizer; no effect on a corpus.
    sample
        How many texts to score, drawn without replacement; all by default. Each is still compared
        with all others: Holtzman et al. (2020) score 1,000 of 5,000.
    others
        How many other texts to compare each with; all by default. A pool of ``others + 1`` texts
        is drawn without replacement before the sample, which is then drawn from the pool, and each
        text is compared with the rest of the pool. ``sample=1000, others=4999`` is the protocol of
        Holtzman et al. for more than 5,000 texts.
    average
        ``"all"``: all others together are the references of a text, in time linear in the number
        of tokens. ``"pairwise"``: each other text alone is the one reference, and the scores are
        averaged over all ordered pairs of different rows; the time grows with the square of the
        number of texts (or with sample · others).
    seed
        Seed of the draws, at least 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        In [0, 1], to be compared with the reference's own. ``per_sample`` gives the BLEU of each
        text (the mean over its pairs), NaN for those that were not drawn; an empty text has 0, as
        in NLTK. NaN for a single text, or where none has as many tokens as `order`: NLTK
        gives all such texts one value, whatever they say. ``note`` counts them where some have.

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
        alone = "a single text has no others to be compared with"
        return text_score("self_bleu", np.nan, corpus, reason=alone, per_sample=values, **pins)
    drawn = draw(len(corpus), sample=sample, others=others, seed=seed)
    work = _WORKS[average]
    values[drawn.rows] = work(corpus, drawn.rows, drawn.pool, order=order, threads=threads)
    reason, note = _shortness(corpus.lengths[drawn.rows], order)
    return text_score(
        "self_bleu",
        np.nan if reason else float(np.mean(values[drawn.rows])),
        corpus,
        reason=reason,
        per_sample=values,
        note=note,
        **(pins | drawn.pins),
    )


def _shortness(lengths: Longs, order: int) -> tuple[str | None, str | None]:
    """Why texts of these numbers of tokens have no BLEU, or what their mean does not tell.

    A text without an n-gram of the order has 0.1 in the place of its precision, whatever it says.
    """
    short = int(np.count_nonzero((lengths < order) & (lengths > 0)))
    if not (lengths >= order).any():
        return too_short(order if lengths.any() else 1), None
    if short <= FEW_SHORT * len(lengths):
        return None, None
    note = (
        f"{short:,} of {len(lengths):,} texts have fewer than {order} tokens: smoothing alone sets "
        "their value, whatever they say; a lower order reads them"
    )
    return None, note


@checks_keywords
def corpus_match_bleu(
    texts: Texts,
    references: Texts,
    *,
    order: int = 4,
    tokenizer: AnyTokenizer = "auto",
    threads: int | None = None,
) -> Score:
    """Tell how far each text consists of phrases of any of the references.

    Parameters
    ----------
    texts, references
        Lists of strings of any lengths, not aligned; or two corpora, tokenised together.
    order
        Longest n-grams that count, 1 to 100; n-grams of length 1 to `order` have equal weights.
    tokenizer
        The tokenizer; no effect on corpora.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        In [0, 1], higher is better. ``per_sample`` gives the BLEU of each text; an empty one has
        0, as in NLTK. NaN where no text has as many tokens as `order`, or no reference has a
        token; ``note`` counts the texts that are shorter than the order where some are not.

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
    reason, note = _shortness(first.lengths, order)
    reason = "no reference has a token" if not len(second.tokens) else reason
    return text_score(
        "corpus_match_bleu",
        np.nan if reason else float(np.mean(values)),
        first,
        reason=reason,
        per_sample=values,
        note=note,
        order=order,
        smoothing="method1",
        references=len(second),
    )


def self_bleu_replicates(measured: MeasuredTexts) -> TextReplicates | None:
    """Compute replicates without blocks of texts, as scored texts and as references.

    Where each text is compared with all others; pairs are not known one by one, and a drawn sample
    of them has no parts either.
    """
    corpus, options = measured.texts, measured.options
    if options["average"] == "pairwise":
        return TextReplicates() if options["sample"] or options["others"] else None
    drawn = draw(
        len(corpus),
        sample=options["sample"] or None,
        others=options["others"] or None,
        seed=measured.seed,
    )
    labels, row_blocks = measured.labels, measured.labels[drawn.rows]
    return TextReplicates(
        texts=_scores_without(corpus, drawn.rows, drawn.pool, labels, row_blocks, measured)
    )


def corpus_match_bleu_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute replicates without blocks of texts, and without blocks of references."""
    both = join(measured.texts, measured.references)
    rows, pool = np.split(np.arange(len(both)), [len(measured.texts)])
    labels = np.concatenate([np.full(len(rows), -1), measured.reference_labels])
    theirs = _scores_without(both, rows, pool, labels, labels[rows], measured)
    return TextReplicates(texts=means_without(measured), references=theirs)


def _scores_without(
    corpus: Corpus,
    rows: Longs,
    pool: Longs,
    labels: Longs,
    row_blocks: Longs,
    measured: MeasuredTexts,
) -> Floats:
    """The mean BLEU of the rows without each block of the pool, shape ``(blocks,)``.

    A text without a block of its references matches fewer n-grams: those that one block held most
    often count only as often as the other blocks hold them. So one pass over the n-grams gives the
    matches of every text without every block, and with them every replicate exactly.
    """
    orders, inside = range(1, measured.options["n"] + 1), bool(row_blocks[0] >= 0)
    with workers(measured.threads) as team:
        by_order = [
            _matches_without(corpus.ngrams(order), rows, pool, labels, row_blocks, team)
            for order in orders
        ]
    lengths, means = corpus.lengths, np.full(DEFAULT_BLOCKS, np.nan)
    for block in BLOCKS:
        keep, rest = row_blocks != block, pool[labels[pool] != block]
        if not (keep.any() and len(rest) > inside):
            continue
        matches = np.stack([(whole - fewer[:, block])[keep] for whole, fewer in by_order], axis=1)
        mine = lengths[rows[keep]]
        closest = closest_lengths(mine, lengths[rest], itself=int(inside))
        means[block] = sentence_scores(matches, mine, closest).mean()
    return means


def _matches_without(
    gram: NGrams, rows: Longs, pool: Longs, labels: Longs, row_blocks: Longs, team: Workers
) -> tuple[Longs, Ints]:
    """Matches of each row with all blocks, and how many fewer without each."""
    within = gram.within
    asked = np.zeros(len(labels), bool)
    asked[pool] = True
    holders = np.bincount(within.ids[np.repeat(asked, within.different)], minlength=gram.size)
    compact, size = numbered(
        holders > int(row_blocks[0] >= 0)
    )  # held by no other text, none matches
    blocked = pool[np.argsort(labels[pool], kind="stable")]
    slots = leading_blocks(*_within(gram), compact, size, blocked, labels)

    def work(span: Span) -> tuple[Longs, Ints]:
        mine = slice(*span)
        return clip_without(
            *_within(gram), compact, rows[mine], row_blocks[mine], slots, DEFAULT_BLOCKS
        )

    parts = list(team.map(work, spans(len(rows), BLOCK)))
    matches, fewer = zip(*parts, strict=True)
    return np.concatenate(matches), np.concatenate(fewer)


SLOTS = 3
"""Blocks that are remembered of an n-gram: a text's own, one left out, and one besides."""


def leading_blocks(
    ids: Ints, counts: Ints, starts: Longs, compact: Ints, size: int, pool: Longs, labels: Longs
) -> Ints:
    """Find for each n-gram the blocks whose texts hold it most often, shape (size, SLOTS, 4).

    A slot has the block, the largest count in one of its texts, the next largest, and the text of
    the largest; the block is -1 for an empty slot. `pool` goes block by block.
    """
    slots, current = np.empty((size, SLOTS, 4), np.int32), np.empty((size, 4), np.int32)
    _find_leading(ids, counts, starts, compact, pool, labels, current, slots)
    return slots


_find_leading = native.kernel(
    "find_leading_blocks",
    *_WITHIN,
    "row_of i4[grams]",
    "pool i8[members]",
    "labels i8[texts]",
    "current i4[size, 4] out",
    "slots i4[size, 3, 4] out",
)


def clip_without(
    ids: Ints,
    counts: Ints,
    starts: Longs,
    compact: Ints,
    rows: Longs,
    row_blocks: Longs,
    slots: Ints,
    blocks: int,
) -> tuple[Longs, Ints]:
    """Count each text's n-grams that others hold, and how many fewer without each block.

    `row_blocks` is the block of each of `rows`, -1 where a text is not in the pool. The column of a
    text's own block stays 0: the text goes with it.
    """
    matches, fewer = np.empty(len(rows), np.int64), np.empty((len(rows), blocks), np.int32)
    _clip_without(ids, counts, starts, compact, rows, row_blocks, slots, matches, fewer)
    return matches, fewer


_clip_without = native.kernel(
    "clip_without_blocks",
    *_WITHIN,
    "row_of i4[grams]",
    "rows i8[m]",
    "row_blocks i8[m]",
    "slots i4[size, 3, 4]",
    "matches i8[m] out",
    "fewer i4[m, blocks] out",
)


def read_self_bleu(pair: TextPair, options: Chosen) -> Score:
    return self_bleu(
        pair.texts,
        order=options["n"],
        average=options["average"],
        sample=options["sample"] or None,
        others=options["others"] or None,
        seed=pair.seed,
        threads=pair.threads,
    )


def read_corpus_match_bleu(pair: TextPair, options: Chosen) -> Score:
    return corpus_match_bleu(pair.texts, pair.references, order=options["n"], threads=pair.threads)
