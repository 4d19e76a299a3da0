"""Choosing metrics: the keys that a person writes, turned into metrics with options."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import (
    COUNTING,
    DEFAULTS,
    ESTIMATORS,
    HELD_OUT,
    JUDGES,
    STARRED,
    EstimationOptions,
)
from calipers.catalogue.keys import TEXT, VIEW, Value, parse_options, split_key, split_text_key
from calipers.catalogue.likelihoods import LIKELIHOOD, LIKELIHOOD_FAMILIES, LIKELIHOODS
from calipers.catalogue.metric import Family, Measured, Metric, MetricKind, Side
from calipers.catalogue.needs import NOTHING, Needs
from calipers.catalogue.suggest import (
    MISSPELT,
    check_known,
    refused,
    refused_text,
    unknown,
    unknown_likelihood,
    unknown_text,
)
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.errors import InputError, require, unknown_name
from calipers.score import Score

TRAIN = "train"
"""The option that compares texts with the training set instead of the reference."""

ITSELF = "itself"
"""The option that compares texts with the others of their own set."""

Need = Literal["reference", "train", "aligned", "itself", "generator"]

REQUIRED: dict[Side, Need | None] = {
    "both": "reference",
    "own": None,
    "against": "reference",
    "aligned": "aligned",
    "models": "generator",
}
"""What metrics need by what they look at, where no option says otherwise."""

Make = Callable[[Metric], "Choice"]

EVERYTHING = ("all", TEXT)
"""What stands for every text metric."""


@dataclass(frozen=True)
class Catalogue:
    """The metrics that one command offers, apart from those on embeddings.

    Attributes
    ----------
    metrics, families
        By name.
    everything
        What stands for all of them.
    noun
        What messages call one of them.
    unknown
        Says what an unknown name may mean.
    """

    metrics: Mapping[str, Metric]
    families: Mapping[str, Family]
    everything: tuple[str, ...]
    noun: str
    unknown: Callable[[str], InputError]


ON_TEXTS = Catalogue(TEXT_METRICS, TEXT_FAMILIES, EVERYTHING, "text", unknown_text)
ON_LIKELIHOODS = Catalogue(
    LIKELIHOODS, LIKELIHOOD_FAMILIES, ("all", LIKELIHOOD), LIKELIHOOD, unknown_likelihood
)


@dataclass(frozen=True)
class Choice:
    """A chosen metric with its options; on embeddings, in one view or in all of them.

    Attributes
    ----------
    metric, options
        What is measured.
    view
        In which view; None for every one, and for texts.
    named
        Whether it was asked for by its own name, and not as one of many.
    """

    metric: Metric
    view: str | None = None
    options: EstimationOptions | Mapping[str, Value] = DEFAULTS
    named: bool = True

    @property
    def name(self) -> str:
        """The canonical key without a view."""
        return self.metric.key(self.options)

    @property
    def key(self) -> str:
        """The canonical key."""
        return self.name if self.view is None else f"{self.view}.{self.name}"

    def option(self, name: str) -> Any:
        """Return the value of an option; None where the metric has no such option."""
        if isinstance(self.options, Mapping):
            return self.options.get(name)
        return getattr(self.options, name, None)

    @property
    def needs(self) -> Need | None:
        """What the metric needs besides the generated set; None for statistics of one set."""
        need: Need | None = self.option("against") or REQUIRED[self.metric.side]
        return None if need == ITSELF else need

    @property
    def sized(self) -> bool:
        """Whether the metric depends on the number of texts, with these options."""
        sized = self.metric.sized
        if isinstance(sized, bool):
            return sized
        return any(self.option(option.name) in sized for option in self.metric.options)

    @property
    def has_gap(self) -> bool:
        """Whether the reference has a value of its own, so that there is a gap."""
        return self.needs in (None, TRAIN)

    def score(self, sets: Measured) -> Score:
        """Read the score from a pair, or from texts and what they are compared with."""
        return self.metric.score(sets, self.options)


def choose(
    names: str | Iterable[str] | None, views: tuple[str, ...], *, estimator: str = COUNTING
) -> tuple[Choice, ...]:
    """Turn names as a person writes them into views and metrics on embeddings.

    Parameters
    ----------
    names
        Keys ``[view.]metric[:option…]``, in a list or in one string; a plain name means every view,
        a view every metric in it, a family (``frontier``, ``prd:knn``) all that take the options,
        ``all`` every metric. A name that a family shares with a metric (``ot``, ``mmd``) means the
        family; a colon at its end, ``ot:``, the metric. None means all but those that take their
        own time.
    views
        The views of the embedder, the main one first.
    estimator
        What metrics of the frontier and of the precision-recall curve are estimated by where their
        name does not say.

    Raises
    ------
    InputError
        If a metric, an option or a view is unknown, or options contradict each other; the nearest
        names are suggested.
    """
    check_estimator(estimator)
    if names is None:
        listed = [metric for metric in METRICS.values() if not metric.on_request]
        choices: Iterable[Choice] = _embedded(listed, (), None, estimator)
    else:
        choices = (
            one for name in split_names(names) for one in _expand(str(name), views, estimator)
        )
    chosen = _each_once(choices)
    if not chosen:
        raise InputError("metrics must name at least one metric; found none")
    return tuple(chosen)


def choose_text(
    metrics: str | Iterable[str] | None = None,
    *,
    reference: bool = True,
    train: bool = False,
    aligned: bool = False,
) -> list[Choice]:
    """Turn keys as a person writes them into text metrics.

    Parameters
    ----------
    metrics
        Keys ``metric[:option…]``, in a list or in one string; a family means all its metrics that
        take the options, ``all`` every metric, both without the slow ones, which are asked for by
        their own name. None means those of the default table. Keys have no view here; a leading
        ``text.`` is taken off.
    reference, train, aligned
        Whether there is a reference, a training set, a reference for each row. What needs one that
        is not there is left out, unless it is asked for by its own name.

    Raises
    ------
    InputError
        If a metric or an option is unknown, one that was named needs what is not there, or nothing
        was named.
    """
    there = {None, *(["reference"] if reference else []), *(["train"] if train else [])}
    there |= {"aligned"} if reference and aligned else set()
    return _choose_of(ON_TEXTS, metrics, lambda choice: choice.needs in there)


def choose_likelihood(
    metrics: str | Iterable[str] | None = None,
    *,
    decoding: bool = False,
    generator: bool = False,
) -> list[Choice]:
    """Turn keys as a person writes them into metrics on language-model likelihoods.

    Parameters
    ----------
    metrics
        Keys ``metric[:option…]``, families or ``all``, as for :func:`choose_text`. None means those
        of the default table.
    decoding
        Whether a decoding is named; without one, metrics of the decoder are left out of what comes
        by default.
    generator
        Whether there are a reference and the model that wrote the texts.

    Raises
    ------
    InputError
        If a metric or an option is unknown, one that was named needs what is not there, or nothing
        was named.
    """
    there = {None, *(["generator"] if generator else [])}
    asked = metrics is not None

    def possible(choice: Choice) -> bool:
        return choice.needs in there and (asked or decoding or choice.metric.family != "decoder")

    return _choose_of(ON_LIKELIHOODS, metrics, possible)


def _choose_of(
    catalogue: Catalogue,
    metrics: str | Iterable[str] | None,
    possible: Callable[[Choice], bool],
) -> list[Choice]:
    """What was asked for and is possible; None for the default table."""
    choices = []
    for choice in _by_default(catalogue) if metrics is None else _all_of(catalogue, metrics):
        if possible(choice):
            choices.append(choice)
        elif choice.named:
            raise missing(choice)
    chosen = _each_once(choices)
    if not chosen:
        shown = "none" if metrics is None or not str(metrics).strip() else repr(metrics)
        raise InputError(f"metrics must name at least one {catalogue.noun} metric; found {shown}")
    return chosen


def find(name: str, *, estimator: str = COUNTING, view: str | None = None) -> Choice:
    """Look up one metric on embeddings by ``metric[:option…]``.

    Raises
    ------
    InputError
        If the metric or an option is unknown, or options contradict each other.
    """
    _, base, words = split_key(name)
    if base not in METRICS:
        raise unknown(base, words)
    return _make(METRICS[base], words, view, estimator, named=True)


def find_text(key: str) -> Choice:
    """Look up one text metric by ``metric[:option…]``.

    Raises
    ------
    InputError
        If the metric or an option is unknown; the nearest names are suggested.
    """
    return _find_in(ON_TEXTS, key)


def find_likelihood(key: str) -> Choice:
    """Look up one metric on language-model likelihoods by ``metric[:option…]``.

    Raises
    ------
    InputError
        If the metric or an option is unknown; the nearest names are suggested.
    """
    return _find_in(ON_LIKELIHOODS, key)


def _find_in(catalogue: Catalogue, key: str) -> Choice:
    base, words = split_text_key(key)
    if base not in catalogue.metrics:
        raise catalogue.unknown(key)
    return _make_text(catalogue.metrics[base], words, named=True)


def is_text_key(key: str) -> bool:
    """Whether a key starts with the name of a text metric or of a family of them."""
    base = split_text_key(key)[0]
    return base in TEXT_METRICS or base in TEXT_FAMILIES or key in EVERYTHING[1:]


def check_spelling(names: Iterable[str], kind: MetricKind) -> None:
    """Refuse misspelt metrics before the data tell which views there are.

    Parameters
    ----------
    names
        Keys of metrics of this kind; on embeddings also of texts, behind ``text.``.
    kind
        What the metrics are measured on.

    Raises
    ------
    InputError
        If a name without its options is unknown; on embeddings, where views and embedders of a
        person's own add names, if it is so near to a metric or family that this must be meant.
    """
    known = {*METRICS, *FAMILIES, "all"}
    for name in names:
        if kind != "embeddings":
            _check_in(ON_TEXTS if kind == "texts" else ON_LIKELIHOODS, name)
        elif name.startswith(VIEW):
            _check_in(ON_TEXTS, name.removeprefix(VIEW))
        else:
            base = split_key(name)[1]
            near = difflib.get_close_matches(base.lower(), known, n=1, cutoff=MISSPELT)
            if near and base not in known:
                check_known([base])


def _check_in(catalogue: Catalogue, name: str) -> None:
    """Refuse a name that a catalogue lacks, whatever its options."""
    base = split_text_key(name)[0]
    if base not in {*catalogue.metrics, *catalogue.families, *catalogue.everything}:
        raise catalogue.unknown(name)


def check_keys(names: Any) -> None:
    """Refuse values that are not a list of keys; None asks for the defaults."""
    if names is None or isinstance(names, str):
        return
    if not isinstance(names, Iterable):
        raise InputError(f"metrics must be a list of keys, or one string; found {names!r}")
    if isinstance(names, Sequence | Set):
        wrong = [name for name in names if not isinstance(name, str)]
        if wrong:
            raise InputError(f"metrics must be strings such as 'form.recall'; found {wrong[0]!r}")


def check_estimator(estimator: Any) -> None:
    """Refuse an unknown name of an estimator."""
    if estimator not in ESTIMATORS:
        raise unknown_name("estimator", str(estimator), ESTIMATORS)


def check_extras(choices: Iterable[Choice], *, equal_sizes: bool = False) -> None:
    """Report, before the long work, that the package of a requested metric is missing.

    Parameters
    ----------
    choices
        What was asked for; what only came along with others is NaN with the reason instead. An
        estimator never comes along.
    equal_sizes
        Whether both sets of every pair have one size, for which some metrics need less.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    for choice in choices:
        metric = choice.metric
        spared = equal_sizes and metric.extra_if_unequal
        if choice.named and metric.extra and metric.package and not spared:
            require(metric.package, extra=metric.extra, purpose=f"the metric {choice.name!r}")
        for word, (extra, package) in metric.option_extras.items():
            if choice.named and word in choice.name.split(":"):
                require(package, extra=extra, purpose=f"the metric {choice.name!r}")
        if choice.option("estimator") == "boosted" and importlib.util.find_spec("sklearn") is None:
            require("sklearn", extra="trees", purpose=f"the metric {choice.key!r}")


def missing(choice: Choice) -> InputError:
    """Build the error for a metric that needs what the input lacks."""
    if choice.needs == TRAIN:
        needed = "a training set (`train`)"
    elif choice.needs == "generator":
        needed = "a reference and the model that wrote the texts (`reference`, `generator`)"
    elif choice.needs == "aligned":
        needed = "a reference for each row (`reference`, `aligned=True`)"
    else:
        needed = "a reference (`reference`)"
    return InputError(f"the metric {choice.key!r} needs {needed}")


def needs_of(metrics: Iterable[Metric]) -> Needs:
    """Combine what these metrics need measured, for `Pair.needs`."""
    needs = NOTHING
    for metric in metrics:
        needs |= metric.needs
    return needs


def key(view: str, metric: str, views: tuple[str, ...]) -> str:
    """Return the key of a score: the first view goes without its name."""
    return metric if view == views[0] else f"{view}.{metric}"


def split_names(names: str | Iterable[str]) -> list[str]:
    """Split names given in a list, or in one string with commas or spaces."""
    return names.replace(",", " ").split() if isinstance(names, str) else list(names)


def _each_once(choices: Iterable[Choice]) -> list[Choice]:
    """One choice for each key and view; what was named goes before what came along."""
    chosen: dict[tuple[str | None, str], Choice] = {}
    for choice in choices:
        place = (choice.view, choice.name)
        if choice.named or place not in chosen:
            chosen[place] = choice
    return list(chosen.values())


def _taking(words: Sequence[str], metrics: Iterable[Metric], make: Make) -> list[Choice]:
    """All of the metrics that take the options."""
    choices = []
    for metric in metrics:
        try:
            choices.append(make(metric))
        except InputError:
            if not words:
                raise
    return choices


def _expand(name: str, views: tuple[str, ...], estimator: str) -> list[Choice]:
    every = list(METRICS.values())
    if name == "all":
        return _embedded(every, (), None, estimator)
    if name in views:
        return _embedded(every, (), name, estimator)
    view, base, words = split_key(name)
    if view and view not in views:
        raise unknown_name("view", view, views)
    if base == "all":
        _check_plain(name, words)
        return _embedded(every, (), view or None, estimator)
    if base in FAMILIES and not name.endswith(":"):
        family = [metric for metric in every if metric.family == base]
        choices = _embedded(family, words, view or None, estimator)
        return choices or [_make(family[0], words, view or None, estimator, named=True)]
    return [find(name, estimator=estimator, view=view or None)]


def _check_plain(name: str, words: Sequence[str]) -> None:
    if words:
        raise InputError(
            f"'all' takes no option; found {name!r}; ask for families such as "
            "'frontier:knn,prd:knn', or `estimator='knn'`"
        )


def _embedded(
    metrics: Iterable[Metric], words: Sequence[str], view: str | None, estimator: str
) -> list[Choice]:
    """All of the metrics that take the options, and can be read from the estimator."""
    counted = estimator == COUNTING
    able = (metric for metric in metrics if counted or metric.alias_of is None)
    return _taking(words, able, lambda one: _make(one, words, view, estimator, named=False))


def _make(
    metric: Metric, words: Sequence[str], view: str | None, estimator: str, *, named: bool
) -> Choice:
    """One metric with its options, brought to the canonical key."""
    chosen = parse_options(metric.name, words, metric.options, refused)
    estimator_chosen = "estimator" in chosen
    if metric.takes("estimator"):
        chosen.setdefault("estimator", estimator)
    options = EstimationOptions(**chosen)  # type: ignore[arg-type]
    _check_counted(metric, options, estimator, estimator_chosen=estimator_chosen)
    _check_points(metric, options)
    alias = METRICS.get(f"{metric.name}_star")
    if alias is not None and options.smoothing == alias.smoothing:
        return Choice(alias, view, EstimationOptions(options.divergence), named)
    return Choice(metric, view, options, named)


def _check_counted(
    metric: Metric, options: EstimationOptions, estimator: str, *, estimator_chosen: bool
) -> None:
    """Refuse smoothing where no cells are counted, and name the key to ask for.

    An estimator that the key does not say is the one that goes for all of them.
    """
    starred = metric.alias_of is not None
    used = estimator if starred else options.estimator
    if used == COUNTING or not (starred or options.smoothing != "none"):
        return
    plain = metric.alias_of or metric.name
    instead = repr(EstimationOptions(options.divergence, used).key(plain))
    key, whence = options.key(metric.name), ""
    if not estimator_chosen:
        key = replace(options, estimator=COUNTING).key(metric.name)
        smoothing = STARRED if starred else options.smoothing
        counted_key = ":".join(
            (EstimationOptions(options.divergence).key(plain), COUNTING, smoothing)
        )
        whence = f" (`estimator={used!r}`)"
        instead += f", or for {counted_key!r}"
    raise InputError(
        f"{key!r} smooths the counts of cells, but the estimator {used!r}{whence} "
        f"has no counts; ask for {instead}"
    )


def _check_points(metric: Metric, options: EstimationOptions) -> None:
    """Refuse a choice of samples that the estimator does not have.

    Over counted cells all means are one, and what judges samples averages no ratios.
    """
    if options.points == HELD_OUT:
        _check_held_out(metric, options)
    elif options.estimator in JUDGES and options.points != DEFAULTS.points:
        instead = replace(options, points=HELD_OUT).key(metric.name)
        raise InputError(
            f"{options.key(metric.name)!r}: {options.points!r} chooses which samples likelihood "
            f"ratios are averaged over, and {options.estimator!r} has none; leave it out, or ask "
            f"for {instead!r}"
        )
    elif options.estimator == COUNTING and options.points != DEFAULTS.points:
        plain = replace(options, points=DEFAULTS.points)
        raise InputError(
            f"{options.key(metric.name)!r}: {options.points!r} chooses which samples likelihood "
            "ratios are averaged over, and over cells all give the same mean; ask for "
            f"{plain.key(metric.name)!r}, or name an estimator, as in "
            f"{replace(options, estimator='knn', smoothing='none').key(metric.name)!r}"
        )


def _check_held_out(metric: Metric, options: EstimationOptions) -> None:
    """Refuse an estimator that trains no classifiers."""
    if options.estimator in (COUNTING, "gaussian"):
        known = [
            word
            for option in metric.options
            if option.name == "estimator"
            for word in option.words
            if word not in (COUNTING, "gaussian")
        ]
        asked = replace(options, estimator="knn").key(metric.name)
        raise InputError(
            f"{options.key(metric.name)!r}: {HELD_OUT!r} takes a classifier of samples, "
            f"{', '.join(known[:-1])} or {known[-1]}; ask for {asked!r}"
        )


def _by_default(catalogue: Catalogue) -> list[Choice]:
    return _each_key(metric for metric in catalogue.metrics.values() if not metric.on_request)


def _all_of(catalogue: Catalogue, names: str | Iterable[str]) -> Iterable[Choice]:
    if not isinstance(names, Iterable):
        raise InputError(f"metrics must be a list of keys, or one string; found {names!r}")
    example = next(name for name in ("self_bleu", "perplexity") if name in catalogue.metrics)
    for name in split_names(names):
        if not isinstance(name, str):
            raise InputError(f"metrics must be strings such as {example!r}; found {name!r}")
        yield from _expand_in(catalogue, name)


def _expand_in(catalogue: Catalogue, name: str) -> list[Choice]:
    base, words = split_text_key(name)
    every = catalogue.metrics.values()
    if base in catalogue.everything:
        if words:
            raise InputError(f"{base!r} takes no option; found {name!r}; ask for metrics by name")
        return _each_key(metric for metric in every if not metric.slow)
    if base in catalogue.families:
        family = [metric for metric in every if metric.family == base]
        if not words:
            return _each_key(metric for metric in family if not metric.slow)
        choices = _taking(words, family, lambda one: _make_text(one, words, named=False))
        return choices or [_make_text(family[0], words, named=True)]
    return [_find_in(catalogue, name)]


def _each_key(metrics: Iterable[Metric]) -> list[Choice]:
    """Metrics by the keys of the default table."""
    return [
        _make_text(metric, split_text_key(key)[1], named=False)
        for metric in metrics
        for key in metric.keys
    ]


def _make_text(metric: Metric, words: Sequence[str], *, named: bool) -> Choice:
    """One metric with its options; of an option without a default there is one choice."""
    parsed = parse_options(metric.name, words, metric.options, refused_text)
    usual = {
        option.name: option.default or option.words[0] for option in metric.options if option.words
    }
    numbers = {option.name: option.default for option in metric.options if not option.words}
    chosen = {**usual, **numbers, **parsed}
    options = {option.name: chosen[option.name] for option in metric.options}
    return Choice(metric, options=options, named=named)
