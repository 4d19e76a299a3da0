"""Columns of texts: ours against lists, NumPy's arrays of objects and of strings, and Arrow.

    python research/benchmarks/columns.py --texts 1000000 --words 9
    python research/benchmarks/columns.py --texts 10000 --words 1000 --beyond-ascii 0.3

Each way is measured in a process of its own, in turn in every round: resident memory that the texts
take, and processor time to build them, to make Python strings of all, to hash them in chunks of
1,024 as the cache of embeddings does, and to take a random half. The median of the rounds is shown.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 2500
CHUNK = 1024


class Lists:
    """A list of strings."""

    def build(self, blocks: Iterator[list[str]]) -> Any:
        return [text for block in blocks for text in block]

    def strings(self, column: Any) -> Iterator[Sequence[str]]:
        for start in range(0, len(column), CHUNK):
            yield column[start : start + CHUNK]

    def hash(self, column: Any) -> str:
        digest = hashlib.sha256()
        for chunk in self.strings(column):
            encoded = [text.encode() for text in chunk]
            digest.update(np.cumsum([0, *map(len, encoded)]).astype("<i8").data)
            digest.update(b"".join(encoded))
        return digest.hexdigest()

    def take(self, column: Any, rows: np.ndarray) -> Any:
        return [column[row] for row in rows.tolist()]


class Objects(Lists):
    """A NumPy array of Python strings."""

    dtype: Any = object

    def build(self, blocks: Iterator[list[str]]) -> Any:
        return np.concatenate([np.array(block, self.dtype) for block in blocks])

    def strings(self, column: Any) -> Iterator[Sequence[str]]:
        for start in range(0, len(column), CHUNK):
            yield column[start : start + CHUNK].tolist()

    def take(self, column: Any, rows: np.ndarray) -> Any:
        return column[rows]


class StringDType(Objects):
    """NumPy's array of strings of any length."""

    dtype = np.dtypes.StringDType(na_object=None)


class Arrow(Lists):
    """A chunked array of pyarrow."""

    def build(self, blocks: Iterator[list[str]]) -> Any:
        import pyarrow as pa

        return pa.chunked_array([pa.array(block, pa.large_string()) for block in blocks])

    def strings(self, column: Any) -> Iterator[Sequence[str]]:
        for start in range(0, len(column), CHUNK):
            yield column.slice(start, CHUNK).to_pylist()

    def hash(self, column: Any) -> str:
        import pyarrow as pa

        digest = hashlib.sha256()
        for start in range(0, len(column), CHUNK):
            part = pa.concat_arrays(column.slice(start, CHUNK).chunks)
            _, places, data = part.buffers()
            ends = np.frombuffer(places, "<i8")[part.offset : part.offset + len(part) + 1]
            digest.update((ends - ends[0]).data)
            digest.update(memoryview(data)[ends[0] : ends[-1]])
        return digest.hexdigest()

    def take(self, column: Any, rows: np.ndarray) -> Any:
        return column.take(rows)


class Ours(Lists):
    """A StringColumn of Calipers."""

    def build(self, blocks: Iterator[list[str]]) -> Any:
        from calipers.samples.columns import StringColumn

        return StringColumn.of(text for block in blocks for text in block)

    def strings(self, column: Any) -> Iterator[Sequence[str]]:
        for start in range(0, len(column), CHUNK):
            yield column[start : start + CHUNK].tolist()

    def hash(self, column: Any) -> str:
        digest = hashlib.sha256()
        for start in range(0, len(column), CHUNK):
            part = column[start : start + CHUNK]
            digest.update(part.ends.astype("<i8").data)
            for data in part.utf8():
                digest.update(data)
        return digest.hexdigest()

    def take(self, column: Any, rows: np.ndarray) -> Any:
        return column.take(rows)


WAYS: dict[str, type[Lists]] = {
    "list": Lists,
    "objects": Objects,
    "StringDType": StringDType,
    "pyarrow": Arrow,
    "calipers": Ours,
}


def made(texts: int, words: int, beyond: float) -> Iterator[list[str]]:
    rng = random.Random(0)
    letters = "abcdefghijklmnop"
    known = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(5000)]
    for start in range(0, texts, BLOCK):
        yield [
            " ".join(rng.choices(known, k=max(1, round(rng.gauss(words, words / 4)))))
            + " “é”" * (rng.random() < beyond)
            for _ in range(min(BLOCK, texts - start))
        ]


def resident() -> float:
    return float(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def child(way: Lists, texts: int, words: int, beyond: float) -> None:
    spent = 0.0

    def blocks() -> Iterator[list[str]]:
        nonlocal spent
        for block in made(texts, words, beyond):
            start = time.process_time()
            yield block
            spent += time.process_time() - start

    def timed(work: Callable[[], Any]) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    way.build(made(10, words, 1.0))
    gc.collect()
    before = resident()
    column = way.build(blocks())
    gc.collect()
    found = {"memory": resident() - before, "build": spent, "hashed": way.hash(column)}
    rows = np.sort(np.random.default_rng(0).permutation(texts)[: texts // 2])
    found["strings"] = timed(lambda: [len(chunk) for chunk in way.strings(column)])
    found["hash"] = timed(lambda: way.hash(column))
    found["take"] = timed(lambda: way.take(column, rows))
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=9)
    parser.add_argument("--beyond-ascii", type=float, default=0.02)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(WAYS[asked.child](), asked.texts, asked.words, asked.beyond_ascii)
        return
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in WAYS}
    for _ in range(asked.repeats):
        for name in WAYS:
            done = subprocess.run(
                [sys.executable, __file__, *sys.argv[1:], "--child", name],
                check=True,
                capture_output=True,
                text=True,
            )
            runs[name].append(json.loads(done.stdout))
    hashes = {run["hashed"] for all_runs in runs.values() for run in all_runs}
    print(f"{asked.texts:,} texts of about {asked.words:,} words, {asked.repeats} rounds")
    for name, all_runs in runs.items():
        shown = {
            key: statistics.median(run[key] for run in all_runs)
            for key in ("memory", "build", "strings", "hash", "take")
        }
        print(
            f"{name:12} {shown['memory']:6.0f} MB   build {shown['build']:5.2f} s   all strings "
            f"{shown['strings']:5.2f} s   hash {shown['hash']:5.2f} s   half {shown['take']:5.2f} s"
        )
    print("same hashes" if len(hashes) == 1 else f"hashes differ: {hashes}")


if __name__ == "__main__":
    main()
