"""How long `import calipers` and `calipers --help` take as whole processes, and what they import.

Each command runs eleven times, the commands in turn, so that a busy moment hits all of them; the
median is held against its bound. A bare Python shows how much of it the interpreter takes.

    python benchmarks/startup.py

Exits with 1 if a bound is broken or a heavy package was imported.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 11
HEAVY = ("torch", "numba", "sklearn", "scipy.stats", "matplotlib", "pyarrow")
COMMANDS = {
    "python -c pass": (["-c", "pass"], None),
    "import calipers": (["-c", "import calipers"], 0.3),
    "calipers --help": (["-m", "calipers", "--help"], 0.5),
}


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def heavy_imports(arguments: list[str]) -> list[str]:
    """Name the heavy packages among all modules that the process imported."""
    process = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], check=True, capture_output=True, text=True
    )
    imported = {line.rpartition("|")[2].strip() for line in process.stderr.splitlines()}
    return [name for name in HEAVY if name in imported]


def main() -> int:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, (arguments, _bound) in COMMANDS.items():
            times[name].append(seconds(arguments))
    broken = False
    print(f"median of {RUNS} whole processes, Python {sys.version.split()[0]}")
    for name, (arguments, bound) in COMMANDS.items():
        median, heavy = statistics.median(times[name]), heavy_imports(arguments)
        over = bound is not None and median > bound
        broken |= over or bool(heavy)
        limit = "baseline" if bound is None else f"{'over' if over else 'within'} {bound} s"
        print(f"{name:16} {median:.3f} s  {limit:12}  heavy imports: {', '.join(heavy) or 'none'}")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
