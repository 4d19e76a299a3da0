"""Speed and memory of the embedder `characters` beside `tfidf` and `minilm`.

    python research/benchmarks/characters.py --n 2000
    python research/benchmarks/characters.py --n 10000 --embedders characters

Each embedder runs in a process of its own: it is fitted on n texts of 150 words where it must be,
and then embeds n others. Times are those of the processor. The texts are pieces of the human
stories in the folder that the environment variable CALIPERS_DATA names, by default
``../shared/data`` beside the checkout, a new choice of pieces for each text. Memory is the peak
beyond what the process held with the texts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path
from time import process_time

from calipers.embedders import load_embedder
from children import report, side_by_side

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
WORDS, PIECE = 150, 15


def texts(n: int, seed: int) -> list[str]:
    """Texts of ten pieces of stories, as varied in their n-grams as the stories are."""
    lines = (DATA / "writing_prompts" / "human.jsonl").open(encoding="utf-8")
    words = " ".join(json.loads(line)["text"] for line in lines).split()
    draw = random.Random(seed)
    starts = range(len(words) - PIECE)
    return [
        " ".join(
            word
            for start in draw.choices(starts, k=WORDS // PIECE)
            for word in words[start : start + PIECE]
        )
        for _ in range(n)
    ]


def child(n: int, name: str) -> None:
    reference, others = texts(n, 0), texts(n, 1)
    embedder = load_embedder(name)

    def work() -> dict[str, float]:
        start = process_time()
        ready = embedder.fitted(reference) if embedder.needs_fitting else embedder
        fitted = process_time()
        for first in range(0, n, ready.at_once):
            ready.embed(others[first : first + ready.at_once])
        return {"fit": fitted - start, "embed": process_time() - fitted}

    report(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument(
        "--embedders",
        type=lambda given: given.split(","),
        default=["characters", "tfidf", "minilm"],
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.n, options.child)
        return
    sides = {name: ["--child", name, "--n", str(options.n)] for name in options.embedders}
    for name, found in side_by_side(sys.argv[0], sides, 1).items():
        fit, embed = found["values"]["fit"], found["values"]["embed"]
        print(
            f"{name:12} fitted in {fit:6.1f} s, then {options.n / embed:6.0f} texts/s, peak "
            f"{found['memory']:6.0f} MiB"
        )


if __name__ == "__main__":
    main()
