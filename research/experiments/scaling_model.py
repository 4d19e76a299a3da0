"""What a run costs, as a sum of few terms: fitted to measured points, and taken to larger sets.

Every term is a count that follows from the sizes (operations, tiles, bytes) times a rate. The rates
of the search for neighbours are fitted by least squares of the relative errors, none below 0; the
others are measured one by one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from calipers.engine.tiles import grid

ROW_BYTES = 8
"""Of a row and a column: the number itself, and once more as the search lays it out."""


@dataclass(frozen=True)
class Point:
    """A measured search for neighbours.

    Attributes
    ----------
    n, d
        Rows a side, and columns.
    workers, cores
        Processes that made tiles, and cores that they had.
    seconds
        By the clock, without the start of the cluster.
    """

    n: int
    d: int
    workers: int
    cores: int
    seconds: float

    @property
    def parallel(self) -> int:
        """How many work at the same time: more workers than cores take turns."""
        return min(self.workers, self.cores)


def operations(n: int, d: int) -> float:
    """Additions and multiplications of both passes over two sets of n rows: 4 n² d."""
    return 4.0 * n * n * d


def tiles(n: int) -> int:
    """How many tiles two sets of n rows are cut into: two triangles and a rectangle."""
    ranges = len(grid(n))
    return ranges * (ranges + 1) + ranges**2


def merged(n: int) -> float:
    """How many rows the results of all tiles have, which the driver merges."""
    return tiles(n) * 2.0 * n / len(grid(n))


def terms(point: Point) -> NDArray[np.float64]:
    """What is multiplied by the rates: a run, its rows, operations, pairs and merged rows.

    Merging goes on beside the workers where they leave the driver a core.
    """
    pairs = 2.0 * point.n**2
    shared = np.array([operations(point.n, point.d), pairs]) / point.parallel
    beside = 0.0 if point.workers < point.cores else merged(point.n)
    return np.concatenate([[1.0, 2.0 * point.n * point.d], shared, [beside]])


NAMES = (
    "seconds a run",
    "seconds a number of the rows (hashed, written)",
    "seconds an operation and core",
    "seconds a pair and core",
    "seconds a row that is merged, where the driver shares its core",
)


@dataclass(frozen=True)
class Model:
    """Rates of the search for neighbours, in the order of :data:`NAMES`."""

    rates: tuple[float, ...]

    @classmethod
    def fitted(cls, points: list[Point]) -> Model:
        """Fit the rates to points by the squares of relative errors."""
        rows = np.stack([terms(point) / point.seconds for point in points])
        scales = rows.max(axis=0)
        found, _ = nnls(rows / scales, np.ones(len(points)))
        return cls(tuple((found / scales).tolist()))

    def seconds(self, point: Point) -> float:
        """Predict how long a search takes, whatever the point says of its seconds."""
        return float(terms(point) @ np.array(self.rates))


@dataclass(frozen=True)
class Rates:
    """What the other parts of a run were measured at.

    Attributes
    ----------
    texts
        Texts that the default embedder takes in a second and core.
    centres
        Operations of k-means in a second and core.
    rounds
        Rounds of k-means, all starts together.
    result
        Bytes that a row of a tile leaves in the work folder until the run ends.
    network
        Bytes in a second that a node reads from the shared folder; assumed.
    """

    texts: float
    centres: float
    rounds: float
    result: float
    network: float


@dataclass(frozen=True)
class Cost:
    """What a run on a cluster takes.

    Attributes
    ----------
    embedding, neighbours, centres
        Node hours.
    disk
        Bytes in the work folder.
    read
        Bytes that nodes read from it, where none of them keeps a row.
    network
        Hours that this reading takes all nodes together; it goes on beside the work, so that the
        longer of the two counts.
    merging
        Hours for which the driver merges results, by the clock and however many nodes there are.
    """

    embedding: float
    neighbours: float
    centres: float
    disk: float
    read: float
    network: float
    merging: float


def cost(model: Model, rates: Rates, n: int, d: int, *, cores: int, cells: int) -> Cost:
    """Compute what two sets of n samples cost on nodes of so many cores."""
    node = Point(n, d, cores, cores + 1, 1.0)  # the driver has a core of its own
    largest = max(stop - start for start, stop in grid(n))
    read = tiles(n) * 2.0 * largest * d * ROW_BYTES
    return Cost(
        embedding=2 * n / rates.texts / cores / 3600,
        neighbours=model.seconds(node) / 3600,
        centres=rates.rounds * 2.0 * (2 * n) * cells * d / rates.centres / cores / 3600,
        disk=2.0 * n * d * ROW_BYTES + tiles(n) * 2.0 * largest * rates.result,
        read=read,
        network=read / rates.network / 3600,
        merging=model.rates[4] * merged(n) / 3600,
    )


def as_data(points: list[Point]) -> list[dict[str, float]]:
    """Points as plain data, for a file."""
    return [asdict(point) for point in points]
