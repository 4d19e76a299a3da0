"""MAUVE from embeddings: Calipers against mauve-text, with the same number of restarts.

    python research/benchmarks/frontiers.py --n 4000 --d 1024

Both take the same float32 arrays. k-means starts differ, so the scores are compared with the
spread that each side shows over its own seeds.
"""

from __future__ import annotations

import argparse
import os
import statistics

import numpy as np

from children import report, show, side_by_side


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two mixtures of 60 topics each with a falling spectrum; the weights of the topics differ."""
    rng = np.random.default_rng(0)
    scales = 1 / np.sqrt(1 + np.arange(d))
    topics = 1.5 * rng.standard_normal((60, d)) * scales
    weights = rng.dirichlet(np.ones(60)), rng.dirichlet(np.ones(60))

    def draw(weight: np.ndarray, tilt: float) -> np.ndarray:
        mixed = (1 - tilt) * weights[0] + tilt * weight
        topic = rng.choice(60, n, p=mixed)
        return (topics[topic] + rng.standard_normal((n, d)) * scales).astype(np.float32)

    return draw(weights[0], 0.0), draw(weights[1], 0.5)


def structureless(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian clouds alike in all directions: PCA drops little, k-means has most to do."""
    rng = np.random.default_rng(0)
    reference, generated = rng.standard_normal((2, n, d), dtype=np.float32)
    return reference, generated * np.float32(1.02) + np.float32(0.02)


def ours(reference: np.ndarray, generated: np.ndarray, seed: int) -> dict[str, float]:
    from calipers.metrics import mauve

    found = mauve(reference, generated, seed=seed)
    return {"mauve": found.mauve.value, "mauve_star": found.mauve_star.value}


def theirs(reference: np.ndarray, generated: np.ndarray, seed: int) -> dict[str, float]:
    import mauve

    found = mauve.compute_mauve(
        p_features=reference, q_features=generated, seed=25 + seed, verbose=False
    )
    return {"mauve": found.mauve, "mauve_star": found.mauve_star}


def child(side: str, n: int, d: int, seed: int, flat: bool) -> None:
    work = {"calipers": ours, "mauve-text": theirs}[side]
    reference, generated = structureless(n, d) if flat else samples(n, d)
    work(reference[:100], generated[:100], 0)
    report(lambda: work(reference, generated, seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4_000)
    parser.add_argument("--d", type=int, default=1_024)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--flat", action="store_true", help="vectors without any structure")
    parser.add_argument("--child", choices=["calipers", "mauve-text"])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.n, options.d, options.seed, options.flat)
        return
    print(f"{options.n} x {options.d} a side, 5 restarts, {os.cpu_count()} cores")
    runs = []
    size = ["--n", str(options.n), "--d", str(options.d), *(["--flat"] if options.flat else [])]
    for seed in range(options.seeds):
        sides = {
            name: ["--child", name, *size, "--seed", str(seed)]
            for name in ("calipers", "mauve-text")
        }
        runs.append(side_by_side(__file__, sides, 1))
    results = {name: _median([run[name] for run in runs]) for name in ("calipers", "mauve-text")}
    show(results)
    for score in ("mauve", "mauve_star"):
        for name in results:
            values = [run[name]["values"][score] for run in runs]
            mean, spread = statistics.mean(values), statistics.stdev(values)
            print(f"{score:11s} {name:11s} {mean:.4f} ± {spread:.4f} over {len(values)} seeds")


def _median(runs: list[dict]) -> dict:
    seconds = [run["seconds"] for run in runs]
    return {
        "seconds": statistics.median(seconds),
        "spread": (min(seconds), max(seconds)),
        "memory": statistics.median(run["memory"] for run in runs),
    }


if __name__ == "__main__":
    main()
