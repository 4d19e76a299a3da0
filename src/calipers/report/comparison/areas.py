"""The area under the ROC curve of the tests, added to the scores of a view."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.catalogue.shown import views_of
from calipers.report.shown import metric_of
from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore
from calipers.results.significance import against_reference

AUC = "classifier_auc"

Marked = tuple[ShownScore, Sequence[str]]
"""A score, and the mark of every system by it."""


def with_areas(
    comparison: Comparison, metrics: Sequence[ShownScore], marks: Sequence[Sequence[str]]
) -> list[Marked]:
    """Add the area to the scores of each view whose tests use it and that has no column for it.

    Systems are not tested against each other by it, so that it has no marks.
    """
    known = {metric.key for metric in metrics}
    tested = {test.score for test in against_reference(comparison)}
    columns: list[Marked] = []
    for view in dict.fromkeys(metric.view for metric in metrics):
        pairs = zip(metrics, marks, strict=True)
        columns += [(metric, column) for metric, column in pairs if metric.view == view]
        key = AUC if view == views_of(comparison.settings)[0] else f"{view}.{AUC}"
        if key in tested and key not in known:
            columns.append((metric_of(comparison, key), ("",) * len(comparison)))
    return columns
