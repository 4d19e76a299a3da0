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

from typing import TYPE_CHECKING

from calipers.lazy import lazy_names

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
    from calipers.evaluate.agree import agree as agree
    from calipers.evaluate.annotate import annotate as annotate
    from calipers.evaluate.by_prompt import by_prompt as by_prompt
    from calipers.evaluate.check import check as check
    from calipers.evaluate.compare import compare as compare
    from calipers.evaluate.generate import generate as generate
    from calipers.evaluate.judge import judge as judge
    from calipers.evaluate.judge import judging_plan as judging_plan
    from calipers.evaluate.likelihood import likelihood as likelihood
    from calipers.evaluate.overlap import overlap as overlap
    from calipers.evaluate.probe import probe as probe
    from calipers.evaluate.rank import rank as rank
    from calipers.evaluate.reference import Reference as Reference
    from calipers.evaluate.sweep import sweep as sweep
    from calipers.evaluate.texts import measure_texts as measure_texts
    from calipers.evaluate.tune import tune as tune
    from calipers.memory import memory_limit as memory_limit
    from calipers.results import Comparison as Comparison
    from calipers.results import Sweep as Sweep
    from calipers.results.agreement import Agreement as Agreement
    from calipers.results.by_prompt import ByPrompt as ByPrompt
    from calipers.results.check import Check as Check
    from calipers.results.generation import Generation as Generation
    from calipers.results.judging import Judging as Judging
    from calipers.results.overlap import Overlap as Overlap
    from calipers.results.probe import Probe as Probe
    from calipers.results.ranking import Ranking as Ranking
    from calipers.results.texts import LikelihoodComparison as LikelihoodComparison
    from calipers.results.texts import TextComparison as TextComparison
    from calipers.results.tuning import Tuning as Tuning
    from calipers.samples import SampleSet as SampleSet
    from calipers.samples import read_samples as read_samples
    from calipers.score import Score as Score

# The names above, resolved when first used, so that importing the package loads no heavy library
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "calipers.curves": (
            "Divergence",
            "DivergenceFrontier",
            "PrecisionRecallCurve",
            "custom_divergence",
            "divergence_frontier",
            "f_divergence",
            "precision_recall_curve",
        ),
        "calipers.embed": ("embed_samples", "load_embedder"),
        "calipers.errors": ("CalipersError", "InputError", "MissingExtraError"),
        "calipers.estimate": ("Histograms", "LikelihoodRatios", "Neighbourhoods", "neighbourhoods"),
        "calipers.evaluate.check": ("check",),
        "calipers.evaluate.by_prompt": ("by_prompt",),
        "calipers.evaluate.compare": ("compare",),
        "calipers.evaluate.sweep": ("sweep",),
        "calipers.evaluate.agree": ("agree",),
        "calipers.evaluate.annotate": ("annotate",),
        "calipers.evaluate.generate": ("generate",),
        "calipers.evaluate.judge": ("judge", "judging_plan"),
        "calipers.evaluate.likelihood": ("likelihood",),
        "calipers.evaluate.overlap": ("overlap",),
        "calipers.evaluate.probe": ("probe",),
        "calipers.evaluate.rank": ("rank",),
        "calipers.evaluate.reference": ("Reference",),
        "calipers.evaluate.texts": ("measure_texts",),
        "calipers.evaluate.tune": ("tune",),
        "calipers.memory": ("memory_limit",),
        "calipers.results": ("Comparison", "Sweep"),
        "calipers.results.agreement": ("Agreement",),
        "calipers.results.check": ("Check",),
        "calipers.results.by_prompt": ("ByPrompt",),
        "calipers.results.generation": ("Generation",),
        "calipers.results.judging": ("Judging",),
        "calipers.results.overlap": ("Overlap",),
        "calipers.results.probe": ("Probe",),
        "calipers.results.ranking": ("Ranking",),
        "calipers.results.texts": ("LikelihoodComparison", "TextComparison"),
        "calipers.results.tuning": ("Tuning",),
        "calipers.samples": ("SampleSet", "read_samples"),
        "calipers.score": ("Score",),
    },
    modules=("metrics", "text"),
)
__all__ += ["__version__"]
