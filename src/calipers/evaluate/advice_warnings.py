"""Sentences that warn where sets are too small for what is read from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from calipers.evaluate.intake import Intake
from calipers.results.comparison import Advice

RECOMMENDED = 1_000
"""Samples that each set should have: Pillutla et al., JMLR 2023, section 8."""

NAMED = 4


def size_warnings_for(intake: Intake, advice: Sequence[Advice] = ()) -> tuple[str, ...]:
    """Warn of sets below 1,000 samples, and of scores that have not levelled off.

    Parameters
    ----------
    intake
        Both sides, as they are compared.
    advice
        What :func:`calipers.evaluate.advice.advise` found; empty where it was not asked for.
    """
    return (*_few(intake), *_moving(advice))


def _few(intake: Intake) -> Iterable[str]:
    """Warn of fewer samples than the paper recommends."""
    sizes = [("the reference", len(intake.reference.samples))]
    sizes += [(entry.name, min(len(cut.samples) for cut in entry.cuts)) for entry in intake.systems]
    small = [f"{name} ({size:,})" for name, size in sizes if size < RECOMMENDED]
    if small:
        yield (
            f"fewer than {RECOMMENDED:,} samples in {_listed(small)}: scores of so few are biased "
            "and vary more (Pillutla et al., JMLR 2023, section 8): where both sets are small, "
            "wide balls of neighbours can raise precision, recall and coverage; where the "
            "generated set alone is, coverage falls"
        )


def _moving(advice: Sequence[Advice]) -> Iterable[str]:
    """Warn, for each system, of the scores that moved on from half of the samples to all."""
    for system, found in groupby(advice, key=lambda each: each.system):
        moved = [each for each in found if not each.plateau]
        if moved:
            half, n = moved[0].sizes[-2:]
            scores = [f"{each.score} {_step(each)}" for each in moved]
            yield (
                f"{system}: from {half:,} to {n:,} samples these scores still moved: "
                f"{_listed(scores)}; more samples would move them on"
            )


def _step(advice: Advice) -> str:
    return f"by {advice.values[-1] - advice.values[-2]:+.3g}"


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(words[:NAMED]) + more
