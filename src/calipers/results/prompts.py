"""How far a system and the reference answer the same prompts, as a result tells it."""

from __future__ import annotations

from dataclasses import dataclass

from calipers.serialise import Plain


@dataclass(frozen=True)
class PromptOverlap(Plain):
    """How many prompts a system and the reference share; tests permute labels within these.

    Attributes
    ----------
    shared
        Prompts that both sides answer.
    by
        How they are known: ``"prompt"`` (rows name them), ``"paired"`` (a person said that row i
        answers prompt i), ``"openings"`` (texts begin alike).
    reference, generated
        The share of the rows of either side whose prompt the other answers too, in (0, 1].
    """

    shared: int
    by: str
    reference: float
    generated: float
