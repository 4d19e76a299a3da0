"""Pairs of saved runs with one reference: whether scores are comparable, and their difference."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calipers.errors import InputError
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.results.archive import opened
from calipers.results.comparison import Comparison
from calipers.results.comparison_archive import scores_of
from calipers.results.result import Result, class_of, load
from calipers.results.system import SystemResult
from calipers.results.texts import TextComparison, TextResult
from calipers.score import Score, signature_pins
from calipers.uncertainty.limits import LimitEstimate

Run = Comparison | TextComparison
System = SystemResult | TextResult

OF_DATA = ("undefined", "unread", "unread_words")
"""Pins of a signature that follow from the samples and are not chosen."""

VERSION = "calipers"
"""The pin of the version, which alone makes no score incomparable (docs/stability.md)."""


def read_scores(path: str | Path) -> Result:
    """Read a result; of a comparison only scores and spreads, without samples.

    Raises
    ------
    InputError
        If the file is missing or damaged, or holds no result.
    """
    if not zipfile.is_zipfile(path):
        return load(path)
    with opened(Path(path)) as archive:
        kind = class_of(archive.kind)
        if not issubclass(kind, Comparison):
            return Result.load(path)
        return scores_of(kind.from_dict(archive.json("comparison.json")), archive)


def score_estimate(score: Score, system: System, run: Run) -> tuple[LimitEstimate | None, str]:
    """Return a score with its error; else None, and the reason."""
    settings = run.settings
    sets = [system.summary, *([] if run.reference is None else [run.reference])]
    blocks = min([DEFAULT_BLOCKS, *(samples.clusters for samples in sets if samples.clusters)])
    needed = DEFAULT_BLOCKS * ((settings.get("k") or 0) + 1)
    smallest = min(samples.n for samples in sets)
    if settings.get("level") is None:
        return None, "the run was made with `level=None`; run it again without that option"
    if smallest < needed:
        return None, (
            f"{smallest} samples are too few; run it again with at least {needed} in every set"
        )
    estimate = LimitEstimate.of(score, blocks=blocks)
    why = "its metric has none, or does not vary; choose another score of the run"
    return estimate, "" if estimate is not None else why


def differing_pins(first: Score, second: Score) -> list[tuple[str, str, str]]:
    """List the differences between signatures: each setting with its two values."""
    here, there = signature_pins(first.signature), signature_pins(second.signature)
    return [
        (name, here.get(name, "none"), there.get(name, "none"))
        for name in dict.fromkeys((*here, *there))
        if here.get(name) != there.get(name) and not _of_data(name, here)
    ]


def _of_data(name: str, pins: Mapping[str, str]) -> bool:
    """Whether a pin describes the samples or the version, and not how they were measured."""
    # Joint axes explain a share of the variance, so that their number depends on both sets
    return name in (*OF_DATA, VERSION) or (name == "d" and pins.get("pca", "none") != "none")


def same_samples(first: System, second: System) -> bool:
    """Whether both runs hold the same samples, in one file each."""
    same = first.summary.content_hash == second.summary.content_hash
    return same and not first.seeds and not second.seeds


def paired_difference(
    value: float, key: str, first: System, second: System, factor: float = 1.0
) -> LimitEstimate | None:
    """Return the difference of two scores, without the shared error of the reference.

    None where that error was not saved, or rows come in clusters, whose blocks depend on all sets
    of a run.
    """
    known = key in first.spreads and key in second.spreads
    if not known or first.summary.clusters or second.summary.clusters:
        return None
    return LimitEstimate.of_difference(value, first.spreads[key], second.spreads[key].times(factor))


def difference(
    key: str,
    scores: tuple[Score, Score],
    systems: tuple[System, System],
    estimates: tuple[LimitEstimate, LimitEstimate],
    factor: float = 1.0,
) -> tuple[LimitEstimate, bool]:
    """Return the first score minus `factor` times the second, and whether they were paired.

    Paired, the error that the reference brings to both is cancelled; else both scores are taken as
    independent, which is conservative.
    """
    (score, before), (system, other), (estimate, known) = scores, systems, estimates
    same = same_samples(system, other) and score.value == before.value
    plain = estimate.less(known, factor, same=same)
    sharper = None if same else paired_difference(plain.value, key, system, other, factor)
    return sharper or plain, same or sharper is not None


def withheld_reason(key: str, system: System) -> str | None:
    """Explain why a score has no value where too little was read; None where enough was."""
    score = system.scores.get(key)
    if score is None or math.isfinite(score.value):
        return None
    return None if key.startswith("text.") else getattr(system, "withheld", None)


def run_of(given: Any, path: str) -> Run:
    """Refuse a result without scores of systems.

    Raises
    ------
    InputError
        Names the file, the kind that it holds and the kinds that have scores.
    """
    if not isinstance(given, Comparison | TextComparison):
        raise InputError(
            f"{path}: holds {_kind_of(given)}; scores of systems are in what `.save(path)` or "
            "`.to_dict()` of `calipers.compare` or `calipers.measure_texts` wrote"
        )
    return given


def _kind_of(given: Any) -> str:
    return f"a result of the kind {given.kind!r}" if isinstance(given, Result) else repr(given)
