"""Run both sides of a benchmark as child processes in turn, and print what they measured.

Each child prints one JSON object: seconds, peak memory beyond what it held before the work
(MiB), and the values it found. Interleaving the children lets a change in the machine's speed
fall on both sides alike.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path


def resident() -> float:
    """Memory that this process holds now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def report(work: Callable[[], dict[str, float]]) -> None:
    """Time some work in this process, watch its memory, and print both with its values."""
    before, peak, done = resident(), resident(), threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    values = work()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    print(json.dumps({"seconds": seconds, "memory": peak - before, "values": values}))


def side_by_side(script: str, sides: dict[str, list[str]], repeats: int) -> dict[str, dict]:
    """Run ``script *arguments`` for every side in turn, `repeats` times; return the medians."""
    runs: dict[str, list[dict]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, arguments in sides.items():
            command = [sys.executable, script, *arguments]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs[name].append(json.loads(done.stdout.strip().splitlines()[-1]))
    return {
        name: {
            "seconds": statistics.median(run["seconds"] for run in each),
            "spread": (min(r["seconds"] for r in each), max(r["seconds"] for r in each)),
            "memory": statistics.median(run["memory"] for run in each),
            "values": each[0]["values"],
            "all_values": [run["values"] for run in each],
        }
        for name, each in runs.items()
    }


def show(results: dict[str, dict], ours: str = "calipers") -> None:
    """Print medians, and the ratio of every other side to ours."""
    for name, found in results.items():
        low, high = found["spread"]
        line = f"{name:28s} {found['seconds']:8.2f} s  ({low:.2f} to {high:.2f})"
        line += f"   memory beyond the inputs {found['memory']:8.0f} MiB"
        if name != ours:
            mine = results[ours]
            line += f"   ours is {found['seconds'] / mine['seconds']:.1f}x faster,"
            line += f" {100 * mine['memory'] / found['memory']:.1f} % of its memory"
        print(line)


def largest_difference(one: dict[str, float], two: dict[str, float]) -> float:
    """Largest absolute difference of the values that both sides have."""
    return max(abs(one[name] - two[name]) for name in one.keys() & two.keys())
