"""Which scores of a comparison are shown, and hence have intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.shown import ELSEWHERE, HEADLINE, split_view, views_of
from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore


def with_shown(comparison: Comparison) -> Comparison:
    """Choose what the table shows: the requested scores, else the headline, in every view."""
    settings = comparison.settings
    better = {
        key: score.better
        for system in reversed(comparison.systems)
        for key, score in system.scores.items()
    }
    shown = shown_scores(
        (key for system in comparison.systems for key in system.scores),
        views_of(settings),
        settings.get("metrics_shown"),
        settings.get("estimator", COUNTING),
    )
    chosen = (replace(score, better=better[score.key]) for score in shown)
    return replace(comparison, shown=tuple(chosen))


def shown_scores(
    keys: Iterable[str],
    views: Sequence[str],
    asked: Sequence[str] | None = None,
    estimator: str = COUNTING,
) -> list[ShownScore]:
    """Choose the scores to show: those requested, else the headline, in every view.

    Parameters
    ----------
    keys
        Those of all scores, in their order.
    views
        The views of the embedder, the main one first.
    asked
        The metrics that were asked for, without views; None for none in particular.
    estimator
        What frontiers are estimated by where a key does not say.

    Returns
    -------
    list of ShownScore
        Where they are better is known of measured scores alone.
    """
    known = list(dict.fromkeys(keys))
    names = _shown_names(known, views, asked, estimator)
    every = [
        ShownScore(view, metric, metric if place == 0 else f"{view}.{metric}")
        for place, view in enumerate(views)
        for metric in names
    ]
    return [shown for shown in every if shown.key in known]


def _shown_names(
    known: Sequence[str], views: Sequence[str], asked: Sequence[str] | None, estimator: str
) -> list[str]:
    """Return the keys to show without views; some scores have tables of their own."""
    if asked:
        return list(dict.fromkeys(split_view(key, views)[1] for key in asked))
    usual = [key for key in known if not any(option in key for option in ELSEWHERE)]
    present = list(dict.fromkeys(split_view(key, views)[1] for key in usual))
    headline = [_by_estimator(name, estimator) for name in HEADLINE]
    return [name for name in headline if name in present] or present


def _by_estimator(metric: str, estimator: str) -> str:
    """The key of a headline metric where frontiers are not read from counts of cells."""
    counted = estimator == COUNTING or not metric.endswith("_star")
    return metric if counted else f"{metric.removesuffix('_star')}:{estimator}"
