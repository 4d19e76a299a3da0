"""Peak memory of embedding: bounded by the batch and the model, whatever the number of texts.

    python research/benchmarks/embed_memory.py                # 10,000 and 100,000 texts of 10 words
    python research/benchmarks/embed_memory.py --embedder tfidf

Each size runs in a process of its own. What is printed is the peak beyond what the process held
when the texts were there and the model was loaded and warm, and the same less the vectors.
"""

from __future__ import annotations

import argparse
import random
import sys

from calipers.embedders import embed
from calipers.evaluate.embedding import open_embedder
from calipers.options.comparison import CompareOptions
from calipers.samples import SampleSet
from children import report, side_by_side

WORDS = 10


def texts(n: int) -> list[str]:
    draw = random.Random(0)
    words = [f"w{draw.randrange(20_000)}" for _ in range(200_000)]
    starts = [draw.randrange(len(words) - WORDS) for _ in range(n)]
    return [" ".join(words[start : start + WORDS]) for start in starts]


def child(n: int, embedder: str) -> None:
    samples = SampleSet.from_texts(texts(n), name="texts")
    model = open_embedder(CompareOptions(embedder=embedder), [samples])
    embed(samples.subsample(512, seed=0), model)  # warm

    def work() -> dict[str, float]:
        views = embed(samples, model).views
        return {"vectors": sum(view.nbytes for view in views.values()) / 2**20}

    report(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.embedder)
        return
    sides = {
        f"{n:,} texts": ["--child", str(n), "--embedder", options.embedder] for n in options.sizes
    }
    for name, found in side_by_side(sys.argv[0], sides, 1).items():
        vectors = found["values"]["vectors"]
        print(
            f"{options.embedder}, {name:14} {found['seconds']:7.1f} s   peak "
            f"{found['memory']:6.0f} MiB, of which vectors {vectors:5.0f} MiB, the rest "
            f"{found['memory'] - vectors:5.0f} MiB"
        )


if __name__ == "__main__":
    main()
