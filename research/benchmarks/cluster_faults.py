"""Workers and drivers of a Ray cluster killed at random moments: same counts, nothing left behind.

python research/benchmarks/cluster_faults.py --workers 20 --drivers 10
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from calipers.engine import tiles
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.tile_passes import TilePasses
from calipers.engine.work_folder import WorkFolder
from calipers.estimate import Neighbourhoods, Supports, neighbourhoods
from calipers.estimate.knn.passes import passes_on
from calipers.numeric.blocks import Blocks

COUNTS = ("radii", "held", "inside", "own_nearest", "nearest", "distance", "capped", "capped_own")
REPLICATES = ("held_without", "held_from", "inside_without", "radii_without")
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
OPTIONS = {"k": 4, "k_max": 6, "supports": Supports(capped=3, smaller=2)}


def measured(sets: tuple[np.ndarray, ...], **more: object) -> dict[str, np.ndarray]:
    """Every count of both sets, by name."""
    blocks = tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)
    found: Neighbourhoods = neighbourhoods(*sets, blocks=blocks, **OPTIONS, **more)
    arrays = {}
    for side in ("reference", "generated"):
        balls = getattr(found, side)
        arrays |= {f"{side}.{name}": getattr(balls, name) for name in COUNTS}
        arrays |= {f"{side}.{name}": getattr(balls.replicates, name) for name in REPLICATES}
    return arrays


def different(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> int:
    """How many numbers differ."""
    assert one.keys() == two.keys()
    return sum(int((one[name] != two[name]).sum()) for name in one)


def drive(rows: str, place: str, address: str, result: str) -> None:
    """Be a driver: measure through a work folder, and say which tiles are made."""
    tiles.LEAST_ROWS = tiles.MOST_ROWS = 480
    with np.load(rows) as file:
        sets = file["a"], file["b"]
    folder = WorkFolder(place)
    with ray_cluster(address or None, folder, threads=2) as cluster:

        def run(waiting):
            for tile in waiting:
                print(tile.result, flush=True)
            return cluster.make_tiles(waiting)

        with TilePasses(folder, run=run, few_pairs=0) as passes, passes_on(passes):
            np.savez(result, **measured(sets))


def processes() -> dict[int, tuple[int, str]]:
    """Parent and command line of every process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found[int(path.name)] = parent, words
    return found


def busy_workers() -> list[int]:
    """Ray's workers below this process that make a tile."""
    all_of_them, below = processes(), {os.getpid()}
    while new := {one for one, (parent, _) in all_of_them.items() if parent in below} - below:
        below |= new
    return [one for one in below if all_of_them[one][1].startswith("ray::call")]


def left_behind(temporary: Path) -> list[str]:
    """Temporary files, and how many processes of Ray that use them."""
    files = [str(path) for path in temporary.iterdir()]
    running = sum(f"{temporary}/" in words for _, words in processes().values())
    return files + [f"{running} processes"] * bool(running)


def kill_workers(sets, expected, place: Path, runs: int, chance: random.Random) -> None:
    """Kill workers of a cluster of three nodes at random moments."""
    wrong, killed, before = 0, 0, set(Path("/dev/shm").iterdir())
    with ray_cluster(None, WorkFolder(str(place))) as cluster:
        for _ in range(runs):
            over, dead = threading.Event(), []

            def kill(over=over, dead=dead):
                for _ in range(chance.randint(1, 5)):
                    if over.wait(chance.uniform(0.05, 3.0)):
                        return
                    if workers := busy_workers():
                        with suppress(ProcessLookupError):
                            os.kill(chance.choice(workers), signal.SIGKILL)
                            dead.append(1)

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                folder = WorkFolder(str(place))
                with (
                    TilePasses(folder, run=cluster.make_tiles, few_pairs=0) as passes,
                    passes_on(passes),
                ):
                    wrong += different(measured(sets), expected)
            finally:
                over.set()
                killer.join()
            assert not place.exists(), f"{place} is left"
            killed += len(dead)
    shared = set(Path("/dev/shm").iterdir()) - before
    print(
        f"{runs} runs, {killed} workers killed: {wrong} numbers differ, work folders left 0, "
        f"new in shared memory {len(shared)}",
        flush=True,
    )


def kill_drivers(
    folder: Path, expected, address: str, runs: int, chance: random.Random, how: signal.Signals
) -> None:
    """Kill drivers at random moments, and run them again to the end."""
    if not runs:
        return
    rows, place, result = folder / "rows.npz", folder / "work", folder / "result.npz"
    words = [sys.executable, __file__, "--drive", *map(str, (rows, place)), address, str(result)]
    temporary = Path(tempfile.mkdtemp(prefix="t-", dir="/tmp"))  # short, as sockets lie there
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True, env=environment,
        )  # fmt: skip

    def finish() -> tuple[float, set[str]]:
        begun = time.perf_counter()
        with start() as driver:
            said, _ = driver.communicate()
            assert driver.returncode == 0
        return time.perf_counter() - begun, set(said.split())

    def there() -> set[str]:
        return {str(path.relative_to(place)) for path in place.glob("[cn]*/[0-9]*.npz")}

    _, all_tiles = finish()
    wrong, again, kept, left, early = 0, 0, [], [], 0
    for _ in range(runs):
        driver = start()
        wanted = chance.randrange(len(all_tiles))
        while len(there()) < wanted and driver.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.5))
        early += driver.poll() is not None
        with suppress(ProcessLookupError):
            os.killpg(driver.pid, how) if how == signal.SIGINT else driver.send_signal(how)
        driver.communicate()
        finished = there()
        kept.append(len(finished))
        result.unlink(missing_ok=True)
        _, to_make = finish()
        again += len(finished & to_make)
        with np.load(result) as file:
            wrong += different(dict(file), expected)
        assert not place.exists(), f"{place} is left: {list(place.rglob('*'))}"
        left += left_behind(temporary)
    where = "a cluster" if address else "workers of its own"
    print(
        f"{runs} drivers ended by {how.name}, {where}, {early} of them after their end: {wrong} "
        f"numbers differ, of {len(all_tiles)} tiles {sorted(kept)} were kept and {again} of those "
        "made again, work folders left 0, "
        f"other things left {left or 0}",
        flush=True,
    )
    shutil.rmtree(temporary)


def main() -> None:
    """Kill what is asked for, and print what differs and what is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=20, help="runs in which workers are killed")
    parser.add_argument("--drivers", type=int, default=10, help="runs whose driver is killed")
    parser.add_argument("--interrupted", type=int, default=3, help="runs ended by Ctrl-C")
    parser.add_argument("--folder", help="for data; a temporary one by default")
    parser.add_argument("--drive", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.drive:
        drive(*chosen.drive)
        return
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    tiles.LEAST_ROWS = tiles.MOST_ROWS = 480
    chance, rng = random.Random(0), np.random.default_rng(0)
    sets = tuple(rng.standard_normal((n, 64), dtype=np.float32) for n in (4800, 4000))
    expected = measured(sets, threads=1)
    folder = Path(tempfile.mkdtemp(prefix="faults-", dir=chosen.folder))
    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets allow short names only
    np.savez(folder / "rows.npz", a=sets[0], b=sets[1])
    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "temp_dir": place})
    try:
        for _ in range(2):
            nodes.add_node(**NODE)
        ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
        kill_workers(sets, expected, folder / "work", chosen.workers, chance)
        ray.shutdown()
        half, kill = chosen.drivers // 2, signal.SIGKILL
        kill_drivers(folder, expected, nodes.address, half, chance, kill)
    finally:
        ray.shutdown()
        nodes.shutdown()
        shutil.rmtree(place, ignore_errors=True)
    try:
        kill_drivers(folder, expected, "", chosen.drivers - half, chance, kill)
        kill_drivers(folder, expected, "", chosen.interrupted, chance, signal.SIGINT)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
