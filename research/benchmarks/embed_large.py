"""Peak memory of reading, embedding and writing sets of a million rows, with a cheap embedder.

    python research/benchmarks/embed_large.py --n 1000000 --d 384 --folder /tmp/large

Texts are written to Parquet, read, embedded by a generator of random numbers in the place of a
model, and written as 16 shards, in a process with `--max-memory` (8 GB unless told); then the
shards are read back as one set. Printed are seconds and the most memory that each step held beyond
its start: of the process itself (anonymous), and with the parts of files that lay in memory, which
the system takes back when it needs them.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from calipers import memory_limit
from calipers.commands.embed.run import embed
from calipers.embedders import Cache, Embedder, EncodedBatch
from calipers.embedders.vectors import write_shards
from calipers.samples import read_samples

SHARDS, TEXTS = 16, 100_000


class Drawn(Embedder):
    """Vectors drawn at random, as fast as memory is filled."""

    name, views, identity = "drawn", ("drawn",), "drawn-1"
    signature = {"embedder": "drawn"}  # noqa: RUF012

    def __init__(self, d: int) -> None:
        self._draw, self._d = np.random.default_rng(0), d

    def encode(self, prepared: Any) -> EncodedBatch:
        rows = self._draw.standard_normal((len(prepared), self._d), dtype=np.float32)
        return EncodedBatch({"drawn": rows}, np.zeros(len(prepared), np.bool_))


def held() -> tuple[int, int]:
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
    return sizes["RssAnon"], sizes["VmRSS"]


@contextmanager
def watched(what: str) -> Iterator[None]:
    first, most, stop = held(), [0, 0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            for place, size in enumerate(held()):
                most[place] = max(most[place], size)

    watcher, start = threading.Thread(target=watch), time.perf_counter()
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        anonymous, whole = ((peak - begin) / 1024 for peak, begin in zip(most, first, strict=True))
        took = time.perf_counter() - start
        print(f"{what:24} {took:7.1f} s   {anonymous:6.0f} MiB, with files {whole:6.0f} MiB")


def write_texts(folder: Path, n: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    parts = range(0, n, TEXTS)
    for place, first in enumerate(parts):
        texts = [
            f"a short text of a few words, number {row}" for row in range(first, first + TEXTS)
        ]
        path = folder / f"texts-{place:05d}-of-{len(parts):05d}.parquet"
        pq.write_table(pa.table({"text": texts}), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--max-memory", default="8GB")
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    given.folder.mkdir()
    os.environ["TMPDIR"] = str(given.folder)
    write_texts(given.folder / "texts", given.n)
    print(f"{given.n:,} texts, d = {given.d}, --max-memory {given.max_memory}")
    with memory_limit(given.max_memory):
        with watched("read texts"):
            texts = read_samples(given.folder / "texts")
        with watched("embed, into the cache"):
            model: Callable[[], Embedder] = lambda: Drawn(given.d)  # noqa: E731
            cache = str(Cache(given.folder / "cache").directory)
            made = embed(texts, embedder=model(), cache_dir=cache)
        with watched("embed, from the cache"):
            made = embed(texts, embedder=model(), cache_dir=cache)
        with watched(f"write {SHARDS} shards"):
            about = made.about(["drawn"])
            views = made.embeddings.views
            write_shards(given.folder / "v", views, shards=SHARDS, about=about)
        del made, views
        with watched("read them back"):
            print(read_samples(given.folder / "v"))


if __name__ == "__main__":
    main()
