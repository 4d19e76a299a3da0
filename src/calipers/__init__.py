"""Measure from both sides how far generated samples are from real ones.

Calipers compares sets of samples as distributions: are the generated samples good (precision),
are they as varied as the reference (recall), and how far apart are the two (MAUVE and its family)?

>>> import calipers
>>> reference = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
>>> generated = [[0.2, 0.1], [0.9, 0.8], [7.0, 7.0], [7.0, 8.0]]
>>> calipers.metrics.precision_recall(reference, generated, k=1).precision.value
0.5
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from calipers import metrics as metrics
    from calipers import text as text
    from calipers.curves import Divergence as Divergence
    from calipers.curves import DivergenceFrontier as DivergenceFrontier
    from calipers.curves import PrecisionRecallCurve as PrecisionRecallCurve
    from calipers.curves import custom_divergence as custom_divergence
    from calipers.curves import divergence_frontier as divergence_frontier
    from calipers.curves import f_divergence as f_divergence
    from calipers.curves import precision_recall_curve as precision_recall_curve
    from calipers.embed import embed_samples as embed_samples
    from calipers.embed import load_embedder as load_embedder
    from calipers.errors import CalipersError as CalipersError
    from calipers.errors import InputError as InputError
    from calipers.errors import MissingExtraError as MissingExtraError
    from calipers.estimate import Histograms as Histograms
    from calipers.estimate import LikelihoodRatios as LikelihoodRatios
    from calipers.estimate import Neighbourhoods as Neighbourhoods
    from calipers.estimate import neighbourhoods as neighbourhoods
    from calipers.evaluate import compare as compare
    from calipers.evaluate import sweep as sweep
    from calipers.evaluate.agree_run import agree as agree
    from calipers.evaluate.overlap_run import overlap as overlap
    from calipers.evaluate.probe_run import probe as probe
    from calipers.evaluate.rank_run import rank as rank
    from calipers.evaluate.text_run import measure_texts as measure_texts
    from calipers.memory import memory_limit as memory_limit
    from calipers.results import Comparison as Comparison
    from calipers.results import Sweep as Sweep
    from calipers.results.agreement import Agreement as Agreement
    from calipers.results.overlap import Overlap as Overlap
    from calipers.results.probe import Probe as Probe
    from calipers.results.ranking import Ranking as Ranking
    from calipers.results.texts import TextComparison as TextComparison
    from calipers.samples import SampleSet as SampleSet
    from calipers.samples import read_samples as read_samples
    from calipers.score import Score as Score

# Resolved when first used, so that importing the package loads no heavy library
_HOMES = {
    "Agreement": "calipers.results.agreement",
    "CalipersError": "calipers.errors",
    "Comparison": "calipers.results",
    "Divergence": "calipers.curves",
    "DivergenceFrontier": "calipers.curves",
    "Histograms": "calipers.estimate",
    "InputError": "calipers.errors",
    "LikelihoodRatios": "calipers.estimate",
    "MissingExtraError": "calipers.errors",
    "Neighbourhoods": "calipers.estimate",
    "Overlap": "calipers.results.overlap",
    "PrecisionRecallCurve": "calipers.curves",
    "Probe": "calipers.results.probe",
    "Ranking": "calipers.results.ranking",
    "SampleSet": "calipers.samples",
    "Score": "calipers.score",
    "Sweep": "calipers.results",
    "TextComparison": "calipers.results.texts",
    "agree": "calipers.evaluate.agree_run",
    "compare": "calipers.evaluate",
    "custom_divergence": "calipers.curves",
    "divergence_frontier": "calipers.curves",
    "embed_samples": "calipers.embed",
    "f_divergence": "calipers.curves",
    "load_embedder": "calipers.embed",
    "measure_texts": "calipers.evaluate.text_run",
    "memory_limit": "calipers.memory",
    "neighbourhoods": "calipers.estimate",
    "overlap": "calipers.evaluate.overlap_run",
    "precision_recall_curve": "calipers.curves",
    "probe": "calipers.evaluate.probe_run",
    "rank": "calipers.evaluate.rank_run",
    "read_samples": "calipers.samples",
    "sweep": "calipers.evaluate",
}

_ROOMS = ("metrics", "text")

__all__ = [*sorted(_HOMES), "__version__", *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"calipers.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'calipers' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
