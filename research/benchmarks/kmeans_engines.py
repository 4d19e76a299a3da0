"""K-means here, through files, torch and local Ray workers: time, and labels that differ.

    python research/benchmarks/kmeans_engines.py --n 50000 --d 128 --cells 1000 --rounds 10

The vectors are those of _samples.py. All engines start from the same rows and stop after the same
rounds.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from _samples import samples
from calipers.engine.kmeans_files import FileRounds
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.torch_kmeans import TorchRounds
from calipers.engine.work_folder import WorkFolder
from calipers.estimate.kmeans.rounds import Rounds, rounds_on
from calipers.estimate.quantise import JointCells, joint_cells


@contextmanager
def engine(name: str, place: Path, threads: int | None) -> Iterator[Rounds | None]:
    """Open what runs the rounds; None for this process."""
    folder = WorkFolder(str(place))
    with ExitStack() as stack:
        if name == "local":
            yield None
        elif name.startswith("torch"):
            yield TorchRounds(name.partition(" ")[2] or "cpu", threads, few_pairs=0)
        elif name == "files":
            yield stack.enter_context(FileRounds(folder, threads=threads, few_pairs=0))
        else:
            cluster = ray_cluster(None, folder, threads=threads)
            run = stack.enter_context(cluster).run
            yield stack.enter_context(FileRounds(folder, run=run, threads=1, few_pairs=0))


def fitted(sets: Sequence[np.ndarray], chosen: argparse.Namespace) -> JointCells:
    """Cluster both sets together."""
    return joint_cells(
        sets,
        (1.0, 1.0),
        cells=min(chosen.cells, len(sets[0])),
        restarts=chosen.restarts,
        seed=0,
        max_iterations=chosen.rounds,
        threads=chosen.threads,
    )


def main() -> None:
    """Measure every engine and print what differs from the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--d", type=int, default=128)
    parser.add_argument("--cells", type=int, default=1_000)
    parser.add_argument("--restarts", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10, help="at most")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--engines", default="local,files,torch cpu,ray")
    chosen = parser.parse_args()
    sets = samples(chosen.n, chosen.d)
    print(
        f"{chosen.n:,} x {chosen.d} a side, {chosen.cells:,} cells, {chosen.restarts} restarts, "
        f"at most {chosen.rounds} rounds"
    )
    first: JointCells | None = None
    for name in chosen.engines.split(","):
        with (
            tempfile.TemporaryDirectory(prefix="calipers-") as place,
            engine(name, Path(place) / "work", chosen.threads) as rounds,
            rounds_on(rounds),
        ):
            fitted([rows[:2000] for rows in sets], chosen)  # imports and loads
            start = time.perf_counter()
            found = fitted(sets, chosen)
            seconds = time.perf_counter() - start
        first = first or found
        different = sum(
            int((one != two).sum()) for one, two in zip(found.labels, first.labels, strict=True)
        )
        same = found.inertias == first.inertias and (found.centres == first.centres).all()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name:10s} {seconds:9.2f} s; labels that differ: {different}; inertias and centres "
            f"{'equal' if same else 'NOT EQUAL'}; peak so far {peak:.2f} GiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
