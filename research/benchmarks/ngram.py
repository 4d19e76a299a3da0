"""The n-gram model: how long it takes to fit, tokens a second that it writes, and what they are.

    python research/benchmarks/ngram.py --data ag_news/test.csv

Texts are the last column of a table without a head, as AG News comes; without one they are made at
random, by Zipf's law. Each decoding writes its texts a few times, with nothing remembered; the
fastest is shown, in tokens a second, in tokens a second of processor time (what one core writes,
whatever else runs), and the tokens that a text has. At the end, all decodings are compared with
their plain definition in NumPy on a few texts: whether their tokens are kept, and the largest
difference of a probability. ``--beams`` prints only how fast beam search is beside one that lists
the probabilities of the whole vocabulary, in processor time, and whether both find the same texts.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage, Request
from calipers.language_model.ngram import NGramModel, fit_ngram
from calipers.language_model.ngram_walks import proceed
from calipers.language_model.search import beam_search
from calipers.language_model.truncation import truncated

DECODINGS = (
    "ancestral",
    "temperature=0.7",
    "top_k=40",
    "top_p=0.9",
    "temperature=0.8,top_p=0.95,top_k=100",
    "min_p=0.05",
    "typical=0.9",
    "epsilon=0.0003",
    "eta=0.0003",
    "top_h=0.4",
    "greedy",
)
SLOW = ("no_repeat_ngram=3,top_p=0.9", "beam=4,no_repeat_ngram=3", "adversarial=30")


def made(n: int) -> list[str]:
    """Texts of 38 words by Zipf's law."""
    chances = 1 / np.arange(1, 30_001)
    drawn = np.random.default_rng(0).choice(30_000, (n, 38), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in row) + "." for row in drawn]


def read(path: Path, n: int) -> list[str]:
    """The last column, from the beginning again where there are too few."""
    with path.open(encoding="utf-8", newline="") as file:
        texts = [row[-1] for row in csv.reader(file)]
    print(f"{path.name} has {len(texts):,} texts")
    return [texts[row % len(texts)] for row in range(n)]


def speed(model: NGramModel, written: str, texts: int, repeats: int) -> None:
    """Print tokens a second, of a core too, and tokens a text."""
    decoding = Decoding.parse(written)
    rates, core_rates, tokens = [], [], 0
    for repeat in range(repeats + 1):
        requests = [Request(number) for number in range(texts if repeat else min(texts, 10))]
        start, start_core = time.perf_counter(), time.process_time()
        tokens = sum(
            text.tokens for text in model.generate(requests, decoding, max_tokens=100, seed=repeat)
        )
        rates.append(tokens / (time.perf_counter() - start))
        core_rates.append(tokens / (time.process_time() - start_core))
    print(
        f"{written:37} {max(rates[1:]):8,.0f} tokens/s {max(core_rates[1:]):8,.0f} a core "
        f"{tokens / texts:6.1f} a text"
    )


def differences(model: NGramModel, texts: list[str], decoding: Decoding) -> tuple[int, float]:
    """Tokens that only one of both keeps, and the largest difference of a probability."""
    passages = [Passage(text) for text in texts]
    scores = model.score(passages, decoding=decoding)
    assert scores.decoded is not None
    other, largest, place = 0, 0.0, 0
    for text in texts:
        tokens = model.tokenise(text)
        for step in range(1, len(tokens)):
            context = model.context_after(tokens[:step], begin=False)
            chances = truncated(model.next_probabilities(context)[: model.known + 1], decoding)
            expected = chances[tokens[step]] if tokens[step] <= model.known else 0.0
            other += (expected > 0) != (scores.decoded[place] > 0)
            largest = max(largest, abs(expected - scores.decoded[place]))
            place += 1
    return other, largest


def beside_the_whole_vocabulary(model: NGramModel, texts: list[str], written: str) -> None:
    """Print tokens a second of a core of beam search, and of one that lists all tokens."""
    decoding = Decoding.parse(written)
    no_repeat = decoding.get("no_repeat_ngram")
    requests = [Request(row, " ".join(text.split()[:3])) for row, text in enumerate(texts)]

    def every_token(histories: Sequence[Sequence[int]]) -> np.ndarray:
        contexts = np.full(len(histories), model.begin, np.int64)
        starts = np.cumsum([0, *map(len, histories)])
        tokens = np.array([token for history in histories for token in history], np.int64)
        rows = proceed(model.tables, contexts, tokens, starts)
        with np.errstate(divide="ignore"):
            return np.log(rows[:, : model.known + 1])

    list(model.generate(requests[:1], decoding, max_tokens=60, seed=0))
    start = time.process_time()
    ours = list(model.generate(requests, decoding, max_tokens=60, seed=0))
    rate = sum(text.tokens for text in ours) / (time.process_time() - start)
    start = time.process_time()
    theirs = [
        beam_search(
            every_token,
            model.tokenise(request.prompt).tolist(),
            beams=int(decoding.get("beam")),
            max_tokens=60,
            end=0,
            no_repeat_ngram=None if no_repeat is None else int(no_repeat),
        )
        for request in requests
    ]
    other = sum(len(text.tokens) for text in theirs) / (time.process_time() - start)
    same = sum(
        one.text == model.detokenise(two.tokens) for one, two in zip(ours, theirs, strict=True)
    )
    print(
        f"{written:26} {rate:7,.0f} tokens/s a core, by the whole vocabulary {other:5,.0f}: "
        f"{rate / other:.1f} times; {same} of {len(texts)} texts the same"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--order", type=int, default=3)
    parser.add_argument("--texts", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--beams", action="store_true", help="beam search only")
    options = parser.parse_args()
    texts = read(options.data, options.n) if options.data else made(options.n)
    fit_ngram(texts[:10], order=options.order)  # imports and loads
    seconds = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        model = fit_ngram(texts, order=options.order)
        seconds.append(time.perf_counter() - start)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = os.environ.get("OMP_NUM_THREADS", cores)
    print(f"{cores} cores, {threads} threads")
    print(
        f"order {options.order} fitted on {len(texts):,} texts in {min(seconds):.2f} s: "
        f"{model.known:,} tokens, {len(model.tables.token):,} n-grams"
    )
    if options.beams:
        for written in ("beam=4", "beam=4,no_repeat_ngram=3"):
            beside_the_whole_vocabulary(model, texts[:20], written)
        return
    passages = [Passage(text) for text in texts]
    start = time.perf_counter()
    scores = model.score(passages)
    print(
        f"scored in {time.perf_counter() - start:.2f} s: {len(scores.log_probability):,} tokens of "
        f"perplexity {np.exp(-scores.log_probability.mean()):.1f}"
    )
    for text in DECODINGS:
        speed(model, text, options.texts, options.repeats)
    for text in SLOW:
        speed(model, text, 10, 1)
    kept, largest = 0, 0.0
    for text in DECODINGS:
        other, difference = differences(model, texts[:5], Decoding.parse(text))
        kept, largest = kept + other, max(largest, difference)
    print(f"against the definition: {kept} tokens kept by one alone, largest {largest:.1e}")


if __name__ == "__main__":
    main()
