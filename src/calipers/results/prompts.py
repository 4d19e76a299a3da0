"""The overlap of the prompts of a system and the reference, in results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calipers.serialise import Plain


@dataclass(frozen=True)
class PromptOverlap(Plain):
    """The number of prompts that a system and the reference share, for tests within prompts.

    Attributes
    ----------
    shared
        Prompts that both sides answer.
    by
        How they are known: ``"prompt"`` (rows name them), ``"paired"`` (a person said that row i
        answers prompt i), ``"openings"`` (texts begin alike).
    reference, generated
        The share of the rows of either side whose prompt the other answers too, in (0, 1].
    scored
        How the scores hold the prompts constant: ``"residual"`` or ``"others"`` (`shared_prompts`);
        None where they do not.
    explained
        By view, the share of the variance of the reference's answers that their prompts explain,
        each answer predicted by those to other prompts; None where that was not looked at.
    addressed
        The share of reference answers to other prompts that lie further from an answer than one to
        its own prompt does, on average; 0.5 by chance. None where that was not looked at.
    """

    _optional = ("scored", "explained", "addressed")

    shared: int
    by: str
    reference: float
    generated: float
    scored: str | None = None
    explained: Mapping[str, float] | None = None
    addressed: float | None = None
