"""Small files that hold far more than fits in memory: how soon they are refused, at what memory.

    python research/benchmarks/floods.py          # 10 GB of lines, 300 million rows, a zip of 20 GB
    python research/benchmarks/floods.py --share 0.01 --max-memory 50MB

Each file is made in a temporary folder and given to the command line in a process of its own,
whose wall time and peak memory are printed with what it says.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LINES = 100_000
INDEX = '{"settings": {}, "reference": {"n": 9}, "systems": []}'


def lines(path: Path, size: float, row: str) -> None:
    """Write gzipped lines, the same member again and again."""
    block = "".join(row % number for number in range(LINES)).encode()
    member = gzip.compress(block, 1)
    with path.open("wb") as file:
        for _ in range(max(1, round(size / len(block)))):
            file.write(member)


def dictionary(path: Path, rows: int) -> None:
    """Write a column of 20 values that stand in many rows."""
    places = pa.array(np.arange(rows // 30, dtype=np.int32) % 20)
    column = pa.DictionaryArray.from_arrays(places, [f"text number {i}" for i in range(20)])
    table = pa.table({"text": column})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(30):
            writer.write_table(table)


def archive(path: Path, size: float) -> None:
    """Write a zip like a saved comparison, whose one array holds zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("comparison.json", INDEX)
        with file.open("reference/vectors/meaning.npy", "w", force_zip64=True) as member:
            for _ in range(round(size / 2**24)):
                member.write(bytes(2**24))


def told(name: str, path: Path, command: list[str], options: list[str]) -> None:
    """Run a command on a file in a process of its own; print what it took and said."""
    job = [sys.executable, "-m", "calipers", *command, str(path), *options]
    begun = time.monotonic()
    ran = subprocess.run(
        [sys.executable, __file__, "--child", *job], capture_output=True, text=True
    )
    seconds = time.monotonic() - begun
    peak, _, said = ran.stdout.partition("\n")
    size = path.stat().st_size / 1e6
    print(f"{name} ({size:,.0f} MB on disk): {seconds:.1f} s, peak {int(peak) / 1e6:,.0f} MB")
    words = said.strip().replace(str(path), path.name)
    print(textwrap.indent(textwrap.fill(words, 98, break_on_hyphens=False), "  "))


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        said = subprocess.run(sys.argv[2:], capture_output=True, text=True).stderr
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, said, sep="\n")
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the full sizes")
    parser.add_argument("--max-memory", help="given to each command")
    given = parser.parse_args()
    options = [] if given.max_memory is None else ["--max-memory", given.max_memory]
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("a.txt.gz", "a.jsonl.gz", "a.parquet", "a.zip")]
        lines(places[0], 10e9 * given.share, "a line that stands here many times, %06d\n")
        lines(places[1], 10e9 * given.share, '{"text": "a line that stands here, %06d"}\n')
        dictionary(places[2], int(300e6 * given.share))
        archive(places[3], 20e9 * given.share)
        text = ["text", "--metrics", "mean_length"]
        told("lines, gzip", places[0], text, options)
        told("JSON lines, gzip", places[1], text, options)
        told("Parquet dictionary", places[2], text, options)
        told("saved zip", places[3], ["show"], options)


if __name__ == "__main__":
    main()
