"""Worlds are measured in several processes and kept one by one, so that a stop loses nothing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Task = tuple[str, str, int, int]
"""Part, case, size, and number of the world."""
Record = dict[str, Any]


@dataclass
class Store:
    """What was measured, by task; a file of JSON lines where one is named.

    Attributes
    ----------
    path
        The file; what it holds is not measured again.
    processes
        How many worlds at a time; 0 measures nothing and shows what there is.
    """

    path: Path | None = None
    processes: int = 1
    found: dict[Task, Record] = field(default_factory=dict)
    _pool: ProcessPoolExecutor | None = None
    _cut: bool = False

    def __post_init__(self) -> None:
        if self.path is not None and self.path.is_file():
            lines = self.path.read_text(encoding="utf-8")
            self._cut = bool(lines) and not lines.endswith("\n")
            for line in lines.splitlines():
                with suppress(json.JSONDecodeError):  # A stop may have cut a line
                    record = json.loads(line)
                    self.found[task_of(record)] = record

    def measure(self, tasks: Iterable[Task], work: Callable[[Task], Record]) -> None:
        """Measure the worlds that are missing, and keep each as it comes."""
        missing = [task for task in tasks if task not in self.found]
        if not missing or not self.processes:
            return
        begun = time.monotonic()
        self._pool = self._pool or ProcessPoolExecutor(self.processes)
        chunk = max(1, min(8, len(missing) // (4 * self.processes)))
        for record in self._pool.map(work, missing, chunksize=chunk):
            self._keep(record)
        part, case, size, _ = missing[0]
        took = time.monotonic() - begun
        print(f"{part}, {case}, n = {size:,}: {len(missing):,} in {took:.0f} s", file=sys.stderr)

    def close(self) -> None:
        """Let the processes end."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def of(self, part: str, case: str, size: int) -> list[Record]:
        """All records of a case."""
        return [
            record for task, record in sorted(self.found.items()) if task[:3] == (part, case, size)
        ]

    def cases(self, part: str) -> Sequence[tuple[str, int]]:
        """Case and size of everything that was measured, in the order of sizes."""
        order = {task[1:3]: None for task in self.found if task[0] == part}
        return sorted(order, key=lambda each: each[1])

    def _keep(self, record: Record) -> None:
        self.found[task_of(record)] = record
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" * self._cut + json.dumps(record) + "\n")
            self._cut = False


def task_of(record: Record) -> Task:
    return record["part"], record["case"], record["n"], record["world"]


def record_of(task: Task, **found: Any) -> Record:
    """A record of what was found in a world."""
    part, case, n, world = task
    return {"part": part, "case": case, "n": n, "world": world, **found}


def seed_of(task: Task) -> list[int]:
    """Seed of a world: its own, whatever else is measured."""
    _, case, n, world = task
    return [world, n, *case.encode()]
