"""The compiled kernels of texts against plain Python, in shapes at and over their edges."""

import hashlib
import math
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from calipers.numeric import native
from calipers.text import bleu_sentences, copied, near_texts, ngrams, shared_ngrams, string_kernels
from calipers.text.corpus import Corpus, join
from calipers.text.repetition import repeated_ends
from calipers.text.replicates import sole_blocks
from calipers.text.type_token import window_types

BLOCKS = 3

SHAPES = {
    "no text": ([], 1),
    "empty texts": ([0, 0], 2),
    "one token": ([1], 1),
    "around nothing": ([0, 1, 0, 2], 2),
    "primes": ([2, 3, 5, 7, 11, 13, 17, 19], 3),
    "around a run": ([11, 12, 13, 23, 24, 25, 37], 5),
    "around a block of look-ups": ([15, 16, 17, 31, 32, 33, 0], 40),
    "one word": ([47, 48, 49, 2], 1),
    "more texts than words": ([3] * 101, 2),
    "around a sort by bytes": ([1535, 1536, 1537, 1], 700),
    "long and alike": ([1549, 1601], 2),
}
"""Lengths of texts, and how many words there are."""

shapes = pytest.mark.parametrize(("lengths", "vocabulary"), SHAPES.values(), ids=SHAPES)


def corpus_of(lengths: list[int], vocabulary: int, seed: int = 0) -> Corpus:
    """Texts of random tokens, low numbers being frequent."""
    rng = np.random.default_rng([seed, vocabulary, len(lengths)])
    tokens = (vocabulary * rng.random(sum(lengths)) ** 2).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    words = [f"w{number}" for number in range(vocabulary)]
    return Corpus([""] * len(lengths), tokens, starts, words, "none")


def rows_of(corpus: Corpus) -> list[list[int]]:
    return [corpus.tokens[a:b].tolist() for a, b in pairwise(corpus.starts.tolist())]


def grams_of(row: list[int], order: int) -> list[tuple[int, ...]]:
    return [tuple(row[at : at + order]) for at in range(len(row) - order + 1)]


def labels_of(corpus: Corpus) -> np.ndarray:
    return np.random.default_rng(len(corpus)).integers(0, BLOCKS, len(corpus))


# ngrams.c


@shapes
def test_tokens_are_numbered_by_first_appearance(lengths: list[int], vocabulary: int) -> None:
    tokens = corpus_of(lengths, vocabulary).tokens[::-1].copy()
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(token, len(numbers)) for token in tokens.tolist()]
    ids, size = ngrams.renumber(tokens, vocabulary)
    assert ids.tolist() == expected
    assert size == len(numbers)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@shapes
def test_ngrams_and_their_counts(lengths: list[int], vocabulary: int, order: int) -> None:
    corpus = corpus_of(lengths, vocabulary)
    numbers: dict[tuple[int, ...], int] = {}
    expected = [
        [numbers.setdefault(gram, len(numbers)) for gram in grams_of(row, order)]
        for row in rows_of(corpus)
    ]
    made = corpus.ngrams(order)
    assert made.ids.tolist() == [number for row in expected for number in row]
    assert made.totals.tolist() == list(map(len, expected))
    assert made.size == len(numbers)
    counted = [sorted(Counter(row).items()) for row in expected]
    within = made.within
    assert list(zip(within.ids, within.counts, strict=True)) == [x for row in counted for x in row]
    assert within.different.tolist() == list(map(len, counted))


@shapes
def test_blocks_that_hold_an_ngram(lengths: list[int], vocabulary: int) -> None:
    corpus = corpus_of(lengths, vocabulary)
    labels, made = labels_of(corpus), corpus.ngrams(2)
    holders = np.zeros((made.size, BLOCKS), np.int32)
    for text, label in enumerate(labels):
        holders[np.unique(made.ids[made.starts[text] : made.starts[text + 1]]), label] += 1
    sole = [row.argmax() if np.count_nonzero(row) == 1 else -1 for row in holders]
    assert sole_blocks(made.ids, made.starts, labels, made.size).tolist() == sole
    assert (
        sole_blocks(made.ids, made.starts, labels, made.size + 2)[made.size :].tolist() == [-2] * 2
    )

    compact, size = ngrams.numbered(holders.sum(axis=1) > 1)
    within = made.within
    arguments = within.ids, within.starts, labels, compact, size, BLOCKS
    table = shared_ngrams.holders_by_block(*arguments)
    assert (table == holders[holders.sum(axis=1) > 1]).all()
    shared = shared_ngrams.shared_with_blocks(within.ids, within.starts, compact, table)
    kept = np.where(compact[:, None] >= 0, holders, 0)
    expected = [
        kept[within.ids[a:b]].sum(axis=0).tolist() for a, b in pairwise(within.starts.tolist())
    ]
    assert shared.tolist() == expected


@pytest.mark.parametrize("window", [1, 2, 16, 47, 10_000])
@shapes
def test_types_of_windows(lengths: list[int], vocabulary: int, window: int) -> None:
    corpus = corpus_of(lengths, vocabulary)
    expected = [
        sum(len(set(row[at : at + window])) for at in range(len(row) - window + 1))
        for row in rows_of(corpus)
    ]
    found = window_types(corpus.tokens, corpus.starts, window, vocabulary)
    assert found.tolist() == expected


def repeated_end(row: list[int], longest: int) -> tuple[int, int]:
    """The phrase with the most copies at the end, and how many they are, one by one."""
    best = 0, 1
    for phrase in range(1, min(len(row) // 2, longest) + 1):
        copies = 1
        while row[-phrase:] == row[len(row) - (copies + 1) * phrase : len(row) - copies * phrase]:
            copies += 1
        best = (phrase, copies) if copies > best[1] else best
    return best


@pytest.mark.parametrize("longest", [0, 1, 5, 10_000])
@shapes
def test_phrases_that_texts_end_in(lengths: list[int], vocabulary: int, longest: int) -> None:
    corpus = corpus_of(lengths, vocabulary)
    found = repeated_ends(corpus.tokens, corpus.starts, longest)
    expected = [repeated_end(row, longest) for row in rows_of(corpus)]
    assert list(zip(*(side.tolist() for side in found), strict=True)) == expected


def test_a_phrase_that_is_repeated_often() -> None:
    tokens = np.tile(np.arange(7, dtype=np.int32), 113)
    lengths, copies = repeated_ends(tokens, np.array([0, 3, len(tokens)]), 10_000)
    assert (lengths.tolist(), copies.tolist()) == ([0, 7], [1, 112])


# bleu.c


def plain_bleu(row: list[int], references: list[list[int]], order: int) -> float:
    """The formula at the head of text/bleu_sentences.py, with math.fsum."""
    logs = []
    for n in range(1, order + 1):
        counts = Counter(grams_of(row, n))
        allowed: Counter[tuple[int, ...]] = Counter()
        for reference in references:
            allowed |= Counter(grams_of(reference, n))
        matches = sum((counts & allowed).values())
        if n == 1 and not matches:
            return 0.0
        logs.append(math.log((matches or 0.1) / max(1, len(row) - n + 1)) / order)
    closest = min((abs(len(one) - len(row)), len(one)) for one in references)[1]
    return math.exp(min(0.0, 1 - closest / len(row))) * math.exp(math.fsum(logs))


BLEU_SHAPES = [name for name, (lengths, _) in SHAPES.items() if 2 <= len(lengths) < 50]


@pytest.mark.parametrize("order", [1, 2, 4, 7])
@pytest.mark.parametrize("name", BLEU_SHAPES)
def test_bleu_against_all_others_and_each(name: str, order: int) -> None:
    corpus = corpus_of(*SHAPES[name])
    rows, places = rows_of(corpus), np.arange(len(corpus))
    others = [rows[:at] + rows[at + 1 :] for at in places]
    found = bleu_sentences.against_all(corpus, places, places, order=order, threads=1)
    expected = [plain_bleu(row, rest, order) for row, rest in zip(rows, others, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    if max(map(len, rows)) < 100:
        found = bleu_sentences.against_each(corpus, places, places, order=order, threads=1)
        expected = [
            float(np.mean([plain_bleu(row, [one], order) for one in rest]))
            for row, rest in zip(rows, others, strict=True)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("name", BLEU_SHAPES)
def test_bleu_against_other_texts(name: str) -> None:
    first, second = corpus_of(*SHAPES[name]), corpus_of(*SHAPES[name], seed=1)
    both = join(first, _with_words(second, first))
    own, references = np.split(np.arange(len(both)), [len(first)])
    found = bleu_sentences.against_all(both, own, references, order=3, threads=1)
    expected = [plain_bleu(row, rows_of(second), 3) for row in rows_of(first)]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def _with_words(corpus: Corpus, other: Corpus) -> Corpus:
    return Corpus(corpus.texts, corpus.tokens, corpus.starts, other.words, corpus.tokenizer)


@pytest.mark.parametrize("inside", [True, False])
@shapes
def test_matches_without_each_block(lengths: list[int], vocabulary: int, inside: bool) -> None:
    corpus = corpus_of(lengths, vocabulary)
    places = np.arange(len(corpus))
    rows, pool = (places, places) if inside else np.split(places, [len(places) // 2])
    labels = labels_of(corpus)
    blocks = labels[rows] if inside else np.full(len(rows), -1)
    within, size = corpus.ngrams(1).within, corpus.ngrams(1).size
    arrays = within.ids, within.counts, within.starts
    compact, all_of_them = np.arange(size, dtype=np.int32), size
    compact[::5] = -1  # these do not count
    blocked = pool[np.argsort(labels[pool], kind="stable")]
    slots = bleu_sentences.leading_blocks(*arrays, compact, all_of_them, blocked, labels)
    found = bleu_sentences.clip_without(*arrays, compact, rows, blocks, slots, BLOCKS)

    counters = [
        Counter({g: c for g, c in zip(within.ids[a:b], within.counts[a:b], strict=True) if g % 5})
        for a, b in pairwise(within.starts.tolist())
    ]
    matches, fewer = np.zeros(len(rows), int), np.zeros((len(rows), BLOCKS), int)
    for at, row in enumerate(rows):
        for left_out in (-1, *range(BLOCKS)):
            allowed: Counter[int] = Counter()
            for member in pool:
                if member != row and labels[member] != left_out:
                    allowed |= counters[member]
            count = sum((counters[row] & allowed).values())
            if left_out < 0:
                matches[at] = count
            elif left_out != blocks[at]:
                fewer[at, left_out] = matches[at] - count
    assert (found[0] == matches).all()
    assert (found[1] == fewer).all()


# copied.c


def common_prefixes(own: Corpus, known: Corpus) -> np.ndarray:
    """The tokens that each place of the texts shares with each of the references, by a table."""
    table = np.zeros((len(own.tokens), len(known.tokens)), np.int64)
    last = np.isin(np.arange(len(own.tokens)), own.starts[1:] - 1)
    open_end = ~np.isin(np.arange(len(known.tokens)), known.starts[1:] - 1)
    for at in range(len(own.tokens) - 1, -1, -1):
        further = np.zeros(len(known.tokens), np.int64)
        if not last[at]:
            further[:-1] = table[at + 1, 1:]
        table[at] = (own.tokens[at] == known.tokens) * (1 + further * open_end)
    return table


@shapes
def test_suffixes_of_texts_stand_where_sorting_puts_them(
    lengths: list[int], vocabulary: int
) -> None:
    corpus, known = corpus_of(lengths, vocabulary), corpus_of(lengths[::-1], vocabulary, seed=1)
    both, size = join(corpus, _with_words(known, corpus)), len(corpus.tokens)
    left = copied.tokens_left(both.starts)
    assert left.tolist() == [n for row in rows_of(both) for n in range(len(row), 0, -1)]
    order = copied.sort_suffixes(both.tokens, left, size, vocabulary)
    suffixes = [row[at:] for row in rows_of(both) for at in range(len(row))]
    expected = sorted(range(len(suffixes)), key=lambda suffix: (suffixes[suffix], suffix))
    assert sorted(order.tolist()) == list(range(len(suffixes)))
    for ours, right in zip(order.tolist(), expected, strict=True):
        assert ours == right or min(ours, right) >= size


@shapes
def test_spans_with_and_without_each_block(lengths: list[int], vocabulary: int) -> None:
    corpus, known = corpus_of(lengths, vocabulary), corpus_of(lengths[::-1], vocabulary, seed=1)
    known, size = _with_words(known, corpus), len(corpus.tokens)
    table, both = common_prefixes(corpus, known), join(corpus, known)
    matches = copied.matches(corpus, known)
    assert matches.lengths.tolist() == table.max(axis=1, initial=0).tolist()
    for at in np.flatnonzero(matches.lengths):
        assert table[at, matches.places[at]] == matches.lengths[at]

    blocks = np.repeat(labels_of(known), known.lengths)
    left = copied.tokens_left(both.starts)
    order = copied.sort_suffixes(both.tokens, left, size, vocabulary)
    sides = [
        copied._side(both.tokens, left, order, behind, size, blocks) for behind in (False, True)
    ]
    for behind, (shared, further, _) in zip((False, True), sides, strict=True):
        beside = copied.nearest_of_others(order, behind, size, blocks)
        for counts, places in zip((shared, further), beside, strict=True):
            some = np.flatnonzero(places >= 0)
            assert counts[some].tolist() == table[some, places[some] - size].tolist()
            assert not counts[places < 0].any()
    columns = (np.stack(side, axis=1) for side in zip(*sides, strict=True))
    found = copied.longest_without(corpus.starts, *columns, BLOCKS)
    for block in range(BLOCKS):
        best = table[:, blocks != block].max(axis=1, initial=0)
        expected = [best[a:b].max(initial=0) for a, b in pairwise(corpus.starts.tolist())]
        assert found[:, block].tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_longer_match_of_the_block_that_is_passed_over_does_not_count(seed: int) -> None:
    corpus, known = corpus_of([40], 4, seed), corpus_of([40] * 5, 4, seed + 100)
    known.tokens[:40] = known.tokens[45:85] = corpus.tokens  # copies in two of the blocks
    known.tokens[20], known.tokens[70] = 3 - known.tokens[20], 3 - known.tokens[70]
    known, blocks = _with_words(known, corpus), np.repeat(np.arange(5), 40)
    table, both = common_prefixes(corpus, known), join(corpus, known)
    left = copied.tokens_left(both.starts)
    order = copied.sort_suffixes(both.tokens, left, 40, 4)
    for behind in (False, True):
        _, further = copied.nearest_of_others(order, behind, 40, blocks)
        found = copied.common_lengths(both.tokens, left, further)
        some = np.flatnonzero(further >= 0)
        assert found[some].tolist() == table[some, further[some] - 40].tolist()


# strings.c


@shapes
def test_texts_of_ngrams_and_what_pairs_share(lengths: list[int], vocabulary: int) -> None:
    corpus = corpus_of(lengths, vocabulary)
    made, n = corpus.ngrams(2), len(corpus)
    within = made.within
    texts, ends = string_kernels.texts_of(within.ids, within.starts, made.size)
    sets = [set(within.ids[a:b].tolist()) for a, b in pairwise(within.starts.tolist())]
    expected = [[text for text, one in enumerate(sets) if gram in one] for gram in range(made.size)]
    assert [texts[a:b].tolist() for a, b in pairwise(ends.tolist())] == expected
    for rows, columns in (((0, n), (0, n)), ((n // 2, n), (n // 3, n - n // 4)), ((0, 0), (0, n))):
        shared = string_kernels.count_shared(within.ids, within.starts, texts, ends, rows, columns)
        assert shared.shape == (rows[1] - rows[0], columns[1] - columns[0])
        expected = [[len(a & b) for b in sets[slice(*columns)]] for a in sets[slice(*rows)]]
        assert shared.tolist() == expected


@shapes
def test_tokens_in_order_with_their_places(lengths: list[int], vocabulary: int) -> None:
    corpus = corpus_of(lengths, vocabulary)
    places, ordered = string_kernels.order_positions(corpus.tokens, corpus.starts)
    for (a, b), row in zip(pairwise(corpus.starts.tolist()), rows_of(corpus), strict=True):
        assert places[a:b].tolist() == sorted(range(len(row)), key=row.__getitem__)
        assert ordered[a:b].tolist() == sorted(row)


def plain_subsequences(x: list[int], y: list[int], order: int, decay: float) -> float:
    """Lodhi et al. (2002) over all pairs of positions, without the weight of the last token."""
    ends = np.equal.outer(x, y).astype(float)
    for _ in range(order - 1):
        inner = np.zeros((len(x), len(y)))
        for i in range(1, len(x)):
            for j in range(1, len(y)):
                gaps = decay ** np.add.outer(np.arange(i)[::-1], np.arange(j)[::-1])
                inner[i, j] = (gaps * ends[:i, :j]).sum()
        ends = np.equal.outer(x, y) * inner
    return float(ends.sum())


@pytest.mark.parametrize("order", range(1, 8))
@pytest.mark.parametrize("decay", [0.5, 1.0])
@pytest.mark.parametrize("name", ["one token", "around nothing", "primes"])
def test_subsequence_kernels(name: str, order: int, decay: float) -> None:
    corpus = corpus_of(*SHAPES[name])
    rows, n = rows_of(corpus), len(corpus)
    ready = string_kernels.Subsequences.of(corpus, order, decay, 1)
    expected = np.array([[plain_subsequences(x, y, order, decay) for y in rows] for x in rows])
    np.testing.assert_allclose(ready.own, expected.diagonal(), rtol=1e-12)
    norms = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    alike = np.divide(expected, norms, out=np.zeros((n, n)), where=norms > 0)
    alike[[[x == y for y in rows] for x in rows]] = 1
    np.testing.assert_allclose(ready.similarity((0, n), (0, n)), alike, rtol=1e-12)
    half = n // 2
    np.testing.assert_allclose(ready.similarity((half, n), (0, half)), alike[half:, :half], 1e-12)


# near.c


@pytest.mark.parametrize("threshold", [0.2, 0.5, 1.0])
@shapes
def test_near_sets(lengths: list[int], vocabulary: int, threshold: float) -> None:
    within = corpus_of(lengths, vocabulary).ngrams(1).within
    spans = np.stack([within.starts[:-1], within.starts[1:]], axis=1)[within.different > 0]
    sets = [set(within.ids[a:b].tolist()) for a, b in spans.tolist()]
    rng = np.random.default_rng(0)
    runs = [np.sort(rng.permutation(len(sets))[: len(sets) * 2 // 3]) for _ in range(3)]
    for asked, least in ((len(sets), 0), (len(sets) // 2, len(sets) // 2)):
        near, similarity = np.full(asked, -1), np.zeros(asked)
        ends = np.cumsum([0, *map(len, runs)])
        order = np.concatenate([*runs, np.zeros(0, np.int64)])
        near_texts._find_near(
            within.ids, spans, order, ends, least, threshold, near, similarity
        )  # fmt: skip
        for row in range(asked):
            others = {int(one) for run in runs if row in run for one in run if one >= least}
            alike = {one: jaccard(sets[row], sets[one]) for one in others - {row}}
            reached = [one for one, share in alike.items() if share >= threshold]
            equal = [one for one in reached if alike[one] == 1]
            if near[row] < 0:
                assert not reached
                continue
            assert similarity[row] == alike[near[row]] >= threshold
            # The first of all, but that the search of further runs ends at an equal set
            assert near[row] == min(reached) or near[row] in equal


def jaccard(one: set[int], other: set[int]) -> float:
    return len(one & other) / len(one | other)


# All of them, over instruction sets.


def digest() -> str:
    """All that the kernels make of some texts, as one hash."""
    corpus, known = corpus_of([3, 40, 1537, 0, 211, 60], 50), corpus_of([300, 2, 777], 50, seed=1)
    known, places, threads = _with_words(known, corpus), np.arange(6), 1
    made, labels = corpus.ngrams(3), labels_of(corpus)
    within = made.within
    matches = copied.matches(corpus, known)
    subsequences = [
        string_kernels.SubsequenceKernel(order).distances(corpus, known, threads=threads)
        for order in (1, 3, 5, 8)
    ]
    jaccards = string_kernels.NgramKernel(2).distances(corpus, known)
    compact, size = ngrams.numbered(np.ones(made.size, bool))
    slots = bleu_sentences.leading_blocks(
        within.ids, within.counts, within.starts, compact, size, np.argsort(labels), labels
    )
    arrays = [
        made.ids,
        within.ids,
        within.counts,
        sole_blocks(made.ids, made.starts, labels, made.size),
        window_types(corpus.tokens, corpus.starts, 20, 50),
        *repeated_ends(corpus.tokens, corpus.starts, 1000),
        bleu_sentences.against_all(corpus, places, places, order=4, threads=threads),
        bleu_sentences.against_each(corpus, places, places, order=4, threads=threads),
        slots,
        matches.lengths,
        matches.places,
        *(one.tile((0, 6), (3, 9)) for one in (*subsequences, jaccards)),
    ]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("name", native.available_sets())
def test_every_instruction_set_gives_the_same_bits(name: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    code += "from test_text_kernels import digest\nprint(digest())"
    environment = os.environ | {native.VARIABLE: name}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert result.stdout.split() == [digest()], result.stderr
