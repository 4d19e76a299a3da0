"""``compute_mauve`` of the package mauve-text 0.4.0: MAUVE of features, token ids or texts.

Equal arguments, defaults, attributes and digits: the same principal axes, the same cells, of which
:mod:`calipers.compat.faiss_cells` tells why, and from equal cells `p_hist` and `q_hist` to the last
bit, all scores to 1e-12. Faiss itself is not needed. Scores differ only where a row of the features
lies between two cells to within the rounding of float32, or where the same row stands there so
often that cells are left empty (docs/coming_from_mauve.md counts how often that is).

Where results differ on purpose:

- two equal histograms score 1; mauve-text gives 0.75 or 1, as rounding falls;
- models are read from this disk and never downloaded, and from any folder, not only from names
  with "gpt2" or "bert" in them; they run in float32, so that ``use_float64`` is refused with texts;
- ``device_id`` of a GPU that is not there is refused, where mauve-text takes the CPU;
- token ids longer than the model reads are refused, where they end in an error of torch there.

:func:`calipers.compare` has the same score with an interval, over cells of its own: its starts are
as good as those of faiss, but others.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.compat.faiss_cells import faiss_cells
from calipers.curves.frontier import divergence_frontier, positive
from calipers.embedders.catalogue import load_embedder
from calipers.errors import InputError
from calipers.estimate.axes import coordinates, preprocess, principal_axes, scatter_about, unit_rows
from calipers.estimate.histograms import Histograms
from calipers.numeric.arrays import Floats, as_numpy
from calipers.numeric.distances import Points
from calipers.numeric.threads import workers
from calipers.numeric.validation import (
    check_flags,
    check_inner_share,
    check_pair,
    check_points,
    check_whole,
)
from calipers.results.reading import SetReading, too_little

__all__ = ["MauveResult", "compute_mauve"]


READ_ANYWAY = 1024
"""Most tokens of a text by default; models that read fewer then cut at their own limit."""


@dataclass(frozen=True, eq=False)
class MauveResult:
    """The result of mauve-text, attribute by attribute.

    Attributes
    ----------
    mauve, mauve_star
        Closeness in [0, 1], higher is better; of raw counts, and of counts with ½ added.
    frontier_integral, frontier_integral_star
        Distance in [0, 1], lower is better; of the same counts.
    p_hist, q_hist
        Shares of both sets in the cells, shape ``(num_buckets,)``, float64, each summing to 1.
    divergence_curve
        Shape ``(points + 2, 2)``: exp(−c·KL(Q‖R)) and exp(−c·KL(P‖R)), with both ends.
    num_buckets
        Number of cells.
    """

    p_hist: Floats
    q_hist: Floats
    divergence_curve: Floats
    mauve: float
    frontier_integral: float
    mauve_star: float
    frontier_integral_star: float
    num_buckets: int


def compute_mauve(
    p_features: ArrayLike | None = None,
    q_features: ArrayLike | None = None,
    p_tokens: Sequence[Any] | None = None,
    q_tokens: Sequence[Any] | None = None,
    p_text: Sequence[str] | None = None,
    q_text: Sequence[str] | None = None,
    num_buckets: int | Literal["auto"] = "auto",
    pca_max_data: int = -1,
    kmeans_explained_var: float = 0.9,
    kmeans_num_redo: int = 5,
    kmeans_max_iter: int = 500,
    featurize_model_name: str = "gpt2-large",
    device_id: int | None = -1,
    max_text_length: int = READ_ANYWAY,
    divergence_curve_discretization_size: int = 25,
    mauve_scaling_factor: float = 5,
    verbose: bool = False,
    seed: int = 25,
    batch_size: int = 1,
    use_float64: bool = False,
) -> MauveResult:
    """Measure how close two sets of texts or features are, as ``mauve.compute_mauve`` does.

    Parameters
    ----------
    p_features, q_features
        Feature vectors, shapes ``(n, d)`` and ``(m, d)``. They go before tokens, tokens before
        texts, where several are given.
    p_tokens, q_tokens
        Token ids of the model, a list or tensor of shape ``(length,)`` or ``(1, length)`` for each
        text.
    p_text, q_text
        Texts; empty ones are left out.
    num_buckets
        Number of cells, from 1; ``"auto"`` for a tenth of the smaller set, without the limit of
        5,000 that Calipers has elsewhere.
    pca_max_data
        How many random rows the principal axes are fitted to; negative for all.
    kmeans_explained_var
        Share of the variance that the axes keep, between 0 and 1.
    kmeans_num_redo, kmeans_max_iter
        Starts of k-means, of which the best counts, and the most rounds of each.
    featurize_model_name
        Folder of the model that reads tokens and texts, or its name in the cache of the hub. The
        state of the last token behind the last layer is taken.
    device_id
        Number of a GPU for the model; -1 or None for the CPU.
    max_text_length
        Most tokens that are read of a text; with the default no more than the model reads.
    divergence_curve_discretization_size
        Points of the curve, without its ends.
    mauve_scaling_factor
        The constant c of the curve, above 0.
    verbose
        Whether to print the steps and their durations.
    seed
        Seed of k-means, and of the rows that `pca_max_data` draws.
    batch_size
        Texts in one forward pass of the model.
    use_float64
        Must be False where tokens or texts are read; of no effect on features, as in mauve-text.

    Returns
    -------
    MauveResult
        Scores without intervals; :func:`calipers.compare` gives them, with the advice that belongs
        to them.

    Raises
    ------
    InputError
        If a side is missing or empty, an argument is out of its range, or the model is not on this
        disk.

    Notes
    -----
    Pillutla et al., JMLR 2023, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.standard_normal((2, 200, 8))
    >>> out = compute_mauve(p_features=p, q_features=q + [2, *7 * [0]], num_buckets=8)
    >>> out.p_hist.shape, out.divergence_curve.shape, out.mauve < 0.6
    ((8,), (27, 2), True)
    """
    share, c = kmeans_explained_var, positive("mauve_scaling_factor", mauve_scaling_factor)
    check_inner_share("kmeans_explained_var", share)
    points = check_whole(
        "divergence_curve_discretization_size", divergence_curve_discretization_size, 1
    )
    redo = check_whole("kmeans_num_redo", kmeans_num_redo, 1)
    rounds = check_whole("kmeans_max_iter", kmeans_max_iter, 1)
    check_flags(verbose=verbose, use_float64=use_float64)
    check_whole("seed", seed, 0)
    featurize = _Featurizer(
        featurize_model_name, device_id, max_text_length, batch_size, use_float64, verbose
    )
    p, q = check_pair(
        check_points(featurize.side("p", p_features, p_tokens, p_text), "p_features"),
        check_points(featurize.side("q", q_features, q_tokens, q_text), "q_features"),
    )
    cells = _cell_count(num_buckets, len(p), len(q))
    with _timed("principal axes", verbose):
        rows = _on_axes(p, q, share, pca_max_data, seed)
    with _timed(f"k-means with {cells} cells in {rows[0].shape[1]} dimensions", verbose):
        labels = faiss_cells(
            np.concatenate(rows[::-1]),  # q before p, as there
            cells,
            restarts=redo,
            max_iterations=rounds,
            seed=seed + 2,
        )
    q_counts, p_counts = (np.bincount(part, minlength=cells) for part in np.split(labels, [len(q)]))
    return _result(Histograms(p_counts, q_counts), grid=points, c=c)


def _result(counts: Histograms, *, grid: int, c: float) -> MauveResult:
    """Read everything off the counts of both sets."""
    p, q = counts.probabilities
    plain, star = (
        divergence_frontier(counts.smoothed(smoothing), grid=grid)
        for smoothing in ("none", "krichevsky-trofimov")
    )
    return MauveResult(
        p_hist=p,
        q_hist=q,
        divergence_curve=plain.points(c),
        mauve=plain.area(c),
        frontier_integral=plain.integral(),
        mauve_star=star.area(c),
        frontier_integral_star=star.integral(),
        num_buckets=len(p),
    )


def _cell_count(asked: Any, n: int, m: int) -> int:
    if isinstance(asked, str) and asked == "auto":
        return max(2, round(min(n, m) / 10))
    if isinstance(asked, str):
        raise InputError(f"num_buckets must be 'auto' or a whole number; found {asked!r}")
    cells = check_whole("num_buckets", asked, 1)
    if cells > n + m:
        raise InputError(f"num_buckets must be at most the {n + m} samples; found {cells}")
    return cells


def _on_axes(p: Points, q: Points, share: float, drawn: Any, seed: int) -> tuple[Points, Points]:
    """Bring both sets on the principal axes of all rows, or of as many as are to be drawn."""
    n = len(p) + len(q)
    whole = isinstance(drawn, int | np.integer) and not isinstance(drawn, bool)
    if not whole or drawn == 0:
        raise InputError(
            f"pca_max_data must be a whole number from 1, or negative for all; found {drawn!r}"
        )
    if not 0 < drawn < n:
        rows = preprocess(p, q, norm="l2", pca=share)
        return rows.reference, rows.generated
    # The generator of mauve-text, so that the same rows are drawn, of q before p as there
    chosen = np.random.RandomState(seed + 5).choice(n, size=drawn, replace=False)
    with workers(None) as pool:
        sets = [unit_rows(rows, pool) for rows in (p, q)]
        part = np.concatenate(sets[::-1])[chosen]
        mean = part.mean(axis=0, dtype=np.float64)
        axes, _ = principal_axes(scatter_about([part], mean, (1.0,), pool), share)
        left, right = (coordinates(rows, mean, axes, pool) for rows in sets)
    return left, right


@dataclass
class _Featurizer:
    """Makes features of what is given of a side; the model is loaded once, if it is needed."""

    model: str
    device_id: int | None
    max_text_length: int
    batch_size: int
    use_float64: bool
    verbose: bool
    _embedder: Any = None

    def side(self, name: str, features: Any, tokens: Any, texts: Any) -> Any:
        """Features of one side: as given, else of its tokens, else of its texts."""
        if features is not None:
            return features
        if tokens is not None:
            return self._of_tokens(name, tokens)
        if texts is not None:
            return self._of_texts(name, texts)
        raise InputError(f"give one of {name}_features, {name}_tokens and {name}_text")

    def _of_tokens(self, name: str, tokens: Any) -> Any:
        ids = [np.asarray(as_numpy(sequence)).reshape(-1) for sequence in tokens]
        if not ids:
            raise InputError(f"{name}_tokens must hold at least one text; found none")
        batch = self._embed(name, ids)
        if batch.truncated.any():
            row = int(np.argmax(batch.truncated))
            raise InputError(
                f"{name}_tokens: text {row + 1} has {len(ids[row])} tokens, more than "
                f"{self.model} reads here; cut it first"
            )
        return batch.views["meaning"]

    def _of_texts(self, name: str, texts: Any) -> Any:
        filled = [text for text in texts if len(text) > 0]
        if not filled:
            raise InputError(f"{name}_text must hold a text that is not empty; found none")
        return self._embed(name, filled).views["meaning"]

    def _embed(self, name: str, samples: list[Any]) -> Any:
        if self.use_float64:
            raise InputError("use_float64 must be False: models run in float32; found True")
        if self._embedder is None:
            with _timed(f"loading {self.model}", self.verbose):
                self._embedder = self._load()
        with _timed(f"features of {len(samples)} texts of {name}", self.verbose):
            batch = self._embedder.embed(samples)
        if batch.reading is not None:
            read = SetReading.of(batch.reading, len(batch.reading))
            reason = too_little(self._embedder.name, [(f"{name}'s", read)])
            if reason is not None:
                raise InputError(f"{reason}; name a featurize_model_name that reads these texts")
        return batch

    def _load(self) -> Any:
        length = check_whole("max_text_length", self.max_text_length, 1)
        number = -1 if self.device_id is None else self.device_id
        embedder = load_embedder(
            self.model,
            pooling="last",
            max_length=None if length == READ_ANYWAY else length,
            device="cpu" if number < 0 else f"cuda:{check_whole('device_id', number, 0)}",
            batch_size=check_whole("batch_size", self.batch_size, 1),
            offline=True,
        )
        if "meaning" not in embedder.views:
            raise InputError(
                f"featurize_model_name must be a transformers model of texts; {self.model!r} "
                f"gives {', '.join(embedder.views)}"
            )
        return embedder


@contextmanager
def _timed(what: str, verbose: bool) -> Iterator[None]:
    start = time.perf_counter()
    yield
    if verbose:
        sys.stdout.write(f"{what}: {time.perf_counter() - start:.2f} s\n")
