"""Log-probabilities per token of the texts of both sets, from a result of ``likelihood``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calipers.commands.likelihood.result import LikelihoodComparison
from calipers.commands.likelihood.run import behind_prompts
from calipers.errors import InputError
from calipers.numeric.arrays import Vector
from calipers.results.result import load
from calipers.results.sets import SetSummary
from calipers.samples import SampleSet
from calipers.score import Score

KEY = "perplexity"
"""Of one text it is exp of minus the mean log-probability of its tokens."""

AGAIN = "`calipers.likelihood` with `reference`, `keep_sizes` and values of single texts"


def read_likelihoods(given: Any) -> tuple[LikelihoodComparison, str]:
    """Read a saved result of ``likelihood``, or take one in memory; return its name too.

    Raises
    ------
    InputError
        If it cannot be read, or is something else.
    """
    if isinstance(given, LikelihoodComparison):
        return given, "likelihoods"
    if not isinstance(given, str | Path):
        raise InputError(
            "likelihoods must be a file or the result of calipers.likelihood; found a "
            f"{type(given).__name__}"
        )
    result = load(given)
    if not isinstance(result, LikelihoodComparison):
        raise InputError(f"{given}: holds {result.kind!r}, but `likelihoods` are those of {AGAIN}")
    return result, str(given)


def log_probabilities(
    comparison: LikelihoodComparison, source: str, reference: SampleSet, generated: SampleSet
) -> tuple[Vector, Vector]:
    """Return the mean log-probability per token of every text, in nats.

    Returns
    -------
    tuple
        Of the reference and of the generated set, shapes ``(n,)`` and ``(m,)``; NaN where a text
        has no token that is scored, −∞ where the model could not have written it.

    Raises
    ------
    InputError
        If one of the sets or the values of its texts are missing, or are of other texts.
    """
    if comparison.reference is None:
        raise InputError(f"{source}: holds no likelihoods of the reference; make it by {AGAIN}")
    systems = {system.name: system for system in comparison.systems}
    only = next(iter(systems.values())) if len(systems) == 1 else None
    system = systems.get(generated.name, only)
    if system is None:
        listed = ", ".join(map(repr, systems))
        raise InputError(f"{source}: has no system {generated.name!r}; its systems are {listed}")
    prompted = bool(comparison.settings.get("given_prompt"))
    ours = comparison.reference_scores.get(KEY)
    sides = (
        (reference, comparison.reference, ours),
        (generated, system.summary, system.scores.get(KEY)),
    )
    values = [_of_set(*side, source=source, prompted=prompted) for side in sides]
    return values[0], values[1]


def _of_set(
    samples: SampleSet, summary: SetSummary, score: Score | None, *, source: str, prompted: bool
) -> Vector:
    where = f"{source}: {samples.name}"
    if score is None:
        raise InputError(f"{where}: has no {KEY}, from which likelihoods are read")
    if score.per_sample is None and score.reason is not None:
        raise InputError(f"{where}: has no likelihoods: {score.reason}")
    if score.per_sample is None:
        raise InputError(f"{where}: has no likelihood of each text; make it by {AGAIN}")
    if summary.n != len(samples):
        given = f" of the {summary.n_given} given" if summary.n_given != summary.n else ""
        raise InputError(
            f"{where}: has likelihoods of {summary.n} texts{given}, but {samples.source} holds "
            f"{len(samples)}; make it by {AGAIN}"
        )
    read = behind_prompts(samples) if prompted else samples
    if summary.content_hash != read.content_hash:
        raise InputError(
            f"{where}: has likelihoods of other texts than {samples.source} holds, or of the same "
            "texts reordered or shortened"
        )
    with np.errstate(divide="ignore"):
        values: Vector = -np.log(np.asarray(score.per_sample, dtype=np.float64))
    return values
