"""A cost model of large runs: measured, fitted, checked on points that it has not seen, extended.

python research/experiments/scaling.py measure points.json   # three minutes a repeat, on 2 cores
python research/experiments/scaling.py fit points.json
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.tile_passes import TilePasses
from calipers.engine.work_folder import WorkFolder
from calipers.estimate import neighbourhoods
from calipers.estimate.knn.passes import passes_on
from calipers.estimate.quantise import quantise
from scaling_model import NAMES, Model, Point, Rates, as_data, cost, operations, tiles

FITTED = [(n, d, w) for w in (1, 2) for n in (4_000, 8_000, 16_000) for d in (64, 384)]
CHECKED = [
    (12_000, 192, 1),
    (12_000, 192, 2),
    (24_000, 384, 2),
    (12_000, 768, 2),
    (16_000, 384, 3),
    (16_000, 384, 4),
    (32_000, 128, 2),
    (48_000, 384, 2),
]
K_MEANS = (40_000, 384, 1_000, 10)
SIZES = [(10**power, d) for power in (5, 6, 7, 8, 9) for d in (384, 1024)]


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds with the falling spectrum that embeddings have."""
    rng = np.random.default_rng([n, d])
    scales = (1 / np.sqrt(1 + np.arange(d))).astype(np.float32)
    first, second = (rng.standard_normal((n, d), dtype=np.float32) * scales for _ in range(2))
    return first, second


def measure(n: int, d: int, workers: int) -> tuple[Point, float]:
    """Time a search on workers of this machine; also the bytes that a row of a tile leaves."""
    sets = rows(n, d)
    with tempfile.TemporaryDirectory(prefix="calipers-scaling-") as place:
        folder, left = WorkFolder(place), []
        with ray_cluster(None, folder, threads=workers) as cluster:

            def made(waiting):  # type: ignore[no-untyped-def]
                for which in cluster.make_tiles(waiting):
                    left.append((Path(place) / waiting[which].result).stat().st_size)
                    yield which

            warm = rows(300, d)
            warming = TilePasses(folder, run=cluster.make_tiles, few_pairs=0)
            with warming as passes, passes_on(passes):
                neighbourhoods(*warm, k=4)  # every worker has loaded its packages afterwards
            start = time.perf_counter()
            with TilePasses(folder, run=made, few_pairs=0) as passes, passes_on(passes):
                neighbourhoods(*sets, k=4)
            seconds = time.perf_counter() - start
    largest = -(-n // round(np.sqrt(tiles(n) / 2)))
    return Point(n, d, workers, os.cpu_count() or 1, seconds), float(np.mean(left)) / largest / 2


def measure_all(path: Path, repeats: int) -> None:
    """Measure every point, in rounds, and keep the medians."""
    asked, found, left = FITTED + CHECKED, {}, []
    for round_ in range(repeats):
        for n, d, workers in asked:
            point, size = measure(n, d, workers)
            found.setdefault((n, d, workers), []).append(point.seconds)
            left.append(size)
            rate = operations(n, d) / point.seconds / 1e9
            print(
                f"round {round_ + 1}: {n:,} x {d}, {workers} workers: {point.seconds:.2f} s, "
                f"{rate:.0f} GFLOP/s, {size:.0f} bytes a row of a tile",
                flush=True,
            )
    n, d, cells, rounds = K_MEANS
    start = time.perf_counter()
    quantise(*rows(n // 2, d), buckets=cells, restarts=1, max_iterations=rounds)
    seconds = time.perf_counter() - start
    rate = 2.0 * n * cells * d * (rounds + 1) / seconds / (os.cpu_count() or 1)
    print(f"k-means, {n:,} x {d}, {cells} cells, {rounds} rounds: {seconds:.1f} s", flush=True)
    medians = [
        Point(n, d, workers, os.cpu_count() or 1, float(np.median(seconds)))
        for (n, d, workers), seconds in found.items()
    ]
    content = {"points": as_data(medians), "centres": rate, "result": float(np.mean(left))}
    path.write_text(json.dumps(content, indent=1))


def fit(path: Path, chosen: argparse.Namespace) -> None:
    """Fit, check and extend, as Markdown."""
    content = json.loads(path.read_text())
    points = [Point(**each) for each in content["points"]]
    known = [point for point in points if (point.n, point.d, point.workers) in set(FITTED)]
    model = Model.fitted(known)
    print("| rate | fitted |\n| --- | --- |")
    for name, rate in zip(NAMES, model.rates, strict=True):
        print(f"| {name} | {rate:.3g} |")
    print("\n| rows a side | d | workers | used in the fit | measured | predicted | error |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for point in points:
        predicted = model.seconds(point)
        print(
            f"| {point.n:,} | {point.d} | {point.workers} | {'yes' if point in known else 'no'} | "
            f"{point.seconds:.2f} s | {predicted:.2f} s | {predicted / point.seconds - 1:+.0%} |"
        )
    rates = Rates(
        chosen.texts, content["centres"], chosen.rounds, content["result"], chosen.network * 1e6
    )
    print(f"\nk-means: {rates.centres / 1e9:.0f} GFLOP/s a core", end="; ")
    print(f"results: {rates.result:.0f} bytes a row of a tile\n")
    print(
        "| samples a side | d | embedding | neighbours | k-means | disk | read by the nodes | "
        f"at {chosen.network:,.0f} MB/s | merged by the driver |\n" + "| --- " * 9 + "|"
    )
    for n, d in SIZES:
        told = cost(model, rates, n, d, cores=chosen.cores, cells=chosen.cells)
        work = " | ".join(hours(value) for value in (told.embedding, told.neighbours, told.centres))
        sizes = " | ".join(
            f"{float(f'{value / 1e9:.2g}'):,.0f} GB" for value in (told.disk, told.read)
        )
        print(f"| {n:,} | {d} | {work} | {sizes} | {hours(told.network)} | {hours(told.merging)} |")


def hours(value: float) -> str:
    """Two digits of hours, or of minutes."""
    number, unit = (value, "h") if value >= 1 else (60 * value, "min")
    return f"{float(f'{number:.2g}'):,g} {unit}"


def gigabytes(size: float) -> str:
    """Two digits of gigabytes."""
    return f"{float(f'{size / 1e9:.2g}'):,.0f} GB"


def main() -> None:
    """Measure points, or fit the model to those of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["measure", "fit"])
    parser.add_argument("points", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cores", type=int, default=64, help="of a node that is rented")
    parser.add_argument("--texts", type=float, default=95.0, help="embedded a second and core")
    parser.add_argument("--rounds", type=float, default=190.0, help="full ones of k-means")
    parser.add_argument("--cells", type=int, default=5_000)
    parser.add_argument("--network", type=float, default=1_000.0, help="MB a second and node")
    chosen = parser.parse_args()
    if chosen.what == "measure":
        measure_all(chosen.points, chosen.repeats)
    else:
        fit(chosen.points, chosen)


if __name__ == "__main__":
    main()
