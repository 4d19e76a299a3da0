"""Monitoring of a model in training for loss of variety; shared by the callbacks of all trainers.

A :class:`Monitor` compares what the model writes now with a :class:`calipers.Reference` and holds
the watched score, by default recall, against an earlier evaluation. It has fallen where its whole
interval lies below that of the earlier one: ``now.high < earlier.low``. The point value decides
nothing. The best of many evaluations is in part the luckiest, so that one fall below it may be
chance: by default it takes two in a row to warn. ``research/experiments/false_alarms.py`` counts
the runs that warn though nothing changes.

What it does not detect: a fall of less than both intervals, a model that was poor before the
earlier evaluation, and whatever the embedder does not see.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from calipers.errors import InputError, unknown_name
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.validation import check_choice, check_whole
from calipers.results.reading import REMEDY
from calipers.uncertainty.proportions import share_interval

if TYPE_CHECKING:
    from calipers.evaluate.reference import Reference
    from calipers.results import Comparison
    from calipers.score import Score

PREFIX = "calipers/"
"""What stands before every name that is logged."""

Against = Literal["best", "first"]


class CollapseWarning(UserWarning):
    """A watched score fell below its earlier interval during training."""


@dataclass(frozen=True)
class MeasuredScore:
    """A score with its interval; both ends are None without one."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, score: Score, level: float) -> MeasuredScore:
        """Take value and interval of a score.

        A share that is 0 or 1 in every replicate, as recall is where all samples are one, has no
        interval of replicates; it gets Wilson's, of as many rows as the share is of.
        """
        if score.interval is not None:
            return cls(score.value, *score.interval)
        rows = score.per_sample
        if rows is not None and score.range == (0.0, 1.0) and score.value in score.range:
            z = NormalDist().inv_cdf((1 + level) / 2)
            return cls(score.value, *share_interval(score.value, len(rows), z))
        return cls(score.value)

    def below(self, other: MeasuredScore) -> bool:
        """Whether the whole interval lies below another; False without intervals."""
        return self.high is not None and other.low is not None and self.high < other.low

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.2f}"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class TrainingEvaluation:
    """The result of one comparison during training.

    Attributes
    ----------
    step
        After how many steps of training.
    scores
        With their intervals, by key.
    watched
        The key of the score that is watched.
    earlier
        The evaluation that it is compared with; None for the first.
    fallen
        Whether the interval of the watched score lies below that of `earlier`.
    collapsed
        Whether it did so in as many evaluations in a row as were asked for.
    seconds
        How long the comparison took, embedding included, without the writing of the samples.
    comparison
        Everything that was measured.
    """

    step: int
    scores: Mapping[str, MeasuredScore]
    watched: str
    earlier: TrainingEvaluation | None = None
    fallen: bool = False
    collapsed: bool = False
    seconds: float = 0.0
    comparison: Comparison | None = field(default=None, repr=False)

    @property
    def measured(self) -> MeasuredScore:
        """Value and interval of the watched score."""
        return self.scores[self.watched]

    def logs(self) -> dict[str, float]:
        """Return the values to log: scores, ends of intervals, and whether the score collapsed.

        Examples
        --------
        >>> TrainingEvaluation(20, {"recall": MeasuredScore(0.5, 0.4, 0.6)}, "recall").logs()
        {'calipers/recall': 0.5, 'calipers/recall_low': 0.4, 'calipers/recall_high': 0.6, \
'calipers/collapsed': 0.0, 'calipers/seconds': 0.0}
        """
        logs: dict[str, float] = {}
        for key, score in self.scores.items():
            logs[f"{PREFIX}{key}"] = score.value
            if score.low is not None and score.high is not None:
                logs |= {f"{PREFIX}{key}_low": score.low, f"{PREFIX}{key}_high": score.high}
        return {
            **logs,
            f"{PREFIX}collapsed": float(self.collapsed),
            f"{PREFIX}seconds": self.seconds,
        }

    def __str__(self) -> str:
        text = f"step {self.step}: {self.watched} {self.measured}"
        if self.earlier is None or not self.fallen:
            return text
        return (
            f"{text}, below {self.earlier.measured} at step {self.earlier.step}: what the model "
            "writes covers less of the reference than before (mode collapse)"
        )


@dataclass
class Monitor:
    """Compares samples of a model in training with a reference, and warns of a collapse.

    Parameters
    ----------
    reference
        Embedded once, and kept for all comparisons.
    metrics
        The metrics, as for :func:`calipers.compare`, including the watched score.
    watch
        The key of the watched score, which must be one where higher is better.
    against
        The evaluation to compare with: ``"best"``, the one so far whose interval reaches no lower
        than that of any other, or ``"first"``, which is the model before training.
    patience
        Number of consecutive evaluations below it that count as a collapse.
    options
        Further options of :func:`calipers.compare`. By default no noise floor is measured.

    Attributes
    ----------
    evaluations
        All of them, in their order.

    Raises
    ------
    InputError
        If a choice is unknown, or `reference` is no reference or too small for intervals.
    """

    reference: Reference
    metrics: str | Sequence[str] = ("precision", "recall", "coverage")
    watch: str = "recall"
    against: Against = "best"
    patience: int = 2
    options: Mapping[str, Any] = field(default_factory=dict)
    evaluations: list[TrainingEvaluation] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        from calipers.evaluate.reference import Reference

        if not isinstance(self.reference, Reference):
            raise InputError(
                "reference must be a calipers.Reference, which is embedded once; found "
                f"{type(self.reference).__name__}"
            )
        check_choice("against", self.against, ("best", "first"))
        check_whole("patience", self.patience, 1)
        check_enough("the reference", len(self.reference.samples), self.k)

    @property
    def k(self) -> int:
        """The k of the k-NN balls."""
        return int(self.options.get("k", 4))

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        level = self.options.get("level", 0.95)
        if level is None:
            raise InputError("level must be a number: collapse is judged by intervals; found None")
        return float(level)

    def evaluate(self, step: int, samples: Any) -> TrainingEvaluation | None:
        """Compare samples with the reference, and warn if the watched score has fallen.

        A comparison that fails is an error the first time; later it is a warning and returns None,
        so that training continues. So are samples of which the embedder knows too few words, at any
        time; a reference like that is an error.

        Raises
        ------
        InputError
            If the first comparison cannot be made, does not measure what is watched, or the
            embedder knows too few of the reference's words.
        """
        start = time.perf_counter()
        options = {"floor": False, **self.options, "metrics": self._asked}
        try:
            comparison = self.reference.compare(samples, **options)
        except InputError as error:
            if not self.evaluations:
                raise
            warnings.warn(f"step {step} was not measured: {error}", CollapseWarning, stacklevel=2)
            return None
        (system,) = comparison
        if system.withheld is not None:
            read = comparison.reference.reading
            if read is not None and read.too_little:
                raise InputError(f"the reference cannot be read: {system.withheld}; {REMEDY}")
            message = f"step {step} was not measured: {system.withheld}"
            warnings.warn(message, CollapseWarning, stacklevel=2)
            return None
        scores = {
            key: MeasuredScore.of(score, self.level)
            for key, score in system.scores.items()
            if score.better in ("higher", "lower")
        }
        if self.watch not in scores or system.scores[self.watch].better != "higher":
            usable = [key for key in scores if system.scores[key].better == "higher"]
            raise InputError(
                f"watch must name a measured score of which higher is better; "
                f"{unknown_name('score', self.watch, usable)}"
            )
        evaluation = self.decide(step, scores, time.perf_counter() - start, comparison)
        if evaluation.collapsed and not (
            len(self.evaluations) > 1 and self.evaluations[-2].collapsed
        ):
            warnings.warn(str(evaluation), CollapseWarning, stacklevel=2)
        return evaluation

    def decide(
        self,
        step: int,
        scores: Mapping[str, MeasuredScore],
        seconds: float = 0.0,
        comparison: Comparison | None = None,
    ) -> TrainingEvaluation:
        """Compare scores with earlier ones, and record them."""
        earlier = self.earlier
        fallen = earlier is not None and scores[self.watch].below(earlier.measured)
        before = self.evaluations[len(self.evaluations) - self.patience + 1 :]
        lasting = len(before) == self.patience - 1 and all(
            evaluation.fallen for evaluation in before
        )
        evaluation = TrainingEvaluation(
            step, scores, self.watch, earlier, fallen, fallen and lasting, seconds, comparison
        )
        self.evaluations.append(evaluation)
        return evaluation

    @property
    def earlier(self) -> TrainingEvaluation | None:
        """The evaluation that the next one is compared with; None for the first."""
        known = [
            evaluation for evaluation in self.evaluations if evaluation.measured.low is not None
        ]
        if not known or self.against == "first":
            return known[0] if known else None
        return max(known, key=lambda evaluation: evaluation.measured.low or 0.0)

    @property
    def _asked(self) -> list[str]:
        """The metrics with the watched one, which may be one of a view."""
        asked = self.metrics.split(",") if isinstance(self.metrics, str) else list(self.metrics)
        wanted = self.watch.rpartition(".")[2]
        return asked if self.watch in asked or wanted in asked else [*asked, self.watch]


def least_samples(k: int = 4) -> int:
    """Return the samples that intervals need: k + 1 for each block of the jackknife."""
    return DEFAULT_BLOCKS * (k + 1)


def check_enough(whose: str, n: int, k: int = 4) -> None:
    """Refuse sets that are too small for intervals.

    Raises
    ------
    InputError
        If there are fewer rows than k + 1 for each of the blocks of the jackknife.
    """
    least = least_samples(k)
    if n < least:
        raise InputError(
            f"{whose} must have at least {least} samples, since collapse is judged by intervals, "
            f"which take {DEFAULT_BLOCKS} blocks of k + 1 = {k + 1}; found {n}"
        )
