"""How long whole processes take: importing, the help, a first result; and what they import.

The commands run in turn, so that a busy moment hits all of them; medians of wall time and of
processor time are given. Light commands are held against a bound and must import nothing heavy. A
bare Python shows how much of it the interpreter takes.

    python research/benchmarks/startup.py
    python research/benchmarks/startup.py --runs 5 --texts human.jsonl model_a.jsonl model_b.jsonl
    python research/benchmarks/startup.py --against OTHER_CHECKOUT

With ``--against`` each command runs in the other checkout too, turn by turn, and both are printed.
The start of an embedder is one text through ``use``. The vectors of the texts are kept from a first
run, which is not timed, for good in the folder of ``--cache``. Without `--texts` three systems of
500 texts are made from the words of the demo's human texts. Exits with 1 if a bound is broken or a
heavy package was imported.
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
from dataclasses import dataclass, field
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
USE = "from calipers.embedders import load_embedder; load_embedder('use').embed(['A text.'])"
HERE = Path(__file__).parents[2]


@dataclass
class Checkout:
    """A checkout of Calipers whose processes are timed.

    Attributes
    ----------
    place
        Its folder.
    cache
        Where its processes keep vectors.
    """

    place: Path
    cache: Path
    times: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def seconds(self, arguments: list[str], *, cold: bool = False) -> tuple[float, float]:
        """Wall time and processor time of one process; `cold` with an empty cache."""
        with tempfile.TemporaryDirectory() as empty:
            cache = empty if cold else str(self.cache)
            paths = {"PYTHONPATH": str(self.place / "src"), "CALIPERS_CACHE": cache}
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments],
                check=True,
                capture_output=True,
                env={**os.environ, **paths},
            )
            wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds(arguments: list[str]) -> tuple[float, float]:
    """Wall time and processor time of one process of this checkout."""
    return Checkout(HERE, Path(os.devnull)).seconds(arguments, cold=True)


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


def first_tables(runs: int, texts: list[str], checkouts: list[Checkout]) -> None:
    """Time from the start of a process to its table."""
    reference, *generated = texts
    compare = ["-m", "calipers", "compare", "--quiet", "--reference", reference, *generated]
    demo = ["-m", "calipers", "demo", "--quiet"]
    cold = "demo, nothing cached"
    commands = {
        cold: demo,
        "demo": demo,
        f"compare {len(generated)} systems": compare,
        "a text by use": ["-c", USE],
    }
    for checkout in checkouts:
        for arguments in (demo, compare):
            checkout.seconds(arguments)  # embeds the texts
    for _ in range(runs):
        for name, arguments in commands.items():
            for checkout in checkouts:
                taken = checkout.seconds(arguments, cold=name == cold)
                checkout.times.setdefault(name, []).append(taken)
    for name in commands:
        for checkout in checkouts:
            walls, processor = zip(*checkout.times[name], strict=True)
            where = f"  {checkout.place.name}" if len(checkouts) > 1 else ""
            print(
                f"{name:20} {statistics.median(walls):6.2f} s  ({min(walls):.2f} to "
                f"{max(walls):.2f})  processor {statistics.median(processor):.2f} "
                f"({min(processor):.2f} to {max(processor):.2f}){where}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--texts", nargs="+", help="a reference and systems, as files of texts")
    parser.add_argument("--against", type=Path, help="another checkout, timed in turn")
    parser.add_argument("--cache", type=Path, help="where vectors are kept (default: nowhere)")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(
        f"medians of {options.runs} processes, Python {sys.version.split()[0]}, {cores} cores, "
        f"kernels for {instruction_set()}"
    )
    broken = light(options.runs)
    with tempfile.TemporaryDirectory() as folder:
        texts = options.texts or made_texts(Path(folder))
        places = [options.against.resolve()] if options.against else []
        checkouts = [
            Checkout(place, options.cache or Path(folder, "cache")) for place in [*places, HERE]
        ]
        first_tables(options.runs, [str(Path(text).resolve()) for text in texts], checkouts)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
