"""Measure from both sides how far generated samples are from real ones.

Calipers compares sets of samples as distributions: are the generated samples good (precision),
are they as varied as the reference (recall), and how far apart are the two (MAUVE and its family)?

What it offers, each with its own ``help``:

=========  =========================================================================================
compare    compare, sweep, overlap, agree, prompts, probe, measure_texts
generate   generate, likelihood, tune
judge      annotate, judge, judging_plan, rank, huse
keep       load, show, check, history
samples    read_samples, SampleSet, Reference, embed, load_embedder, memory_limit
results    Comparison, TextComparison, Sweep, Overlap, Agreement, ByPrompt, Probe, Generation,
           LikelihoodComparison, Tuning, Judging, Ranking, HuseResult, Check, History, Score
one by     metrics (of embeddings) and text (of texts); neighbourhoods, divergence_frontier,
one        f_divergence, custom_divergence, precision_recall_curve and what they give:
           Neighbourhoods, Histograms, LikelihoodRatios, Divergence, DivergenceFrontier,
           PrecisionRecallCurve
errors     CalipersError and its InputError, MissingExtraError
=========  =========================================================================================

``calipers.integrations`` goes into trainers, pytest and torchmetrics, ``calipers.compat`` has the
functions of other packages. A comparison is made by :func:`calipers.compare`; arrays have their own
functions:

>>> import calipers
>>> reference = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
>>> generated = [[0.2, 0.1], [0.9, 0.8], [7.0, 7.0], [7.0, 8.0]]
>>> calipers.metrics.precision_recall(reference, generated, k=1).precision.value
0.5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers._version import __version__ as __version__
from calipers.lazy import lazy_names

if TYPE_CHECKING:
    from calipers import metrics as metrics
    from calipers import text as text

    # names of the commands
    from calipers.commands.agree.result import Agreement as Agreement
    from calipers.commands.agree.run import agree as agree
    from calipers.commands.annotate.run import annotate as annotate
    from calipers.commands.check.result import Check as Check
    from calipers.commands.check.run import check as check
    from calipers.commands.compare.run import compare as compare
    from calipers.commands.generate.result import Generation as Generation
    from calipers.commands.generate.run import generate as generate
    from calipers.commands.history.result import History as History
    from calipers.commands.history.run import history as history
    from calipers.commands.huse.result import HuseResult as HuseResult
    from calipers.commands.huse.run import huse as huse
    from calipers.commands.judge.result import Judging as Judging
    from calipers.commands.judge.run import judge as judge
    from calipers.commands.judge.run import judging_plan as judging_plan
    from calipers.commands.likelihood.result import LikelihoodComparison as LikelihoodComparison
    from calipers.commands.likelihood.run import likelihood as likelihood
    from calipers.commands.overlap.result import Overlap as Overlap
    from calipers.commands.overlap.run import overlap as overlap
    from calipers.commands.probe.result import Probe as Probe
    from calipers.commands.probe.run import probe as probe
    from calipers.commands.prompts.result import ByPrompt as ByPrompt
    from calipers.commands.prompts.run import prompts as prompts
    from calipers.commands.rank.result import Ranking as Ranking
    from calipers.commands.rank.run import rank as rank
    from calipers.commands.show.run import show as show
    from calipers.commands.sweep.result import Sweep as Sweep
    from calipers.commands.sweep.run import sweep as sweep
    from calipers.commands.text.run import measure_texts as measure_texts
    from calipers.commands.tune.result import Tuning as Tuning
    from calipers.commands.tune.run import tune as tune

    # end of names of the commands
    from calipers.curves import Divergence as Divergence
    from calipers.curves import DivergenceFrontier as DivergenceFrontier
    from calipers.curves import PrecisionRecallCurve as PrecisionRecallCurve
    from calipers.curves import custom_divergence as custom_divergence
    from calipers.curves import divergence_frontier as divergence_frontier
    from calipers.curves import f_divergence as f_divergence
    from calipers.curves import precision_recall_curve as precision_recall_curve
    from calipers.embedders import embed as embed
    from calipers.embedders import load_embedder as load_embedder
    from calipers.errors import CalipersError as CalipersError
    from calipers.errors import InputError as InputError
    from calipers.errors import MissingExtraError as MissingExtraError
    from calipers.estimate import Histograms as Histograms
    from calipers.estimate import LikelihoodRatios as LikelihoodRatios
    from calipers.estimate import Neighbourhoods as Neighbourhoods
    from calipers.estimate import neighbourhoods as neighbourhoods
    from calipers.evaluate.reference import Reference as Reference
    from calipers.memory import memory_limit as memory_limit
    from calipers.results import Comparison as Comparison
    from calipers.results.result import load as load
    from calipers.results.texts import TextComparison as TextComparison
    from calipers.samples import SampleSet as SampleSet
    from calipers.samples import read_samples as read_samples
    from calipers.score import Score as Score


def _commands() -> dict[str, str]:
    """Return what the records of the commands make public: each name, and the module it is in."""
    from calipers.command import public_names

    return {name: module for name, (module, _) in public_names().items()}


# The names above, resolved when first used, so that importing the package loads no heavy library
__getattr__, __dir__ = lazy_names(
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
        "calipers.embedders": ("embed", "load_embedder"),
        "calipers.errors": ("CalipersError", "InputError", "MissingExtraError"),
        "calipers.estimate": ("Histograms", "LikelihoodRatios", "Neighbourhoods", "neighbourhoods"),
        "calipers.evaluate.reference": ("Reference",),
        "calipers.memory": ("memory_limit",),
        "calipers.results.result": ("load",),
        "calipers.samples": ("SampleSet", "read_samples"),
        "calipers.score": ("Score",),
    },
    modules=("metrics", "text"),
    others=("__version__",),
    further=_commands,
)
