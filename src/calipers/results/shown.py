"""One score in the table of a comparison: key, ranking, names and format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.shown import TEXT, UNRANKED
from calipers.score import Better, Score
from calipers.serialise import Plain
from calipers.wording.marks import ARROWS
from calipers.wording.names import clean, is_unranked, label, meaning, text_label, text_meaning
from calipers.wording.numbers import is_share, score_text, value_text

Write = Callable[[Score | None], str]


@dataclass(frozen=True)
class ShownScore(Plain):
    """One shown score, in one view of the samples.

    Attributes
    ----------
    view
        The view, or ``"text"`` for what needs no embeddings.
    metric
        The metric with its options, without the view.
    key
        The key of the scores.
    better
        Where it is better: ``"higher"``, ``"lower"`` or ``"closest"`` to the reference's own value.
    """

    view: str
    metric: str
    key: str
    better: Better = "higher"

    @property
    def base(self) -> str:
        """The metric without its options."""
        return self.metric.partition(":")[0]

    @property
    def ranked(self) -> bool:
        """Whether one of several values can be best."""
        if self.view == TEXT:
            return self.better == "closest" or not is_unranked(self.metric)
        return self.base not in UNRANKED

    @property
    def direction(self) -> str:
        """Its better end: ``"higher"``, ``"lower"`` or ``"closest"``; empty where unranked."""
        return self.better if self.ranked else ""

    @property
    def label(self) -> str:
        """The label of the metric; one of texts says so where embeddings have a namesake."""
        if self.view != TEXT:
            return label(self.metric)
        return f"{'Text ' if self.base in METRICS else ''}{text_label(self.metric)}"

    @property
    def spoken(self) -> str:
        """The full name of the metric in a sentence: ``clipped coverage`` for ``Clip C``."""
        if self.view == TEXT or self.base not in METRICS:
            return self.label.lower()
        name = METRICS[self.base].label
        return self.label.replace(name, self.base.replace("_", " "), 1).lower()

    @property
    def meaning(self) -> str:
        """What the metric measures; empty for an unknown metric."""
        if self.view == TEXT:
            return text_meaning(self.metric)
        return meaning(self.metric) if self.base in METRICS else ""

    @property
    def arrow(self) -> str:
        """The arrow of its better end; empty where there is none."""
        return ARROWS.get(self.direction, "")

    @property
    def write(self) -> Write:
        """The function that formats its values."""
        return value_text if self.view == TEXT else score_text

    def brief(self, score: Score | None, value: float | None, decimals: int = 2) -> str:
        """Write a value with the few digits of a first look."""
        if score is None or value is None:
            return self.write(None)
        if is_share(score):
            return f"{value:.{decimals}f}"
        return self.write(replace(score, value=value))

    def named(self, *, several: bool) -> str:
        """Name it in a sentence, with its view where there are `several`."""
        return f"{self.label} ({clean(self.view)})" if several and self.view else self.label
