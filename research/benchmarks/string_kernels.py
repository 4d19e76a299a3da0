"""String kernels: how long MAUVE and precision take from them, and how exact they are.

    python research/benchmarks/string_kernels.py --data folder/with/writing_prompts

Texts are cut into pieces of 150 words, the sizes are those of a set; where there are too few, texts
are made at random. The paper (Pillutla et al., JMLR 2023,
section 7.5.4) took 800 and 200 texts to stay under two hours. The kernels are checked on single
pairs against plain Python: sets of n-grams, and the dynamic programme of Lodhi et al. (2002) over
all pairs of positions.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

from calipers.text import NgramKernel, SubsequenceKernel, string_scores, tokenise

SIZES = {"ngram": (800, 4_000), "subsequence": (200, 800)}
SLICE = 12


def made(n: int, seed: int) -> list[str]:
    """Words by Zipf's law: 0.8 % of all pairs of tokens are equal, as in English stories."""
    chances = 1 / (1.0 + np.arange(1, 30_001))
    drawn = np.random.default_rng(seed).choice(30_000, (n, 150), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in row) for row in drawn]


def read(path: Path) -> list[str]:
    """Pieces of 150 words, as many as the texts have: first the beginnings of all, and so on."""
    lines = path.read_text(encoding="utf-8").splitlines()
    split = [json.loads(line)["text"].split() for line in lines if line]
    return [
        " ".join(words[start : start + 150])
        for start in range(0, max(map(len, split)), 150)
        for words in split
        if len(words) >= start + 150
    ]


def plain_subsequences(x: list[int], y: list[int], order: int, decay: float) -> float:
    """Lodhi et al. (2002), definition 2, over all pairs of positions."""
    ends = np.equal.outer(x, y) * decay**2
    for _ in range(order - 1):
        before = np.zeros((len(x) + 1, len(y) + 1))
        for i in range(len(x)):
            row = 0.0
            for j in range(len(y)):
                row = ends[i, j] + decay * row
                before[i + 1, j + 1] = row + decay * before[i, j + 1]
        ends = np.equal.outer(x, y) * before[:-1, :-1] * decay**2
    return float(ends.sum())


def plain_ngrams(x: list[int], y: list[int], order: int) -> float:
    one, two = ({tuple(z[i : i + order]) for i in range(len(z) - order + 1)} for z in (x, y))
    return len(one & two) / len(one | two)


def check(references: list[str], texts: list[str]) -> None:
    one, two = tokenise(references[:SLICE], texts[:SLICE], tokenizer="whitespace")
    rows = [
        corpus.tokens[first:last].tolist()
        for corpus in (one, two)
        for first, last in zip(corpus.starts, corpus.starts[1:], strict=False)
    ]
    span = (0, SLICE), (SLICE, 2 * SLICE)
    pairs = [(x, y) for x in rows[:SLICE] for y in rows[SLICE:]]
    found = NgramKernel().distances(one, two).similarity(*span).ravel()
    gap = np.abs(found - [plain_ngrams(x, y, 3) for x, y in pairs]).max()
    print(f"n-gram kernel, {len(pairs)} pairs: largest difference to sets {gap:.1e}")
    found = SubsequenceKernel().distances(one, two).similarity(*span).ravel()
    start = time.perf_counter()
    own = [plain_subsequences(x, x, 5, 0.5) for x in rows]
    known = [
        plain_subsequences(rows[i], rows[SLICE + j], 5, 0.5) / np.sqrt(own[i] * own[SLICE + j])
        for i in range(SLICE)
        for j in range(SLICE)
    ]
    seconds = (time.perf_counter() - start) / (len(known) + len(own))
    print(
        f"subsequence kernel, {len(pairs)} pairs: largest difference to the dense programme "
        f"{np.abs(found - known).max():.1e}; that takes {1e3 * seconds:.1f} ms a pair in Python"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with human.jsonl and gpt2-xl.jsonl")
    parser.add_argument("--sizes", type=int, nargs="+", help="texts of a set, for both kernels")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    real = options.data is not None
    names = ("human.jsonl", "gpt2-xl.jsonl")
    sets = [read(options.data / name) for name in names] if real else [[], []]
    check(*(sets if real else (made(SLICE, 0), made(SLICE, 1))))
    print(f"{options.threads or os.cpu_count()} threads, texts of 150 words")
    for kernel, sizes in SIZES.items():
        string_scores(made(20, 0), made(20, 1), kernel=kernel)  # imports and loads
        for n in options.sizes or sizes:
            enough = min(map(len, sets)) >= n
            reference, generated = (each[:n] for each in sets) if enough else (
                made(n, 0), made(n, 1))  # fmt: skip
            start = time.perf_counter()
            found = string_scores(generated, reference, kernel=kernel, threads=options.threads)
            seconds = time.perf_counter() - start
            scores = f"MAUVE {found.mauve.value:.3f}, precision {found.precision.value:.3f}"
            kind = "real" if enough else "made"
            print(f"{kernel:12s} {n:6,} a side ({kind})  {seconds:8.2f} s   {scores}")


if __name__ == "__main__":
    main()
