"""How long whole processes take: importing, the help, a first result; and what they import.

The commands run in turn, so that a busy moment hits all of them; medians of wall time and of
processor time are given. Light commands are held against a bound and must import nothing heavy. A
bare Python shows how much of it the interpreter takes.

    python research/benchmarks/startup.py
    python research/benchmarks/startup.py --runs 5 --texts human.jsonl model_a.jsonl model_b.jsonl

The vectors of the texts are kept from a first run, which is not timed. Without `--texts` three
systems of 500 texts are made from the words of the demo's human texts. Exits with 1 if a bound is
broken or a heavy package was imported.
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
from pathlib import Path

import numpy as np

from calipers.numeric.native import instruction_set

HEAVY = ("torch", "sklearn", "scipy.stats", "matplotlib", "pyarrow")
LIGHT = {
    "python -c pass": (["-c", "pass"], None),
    "import calipers": (["-c", "import calipers"], 0.3),
    "calipers --help": (["-m", "calipers", "--help"], 0.5),
}
TEXTS, SYSTEMS = 500, 3


def seconds(arguments: list[str]) -> tuple[float, float]:
    """Wall time and processor time of one process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def heavy_imports(arguments: list[str]) -> list[str]:
    """Name the heavy packages among all modules that the process imported."""
    process = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], check=True, capture_output=True, text=True
    )
    imported = {line.rpartition("|")[2].strip() for line in process.stderr.splitlines()}
    return [name for name in HEAVY if name in imported]


def light(runs: int) -> bool:
    """Time what computes nothing; whether a bound was broken."""
    times: dict[str, list[float]] = {name: [] for name in LIGHT}
    for _ in range(runs):
        for name, (arguments, _bound) in LIGHT.items():
            times[name].append(seconds(arguments)[0])
    broken = False
    for name, (arguments, bound) in LIGHT.items():
        median, heavy = statistics.median(times[name]), heavy_imports(arguments)
        over = bound is not None and median > bound
        broken |= over or bool(heavy)
        limit = "baseline" if bound is None else f"{'over' if over else 'within'} {bound} s"
        print(f"{name:16} {median:.3f} s  {limit:12}  heavy imports: {', '.join(heavy) or 'none'}")
    return broken


def made_texts(folder: Path) -> list[str]:
    """Write a reference and systems of texts: random words, each system from fewer of them."""
    from calipers.demo.systems import systems

    words = sorted({word for text in systems(0)[0] for word in text.split()})
    rng, paths = np.random.default_rng(0), []
    for place in range(SYSTEMS + 1):
        known = words[: len(words) // (place + 1)]
        path = folder / f"texts_{place}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for _ in range(TEXTS):
                json.dump({"text": " ".join(rng.choice(known, 30))}, file)
                file.write("\n")
        paths.append(str(path))
    return paths


def first_tables(runs: int, texts: list[str]) -> None:
    """Time from the start of a process to its table."""
    reference, *generated = texts
    commands = {
        "calipers demo": ["-m", "calipers", "demo", "--quiet"],
        f"compare {len(generated)} systems": [
            *("-m", "calipers", "compare", "--quiet", "--reference", reference),
            *generated,
        ],
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for arguments in commands.values():
        seconds(arguments)  # embeds the texts
    for _ in range(runs):
        for name, arguments in commands.items():
            times[name].append(seconds(arguments))
    for name, taken in times.items():
        walls, processor = zip(*taken, strict=True)
        print(
            f"{name:20} {statistics.median(walls):6.2f} s  "
            f"({min(walls):.2f} to {max(walls):.2f})  processor {statistics.median(processor):.2f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--texts", nargs="+", help="a reference and systems, as files of texts")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(
        f"medians of {options.runs} processes, Python {sys.version.split()[0]}, {cores} cores, "
        f"kernels for {instruction_set()}"
    )
    broken = light(options.runs)
    with tempfile.TemporaryDirectory() as folder:
        texts = options.texts or made_texts(Path(folder))
        first_tables(options.runs, texts)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
