"""Every metric by name: what it tells, where its values lie, and how it is read off a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from calipers.errors import InputError, unknown_name
from calipers.metrics.frechet import frechet_score
from calipers.metrics.pair import Pair
from calipers.metrics.support import coverage_score, density_score, precision_score, recall_score
from calipers.score import Score


@dataclass(frozen=True)
class Metric:
    """One metric of the catalogue.

    Attributes
    ----------
    name
        The key under which its score stands.
    tells
        What a person learns from it, in one line.
    score
        Reads the score off a pair; estimates that metrics share are made only once.
    """

    name: str
    tells: str
    score: Callable[[Pair], Score]


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "precision",
            "share of generated samples inside the reference's support: quality",
            lambda pair: precision_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "recall",
            "share of reference samples inside the generated support: diversity",
            lambda pair: recall_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "density",
            "how many reference samples surround a generated one, relative to k: quality",
            lambda pair: density_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "coverage",
            "share of reference samples with a generated one nearby: diversity",
            lambda pair: coverage_score(pair.neighbourhoods, pair.settings.k),
        ),
        Metric(
            "mauve",
            "closeness of the two distributions, raw counts as in mauve-text",
            lambda pair: pair.mauve.mauve,
        ),
        Metric(
            "mauve_star",
            "closeness of the two distributions, smoothed counts",
            lambda pair: pair.mauve.mauve_star,
        ),
        Metric(
            "frontier_integral",
            "average cost of explaining both sets by a mixture, raw counts",
            lambda pair: pair.mauve.frontier_integral,
        ),
        Metric(
            "frontier_integral_star",
            "average cost of explaining both sets by a mixture, smoothed counts",
            lambda pair: pair.mauve.frontier_integral_star,
        ),
        Metric(
            "prd_f8",
            "diversity, from the precision-recall curve over 20 cells",
            lambda pair: pair.prd.f8,
        ),
        Metric(
            "prd_f1_8",
            "quality, from the precision-recall curve over 20 cells",
            lambda pair: pair.prd.f1_8,
        ),
        Metric(
            "frechet_distance",
            "distance between the Gaussians fitted to both sets",
            lambda pair: frechet_score(*pair.moments),
        ),
    )
}


@dataclass(frozen=True)
class Choice:
    """A metric that was asked for, in one view or in all of them."""

    metric: Metric
    view: str | None

    @property
    def key(self) -> str:
        """The choice as a person would write it."""
        return self.metric.name if self.view is None else f"{self.view}.{self.metric.name}"


def choose(names: str | Iterable[str] | None, views: tuple[str, ...]) -> tuple[Choice, ...]:
    """Turn names as a person writes them into metrics and views.

    Parameters
    ----------
    names
        Keys ``[view.]metric``, in a list or in one string; a plain name means every view, a view
        every metric in it, ``all`` (and None) every metric.
    views
        The views of the embedder, the main one first.

    Raises
    ------
    InputError
        If a metric or a view is unknown; the nearest names are suggested.
    """
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    chosen: dict[tuple[str | None, str], Choice] = {}
    for name in ["all"] if names is None else names:
        for choice in _expand(name, views):
            chosen.setdefault((choice.view, choice.metric.name), choice)
    if not chosen:
        raise InputError("metrics must name at least one metric; found none")
    return tuple(chosen.values())


def key(view: str, metric: str, views: tuple[str, ...]) -> str:
    """Return the key of a score: the first view goes without its name."""
    return metric if view == views[0] else f"{view}.{metric}"


def _expand(name: str, views: tuple[str, ...]) -> list[Choice]:
    if name == "all":
        return [Choice(metric, None) for metric in METRICS.values()]
    view, _, rest = name.rpartition(".")
    if view and view not in views:
        raise unknown_name("view", view, views)
    if name in views:
        view, rest = name, "all"
    if rest == "all":
        return [Choice(metric, view) for metric in METRICS.values()]
    base, _, option = rest.partition(":")
    if base not in METRICS:
        raise unknown_name("metric", base, [*METRICS, "all"])
    if option:
        raise InputError(f"metric {base!r} takes no option; found {name!r}")
    return [Choice(METRICS[base], view or None)]
