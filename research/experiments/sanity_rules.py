"""What a check demands of a curve of scores, as a rule that says itself in words.

A rule looks at an array with a row for each setting of a check and a column for each of its points
(means over the seeds). All rows must keep it. An undefined value (NaN) keeps no rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Curves = NDArray[np.float64]

NEAR = 0.05
"""How far a value may lie from where it should be, or move where it should stay."""


@dataclass(frozen=True)
class Rule:
    """Words for a person and the same thing as a predicate."""

    words: str
    holds: Callable[[Curves], bool]

    def __and__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.words}; {other.words}", lambda each: self.holds(each) and other.holds(each)
        )

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.words}, or {other.words}", lambda each: self.holds(each) or other.holds(each)
        )


def stays(most: float = NEAR) -> Rule:
    """The curve is flat."""
    return Rule(
        f"moves by at most {most:g}", lambda each: bool((np.ptp(each, axis=1) <= most).all())
    )


def falls(by: float = 0.2, *, half: float | None = None, noise: float = NEAR) -> Rule:
    """The curve goes down from the first point to the last, up to some noise."""

    def holds(each: Curves) -> bool:
        middle = each[:, (each.shape[1] - 1) // 2]
        return bool(
            (each[:, 0] - each[:, -1] >= by).all()
            and (half is None or (each[:, 0] - middle >= half).all())
            and (np.diff(each, axis=1) <= noise).all()
        )

    already = f", by at least {half:g} at half way" if half else ""
    return Rule(f"falls by at least {by:g}{already}, no step up above {noise:g}", holds)


def never_rises(most: float = 0.02) -> Rule:
    """The curve may fall or stay, and nowhere lies above its start."""
    return Rule(
        f"never more than {most:g} above its start",
        lambda each: bool((each <= each[:, :1] + most).all()),
    )


def holds_up() -> Rule:
    """The curve may rise to 1, but neither fall nor pass it."""
    return Rule(
        f"never more than {NEAR:g} below its start, nor above {1 + NEAR:g}",
        lambda each: bool((each >= each[:, :1] - NEAR).all() and (each <= 1 + NEAR).all()),
    )


def peaks(by: float = 0.2, *, noise: float = NEAR) -> Rule:
    """The middle of the curve is its top, and both ends lie lower."""

    def holds(each: Curves) -> bool:
        middle = each[:, each.shape[1] // 2]
        ends = np.maximum(each[:, 0], each[:, -1])
        return bool((middle - ends >= by).all() and (each.max(axis=1) - middle <= noise).all())

    return Rule(f"both ends at least {by:g} below the middle, nothing {noise:g} above it", holds)


def near(target: float, *, at: tuple[int, ...] | None = None, where: str = "") -> Rule:
    """Values lie within `NEAR` of a target, at some of the points or at all."""

    def holds(each: Curves) -> bool:
        chosen = each if at is None else each[:, list(at)]
        return bool((np.abs(chosen - target) <= NEAR).all())

    return Rule(f"within {NEAR:g} of {target:g}" + (f" {where}" if where else ""), holds)


def settings(*rules: tuple[str, Rule]) -> Rule:
    """Another rule for each setting of the check, in their order."""

    def holds(each: Curves) -> bool:
        return all(rule.holds(each[i : i + 1]) for i, (_, rule) in enumerate(rules))

    return Rule("; ".join(f"{name}: {rule.words}" for name, rule in rules), holds)


def follows(shares: tuple[float, ...]) -> Rule:
    """Values equal known shares, point by point, within `NEAR`."""
    return Rule(
        f"within {NEAR:g} of the true share",
        lambda each: bool((np.abs(each - np.array(shares)) <= NEAR).all()),
    )
