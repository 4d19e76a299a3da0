"""The options in the key of a score, ``metric[:option…]``, and how a person may write them.

A word says by itself what it chooses, so the order is free: ``mauve:knn:chi2`` is
``mauve:chi2:knn``. The canonical key has the divergence first and leaves out what is usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from calipers.curves.divergences import DIVERGENCES, WEIGHTED, find_divergence
from calipers.errors import InputError, unknown_name
from calipers.estimate.estimators import ESTIMATORS as CATALOGUE
from calipers.estimate.histograms import SMOOTHINGS, Smoothing

Axis = Literal["divergence", "estimator", "smoothing"]

COUNTING = "quantisation"
"""The estimator that counts cells; the others give likelihood ratios."""

ESTIMATORS = (COUNTING, *(name for name, each in CATALOGUE.items() if each.estimate is not None))
"""What a frontier or a precision-recall curve of two sets of rows can be estimated by."""

KIND: dict[Axis, str] = {
    "divergence": "a divergence",
    "estimator": "an estimator",
    "smoothing": "a smoothing",
}


@dataclass(frozen=True)
class Options:
    """What the key of a score chooses.

    Attributes
    ----------
    divergence
        Name of an f-divergence, as :func:`calipers.curves.divergences.find_divergence` knows it.
    estimator
        What relates the two distributions: ``"quantisation"`` counts cells, the others give
        likelihood ratios.
    smoothing
        What is added to the counts of cells.
    """

    divergence: str = "kl"
    estimator: str = COUNTING
    smoothing: Smoothing = "none"

    @property
    def words(self) -> tuple[str, ...]:
        """What is not usual, in the canonical order."""
        chosen = (self.divergence, self.estimator, self.smoothing)
        return tuple(
            word
            for word, usual in zip(chosen, ("kl", COUNTING, "none"), strict=True)
            if word != usual
        )

    def key(self, metric: str) -> str:
        """The canonical key of a metric with these options.

        Examples
        --------
        >>> Options(divergence="chi2", estimator="knn").key("mauve")
        'mauve:chi2:knn'
        """
        return ":".join((metric, *self.words))


USUAL = Options()
ELSEWHERE = {
    "train": "a training set (--train FILE, train=...) brings these scores by itself",
    "group=": "a field of groups (--group FIELD, group=...) brings these scores by itself",
    "own=": "a field of groups (--group FIELD, group=...) brings these scores by itself",
}
"""The options of scores that come without being asked for."""


def split_key(key: str) -> tuple[str, str, tuple[str, ...]]:
    """Take a key apart into its view (empty for none), its metric and its options.

    Examples
    --------
    >>> split_key("form.divergence:interpolated_kl=0.3:knn")
    ('form', 'divergence', ('interpolated_kl=0.3', 'knn'))
    """
    head, _, rest = key.partition(":")
    name, equals, weight = head.partition("=")  # the point of a weight ends no view
    view, _, metric = name.rpartition(".")
    return view, f"{metric}{equals}{weight}", tuple(rest.split(":")) if rest else ()


def parse_options(metric: str, words: Sequence[str], takes: Sequence[Axis]) -> dict[Axis, str]:
    """Read the options of a metric, in any order.

    Parameters
    ----------
    metric
        Its name.
    words
        The options as a person wrote them.
    takes
        What the metric lets choose.

    Raises
    ------
    InputError
        If a word is unknown or its weight is, the metric does not take it, or it is the second one
        of its kind.
    """
    chosen: dict[Axis, str] = {}
    for word in words:
        axis = _axis(word)
        if axis is None or axis not in takes:
            raise _refused(metric, words, word, axis, takes)
        value = find_divergence(word).name if axis == "divergence" else word
        if axis in chosen:
            raise InputError(
                f"{':'.join((metric, *words))!r} names {KIND[axis]} twice, "
                f"{chosen[axis]!r} and {value!r}; give one"
            )
        chosen[axis] = value
    return chosen


def make_options(chosen: Mapping[Axis, str]) -> Options:
    """Make options of words that were read."""
    return Options(**chosen)  # type: ignore[arg-type]


def vocabulary(axis: Axis) -> tuple[str, ...]:
    """The words of an option; a divergence that takes a weight is shown with one half."""
    if axis == "divergence":
        return (*DIVERGENCES, *(f"{name}=0.5" for name in WEIGHTED))
    return ESTIMATORS if axis == "estimator" else SMOOTHINGS


def as_option(word: str) -> tuple[str, str] | None:
    """What an option is, and how it is written; None for a word that is no option.

    Examples
    --------
    >>> as_option("chi2")
    ('a divergence', 'chi2')
    """
    axis = _axis(word)
    if axis is None:
        return None
    return KIND[axis], f"{word}=0.5" if word in WEIGHTED else word


def _axis(word: str) -> Axis | None:
    """What a word chooses; None where it is unknown."""
    if word.partition("=")[0] in (*DIVERGENCES, *WEIGHTED):
        return "divergence"
    if word in ESTIMATORS:
        return "estimator"
    return "smoothing" if word in SMOOTHINGS else None


def _refused(
    metric: str, words: Sequence[str], word: str, axis: Axis | None, takes: Sequence[Axis]
) -> InputError:
    """Say that a metric does not take a word, and what it would take."""
    key = f"{metric}:{word}"
    for start, way in ELSEWHERE.items():
        if word.startswith(start):
            return InputError(f"metric {metric!r} takes no option; found {key!r}; {way}")
    if not takes:
        return InputError(f"metric {metric!r} takes no option; found {key!r}")
    if metric.endswith("_star") and axis in ("estimator", "smoothing"):
        why = "estimates by counts of cells" if axis == "estimator" else "has its own smoothing"
        plain = ":".join((metric.removesuffix("_star"), *words))
        return InputError(f"{key!r}: {metric} {why}; ask for {plain!r}")
    if axis is None:
        known = [word for axis in takes for word in vocabulary(axis)]
        near = word.lower() if word.lower() in known else word
        meant = f"; did you mean {near!r}?" if near != word else ""
        wrong = f"unknown option {word!r}{meant}" if meant else unknown_name("option", word, known)
        return InputError(f"{key!r}: {wrong}")
    listed = " and ".join(KIND[axis] for axis in takes)
    return InputError(f"metric {metric!r} takes no {axis}, only {listed}; found {key!r}")
