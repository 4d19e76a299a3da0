"""Self-BLEU and corpus BLEU against NLTK, and BLEU beside sacrebleu, on the same texts.

    CALIPERS_DATA=folder python research/benchmarks/bleu.py

NLTK scores a slice of the texts, each against all others, and its time for all texts is that of the
slice times their ratio: the output says so. Both sides get the same tokens, and ours counts its
n-grams anew in every run; a second ratio adds each side's own time of tokenising. The texts are
pieces of 12 words: of the real texts in the folder that CALIPERS_DATA names, or of drawn words
without one. Where fast-bleu is installed, it runs on all texts too.

Exits with 1 if a ratio is below 1,000, a difference above 1e-12, or four times the texts take more
than five times as long.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

WORDS = 12
LEAST_RATIO, LARGEST_DIFFERENCE, MOST_GROWTH = 1_000, 1e-12, 5
WEIGHTS = (0.25, 0.25, 0.25, 0.25)

failures: list[str] = []


def real_words(folder: Path) -> list[list[str]]:
    """The words of each text of AG News, then of Writing Prompts."""
    with (folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        found = [f"{title} {text}".split() for _, title, text in csv.reader(file)]
    for name in ("human", "gpt2-xl", "gpt-neox-20b"):
        with (folder / "writing_prompts" / f"{name}.jsonl").open(encoding="utf-8") as file:
            found += [json.loads(line)["text"].split() for line in file]
    return found


def drawn_words(n: int) -> list[list[str]]:
    """Words by Zipf's law."""
    ranks = np.minimum(np.random.default_rng(0).zipf(1.2, (n, WORDS)), 50_000)
    return [[f"w{rank}" for rank in row] for row in ranks.tolist()]


def pieces(n: int) -> list[str]:
    """Make n texts of 12 words, fewer where the real ones do not reach."""
    folder = Path(os.environ.get("CALIPERS_DATA", "absent"))
    real = folder.is_dir()
    kind = "of AG News and Writing Prompts" if real else "of drawn words: CALIPERS_DATA is not set"
    found = [
        " ".join(words[start : start + WORDS])
        for words in (real_words(folder) if real else drawn_words(n))
        for start in range(0, len(words) - WORDS + 1, WORDS)
    ][:n]
    print(f"{len(found):,} texts of {WORDS} words, {kind}; {os.cpu_count()} cores")
    return found


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Median seconds of some work, and its last result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def check(good: bool, what: str) -> None:
    if not good:
        failures.append(what)


def nltk_tokens(texts: list[str]) -> list[list[str]]:
    from nltk.tokenize import NLTKWordTokenizer

    tokenizer = NLTKWordTokenizer()
    return [tokenizer.tokenize(text) for text in texts]


def nltk_bleu(references: list[list[str]], text: list[str]) -> float:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    return float(sentence_bleu(references, text, WEIGHTS, SmoothingFunction().method1))


def load_packages(texts: list[str]) -> None:
    """Load the packages before anything is timed."""
    from calipers.text.bleu_sentences import self_bleu

    self_bleu(texts)
    self_bleu(texts, average="pairwise")
    nltk_bleu(nltk_tokens(texts), ["a"])


def against_nltk(
    name: str,
    texts: list[str],
    tokenising: float,
    ours: Callable[[], Any],
    theirs: Callable[[list[list[str]], int], float],
    options: argparse.Namespace,
    least: float = LEAST_RATIO,
) -> None:
    """Time both sides, NLTK on a slice, and print ratios and the largest difference."""
    seconds, score = timed(ours, options.repeats)
    splitting, split = timed(lambda: nltk_tokens(texts))
    rows = np.linspace(0, len(texts) - 1, options.slice).astype(int).tolist()
    slice_seconds, expected = timed(lambda: [theirs(split, row) for row in rows])
    whole = slice_seconds * len(texts) / len(rows)
    gap = float(np.abs(score.per_sample[rows] - expected).max())
    print(f"\n{name}: {score.value:.6f}")
    print(f"  calipers  {seconds:12.3f} s, and {tokenising:.2f} s of tokenising")
    print(f"  NLTK      {whole:12.0f} s, and {splitting:.2f} s of tokenising; ", end="")
    print(
        f"extrapolated from {len(rows)} of {len(texts):,} texts, which took {slice_seconds:.1f} s"
    )
    both = (whole + splitting) / (seconds + tokenising)
    print(f"  ours is {whole / seconds:,.0f}x faster, {both:,.0f}x with tokenising", end="")
    print(f"; largest difference on the slice {gap:.1e}")
    check(whole / seconds >= least, f"{name}: {whole / seconds:,.0f}x is below {least:,}x")
    check(gap <= LARGEST_DIFFERENCE, f"{name}: a difference of {gap:.1e}")


def self_bleu_part(texts: list[str], options: argparse.Namespace) -> None:
    from calipers.text.bleu_sentences import self_bleu
    from calipers.text.tokens import tokenise

    tokenising, (corpus,) = timed(lambda: tokenise(texts))

    def against_all(split: list[list[str]], row: int) -> float:
        return nltk_bleu(split[:row] + split[row + 1 :], split[row])

    def against_each(split: list[list[str]], row: int) -> float:
        others = split[:row] + split[row + 1 :]
        return float(np.mean([nltk_bleu([other], split[row]) for other in others]))

    # A replaced corpus has not counted its n-grams yet
    work = {
        "Self-BLEU-4": (lambda: self_bleu(replace(corpus)), against_all, LEAST_RATIO),
        "Self-BLEU-4, mean over all ordered pairs": (
            lambda: self_bleu(replace(corpus), average="pairwise"),
            against_each,
            1,
        ),
    }
    for name, (ours, theirs, least) in work.items():
        against_nltk(name, texts, tokenising, ours, theirs, options, least)


def match_part(texts: list[str], references: list[str], options: argparse.Namespace) -> None:
    from calipers.text.bleu_sentences import corpus_match_bleu
    from calipers.text.tokens import tokenise

    tokenising, (first, second) = timed(lambda: tokenise(texts, references))
    known = nltk_tokens(references)
    against_nltk(
        f"BLEU-4 against {len(references):,} references",
        texts,
        tokenising,
        lambda: corpus_match_bleu(replace(first), replace(second)),
        lambda split, row: nltk_bleu(known, split[row]),
        options,
    )


def fast_bleu_part(texts: list[str], options: argparse.Namespace) -> None:
    if find_spec("fast_bleu") is None:
        return
    from fast_bleu import SelfBLEU

    from calipers.text.bleu_sentences import self_bleu
    from calipers.text.tokens import tokenise

    (corpus,), split = tokenise(texts), nltk_tokens(texts)
    seconds, score = timed(lambda: self_bleu(replace(corpus)), options.repeats)
    theirs, found = timed(lambda: SelfBLEU(split, {"four": WEIGHTS}).get_score()["four"])
    gap = float(np.abs(score.per_sample - found).max())
    print(f"\nfast-bleu, Self-BLEU-4 of all {len(texts):,} texts: {theirs:.2f} s, ", end="")
    print(f"ours is {theirs / seconds:,.1f}x faster; largest difference {gap:.1e}")


def growth_part(texts: list[str], n: int, options: argparse.Namespace) -> None:
    from calipers.text.bleu_sentences import self_bleu
    from calipers.text.tokens import tokenise

    seconds = []
    for size in (n, len(texts)):
        corpus = tokenise(texts[:size])[0]
        seconds.append(timed(lambda: self_bleu(replace(corpus)), max(5, options.repeats))[0])  # noqa: B023
    growth = seconds[1] / seconds[0]
    print(
        f"\nSelf-BLEU-4 of {n:,} texts {seconds[0]:.3f} s, of {len(texts):,} {seconds[1]:.3f} s: "
    )
    print(f"  {len(texts) / n:.1f} times the texts take {growth:.1f} times as long")
    check(growth <= MOST_GROWTH, f"{growth:.1f} times as long for four times the texts")


def aligned_part(texts: list[str], references: list[str], options: argparse.Namespace) -> None:
    import sacrebleu

    from calipers.text.aligned import bleu

    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    metric, single = sacrebleu.BLEU(), sacrebleu.BLEU(effective_order=True)

    def theirs() -> np.ndarray:
        pairs = zip(texts, references, strict=True)
        own = [single.sentence_score(text, [known]).score for text, known in pairs]
        return np.array([metric.corpus_score(texts, [references]).score, *own])

    seconds, score = timed(lambda: bleu(texts, references), options.repeats)
    peer, expected = timed(theirs, options.repeats)
    gap = float(np.abs(np.array([score.value, *score.per_sample]) - expected).max())
    print(f"\nBLEU of {len(texts):,} texts, one reference each: {score.value:.4f}")
    print(
        f"  calipers  {seconds:12.3f} s\n  sacrebleu {peer:12.3f} s, the corpus and each text alone"
    )
    print(f"  largest difference {gap:.1e}")
    check(gap == 0, f"BLEU differs from sacrebleu's by {gap:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--slice", type=int, default=20, help="texts that NLTK scores")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    n = options.n
    texts = pieces(4 * n)
    load_packages(texts[:20])
    self_bleu_part(texts[:n], options)
    match_part(texts[n : 2 * n], texts[:n], options)
    fast_bleu_part(texts[:n], options)
    growth_part(texts, n, options)
    aligned_part(texts[:n:5], texts[1:n:5], options)
    print("\n" + ("\n".join(failures) if failures else "all requirements met"))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
