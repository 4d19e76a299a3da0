"""Time and memory of the statistics of one set of texts, and the same numbers from plain Python.

Texts are made by a seed from real words, in phrases of 3 to 8 words that are cut anywhere from the
AG News descriptions in the folder that CALIPERS_DATA names, so that most long n-grams are new, as
in real sets; and from made-up words whose frequencies follow Zipf's law, with many more different
words. Each run is a process of its own: all statistics of a set in turn, with the n-grams that they
share counted once, after a few texts that load the packages. Peak memory is that of the whole
process, texts and interpreter included.

Then a slice of the texts is measured beside plain Python: sets of tuples, Counter with scipy's
linregress, the rules of repetition tried phrase by phrase, gzip.compress. Last, how fast the
tokenizers `nltk` and `unicode` are on texts of several scripts: those in the folder `languages` of
CALIPERS_DATA, a file a language, in processor seconds, the best of five.

    CALIPERS_DATA=folder python research/benchmarks/text_statistics.py

Exits with 1 if a run takes 60 s or more, or 4 GB or more, a value differs, or `unicode` is slower
than `nltk` on any language.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

WORDS = 150
SECONDS, BYTES = 60.0, 4e9
LARGEST_DIFFERENCE = 1e-12
SYLLABLES = [start + vowel for start in "bdfghjklmnprstvwz" for vowel in "aeiou"]


def phrases(texts: int, seed: int) -> list[str]:
    """Texts of phrases from AG News."""
    file = Path(os.environ["CALIPERS_DATA"]) / "ag_news" / "test.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        words = [word for row in csv.reader(lines) for word in row[2].split()]
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(texts):
        lengths = rng.integers(3, 9, WORDS // 3)
        starts = rng.integers(0, len(words) - 8, WORDS // 3)
        text = [w for at, size in zip(starts, lengths, strict=True) for w in words[at : at + size]]
        made.append(" ".join(text[:WORDS]))
    return made


def made_up(texts: int, seed: int) -> list[str]:
    """Texts of words that do not exist, with frequencies by Zipf's law."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(rng.zipf(1.15, (texts, WORDS)), 10**9)
    return [" ".join(map(word, row)) + "." for row in ranks.tolist()]


@cache
def word(rank: int) -> str:
    """Write a number in syllables."""
    rest, last = divmod(rank, len(SYLLABLES))
    return (word(rest) if rest else "") + SYLLABLES[last]


SOURCES = {"AG News phrases": phrases, "made-up words": made_up}


def statistics() -> dict[str, Callable]:
    from calipers import text

    orders = {f"distinct, n = {n}": partial(text.distinct, order=n) for n in (1, 2, 3, 4)}
    return {
        **orders,
        "distinct per sample, n = 4": partial(text.distinct, order=4, per="sample"),
        "expectation-adjusted distinct": text.expectation_adjusted_distinct,
        "moving-average TTR": text.moving_average_ttr,
        "Zipf coefficient": text.zipf_coefficient,
        "repetition frequency": text.repetition_frequency,
        "rep-4": text.rep_n,
        "self-repetition, n = 4": text.self_repetition,
        "non-termination": text.non_termination,
        "vocabulary": text.vocabulary_size,
        "mean length in words": partial(text.mean_length, unit="words"),
        "compression, gzip": text.compression_ratio,
        "compression, zstd": partial(text.compression_ratio, codec="zstd"),
    }


def ours(source: str, texts: int, tokenizer: str) -> dict:
    """Tokenise, take every statistic once; seconds of each, values, peak bytes."""
    from calipers.text.tokens import tokenise

    made, every = SOURCES[source](texts, 0), statistics()
    (few,) = tokenise(made[:20], tokenizer=tokenizer)
    for statistic in every.values():
        statistic(few)
    seconds, values = {}, {}
    start = time.perf_counter()
    (corpus,) = tokenise(made, tokenizer=tokenizer)
    seconds["tokenise"] = time.perf_counter() - start
    for name, statistic in every.items():
        start = time.perf_counter()
        values[name] = statistic(corpus).value
        seconds[name] = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sizes = {"tokens": len(corpus.tokens), "words": corpus.ngrams(1).size}
    return {"seconds": seconds, "values": values, "peak": peak, **sizes}


def plain_distinct(tokens: list[list[str]], n: int) -> float:
    grams = [tuple(text[at : at + n]) for text in tokens for at in range(len(text) - n + 1)]
    return len(set(grams)) / len(grams)


def plain_zipf(tokens: list[list[str]], top: int = 5000) -> float:
    from scipy.stats import linregress

    counts = sorted(Counter(word for text in tokens for word in text).values(), reverse=True)[:top]
    return -linregress(np.log(np.arange(1, len(counts) + 1)), np.log(counts)).slope


def plain_repetition(tokens: list[list[str]]) -> float:
    def looped(text: list[str]) -> bool:
        halves = range(1, len(text) // 2 + 1)
        return any(text[-n:] == text[-2 * n : -n] for n in halves)

    return sum(map(looped, tokens)) / len(tokens)


def plain_rep(tokens: list[list[str]], n: int = 4) -> float:
    shares = []
    for text in tokens:
        grams = [tuple(text[at : at + n]) for at in range(len(text) - n + 1)]
        shares += [1 - len(set(grams)) / len(grams)] if grams else []
    return sum(shares) / len(shares)


def plain_ttr(tokens: list[list[str]], window: int = 50) -> float:
    ratios = []
    for text in tokens:
        windows = [len(set(text[at : at + window])) for at in range(len(text) - window + 1)]
        ratios += [sum(windows) / len(windows) / window] if windows else []
    return sum(ratios) / len(ratios)


PLAIN = {
    **{f"distinct, n = {n}": partial(plain_distinct, n=n) for n in (1, 2, 3, 4)},
    "moving-average TTR": plain_ttr,
    "Zipf coefficient": plain_zipf,
    "repetition frequency": plain_repetition,
    "rep-4": plain_rep,
}


def plain(source: str, texts: int) -> dict:
    """Seconds and values of plain Python with NLTK's tokenizer."""
    from nltk.tokenize import NLTKWordTokenizer

    made = SOURCES[source](texts, 0)
    plain_zipf([["a", "b"]])  # imports scipy.stats
    seconds, values = {}, {}
    start = time.perf_counter()
    tokens = list(map(NLTKWordTokenizer().tokenize, made))
    seconds["tokenise"] = time.perf_counter() - start
    for name, statistic in PLAIN.items():
        start = time.perf_counter()
        values[name] = float(statistic(tokens))
        seconds[name] = time.perf_counter() - start
    start = time.perf_counter()
    data = "\n".join(made).encode()
    values["compression, gzip"] = len(data) / len(gzip.compress(data, mtime=0))
    seconds["compression, gzip"] = time.perf_counter() - start
    return {"seconds": seconds, "values": values}


def child(*arguments: object) -> dict:
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def whole(source: str, texts: int) -> bool:
    """Measure the whole set with two tokenizers; return whether both kept within the bounds."""
    runs = {name: child(source, texts, name) for name in ("nltk", "whitespace")}
    print(f"\n{texts:,} texts of {WORDS} words, {source}")
    for name, run in runs.items():
        print(f"  tokenizer {name}: {run['tokens']:,} tokens, {run['words']:,} different words")
    print(f"{'seconds':>32}  {'nltk':>9}  {'whitespace':>10}  {'value (nltk)':>14}")
    for step in runs["nltk"]["seconds"]:
        both = [run["seconds"][step] for run in runs.values()]
        value = runs["nltk"]["values"].get(step)
        shown = "" if value is None else f"{value:14.6g}"
        print(f"{step:>32}  {both[0]:9.2f}  {both[1]:10.2f}  {shown:>14}")
    totals = [sum(run["seconds"].values()) for run in runs.values()]
    peaks = [run["peak"] for run in runs.values()]
    within = max(totals) < SECONDS and max(peaks) < BYTES
    print(f"{'total':>32}  {totals[0]:9.2f}  {totals[1]:10.2f}")
    print(f"{'peak memory, GB':>32}  {peaks[0] / 1e9:9.2f}  {peaks[1] / 1e9:10.2f}")
    print(f"{'within' if within else 'OVER'} {SECONDS:.0f} s and {BYTES / 1e9:.0f} GB")
    return within


def beside_plain_python(source: str, texts: int) -> bool:
    """Measure a slice in both ways; return whether the values agree."""
    mine, other = child(source, texts, "nltk"), child(source, texts, "plain")
    print(f"\na slice of {texts:,} texts, {source}, tokenizer nltk, beside plain Python")
    print(f"{'seconds':>32}  {'calipers':>9}  {'plain':>10}  {'times':>8}  {'difference':>11}")
    largest = 0.0
    for step, seconds in other["seconds"].items():
        own, shown = mine["seconds"][step], ""
        if step in other["values"]:
            difference = abs(mine["values"][step] - other["values"][step])
            largest, shown = max(largest, difference), f"{difference:11.1e}"
        print(f"{step:>32}  {own:9.3f}  {seconds:10.3f}  {seconds / own:8.1f}  {shown}")
    print("rep-4 reads the n-grams that distinct has counted; plain Python counts them again")
    print(f"largest difference {largest:.1e}, at most {LARGEST_DIFFERENCE:g} is asked for")
    return largest <= LARGEST_DIFFERENCE


def tokenizers() -> bool:
    """Measure characters a second of both tokenizers; return whether `unicode` is no slower."""
    from calipers.text.tokenizers import find_tokenizer
    from calipers.text.word_numbers import Vocabulary

    folder, good = Path(os.environ["CALIPERS_DATA"]) / "languages", True
    print(f"\n{'million characters a second':>32}  {'nltk':>9}  {'unicode':>10}  {'times':>8}")
    for file in sorted(folder.glob("*.jsonl")):
        texts = [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()]
        size, rates = sum(map(len, texts)) / 1e6, []
        for name in ("nltk", "unicode"):
            seconds = []
            for _ in range(5):
                start = time.process_time()
                find_tokenizer(name).number(texts, Vocabulary())
                seconds.append(time.process_time() - start)
            rates.append(size / min(seconds))
        good &= rates[1] >= rates[0]
        print(f"{file.stem:>32}  {rates[0]:9.1f}  {rates[1]:10.1f}  {rates[1] / rates[0]:8.1f}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--slice", type=int, default=2_000)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        source, texts, side = options.child
        made = plain(source, int(texts)) if side == "plain" else ours(source, int(texts), side)
        print(json.dumps(made))
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{cores} cores, Python {sys.version.split()[0]}")
    sources = list(SOURCES)
    if "CALIPERS_DATA" not in os.environ:
        print("CALIPERS_DATA names no folder, so there are made-up words only")
        sources.remove("AG News phrases")
    good = [whole(source, options.texts) for source in sources]
    good += [beside_plain_python(source, options.slice) for source in sources]
    if (Path(os.environ.get("CALIPERS_DATA", "")) / "languages").is_dir():
        good.append(tokenizers())
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
