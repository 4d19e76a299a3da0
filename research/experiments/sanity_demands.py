"""What a check is made of: the sets that it draws, and what it demands of each kind of metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sanity_draws import Pair
from sanity_metrics import COPYING, DIVERSITY, FIDELITY, KINDS, NOVELTY
from sanity_rules import Rule


@dataclass(frozen=True)
class Demand:
    """What a kind of metric must do in a check, and why, in one sentence."""

    sentence: str
    rule: Rule


@dataclass(frozen=True)
class Check:
    """A series of pairs of sets, and what the scores must do along it.

    Attributes
    ----------
    name, tells
        Its short name, and what happens in it.
    draw
        (setting, point, generator, n) → reference and generated set.
    settings, points
        What each row and each column of the values stands for.
    demands
        What is demanded of each kind of metric; kinds that are absent are not checked.
    """

    name: str
    tells: str
    draw: Callable[[Any, Any, Any, int], Pair]
    settings: tuple[Any, ...]
    points: tuple[Any, ...]
    demands: dict[str, Demand]

    def demand(self, metric: str) -> Demand | None:
        """What it demands of a metric, if anything."""
        return self.demands.get(KINDS[metric])


def both(sentence: str, rule: Rule) -> dict[str, Demand]:
    """The same demand on fidelity and on diversity."""
    return dict.fromkeys((FIDELITY, DIVERSITY), Demand(sentence, rule))


def every(sentence: str, rule: Rule) -> dict[str, Demand]:
    """The same demand on every metric."""
    return dict.fromkeys((FIDELITY, DIVERSITY, NOVELTY, COPYING), Demand(sentence, rule))


def each(fidelity: tuple[str, Rule], diversity: tuple[str, Rule]) -> dict[str, Demand]:
    """One demand on fidelity, another on diversity."""
    return {FIDELITY: Demand(*fidelity), DIVERSITY: Demand(*diversity)}
