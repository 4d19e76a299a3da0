"""Options in the key of a score, ``[view.]metric[:option…]``, and their accepted spellings.

A number carries its name (``n=2``), a word alone says what it chooses (``chi2``, ``sample``;
where options are named, ``per=sample`` is understood too), so the order is free. The canonical key
has the options in the order of the catalogue and leaves out what is the default:
``distinct:sample:n=1`` is ``distinct:sample``, ``mauve:knn:chi2`` is ``mauve:chi2:knn``.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from calipers.errors import InputError

Value = int | float | str

TEXT = "text"
"""What stands for all metrics of texts where views of embeddings stand beside them."""

VIEW = f"{TEXT}."
"""What stands before the key of a text metric there."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option in the key of a metric.

    Attributes
    ----------
    name
        What the choice is called; a number is written ``name=value``.
    default
        What is chosen where the key is silent.
    tells
        What it changes, for a person.
    words
        The words to choose from, the default first; empty for a number.
    least, most
        The smallest and the largest number that it may be.
    whole
        Whether the number must be whole; others may be infinite (``inf``).
    article
        The name with its article, where a word is always used alone.
    weighted
        Further words that carry a weight, as ``interpolated_kl=0.3``.
    example
        What may stand behind those words.
    parse
        ``module:function`` that finds what a word with a weight means, with its one ``name``.
    labels
        What words are called in the label of a score; under ``""``, a number that is not said.
    phrases
        What words, or numbers, are called in a sentence; under ``""``, any other number.
    """

    name: str
    default: Value
    tells: str
    words: tuple[str, ...] = ()
    least: float = 1
    most: float = math.inf
    whole: bool = True
    article: str = ""
    weighted: tuple[str, ...] = ()
    example: str = "0.5"
    parse: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    phrases: Mapping[str, str] = field(default_factory=dict, hash=False)

    def written(self, value: Value) -> str:
        """Write a choice as keys do."""
        return str(value) if self.words else f"{self.name}={value}".removesuffix(".0")

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that a key may hold: the words, or the number by its default."""
        if not self.words:
            return (self.written(self.default),)
        return (*self.words, *(f"{name}={self.example}" for name in self.weighted))

    def holds(self, word: str) -> bool:
        """Whether a word of a key sets this option."""
        name, equals, value = word.partition("=")
        if self.article and self.words:
            return word in self.words or (bool(self.weighted) and name in self.names)
        named = bool(equals) and name == self.name
        return word in self.words or (named and (not self.words or value in self.words))

    @property
    def names(self) -> tuple[str, ...]:
        """The accepted words, without weights."""
        return (*self.words, *self.weighted)

    def value(self, metric: str, word: str) -> Value:
        """Parse the value of a word that sets this option.

        Raises
        ------
        InputError
            If a number or a weight is out of its range.
        """
        if not self.words:
            return _number(metric, word, self)
        if word in self.words:
            return word
        if self.parse:
            module, _, function = self.parse.partition(":")
            parsed: str = getattr(importlib.import_module(module), function)(word).name
            return parsed
        return word.partition("=")[2]

    def unsaid(self, words: Sequence[str]) -> str:
        """Return the part of a label for this option where a key leaves it out."""
        if self.words:
            silent = not any(word in self.words for word in words)
            return self.labels.get(str(self.default), "") if silent else ""
        silent = not any(word.startswith(f"{self.name}=") for word in words)
        return self.labels.get("", "").format(self.default) if silent else ""

    def sentence(self, words: Sequence[str]) -> str:
        """Describe the choices of a key in the words of a sentence."""
        start = f"{self.name}="
        if self.words:
            chosen = (word for word in words if word in self.words)
        else:
            chosen = (word.removeprefix(start) for word in words if word.startswith(start))
        value = next(chosen, str(self.default))
        return (
            self.phrases[value]
            if value in self.phrases
            else self.phrases.get("", "{}").format(value)
        )


Refuse = Callable[[str, Sequence[str], str, Sequence[Option]], InputError]
"""Metric, words, the word that no option holds, options ──► what to say of it."""


def split_key(key: str) -> tuple[str, str, tuple[str, ...]]:
    """Split a key into its view (empty for none), its metric and its options.

    Examples
    --------
    >>> split_key("form.divergence:interpolated_kl=0.3:knn")
    ('form', 'divergence', ('interpolated_kl=0.3', 'knn'))
    """
    head, words = _split(key)
    name, equals, weight = head.partition("=")  # the point of a weight ends no view
    view, _, metric = name.rpartition(".")
    return view, f"{metric}{equals}{weight}", words


def split_text_key(key: str) -> tuple[str, tuple[str, ...]]:
    """Split the key of a text metric; a leading ``text.`` is the only view that it may have.

    Examples
    --------
    >>> split_text_key("text.distinct:n=2:sample")
    ('distinct', ('n=2', 'sample'))
    """
    return _split(key.removeprefix(VIEW))


def canonical(metric: str, options: Sequence[Option], chosen: Mapping[str, Value]) -> str:
    """Return the key of a metric with its options, defaults left out.

    Examples
    --------
    >>> n = Option(name="n", default=1, tells="tokens of an n-gram")
    >>> canonical("distinct", [n], {"n": 2}), canonical("distinct", [n], {"n": 1})
    ('distinct:n=2', 'distinct')
    """
    words = [
        option.written(chosen[option.name])
        for option in options
        if chosen[option.name] != option.default
    ]
    return ":".join((metric, *words))


def parse_options(
    metric: str, words: Sequence[str], options: Sequence[Option], refuse: Refuse
) -> dict[str, Value]:
    """Parse the options of a key, in any order.

    Raises
    ------
    InputError
        If the metric does not take a word, a number or a weight is out of its range, or one thing
        is chosen twice.
    """
    chosen: dict[str, Value] = {}
    for word in words:
        option = next((known for known in options if known.holds(word)), None)
        if option is None:
            raise refuse(metric, words, word, options)
        value = option.value(metric, word)
        if option.name in chosen:
            raise _twice(metric, words, option, (chosen[option.name], value), word)
        chosen[option.name] = value
    return chosen


def _split(key: str) -> tuple[str, tuple[str, ...]]:
    head, _, rest = key.partition(":")
    return head, tuple(rest.split(":")) if rest else ()


def _number(metric: str, word: str, option: Option) -> Value:
    """Read the number behind ``name=``."""
    text = word.partition("=")[2]
    shape = r"[0-9]{1,18}" if option.whole else r"[0-9]*\.?[0-9]+|inf"
    value = float(text) if re.fullmatch(shape, text) else math.nan
    if not option.least <= value <= option.most:
        kind = "a whole number" if option.whole else "a number"
        most = f" and at most {option.most:g}" if math.isfinite(option.most) else ""
        raise InputError(
            f"{metric}:{word}: {option.name} must be {kind} of at least {option.least:g}{most}; "
            f"found {text!r}"
        )
    return int(text) if option.whole else value


def _twice(
    metric: str, words: Sequence[str], option: Option, values: tuple[Value, Value], word: str
) -> InputError:
    first, second = values
    key = ":".join((metric, *words))
    if option.article:
        return InputError(
            f"{key!r} names {option.article} twice, {first!r} and {second!r}; give one"
        )
    return InputError(
        f"{key!r} chooses {option.name} twice, {option.written(first)!r} and {word!r}; give one"
    )
