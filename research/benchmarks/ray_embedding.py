"""Embedding by Ray Data beside plain Ray actors and this process alone, on one machine.

    python research/benchmarks/ray_embedding.py --texts ag_news/test.csv --field 3 --n 2000

Printed are the seconds that starting Ray took, then for each way the seconds until all vectors were
there and the texts per second; the vectors of all ways must be equal to the last bit.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calipers.embedders import Cache, EmbedderChoice, embed, load_embedder
from calipers.embedders.pipeline import embedding_on
from calipers.engine import ray_embedding
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.ray_embedding import EmbeddingActor, EmbeddingTask, RayEmbedding, run_pool
from calipers.engine.work_folder import WorkFolder
from calipers.samples import SampleSet


def plain_actors(
    task: EmbeddingTask, names: Sequence[str], *, actors: int, gpu: bool
) -> Iterator[int]:
    """The same pool of the same actors, without Ray Data."""
    import ray

    kind = ray.remote(num_cpus=task.threads, max_restarts=10, max_task_retries=10)(EmbeddingActor)
    pool = ray.util.ActorPool([kind.remote(task) for _ in range(actors)])
    for found in pool.map(lambda actor, name: actor.__call__.remote({"name": [name]}), names):
        yield int(found["rows"][0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="a CSV file")
    parser.add_argument("--field", type=int, default=1, help="its column, from 1")
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with given.texts.open(newline="", encoding="utf-8") as file:
        rows = [row[given.field - 1] for row in islice(csv.reader(file), 1, given.n + 1)]
    samples, model = SampleSet.from_texts(rows, name="texts"), load_embedder("minilm")
    embed(samples.subsample(64, seed=0), model)  # imports and loads
    found: dict[str, Any] = {}

    def measure(way: str, on_ray: RayEmbedding | None, cache: Cache) -> None:
        start = time.perf_counter()
        with embedding_on(on_ray):
            views = embed(samples, model, cache=cache).views
        took = time.perf_counter() - start
        found.setdefault(way, []).append((took, views))
        print(f"{way:24} {took:7.1f} s {len(rows) / took:7.0f} texts/s", flush=True)

    with tempfile.TemporaryDirectory(prefix="calipers-bench-") as place:
        work, start = WorkFolder(f"{place}/work"), time.perf_counter()
        with ray_cluster(None, work) as cluster:
            print(f"{'starting Ray':24} {time.perf_counter() - start:7.1f} s")
            shipped = lambda *given: EmbedderChoice("minilm")  # noqa: E731
            for count in range(given.rounds):
                ways = {"Ray Data": run_pool, "plain Ray actors": plain_actors}
                for way, pool in ways.items():
                    ray_embedding.run_pool = pool
                    with RayEmbedding(lambda: cluster, work, shipped, few_rows=0) as on_ray:
                        measure(way, on_ray, Cache(Path(place) / f"{way}-{count}"))
                measure("this process", None, Cache(Path(place) / f"here-{count}"))
    (_, first), *others = [each for results in found.values() for each in results]
    same = all(np.array_equal(views[name], first[name]) for _, views in others for name in first)
    print("vectors are equal" if same else "VECTORS DIFFER")


if __name__ == "__main__":
    main()
