"""The options in the key of a text metric, ``metric[:option…]``, and how a person may write them.

A number carries its name (``n=2``), a word says by itself what it chooses (``sample``; with its
name, ``per=sample``, it is understood too), so the order is free. The canonical key has the options
in the order of the catalogue and leaves out what is usual: ``distinct:sample:n=1`` is
``distinct:sample``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calipers.errors import InputError, unknown_name

Value = int | float | str

VIEW = "text."
"""What stands before the key of a text metric where views of embeddings stand beside it."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing that the key of a metric lets choose.

    Attributes
    ----------
    name
        What the choice is called; a number is written ``name=value``.
    usual
        What is chosen where the key is silent.
    tells
        What it changes, for a person.
    words
        The words to choose from, the usual one first; empty for a number.
    least, most
        The smallest and the largest number that it may be.
    whole
        Whether the number must be whole; others may be infinite (``inf``).
    """

    name: str
    usual: Value
    tells: str
    words: tuple[str, ...] = ()
    least: float = 1
    most: float = math.inf
    whole: bool = True

    def written(self, value: Value) -> str:
        """How a choice stands in a key."""
        return str(value) if self.words else f"{self.name}={value}".removesuffix(".0")

    @property
    def forms(self) -> tuple[str, ...]:
        """What may stand in a key: the words, or the number by its usual value."""
        return self.words or (self.written(self.usual),)


def canonical(metric: str, takes: Sequence[Option], chosen: Mapping[str, Value]) -> str:
    """The key of a metric with its options, what is usual left out.

    Examples
    --------
    >>> n = Option(name="n", usual=1, tells="tokens of an n-gram")
    >>> canonical("distinct", [n], {"n": 2}), canonical("distinct", [n], {"n": 1})
    ('distinct:n=2', 'distinct')
    """
    words = [each.written(chosen[each.name]) for each in takes if chosen[each.name] != each.usual]
    return ":".join((metric, *words))


def split_text_key(key: str) -> tuple[str, tuple[str, ...]]:
    """Take a key apart into its metric and its options; a leading ``text.`` may be there.

    Examples
    --------
    >>> split_text_key("text.distinct:n=2:sample")
    ('distinct', ('n=2', 'sample'))
    """
    metric, colon, rest = key.removeprefix(VIEW).partition(":")
    return metric, tuple(rest.split(":")) if colon and rest else ()


def parse_options(metric: str, words: Sequence[str], takes: Sequence[Option]) -> dict[str, Value]:
    """Read the options of a metric, in any order; what is not said is usual.

    Raises
    ------
    InputError
        If the metric does not take a word, a number is out of its range, or one thing is chosen
        twice.
    """
    chosen: dict[str, Value] = {}
    for word in words:
        option = _option(word, takes)
        if option is None:
            raise _refused(metric, word, takes)
        value = _word(word, option) if option.words else _number(metric, word, option)
        if option.name in chosen:
            raise InputError(
                f"{':'.join((metric, *words))!r} chooses {option.name} twice, "
                f"{option.written(chosen[option.name])!r} and {word!r}; give one"
            )
        chosen[option.name] = value
    return {each.name: chosen.get(each.name, each.usual) for each in takes}


def _option(word: str, takes: Sequence[Option]) -> Option | None:
    name, equals, value = word.partition("=")
    for option in takes:
        named = bool(equals) and name == option.name
        if word in option.words or (named and (not option.words or value in option.words)):
            return option
    return None


def _word(word: str, option: Option) -> str:
    """Take the name off a word; both ``zh`` and ``tokenizer=zh`` are understood."""
    return word if word in option.words else word.partition("=")[2]


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


def _refused(metric: str, word: str, takes: Sequence[Option]) -> InputError:
    """Say that a metric does not take a word, and what it would take."""
    key = f"{metric}:{word}"
    if not takes:
        return InputError(f"metric {metric!r} takes no option; found {key!r}")
    name, equals, value = word.partition("=")
    for option in takes:
        if equals and option.words and name == option.name:
            return InputError(f"{key!r}: {unknown_name(name, value, option.words)}")
    known = [form for option in takes for form in option.forms]
    if word.isdigit() and not takes[0].words:
        return InputError(f"{key!r}: a number needs its name; did you mean {takes[0].name}={word}?")
    if word.lower() in known:
        return InputError(f"{key!r}: unknown option {word!r}; did you mean {word.lower()!r}?")
    return InputError(f"{key!r}: {unknown_name('option', word, known)}")
