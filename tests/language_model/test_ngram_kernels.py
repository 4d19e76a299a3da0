"""The n-gram model's kernels against plain Python, in odd sizes, and by instruction set."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from calipers.language_model import ngram_tables, truncation
from calipers.language_model.decoding import TRUNCATIONS, Decoding
from calipers.language_model.kneser_ney import _ordered
from calipers.language_model.ngram import NGramModel, _rules, fit_ngram
from calipers.language_model.ngram_tables import Tables, remember, weigh
from calipers.language_model.ngram_walks import (
    after,
    hashed,
    next_probabilities,
    read,
    read_decoded,
    write,
)
from calipers.numeric import native

SIZES = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 64, 97, 1009]
WALKS = Path(__file__).parents[2] / "native" / "ngram_walks.c"


def corpus(words: int, texts: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, words + 1)
    lengths = rng.integers(0, 14, texts)
    drawn = [rng.choice(words, length, p=chances / chances.sum()) for length in lengths]
    return [" ".join(f"w{word}" for word in row) for row in drawn]


@pytest.fixture(scope="module", params=[1, 2, 3, 5])
def model(request: pytest.FixtureRequest) -> NGramModel:
    return fit_ngram(corpus(83, 61), order=request.param)


def plain_slots(context: np.ndarray, token: np.ndarray) -> list[int]:
    """The table as its definition in whole numbers fills it: splitmix64, then the next free."""
    places, all_bits = 16, 2**64 - 1
    while places < 2 * len(token):
        places *= 2
    slots = [-1] * places
    for entry, (number, word) in enumerate(zip(context.tolist(), token.tolist(), strict=True)):
        bits = number << 32 | word
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & all_bits
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & all_bits
        place = (bits ^ bits >> 31) % places
        while slots[place] >= 0:
            place = (place + 1) % places
        slots[place] = entry
    return slots


@pytest.mark.parametrize("size", SIZES)
def test_the_hash_table_equals_its_definition(size: int) -> None:
    rng = np.random.default_rng(size)
    pairs = rng.permutation(4 * size)[:size]
    context, token = (pairs // 2).astype(np.int32), (pairs % 2).astype(np.int32)
    context[: size // 3] += np.int32(2**31 - 1 - context.max(initial=0))
    assert hashed(context, token).tolist() == plain_slots(context, token)


@pytest.mark.parametrize("contexts", [1, 5, 300])
@pytest.mark.parametrize("size", SIZES)
def test_entries_are_ordered_by_context_probability_and_token(size: int, contexts: int) -> None:
    rng = np.random.default_rng(size + contexts)
    context = rng.integers(0, contexts, size)
    words = rng.permutation(size)
    for values in (3, 10**9):  # many ties, and none
        probability = rng.integers(1, values + 1, size) / values
        rows, starts = _ordered(context, words, probability, contexts)
        np.testing.assert_array_equal(rows, np.lexsort((words, -probability, context)))
        np.testing.assert_array_equal(np.diff(starts), np.bincount(context, minlength=contexts))


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_totals_equal_a_sum_over_the_vocabulary(model: NGramModel, temperature: float) -> None:
    weights = weigh(model.tables, model.known, temperature)
    every = np.arange(len(model.tables.back))
    p = next_probabilities(model.tables, every)[:, : model.known + 1]
    np.testing.assert_allclose(weights.total, (p ** (1 / temperature)).sum(axis=1), rtol=1e-10)
    for low, high in pairwise(model.tables.starts):
        assert (np.diff(weights.excess[low:high]) >= 0).all()


def plain_step(
    tables: Tables, entries: dict[tuple[int, int], int], context: int, token: int
) -> tuple[float, int]:
    """P(w | h) and the context after w, by recursion."""
    if (context, token) in entries:
        entry = entries[context, token]
        return float(tables.probability[entry]), int(tables.follow[entry])
    back, shorter = tables.back[context], int(tables.shorter[context])
    if shorter >= 0:
        p, follow = plain_step(tables, entries, shorter, token)
        return float(back * p), follow
    kind = tables.kinds[tables.form[context], tables.kind[token]]
    return float(back * (kind * tables.unigram[token])), token


@pytest.mark.parametrize("opening", ["begin", "none"])
def test_reading_equals_recursion(model: NGramModel, opening: str) -> None:
    tables, rng = model.tables, np.random.default_rng(1)
    pairs = zip(tables.context.tolist(), tables.token.tolist(), strict=True)
    entries = {pair: entry for entry, pair in enumerate(pairs)}
    lengths = [0, 1, 2, 0, 7, 31, 97, 1, 0]
    texts = [rng.integers(1, len(tables.kind), length) for length in lengths]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    first = model.begin if opening == "begin" else -1
    probability, contexts = read(tables, np.concatenate(texts), starts, first)
    expected, last = [], []
    for text in texts:
        context = first
        for token in text.tolist():
            step = (1.0, token) if context < 0 else plain_step(tables, entries, context, token)
            expected.append((step[0], context))
            context = step[1]
        last.append(context)
    np.testing.assert_array_equal(contexts, [context for _, context in expected])
    np.testing.assert_array_equal(probability, [p for p, _ in expected])
    np.testing.assert_array_equal(after(tables, np.concatenate(texts), starts, first), last)
    inside = contexts >= 0
    listed = next_probabilities(tables, contexts[inside])
    tokens = np.concatenate(texts)[inside]
    np.testing.assert_allclose(listed[np.arange(len(tokens)), tokens], probability[inside])


def test_nothing_to_read_gives_nothing(model: NGramModel) -> None:
    none, start = np.zeros(0, np.int64), np.zeros(1, np.int64)
    assert [len(part) for part in read(model.tables, none, start, model.begin)] == [0, 0]
    assert len(after(model.tables, none, start, model.begin)) == 0
    assert next_probabilities(model.tables, none).shape == (0, len(model.tables.kind))


@pytest.mark.parametrize(("texts", "steps"), [(0, 5), (5, 0), (1, 1), (3, 97), (64, 17)])
@pytest.mark.parametrize("decoding", ["ancestral", "top_p=0.9", "top_k=3", "typical=0.95"])
def test_what_is_written_can_be_written(
    model: NGramModel, decoding: str, texts: int, steps: int
) -> None:
    parsed, tables = Decoding.parse(decoding), model.tables
    weights = weigh(tables, model.known, parsed.temperature)
    uniforms = np.random.default_rng(steps).random((texts, steps))
    uniforms[::3, ::2] = 0
    uniforms[1::3, ::2] = 1 - 2.0**-53
    before = np.random.default_rng(texts).integers(0, len(tables.back), texts)
    contexts = before.copy()
    memory = remember(tables, weights)
    tokens, lengths = write(tables, weights, memory, *_rules(parsed), contexts, uniforms)
    for row in range(texts):
        length = lengths[row]
        assert not tokens[row, length:].any()
        assert (tokens[row, : max(length - 1, 0)] > 0).all()
        assert length == steps or tokens[row, length - 1] == 0
        context = int(before[row])
        for token in tokens[row, :length]:
            p = next_probabilities(tables, np.array([context]))[0, : model.known + 1]
            assert truncation.truncated(p, parsed)[token] > 0
            ends = np.array([0, 1])
            context = int(after(tables, np.array([token], np.int64), ends, context)[0])
        assert contexts[row] == (-1 if length and tokens[row, length - 1] == 0 else context)


@pytest.mark.parametrize("decoding", ["top_k=40", "min_p=0.3,typical=0.9"])
def test_a_short_memory_changes_nothing(
    model: NGramModel, decoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, tables = Decoding.parse(decoding), model.tables
    weights = weigh(tables, model.known, parsed.temperature)
    rng = np.random.default_rng(0)
    contexts = rng.integers(0, len(tables.back), 300)
    tokens = rng.integers(0, model.known + 1, 300)
    results = []
    for records, room in ((2**16, 2**20), (3, 2**20), (1, 64), (2**16, 130)):
        monkeypatch.setattr(ngram_tables, "RECORDS", records)
        monkeypatch.setattr(ngram_tables, "ROOM", room)
        memory = remember(tables, weights)
        results.append(read_decoded(tables, weights, memory, *_rules(parsed), contexts, tokens))
    for decoded, squares in results[1:]:
        np.testing.assert_array_equal(decoded, results[0][0])
        np.testing.assert_array_equal(squares, results[0][1])


def test_c_and_python_agree_on_the_rules() -> None:
    source = WALKS.read_text()
    rules = re.search(r"enum \{ (TOP_K[^}]*) \}", source)
    assert rules
    assert rules[1].lower().split(", ") == list(TRUNCATIONS)
    constants = dict(re.findall(r"#define (\w+) +(\S+)", source))
    assert float(constants["SLACK"]) == truncation.SLACK
    assert int(constants["TOP_H_TOKENS"]) == truncation.TOP_H_TOKENS


HASH = """
import hashlib
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage, Request
from calipers.language_model.ngram import fit_ngram
texts = [
    " ".join(f"w{place * row % 47 * (place % 5)}" for place in range(row % 19))
    for row in range(120)
]
digest = hashlib.sha256()
for order in (1, 3, 5):
    model = fit_ngram(texts, order=order)
    for array in model.tables:
        digest.update(array.tobytes())
    for name in ("ancestral", "top_p=0.8", "typical=0.7", "eta=0.01", "top_h=0.5", "top_k=30"):
        decoding = Decoding.parse("temperature=0.8," + name if "=" in name else name)
        scores = model.score([Passage(text) for text in texts], first="bos", decoding=decoding)
        for array in (scores.log_probability, scores.decoded, scores.squares):
            digest.update(array.tobytes())
        requests = [Request(number) for number in range(30)]
        for text in model.generate(requests, decoding, max_tokens=50, seed=1):
            digest.update(text.text.encode())
print(digest.hexdigest())
"""


def test_bits_are_equal_over_instruction_sets() -> None:
    digests = set()
    for name in native.available_sets():
        environment = os.environ | {native.VARIABLE: name}
        result = subprocess.run(
            [sys.executable, "-c", HASH],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        digests.add(result.stdout.strip())
    assert len(digests) == 1
