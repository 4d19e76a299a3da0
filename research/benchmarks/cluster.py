"""Neighbours on a Ray cluster beside one machine: what differs, and how long it takes.

python research/benchmarks/cluster.py same         counts of every engine on 20,000 x 384 a side
python research/benchmarks/cluster.py efficiency   one thread here; one and two workers
python research/benchmarks/cluster.py slow         a slow node; last tiles given out twice and once
python research/benchmarks/cluster.py points       seconds for n x workers, to fit a cost model to
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from _samples import samples
from calipers.engine import ray_cluster as engine
from calipers.engine import tiles
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.tile_passes import TilePasses
from calipers.engine.work_folder import WorkFolder
from calipers.estimate import Neighbourhoods, neighbourhoods
from calipers.estimate.knn.passes import LocalPasses, Passes, passes_on

COUNTS = ("radii", "held", "inside", "own_nearest", "nearest", "distance")
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}

Sets = tuple[np.ndarray, ...]


@contextmanager
def nodes_of(count: int) -> Iterator[Any]:
    """Run a cluster of so many nodes, each with one processor and Ray's smallest store."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}  # as the driver
    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets allow short names only
    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "temp_dir": place})
    try:
        for _ in range(count - 1):
            nodes.add_node(**NODE)
        ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()
        shutil.rmtree(place, ignore_errors=True)


def timed(sets: Sets, passes: Passes | None) -> tuple[float, Neighbourhoods]:
    """Seconds of a measurement, and what it found."""
    start = time.perf_counter()
    with passes_on(passes):
        found = neighbourhoods(*sets, k=4, threads=1)
    return time.perf_counter() - start, found


Work = Callable[..., None]


def logged(tile: tiles.Tile, threads: int, log: str) -> None:
    """Make a tile, and note how many seconds and processor seconds it took."""
    start, busy = time.perf_counter(), time.process_time()
    tiles.make_tile(tile, threads)
    spent = time.perf_counter() - start, time.process_time() - busy
    with open(log, "a") as file:
        file.write("{} {}\n".format(*spent))


def on_ray(sets: Sets, place: Path, work: Work | None = None, *more: Any) -> Any:
    """Measure on the cluster that this program is connected to."""
    folder = WorkFolder(str(place / "work"))
    with ray_cluster(None, folder) as cluster:

        def run(waiting):
            return cluster.run(work, waiting, 1, *more) if work else cluster.make_tiles(waiting)

        with TilePasses(folder, run=run, threads=1, few_pairs=0) as passes:
            return timed(sets, passes)


def on_ray_logged(sets: Sets, place: Path) -> tuple[float, Neighbourhoods, list[list[float]]]:
    """Do the same; give what every tile took, too."""
    log = place / "log"
    log.unlink(missing_ok=True)
    seconds, found = on_ray(sets, place, logged, str(log))
    return seconds, found, [list(map(float, line.split())) for line in log.read_text().splitlines()]


def differences(one: Neighbourhoods, two: Neighbourhoods) -> int:
    """How many counts, radii and neighbours differ."""
    pairs = ((one.reference, two.reference), (one.generated, two.generated))
    return sum(
        int((getattr(ours, name) != getattr(theirs, name)).sum())
        for ours, theirs in pairs
        for name in COUNTS
    )


def same(n: int, d: int, place: Path) -> None:
    """Compare every engine with one machine."""
    from calipers.engine.torch_passes import TorchPasses

    sets = samples(n, d)
    seconds, expected = timed(sets, LocalPasses(1))
    numbers = sum(
        getattr(side, name).size
        for side in (expected.reference, expected.generated)
        for name in COUNTS
    )
    print(f"{n:,} x {d} a side, {numbers:,} counts, radii and neighbours", flush=True)
    print(f"one thread{'':22s} {seconds:8.1f} s", flush=True)

    def tell(name: str, found: tuple[float, Neighbourhoods]) -> None:
        print(f"{name:32s} {found[0]:8.1f} s  differences: {differences(found[1], expected)}")

    mapped = []
    for name, rows in zip("ab", sets, strict=True):
        np.save(place / f"{name}.npy", rows)
        mapped.append(np.load(place / f"{name}.npy", mmap_mode="r"))
    tell("memory-mapped rows", timed(tuple(mapped), LocalPasses(1)))
    with TilePasses(WorkFolder(str(place / "work")), threads=1, few_pairs=0) as passes:
        tell("memory-mapped tiles in files", timed(tuple(mapped), passes))
    tell("torch on the processor", timed(sets, TorchPasses("cpu", 1)))
    for count in (2, 4):
        with nodes_of(count):
            tell(f"Ray, {count} nodes", on_ray(sets, place))


def efficiency(n: int, d: int, place: Path, repeats: int) -> None:
    """Time one thread, one worker and two, in turn."""
    sets = samples(n, d)
    rows: dict[str, list[float]] = {"one thread": [], "1 worker": [], "2 workers": []}
    shares, busy = [], {name: list[float]() for name in rows}
    few = tuple(each[:3000] for each in sets)
    with nodes_of(1) as nodes:
        on_ray(few, place)  # the worker is started, and its kernels loaded

        def measure(name: str) -> None:
            seconds, found, spent = on_ray_logged(sets, place)
            assert differences(found, expected) == 0
            rows[name].append(seconds)
            busy[name].append(sum(each[1] for each in spent))
            shares.append(1 - sum(each[0] for each in spent) / seconds / int(name[0]))

        for _ in range(repeats):
            before = time.process_time()
            seconds, expected = timed(sets, LocalPasses(1))
            busy["one thread"].append(time.process_time() - before)
            rows["one thread"].append(seconds)
            measure("1 worker")
            second = nodes.add_node(**NODE)
            on_ray(few, place)
            measure("2 workers")
            nodes.remove_node(second)
    print(f"{n:,} x {d} a side, medians of {repeats}, counts alike")
    for name, seconds in rows.items():
        line = f"{name:12s} {statistics.median(seconds):8.1f} s  ({min(seconds):.1f} to "
        line += f"{max(seconds):.1f})   processor seconds of the work itself "
        print(line + f"{statistics.median(busy[name]):.1f}")
    one, two = rows["1 worker"], rows["2 workers"]
    ones, twos = statistics.median(shares[::2]), statistics.median(shares[1::2])
    print(f"share of workers' time outside of tiles: of one {ones:.1%}, of two {twos:.1%}")
    ratio = statistics.median(a / (2 * b) for a, b in zip(one, two, strict=True))
    print(f"efficiency of 2 workers against 1: {ratio:.2f}")
    ratio = statistics.median(a / (2 * b) for a, b in zip(rows["one thread"], two, strict=True))
    print(f"efficiency of 2 workers against one thread without Ray: {ratio:.2f}")


def asleep(tile: tiles.Tile, threads: int, slow: str, times: float, log: str) -> None:
    """Make a tile that takes a second for so many pairs, and longer on a slow node."""
    import ray

    (first, last), (start, stop) = tile.tile
    factor = times if ray.get_runtime_context().get_node_id() == slow else 1
    found = tile.make(threads)
    time.sleep(factor * (last - first) * (stop - start) / 1_000_000)
    tile.folder.write_arrays(tile.result, found, make_folder=False)
    with open(log, "a") as file:
        file.write(".")


def slow(place: Path, workers: int, times: float, repeats: int) -> None:
    """Let tiles sleep in proportion to their pairs, on one node for longer."""
    sets = samples(4000, 8)
    tiles.LEAST_ROWS = tiles.MOST_ROWS = 480
    log = place / "log"
    with nodes_of(workers) as nodes:
        on_ray(sets, place)
        node = nodes.list_all_nodes()[-1].node_id
        ideal = None
        print(f"{workers} workers, tiles sleep 1 s for a million pairs; medians of {repeats}")
        for name, factor, copies in (
            ("no slow node", 1, 2),
            (f"one node {times:g}x slower, last tiles twice", times, 2),
            (f"one node {times:g}x slower, every tile once", times, 1),
        ):
            engine.COPIES, taken, made = copies, [], 0
            for _ in range(repeats):
                log.unlink(missing_ok=True)
                taken.append(on_ray(sets, place, asleep, node, factor, str(log))[0])
                made = len(log.read_text())
            seconds = statistics.median(taken)
            ideal = ideal or seconds
            share = workers / (workers - 1 + 1 / factor)
            print(
                f"{name:40s} {seconds:6.1f} s  {seconds / ideal:.2f}x; the lost speed alone costs "
                f"{share:.2f}x; tiles made {made}",
                flush=True,
            )


def points(ns: list[int], d: int, place: Path) -> None:
    """Print seconds for numbers of rows and workers."""
    print("n d workers seconds tiles tile_seconds tile_processor_seconds", flush=True)
    with nodes_of(1) as nodes:
        for workers in range(1, 5):
            if workers > 1:
                nodes.add_node(**NODE)
                time.sleep(1)
            on_ray(samples(3000, d), place)
            for n in ns:
                seconds, _, spent = on_ray_logged(samples(n, d), place)
                total = [sum(each[i] for each in spent) for i in (0, 1)]
                print(n, d, workers, f"{seconds:.2f}", len(spent), *(f"{t:.2f}" for t in total))


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("same", "efficiency", "slow", "points"))
    parser.add_argument("--n", type=int, nargs="+", default=[20_000])
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4, help="of which one is slow")
    parser.add_argument("--times", type=float, default=8.0, help="how much slower it is")
    parser.add_argument("--folder", help="for data; a temporary one by default")
    chosen = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="cluster-", dir=chosen.folder))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    try:
        if chosen.what == "same":
            same(chosen.n[0], chosen.d, place)
        elif chosen.what == "efficiency":
            efficiency(chosen.n[0], chosen.d, place, chosen.repeats)
        elif chosen.what == "slow":
            slow(place, chosen.workers, chosen.times, chosen.repeats)
        else:
            points(chosen.n, chosen.d, place)
    finally:
        shutil.rmtree(place)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    print(
        f"load {os.getloadavg()[0]:.1f} at the end; processor seconds of this process {spent:.0f}"
    )


if __name__ == "__main__":
    main()
