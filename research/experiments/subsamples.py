"""Whether 100,000 samples give the answer of ten million, within the interval that they come with.

Both sides of a known world are drawn once, ten million rows each, and measured whole. Then random
and stratified subsamples are measured as anybody would, and counted whose interval holds the
answer of the whole. Precision and recall are no such answers: a table shows how they change with
the number of rows. Neighbours among so many rows are found by trees, which is exact and, in few
dimensions, quick; the trees give the counts of `calipers` where both are at hand.

python research/experiments/subsamples.py --n 10000000 --sizes 100000 --draws 20
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

import calipers
from calipers.estimate.quantise import quantise
from calipers.metrics import preprocess

Rows = np.ndarray
K = 4
AT_ONCE = 250_000
NEAR = 16
CELLS = 500
NEIGHBOURS = ("precision", "recall", "coverage")
CLUSTERED = 100_000
ANSWERS = ("coverage", "mauve_star", "frechet_distance")


class World:
    """Sixty topics of unequal weight; the generated side lacks six and is noisier in a fifth."""

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self.d, self.rng = d, rng
        self.centres = rng.standard_normal((60, d)) * 2
        self.weights = 1 / (1 + np.arange(60))
        self.weights /= self.weights.sum()

    def reference(self, n: int) -> tuple[Rows, Rows]:
        """Rows, float32, and the topic of each."""
        return self._draw(n, self.weights, np.full(60, 0.3))

    def generated(self, n: int) -> tuple[Rows, Rows]:
        """Rows, float32, and the topic of each."""
        weights, scales = self.weights.copy(), np.full(60, 0.3)
        weights[3::10] = 0
        scales[::5] = 0.45
        return self._draw(n, weights / weights.sum(), scales)

    def _draw(self, n: int, weights: Rows, scales: Rows) -> tuple[Rows, Rows]:
        topics = self.rng.choice(60, n, p=weights)
        rows = np.empty((n, self.d), np.float32)
        for start in range(0, n, AT_ONCE):
            part = topics[start : start + AT_ONCE]
            noise = self.rng.standard_normal((len(part), self.d)) * scales[part, None]
            rows[start : start + AT_ONCE] = self.centres[part] + noise
        return rows, topics


class Balls:
    """The k-NN balls of a set, and trees of their centres by the size of the ball."""

    def __init__(self, rows: Rows, k: int) -> None:
        self.rows, self.k = rows.astype(np.float64), k
        self.tree = cKDTree(self.rows)
        self.radii = np.concatenate(
            [
                self.tree.query(self.rows[start : start + AT_ONCE], k=[k + 1], workers=-1)[0][:, 0]
                for start in range(0, len(rows), AT_ONCE)
            ]
        )
        sizes = np.ceil(2 * np.log2(np.maximum(self.radii, 1e-9))).astype(int)
        self.classes = [
            (self.radii[sizes == size].max(), cKDTree(self.rows[sizes == size]), sizes == size)
            for size in np.unique(sizes)
        ]

    def hold(self, guests: Rows) -> Rows:
        """Whether each guest lies in a ball."""
        parts = [guests[start : start + AT_ONCE] for start in range(0, len(guests), AT_ONCE)]
        return np.concatenate([self._hold(part.astype(np.float64)) for part in parts])

    def met(self, guests: cKDTree) -> float:
        """The share of balls that hold a guest: coverage, where they are the reference's."""
        parts = range(0, len(self.rows), AT_ONCE)
        found = 0
        for start in parts:
            part = slice(start, start + AT_ONCE)
            found += (guests.query(self.rows[part], workers=-1)[0] <= self.radii[part]).sum()
        return float(found / len(self.rows))

    def _hold(self, guests: Rows) -> Rows:
        apart, which = self.tree.query(guests, k=min(NEAR, len(self.rows)), workers=-1)
        held = (apart <= self.radii[which]).any(axis=1)
        for largest, tree, members in self.classes:
            self._hold_in(guests, held, largest, tree, self.radii[members])
        return held

    @staticmethod
    def _hold_in(guests: Rows, held: Rows, largest: float, tree: cKDTree, radii: Rows) -> None:
        """Look for guests outside so far in the balls of one class of sizes, in place.

        Ever more centres are looked at, until the farthest of them lies beyond the largest ball.
        """
        left, near = np.flatnonzero(~held), NEAR
        while len(left):
            near = min(near, tree.n)
            apart, which = tree.query(guests[left], k=[*range(1, near + 1)], workers=-1)
            held[left] = (apart <= radii[which]).any(axis=1)
            if near == tree.n:
                return
            left = left[~held[left] & (apart[:, -1] <= largest)]
            near *= 4


def by_trees(reference: Rows, generated: Rows, k: int) -> dict[str, float]:
    """Precision, recall and coverage, exact."""
    left, right = Balls(reference, k), Balls(generated, k)
    return {
        "precision": float(left.hold(generated).mean()),
        "recall": float(right.hold(reference).mean()),
        "coverage": left.met(right.tree),
    }


def in_fixed_cells(reference: Rows, generated: Rows) -> float:
    """MAUVE* of all rows over the cells of some, on the axes that keep 90 % of the variance."""
    axes = preprocess(reference[:CLUSTERED], generated[:CLUSTERED], norm="none", pca=0.9)
    cells = quantise(axes.reference, axes.generated, buckets=CELLS)
    union = np.concatenate([reference[:CLUSTERED], generated[:CLUSTERED]])
    made = np.concatenate([axes.reference, axes.generated])
    # The projection is linear: find it again from the rows before and after
    linear = np.linalg.lstsq(np.column_stack([union, np.ones(len(union))]), made, rcond=None)[0]
    centres = cKDTree(cells.centres)

    def counts(rows: Rows) -> Rows:
        total = np.zeros(len(cells.centres), np.int64)
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            places = np.column_stack([part, np.ones(len(part))]) @ linear
            total += np.bincount(centres.query(places, workers=-1)[1], minlength=len(total))
        return total

    both = calipers.Histograms(
        counts(reference), counts(generated), smoothing="krichevsky-trofimov"
    )
    return float(calipers.divergence_frontier(both).area())


def measured(
    reference: Rows, generated: Rows, metrics: tuple[str, ...]
) -> dict[str, calipers.Score]:
    """Scores with their intervals, as `calipers compare` gives them."""
    found = calipers.compare(reference, generated, metrics=metrics, buckets=CELLS, k=K, floor=False)
    return dict(found.systems[0].scores)


def stratified(topics: Rows, n: int, rng: np.random.Generator) -> Rows:
    """Rows of a subsample that has of every topic the share that the whole has."""
    _, counts = np.unique(topics, return_counts=True)
    wanted = counts / len(topics) * n
    sizes = np.floor(wanted).astype(int)
    sizes[np.argsort(sizes - wanted)[: n - sizes.sum()]] += 1
    order = np.argsort(topics, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)])
    chosen = [
        order[start + rng.choice(count, size, replace=False)]
        for start, count, size in zip(starts[:-1], counts, sizes, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


Choose = Callable[[Rows, int, np.random.Generator], Rows]


def random_rows(topics: Rows, n: int, rng: np.random.Generator) -> Rows:
    """Rows of a subsample of any topics."""
    return np.sort(rng.choice(len(topics), n, replace=False))


def repeated(
    sides: tuple[tuple[Rows, Rows], tuple[Rows, Rows]], size: int, choose: Choose, draws: int
) -> dict[str, tuple[Rows, Rows]]:
    """Values and intervals of every metric over subsamples, shapes (draws,) and (draws, 2)."""
    values: dict[str, list[float]] = {}
    bounds: dict[str, list[tuple[float, float]]] = {}
    for seed in range(draws):
        rng = np.random.default_rng([seed, size])
        sets = [rows[choose(topics, size, rng)] for rows, topics in sides]
        for name, score in measured(*sets, ANSWERS).items():
            values.setdefault(name, []).append(score.value)
            bounds.setdefault(name, []).append(score.interval)
    return {name: (np.array(values[name]), np.array(bounds[name])) for name in values}


def check(world: World) -> None:
    """Hold the trees against `calipers`, count for count."""
    reference, generated = world.reference(8_000)[0], world.generated(8_000)[0]
    found, own = by_trees(reference, generated, K), measured(reference, generated, NEIGHBOURS)
    for name, value in found.items():
        assert value == own[name].value, (name, value, own[name].value)
    print("trees and calipers at 8,000 rows a side: equal", flush=True)


def main() -> None:
    """Measure the whole, then the subsamples, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--d", type=int, default=4)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--growth", type=int, default=1_000_000, help="rows of the first table")
    chosen = parser.parse_args()
    world = World(chosen.d, np.random.default_rng(0))
    check(world)
    sides = world.reference(chosen.n), world.generated(chosen.n)
    whole = [rows for rows, _ in sides]
    print("\n| rows a side | precision | recall | coverage |\n| --- | --- | --- | --- |")
    for size in (10**power for power in range(3, 9) if 10**power <= chosen.growth):
        found = by_trees(*(rows[:size] for rows in whole), K)
        cells = " | ".join(f"{value:.4f}" for value in found.values())
        print(f"| {size:,} | {cells} |", flush=True)
    begun = time.perf_counter()
    truth = {"coverage": Balls(whole[0], K).met(cKDTree(whole[1].astype(np.float64)))}
    print(
        f"\nneighbours of {chosen.n:,} rows a side: {time.perf_counter() - begun:.0f} s", flush=True
    )
    begun = time.perf_counter()
    truth |= {
        "mauve_star": in_fixed_cells(*whole),
        "frechet_distance": calipers.metrics.frechet_distance(*whole).value,
    }
    print(f"cells and moments of them: {time.perf_counter() - begun:.0f} s", flush=True)
    print(f"{chosen.n:,} rows a side, d = {chosen.d}, k = {K}, {CELLS} cells\n")
    print("| metric | all rows | rows | drawn | mean | sd | mean interval | hold the answer |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for size in chosen.sizes:
        for how, choose in (("at random", random_rows), ("stratified", stratified)):
            for name, (values, bounds) in repeated(sides, size, choose, chosen.draws).items():
                hold = int(((bounds[:, 0] <= truth[name]) & (truth[name] <= bounds[:, 1])).sum())
                print(
                    f"| {name} | {truth[name]:.4f} | {size:,} | {how} | {values.mean():.4f} | "
                    f"{values.std(ddof=1):.4f} | {bounds[:, 0].mean():.4f} to "
                    f"{bounds[:, 1].mean():.4f} | {hold} of {chosen.draws} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
