"""Metrics for torchmetrics, updated with batches of either side, with intervals.

What a metric holds is bounded, however long it is updated. :class:`SupportMetrics` (precision,
recall, density, coverage) and :class:`MauveScore` hold a random sample of at most `max_samples`
rows of each side (:mod:`calipers.integrations.reservoir`), :class:`FrechetDistance` moments of all
rows. Several processes sum up to what one would hold.

A batch is a tensor of vectors, a list of texts, or images; `embedder` makes vectors of the last
two. The values are those of :func:`calipers.compare` on the vectors that are held, in the order of
their priorities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from torch import Tensor
from torchmetrics.utilities import dim_zero_cat, rank_zero_warn

from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.settings import Settings
from calipers.embedders.embedder import Embedder
from calipers.estimate.moments import Moments
from calipers.evaluate.intervals import with_intervals
from calipers.evaluate.spaces import pair_of
from calipers.integrations.reservoir import priorities, smallest
from calipers.integrations.torchmetrics_base import SIDES, Embed, SampleMetric, Side
from calipers.metrics.frechet import frechet_score, frechet_without
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.validation import check_flags, check_whole
from calipers.score import Score
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import Component, Spread

__all__ = ["FrechetDistance", "MauveScore", "SupportMetrics"]


class _ReservoirMetric(SampleMetric):
    """A metric of a random sample of the rows of each side."""

    _lists: ClassVar[Mapping[str, Any]] = {
        "real_rows": None,
        "fake_rows": None,
        "real_priorities": torch.int64,
        "fake_priorities": torch.int64,
    }

    def __init__(
        self,
        settings: Settings,
        *,
        max_samples: int,
        normalise: Literal["l2", "none"] | None,
        metrics: Sequence[str],
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.max_samples = check_whole("max_samples", max_samples, 2)
        self._choices = choose(metrics, ("vectors",))
        named = isinstance(self.embedder, str | Embedder)
        self._settings = Settings(
            **{**vars(settings), "normalise": normalise or ("l2" if named else "none")}
        )
        self._add_states((self._identity, self.max_samples, self.seed))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the scores."""
        return tuple(choice.name for choice in self._choices)

    def _take(self, rows: Tensor, side: Side) -> None:
        seen = getattr(self, f"{side}_seen")
        drawn = priorities(self.seed, _stream(side), int(seen), len(rows))
        keys = torch.from_numpy(drawn).to(rows.device)
        self._hold(side, rows, keys)
        setattr(self, f"{side}_seen", seen + len(rows))

    def _hold(self, side: Side, rows: Tensor, keys: Tensor) -> None:
        """Join rows with those that are held, and keep the ones of the smallest priorities."""
        before = dim_zero_cat(getattr(self, f"{side}_priorities")).to(rows.device)
        earlier = dim_zero_cat(getattr(self, f"{side}_rows")).to(rows.device)
        keys = torch.cat([before, keys])
        rows = torch.cat([earlier.reshape(len(before), rows.shape[1]), rows])
        selected = torch.from_numpy(smallest(keys.cpu().numpy(), self.max_samples)).to(rows.device)
        setattr(self, f"{side}_priorities", [keys[selected]])
        setattr(self, f"{side}_rows", [rows[selected].reshape(-1)])

    def _settle(self, side: Side) -> None:
        empty = torch.empty(0, int(self.width), dtype=self._rows_dtype, device=self.device)
        self._hold(side, empty, torch.empty(0, dtype=torch.int64, device=self.device))

    def _held(self, side: Side) -> Tensor:
        """The rows of a side in the order of their priorities, shape ``(n, d)``."""
        keys = dim_zero_cat(getattr(self, f"{side}_priorities"))
        rows = dim_zero_cat(getattr(self, f"{side}_rows")).reshape(len(keys), int(self.width))
        selected = smallest(keys.cpu().numpy(), self.max_samples)
        return cast("Tensor", rows[torch.from_numpy(selected).to(rows.device)])

    def _scores(self) -> Mapping[str, Score]:
        return self._of_rows(self._held("real"), self._held("fake"), warn=True)

    def _of_rows(self, real: Tensor, fake: Tensor, *, warn: bool) -> Mapping[str, Score]:
        least = self._settings.k + 1
        if min(len(real), len(fake)) < least:
            if warn:
                rank_zero_warn(
                    f"{type(self).__name__} needs {least} samples of each side; it holds "
                    f"{len(real)} real and {len(fake)} generated ones, so its scores are NaN"
                )
            return {}
        left, right = (np.ascontiguousarray(rows.cpu().numpy()) for rows in (real, fake))
        needs = needs_of(choice.metric for choice in self._choices)
        replicates = self.level is not None
        pair = pair_of(left, right, self._settings, needs, replicates=replicates)
        scores = {choice.name: choice.score(pair) for choice in self._choices}
        if self.level is None:
            return scores
        return with_intervals(scores, spreads(pair, self._choices), self.level)


class SupportMetrics(_ReservoirMetric):
    """Precision, recall, density and coverage, as a torchmetrics metric.

    Parameters
    ----------
    k
        The k of the k-NN balls.
    ties, distance
        As in :func:`calipers.metrics.support`; ``ties="open"`` for the values of prdc.
    embedder
        What makes vectors of texts and images: the name of an embedder
        (:func:`calipers.load_embedder`), an embedder, or a function of a batch, such as a torch
        module, which is then part of the metric; None where batches are vectors.
    view
        Which view of the embedder (default: the main one).
    normalise
        ``"l2"`` to scale vectors to length one, ``"none"`` to take them as they are; by default as
        :func:`calipers.compare`, ``"l2"`` for those of a named embedder.
    max_samples
        Most rows that are held of each side, drawn at random from all.
    seed
        Of that draw.
    level
        Confidence level of the intervals; None for none, which is faster.
    **more
        The arguments of every ``torchmetrics.Metric``.

    Notes
    -----
    Intervals need 20·(k + 1) samples of each side; before, their ends are NaN.

    Examples
    --------
    >>> import torch
    >>> metric = SupportMetrics(k=1, level=None)
    >>> metric.update(torch.tensor([[0.0], [1.0], [2.0], [3.0]]), real=True)
    >>> metric.update(torch.tensor([[0.5], [1.5], [9.0], [10.0]]), real=False)
    >>> {key: value.item() for key, value in metric.compute().items()}
    {'precision': 0.5, 'recall': 0.75, 'density': 1.0, 'coverage': 0.75}
    """

    def __init__(
        self,
        *,
        k: int = 4,
        ties: Literal["closed", "open"] = "closed",
        distance: Literal["euclidean", "cosine"] = "euclidean",
        embedder: Embed | None = None,
        view: str | None = None,
        normalise: Literal["l2", "none"] | None = None,
        max_samples: int = 10_000,
        seed: int = 0,
        level: float | None = 0.95,
        **more: Any,
    ) -> None:
        super().__init__(
            Settings(k=check_whole("k", k, 1), ties=ties, distance=distance, seed=seed),
            metrics=("precision", "recall", "density", "coverage"),
            embedder=embedder,
            view=view,
            normalise=normalise,
            max_samples=max_samples,
            seed=seed,
            level=level,
            **more,
        )


class MauveScore(_ReservoirMetric):
    """MAUVE* and the frontier integral, as a torchmetrics metric.

    Parameters
    ----------
    buckets, c
        As in :func:`calipers.metrics.mauve`.
    star
        Whether ½ is added to every count, as the paper advises; False for raw counts, as in
        mauve-text.
    embedder, view, normalise, max_samples, seed, level, more
        As for :class:`SupportMetrics`; the seed is also that of k-means.

    Notes
    -----
    Values depend on the number of rows held through the number of cells: compare runs at one
    `max_samples`, once that many were seen.

    Examples
    --------
    >>> import torch
    >>> metric = MauveScore(buckets=2, level=None)
    >>> rows = torch.arange(40.0).reshape(-1, 1)
    >>> metric.update(rows, real=True)
    >>> metric.update(rows, real=False)
    >>> metric.compute()["mauve_star"].item()
    1.0
    """

    def __init__(
        self,
        *,
        buckets: int | Literal["auto", "cube-root"] = "auto",
        c: float | None = None,
        star: bool = True,
        embedder: Embed | None = None,
        view: str | None = None,
        normalise: Literal["l2", "none"] | None = None,
        max_samples: int = 10_000,
        seed: int = 0,
        level: float | None = 0.95,
        **more: Any,
    ) -> None:
        check_flags(star=star)
        end = "_star" if star else ""
        super().__init__(
            Settings(buckets=buckets, c=c, seed=seed),
            metrics=(f"mauve{end}", f"frontier_integral{end}"),
            embedder=embedder,
            view=view,
            normalise=normalise,
            max_samples=max_samples,
            seed=seed,
            level=level,
            **more,
        )


class FrechetDistance(SampleMetric):
    """The Fréchet distance of means and covariances, computed from sums over all rows.

    Parameters
    ----------
    embedder, view, level, more
        As for :class:`SupportMetrics`. With Inception features it is FID.

    Notes
    -----
    Held are a mean and a scatter matrix of d·d float64 for each side; with a level of each of 20
    blocks of rows, 20 times as much (24 MB a side for 384 numbers, 670 MB for 2,048). Row i is of
    block i modulo 20, so rows should come in random order. Heusel et al., NeurIPS 2017.

    Examples
    --------
    >>> import torch
    >>> metric = FrechetDistance(level=None)
    >>> metric.update(torch.tensor([[0.0], [2.0]]), real=True)
    >>> metric.update(torch.tensor([[3.0], [5.0]]), real=False)
    >>> metric.compute()["frechet_distance"].item()
    9.0
    """

    _lists: ClassVar[Mapping[str, Any]] = {
        "real_moments": torch.float64,
        "fake_moments": torch.float64,
    }

    def __init__(
        self,
        *,
        embedder: Embed | None = None,
        view: str | None = None,
        level: float | None = 0.95,
        **more: Any,
    ) -> None:
        super().__init__(embedder=embedder, view=view, seed=0, level=level, **more)
        self._add_states((self._identity, self._blocks))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the scores."""
        return ("frechet_distance",)

    @property
    def _blocks(self) -> int:
        return 1 if self.level is None else DEFAULT_BLOCKS

    def _take(self, rows: Tensor, side: Side) -> None:
        seen = getattr(self, f"{side}_seen")
        blocks = (torch.arange(len(rows), device=rows.device) + int(seen)) % self._blocks
        packed = self._packed(side)
        for block in blocks.unique().tolist():
            packed[0, block] = _joined(packed[0, block], _moments(rows[blocks == block].double()))
        setattr(self, f"{side}_moments", [packed.reshape(-1)])
        setattr(self, f"{side}_seen", seen + len(rows))

    def _settle(self, side: Side) -> None:
        first, *others = self._packed(side)
        for other in others:
            for block in torch.nonzero(other[:, 0]).flatten().tolist():
                first[block] = _joined(first[block], other[block])
        setattr(self, f"{side}_moments", [first.reshape(-1)])

    def _packed(self, side: Side) -> Tensor:
        """Count, mean and scatter of each block of each process, ``(processes, blocks, ...)``."""
        d, flat = int(self.width), dim_zero_cat(getattr(self, f"{side}_moments"))
        size = 1 + d + d * d
        if not len(flat):
            return cast("Tensor", flat.new_zeros(1, self._blocks, size))
        return cast("Tensor", flat.reshape(-1, self._blocks, size).clone())

    def _held(self, side: Side) -> list[Moments]:
        """The moments of the blocks of a side that hold rows."""
        moments = []
        for block in self._packed(side).transpose(0, 1).cpu().numpy():
            parts = [_unpacked(part) for part in block if part[0] > 0]
            if parts:
                moments.append(_merged(parts))
        return moments

    def _scores(self) -> Mapping[str, Score]:
        return self._of_rows(self._held("real"), self._held("fake"), warn=True)

    def _of_rows(self, real: Any, fake: Any, *, warn: bool) -> Mapping[str, Score]:
        sides = [self._as_blocks(side) for side in (real, fake)]
        counts = [sum(block.count for block in blocks) for blocks in sides]
        if min(counts) < 2:
            if warn:
                rank_zero_warn(
                    "FrechetDistance needs 2 samples of each side; it saw "
                    f"{counts[0]} real and {counts[1]} generated ones, so its score is NaN"
                )
            return {}
        reference, generated = (_merged(blocks) for blocks in sides)
        scores = {"frechet_distance": frechet_score(reference, generated)}
        if self.level is None or min(map(len, sides)) < DEFAULT_BLOCKS:
            return scores
        left, right = frechet_without(reference, generated, *sides)
        spread = Spread(
            (Component.jackknife("reference", left), Component.jackknife("generated", right))
        )
        return with_intervals(scores, {"frechet_distance": spread}, self.level)

    def _as_blocks(self, given: Any) -> list[Moments]:
        """Moments of blocks: as held, or of the rows of a batch."""
        if isinstance(given, list):
            return given
        rows = given.double().cpu().numpy()
        parts = (rows[block :: self._blocks] for block in range(self._blocks))
        return [Moments.of(part, precise=True) for part in parts if len(part)]


def _stream(side: Side) -> int:
    """The number of the stream of a side on this process."""
    there = torch.distributed.is_available() and torch.distributed.is_initialized()
    rank = torch.distributed.get_rank() if there else 0
    return 2 * rank + SIDES.index(side)


def _moments(rows: Tensor) -> Tensor:
    """Count, mean and scatter of float64 rows, one after the other in one tensor."""
    mean = rows.mean(dim=0)
    apart = rows - mean
    count = rows.new_tensor([len(rows)])
    return cast("Tensor", torch.cat([count, mean, (apart.T @ apart).reshape(-1)]))


def _joined(one: Tensor, other: Tensor) -> Tensor:
    """The moments of two sets together, on their device, as :meth:`Moments.merge` has them."""
    d = _width(len(one))
    count = one[0] + other[0]
    gap, share = other[1 : d + 1] - one[1 : d + 1], other[0] / count
    joined = one + other
    joined[1 : d + 1] = one[1 : d + 1] + gap * share
    joined[d + 1 :] += (torch.outer(gap, gap) * (one[0] * share)).reshape(-1)
    return joined


def _unpacked(packed: Any) -> Moments:
    d = _width(len(packed))
    return Moments(int(packed[0]), packed[1 : d + 1], packed[d + 1 :].reshape(d, d))


def _width(size: int) -> int:
    """The d of 1 + d + d² numbers."""
    return round(float(np.sqrt(size - 0.75)) - 0.5)


def _merged(parts: Iterable[Moments]) -> Moments:
    first, *others = parts
    for other in others:
        first = first.merge(other)
    return first
