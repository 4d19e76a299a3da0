"""Reading a file of word vectors: ours against gensim, or a plain Python reader without it.

    python research/benchmarks/word_vectors.py --words 400000 --width 300 --threads 2

Makes a GloVe-like text file of random numbers and made-up words in a temporary folder (1 GB at the
size of glove.6B.300d; with ``--binary`` a word2vec binary file), or reads the one named with
``--file``. Each side reads it in a process of its own, in turn in every round, so that peak memory
is its own; the first round warms up (the file is in the system's cache).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

Table = tuple[dict[str, int], np.ndarray]
BLOCK = 2000


def make_file(path: Path, words: int, width: int, *, binary: bool) -> None:
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        if binary:
            file.write(f"{words} {width}\n".encode())
        for start in range(0, words, BLOCK):
            rows = rng.standard_normal((min(BLOCK, words - start), width), dtype=np.float32) * 0.4
            for row, vector in enumerate(rows, start=start):
                numbers = vector.tobytes() if binary else _written(vector)
                file.write(f"w{row:x} ".encode() + numbers + b"\n")


def _written(vector: np.ndarray) -> bytes:
    return " ".join([f"{number:.5g}" for number in vector.tolist()]).encode()


def ours(path: Path, threads: int) -> Table:
    from calipers.embedders.words.word_vector_files import read_word_vectors

    table = read_word_vectors(path, threads=threads)
    return table.rows, table.vectors


def gensim(path: Path, threads: int) -> Table:
    from gensim.models import KeyedVectors

    binary = _is_binary(path)
    found = KeyedVectors.load_word2vec_format(str(path), binary=binary, no_header=not binary)
    return found.key_to_index, found.vectors


def plain(path: Path, threads: int) -> Table:
    if _is_binary(path):
        sys.exit("the plain reader reads text only; install gensim to compare binary files")
    rows: dict[str, int] = {}
    vectors = []
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            word, *numbers = line.rstrip("\n").split(" ")
            rows.setdefault(word, len(vectors))
            vectors.append(np.array(numbers, dtype=np.float32))
    return rows, np.array(vectors)


SIDES: dict[str, Callable[[Path, int], Table]] = {
    "calipers": ours,
    "gensim": gensim,
    "plain": plain,
}


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\x00" in file.read(1 << 16)


def child(side: str, path: Path, threads: int, keep: Path) -> None:
    """Read the file, and say how long it took and what it needed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    rows, vectors = SIDES[side](path, threads)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    order = np.array(list(rows.values()))
    np.save(keep, vectors[order[:: max(1, len(order) // 20_000)]])
    found = {"seconds": seconds, "peak": peak * 1024, "before": before * 1024}
    print(json.dumps(found | {"words": len(rows), "matrix": vectors.nbytes}))


def run(side: str, path: Path, threads: int, keep: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", side, "--file", str(path)]
    command += ["--threads", str(threads), "--keep", str(keep)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(path: Path, sides: list[str], threads: int, repeats: int, folder: Path) -> None:
    results: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for round_ in range(repeats + 1):
        for side in sides:
            found = run(side, path, threads, folder / f"{side}.npy")
            if round_:
                results[side].append(found)
    base = statistics.median(found["seconds"] for found in results[sides[-1]])
    expected = np.load(folder / f"{sides[-1]}.npy")
    print(f"{path.stat().st_size / 1e6:,.0f} MB, {threads} threads, {repeats} interleaved runs")
    for side in sides:
        seconds = statistics.median(found["seconds"] for found in results[side])
        peak, matrix = results[side][0]["peak"] / 1e6, results[side][0]["matrix"] / 1e6
        difference = np.abs(np.load(folder / f"{side}.npy") - expected).max()
        print(
            f"{side:9} {seconds:7.2f} s  {base / seconds:5.1f}x  peak {peak:6,.0f} MB (matrix "
            f"{matrix:,.0f} MB)  {results[side][0]['words']:,.0f} words  "
            f"largest difference {difference:.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--width", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--binary", action="store_true", help="a word2vec binary file")
    parser.add_argument("--file", type=Path, help="read this file instead of a made one")
    parser.add_argument("--child", choices=sorted(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.file, options.threads, options.keep)
        return
    if options.file and not options.file.is_file():
        sys.exit(f"{options.file} is missing: --file needs a file of word vectors")
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    with tempfile.TemporaryDirectory() as made:
        path = options.file or Path(made) / "vectors"
        if not options.file:
            make_file(path, options.words, options.width, binary=options.binary)
        sides = ["calipers", "gensim" if find_spec("gensim") else "plain"]
        measure(path, sides, options.threads, options.repeats, Path(made))


if __name__ == "__main__":
    main()
