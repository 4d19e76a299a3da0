"""Longest copied spans and novelty: Calipers against plain Python, in time, memory and result.

    python research/benchmarks/copied_spans.py --texts 4000 --references 100000

Texts are words of a Zipf law, and every tenth holds a passage of some reference. The peers are what
a person writes with the standard library: for spans one string of all references, searched with
``in`` for a span that grows and moves on; for novelty a set of tuples. Searching strings is too
slow for all texts, so it is timed on a slice of them, and the time for all is extrapolated from
that slice; equality is checked on it. All sides get the same lists of words.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from children import report, show, side_by_side

VOCABULARY = 50_000
WORDS = 150
COPIED = 60
ORDER = 4


def samples(texts: int, references: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, VOCABULARY + 1)
    chances /= chances.sum()
    known = rng.choice(VOCABULARY, (references, WORDS), p=chances)
    own = rng.choice(VOCABULARY, (texts, WORDS), p=chances)
    own[::10, 30 : 30 + COPIED] = known[: len(own[::10]), 50 : 50 + COPIED]
    return written(own), written(known)


def written(numbers: np.ndarray) -> list[str]:
    return [" ".join(f"w{number}" for number in row) for row in numbers.tolist()]


def our_spans(texts: list[str], references: list[str], slice_of: int) -> dict[str, float]:
    from calipers.text import longest_copied_span

    return lengths(longest_copied_span(texts, references, tokenizer="whitespace").per_sample)


def string_spans(texts: list[str], references: list[str], slice_of: int) -> dict[str, float]:
    held = " \n ".join(["", *references, ""])
    return lengths([longest_in(text.split(), held) for text in texts[:slice_of]])


def longest_in(words: list[str], held: str) -> int:
    start, longest = 0, 0
    while start + longest < len(words):
        if f" {' '.join(words[start : start + longest + 1])} " in held:
            longest += 1
        else:
            start += 1
    return longest


def our_novelty(texts: list[str], references: list[str], slice_of: int) -> dict[str, float]:
    from calipers.text import novelty

    return {"novelty": novelty(texts, references, order=ORDER, tokenizer="whitespace").value}


def set_novelty(texts: list[str], references: list[str], slice_of: int) -> dict[str, float]:
    known = {gram for text in references for gram in windows(text)}
    every = [gram for text in texts for gram in windows(text)]
    return {"novelty": sum(gram not in known for gram in every) / len(every)}


def windows(text: str) -> zip[tuple[str, ...]]:
    words = text.split()
    return zip(*(words[step:] for step in range(ORDER)), strict=False)


def lengths(found: list[int] | np.ndarray) -> dict[str, float]:
    return {str(row): float(length) for row, length in enumerate(found)}


SIDES = {
    "spans": {"calipers": our_spans, "str in str": string_spans},
    "novelty": {"calipers": our_novelty, "set of tuples": set_novelty},
}


def child(what: str, side: str, sizes: list[int]) -> None:
    work = SIDES[what][side]
    work(*samples(3, 3), 1)
    texts, references = samples(*sizes[:2])
    report(lambda: work(texts, references, sizes[2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=4_000)
    parser.add_argument("--references", type=int, default=100_000)
    parser.add_argument("--slice", type=int, default=12, help="texts that strings are searched for")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    sizes = [options.texts, options.references, options.slice]
    if options.child:
        child(*options.child, sizes)
        return
    print(
        f"{options.texts} texts, {options.references} references, {WORDS} words each, "
        f"{os.cpu_count()} cores; times include the splitting into words"
    )
    given = ["--texts", str(sizes[0]), "--references", str(sizes[1]), "--slice", str(sizes[2])]
    for what, sides in SIDES.items():
        calls = {side: [*given, "--child", what, side] for side in sides}
        compare(what, side_by_side(__file__, calls, options.repeats), sizes)


def compare(what: str, found: dict[str, dict], sizes: list[int]) -> None:
    print(what)
    ours, theirs = (side["values"] for side in found.values())
    if what == "spans":
        peer = found["str in str"]
        print(f"  str in str took {peer['seconds']:.1f} s for {sizes[2]} texts; extrapolated below")
        peer["seconds"] *= sizes[0] / sizes[2]
        peer["spread"] = tuple(seconds * sizes[0] / sizes[2] for seconds in peer["spread"])
    show(found)
    print(f"  largest difference {max(abs(ours[each] - theirs[each]) for each in theirs):g}")


if __name__ == "__main__":
    main()
