"""What a comparison says beyond single scores: who differs from whom, and whether sizes suffice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from calipers.results.plain import plain

REFERENCE = "reference"


@dataclass(frozen=True)
class SignificanceTest:
    """Whether two systems differ by one score, or a system from the reference.

    Attributes
    ----------
    a, b
        Names of the systems; `b` is ``"reference"`` where the system is held against that.
    score
        The key of the score, or of the statistic of a test against the reference.
    difference
        Score of `a` less score of `b`, or of their gaps to the reference where those rank them;
        against the reference the statistic itself.
    interval
        Confidence interval of the difference, or None.
    p_value
        How often chance alone would show as much.
    adjusted_p_value
        The same over all tests of this family: between systems by step-down max-T, against the
        reference by Holm.
    paired
        Whether row i of both systems answers the same prompt, and the test made use of that.
    separating_n
        Samples in every set with which a difference of this size would be found in four of five
        runs, all tests allowed for; None where there is none, or it is found already.
    reason
        Why there is no p-value; None otherwise.
    standard_error
        Of the difference; None against the reference.
    detectable
        The smallest true difference that this test, adjusted over its family, would have found in
        four of five runs; None against the reference.
    equivalence
        p-value of the hypothesis that the scores are at least a margin apart, adjusted by Holm over
        all pairs and scores; None where no margin was given.
    """

    a: str
    b: str
    score: str
    difference: float
    interval: tuple[float, float] | None
    p_value: float
    adjusted_p_value: float
    paired: bool = False
    separating_n: int | None = None
    reason: str | None = None
    standard_error: float | None = None
    detectable: float | None = None
    equivalence: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the test as plain data."""
        return {name: plain(value) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Advice:
    """What more samples would change about one score of one system.

    Attributes
    ----------
    system, score
        Whose score, and its key.
    sizes, values
        Numbers of samples, the last that of the run, and the mean score at each, with settings
        held at those of the full run.
    limit
        The value that these lead to with infinitely many samples; NaN where they do not settle.
    bias
        The last value less the limit.
    spread
        Standard error of the score at the full size.
    plateau
        Whether the score still moves less, from half of the samples to all, than the tolerance.
    """

    system: str
    score: str
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    limit: float
    bias: float
    spread: float
    plateau: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        return {name: plain(value) for name, value in asdict(self).items()}
