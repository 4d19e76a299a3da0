"""One metric that was asked for: found by its key, with its options brought to one form."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from calipers.errors import InputError, require
from calipers.metrics.entries import FAMILIES, METRICS, Metric
from calipers.metrics.frontiers import STARRED
from calipers.metrics.keys import (
    COUNTING,
    USUAL,
    Options,
    as_option,
    make_options,
    parse_options,
    split_key,
)
from calipers.metrics.pair import Pair
from calipers.score import Score

PACKAGES = {"transport": "ot"}
"""The package that an extra brings, where a metric cannot do without."""

LISTED = "calipers metrics lists them all"


@dataclass(frozen=True)
class Choice:
    """A metric that was asked for, in one view or in all of them.

    Attributes
    ----------
    metric, options
        What is measured.
    view
        In which view; None for every one.
    named
        Whether it was asked for by its own name, and not as one of many.
    """

    metric: Metric
    view: str | None
    options: Options = USUAL
    named: bool = True

    @property
    def name(self) -> str:
        """The canonical key without a view."""
        return self.options.key(self.metric.name)

    @property
    def key(self) -> str:
        """The canonical key, as a person would write it."""
        return self.name if self.view is None else f"{self.view}.{self.name}"

    def score(self, pair: Pair) -> Score:
        """Read the score off a pair."""
        return self.metric.score(pair, self.options)


def find(name: str, *, estimator: str = COUNTING, view: str | None = None) -> Choice:
    """Look up one metric by ``metric[:option…]``.

    Raises
    ------
    InputError
        If the metric or an option is unknown, or options contradict each other.
    """
    _, base, words = split_key(name)
    if base not in METRICS:
        raise _unknown(base, words)
    return make_choice(METRICS[base], words, view, estimator, named=True)


def check_extras(choices: Iterable[Choice], *, equal_sizes: bool = False) -> None:
    """Say before the long work that a metric asked for by name lacks its package.

    Parameters
    ----------
    choices
        What was asked for; what only came along with others is NaN with the reason instead.
    equal_sizes
        Whether both sets of every pair have one size, for which some metrics need less.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    for choice in choices:
        extra = choice.metric.extra
        spared = equal_sizes and choice.metric.extra_if_unequal
        if choice.named and extra is not None and not spared:
            require(PACKAGES[extra], extra=extra, purpose=f"the metric {choice.name!r}")


def make_choice(
    metric: Metric, words: Sequence[str], view: str | None, estimator: str, *, named: bool
) -> Choice:
    """One metric with its options, brought to the canonical key."""
    chosen = parse_options(metric.name, words, metric.takes)
    said = "estimator" in chosen
    if "estimator" in metric.takes:
        chosen.setdefault("estimator", estimator)
    options = make_options(chosen)
    _check_counted(metric, options, estimator, said=said)
    starred = f"{metric.name}_star"
    if options.smoothing == STARRED and starred in METRICS:
        return Choice(METRICS[starred], view, Options(options.divergence), named)
    return Choice(metric, view, options, named)


def _check_counted(metric: Metric, options: Options, estimator: str, *, said: bool) -> None:
    """Refuse smoothing where no cells are counted, and name the key to ask for.

    An estimator that the key does not say is the one that goes for all of them.
    """
    smooth = is_starred(metric) or options.smoothing != "none"
    used = estimator if is_starred(metric) else options.estimator
    if not smooth or used == COUNTING:
        return
    plain = metric.name.removesuffix("_star")
    instead = repr(Options(options.divergence, used).key(plain))
    key, whence = options.key(metric.name), ""
    if not said:
        key = replace(options, estimator=COUNTING).key(metric.name)
        smoothing = STARRED if is_starred(metric) else options.smoothing
        kept = ":".join((Options(options.divergence).key(plain), COUNTING, smoothing))
        whence = f" (--estimator {used}, estimator={used!r})"
        instead += f", or for {kept!r}"
    raise InputError(
        f"{key!r} smooths the counts of cells, and the estimator {used!r}{whence} "
        f"counts none; ask for {instead}"
    )


def _unknown(base: str, words: Sequence[str]) -> InputError:
    """Say what a name that is no metric may have been meant for."""
    known, low = {*METRICS, *FAMILIES, "all"}, base.lower()
    if low in known:
        return InputError(f"unknown metric {base!r}; did you mean {low!r}?")
    option = as_option(low)
    if option is None:
        near = difflib.get_close_matches(low, sorted(known), n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else LISTED
        return InputError(f"unknown metric {base!r}; {hint}")
    kind, word = option
    first = "divergence" if kind == "a divergence" else "frontier"
    keys = (":".join((metric, word, *words)) for metric in ("mauve", first))
    meant = " or ".join(map(repr, keys))
    return InputError(f"{base!r} is {kind}, an option of a metric; did you mean {meant}?")


def is_starred(metric: Metric) -> bool:
    return metric.name.endswith("_star")
