"""Rules for the values of options, and the parsing of values on the command line.

A rule only converts words; whether a value fits is asked once, when a group of options is made.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError, hint_of_names

if TYPE_CHECKING:
    from calipers.catalogue.metric import MetricKind


class OptionError(InputError):
    """An invalid value of an option, or options that exclude each other.

    Parameters
    ----------
    template
        The message; ``{k}`` stands for the name of the option `k`, ``{k!r}`` for its value. The
        command line puts flags and typed words in their place (:meth:`worded`).
    values
        The values of the options by name.
    """

    def __init__(self, template: str, values: Mapping[str, Any]) -> None:
        self.template, self.values = template, values
        super().__init__(self.worded({}, {}))

    def worded(self, flags: Mapping[str, str], words: Mapping[str, str]) -> str:
        """Return the message with flags and words in place of names and values."""
        return self.template.format(
            **{
                name: _Given(flags.get(name, name), words.get(name, value))
                for name, value in self.values.items()
            }
        )


@dataclass(frozen=True, repr=False)
class _Given:
    """An option as it was given."""

    name: str
    value: Any

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return repr(self.value)


def anything(value: Any) -> bool:
    """Accept any value; the code that uses it checks it."""
    return True


@dataclass(frozen=True)
class Rule:
    """The rule for the values of an option.

    Attributes
    ----------
    words
        Complete "k must …".
    fits
        Whether a value is such; what knows the value better may raise an error of its own.
    read
        Makes a value of a word of the command line; ValueError where it cannot be one.
    metavar
        What stands for the value in the help; empty for a switch, which takes no word.
    values
        What the shell offers.
    """

    words: str
    fits: Callable[[Any], bool] = anything
    read: Callable[[str], Any] = str
    metavar: str = "NAME"
    values: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Refuse an invalid value.

        Raises
        ------
        OptionError
            Names the option, the rule and the value.
        """
        if not self.fits(value):
            raise self.error(name, value)

    def value_of(self, name: str, word: str) -> Any:
        """Parse a word into a value, without checking it.

        Raises
        ------
        OptionError
            If the word cannot be such a value.
        """
        try:
            return self.read(word)
        except InputError:
            raise
        except ValueError:
            raise self.error(name, word) from None

    def error(self, name: str, value: Any) -> OptionError:
        """Return the error for an invalid value."""
        return OptionError(f"{{{name}}} must {self.words}; found {{{name}!r}}", {name: value})


class NameRule(Rule):
    """The rule for one of some names, which suggests the nearest."""

    def error(self, name: str, value: Any) -> OptionError:
        """Return the error for an unknown name, with the nearest names."""
        hint = hint_of_names(str(value), self.values)
        return OptionError(f"unknown {{{name}}} {{{name}!r}}; {hint}", {name: value})


class FolderRule(Rule):
    """The rule for a folder that need not exist."""

    def error(self, name: str, value: Any) -> OptionError:
        """Describe what is in the place of the folder."""
        path = str(value).replace("{", "{{").replace("}", "}}")
        return OptionError(f"{{{name}}} must name a folder; {path} is a file", {name: value})


def whole(least: int, *, metavar: str = "N") -> Rule:
    """Make the rule for whole numbers of at least `least`."""

    def fits(value: Any) -> bool:
        from calipers.numeric.validation import is_whole

        return is_whole(value, least)

    return Rule(f"be a whole number of at least {least}", fits, read_whole, metavar)


def share(usual: str) -> Rule:
    """Make the rule for numbers between 0 and 1."""
    return between(0, 1, usual)


def between(low: float, high: float, usual: str) -> Rule:
    """Make the rule for numbers strictly between two others."""

    def fits(value: Any) -> bool:
        return is_number(value) and low < value < high

    return Rule(f"lie between {low} and {high}, such as {usual}", fits, float, "NUMBER")


def one_of(*known: str) -> Rule:
    """Make the rule for one of a few words."""
    return Rule(
        f"be {' or '.join(known)}", lambda value: value in known, str, "|".join(known), known
    )


def read_whole(text: str) -> int:
    """Parse a whole number."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError
    return int(text)


def all_names(text: str) -> list[str]:
    """Parse names separated by commas, none of them empty."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError
    return names


def read_keys(text: str) -> tuple[str, ...]:
    """Parse at least one key; keys are separated by commas or white space."""
    keys = tuple(dict.fromkeys(filter(None, re.split(r"[,\s]+", text))))
    if not keys:
        raise ValueError
    return keys


def is_number(value: Any) -> bool:
    """Whether a value is a real number, of Python or NumPy."""
    from calipers.numeric.validation import is_real

    return is_real(value)


def is_name(value: Any) -> bool:
    """Whether a value is a text that is not blank."""
    return isinstance(value, str) and value.strip() != ""


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    from calipers.numeric.validation import is_positive

    return is_positive(value)


def _is_at_least_zero(value: Any) -> bool:
    return is_number(value) and 0 <= value < math.inf


def _are_keys(value: Any) -> bool:
    from calipers.catalogue.choosing import check_keys

    check_keys(value)
    return True


def metrics_on(kind: MetricKind) -> Rule:
    """Make the rule for metrics of a kind, of which misspelt ones are refused before any work."""

    def fits(value: Any) -> bool:
        from calipers.catalogue.choosing import check_spelling, split_names

        # What is read once, such as a generator, is left to whoever chooses the metrics
        if _are_keys(value) and isinstance(value, str | Sequence | Set):
            check_spelling(split_names(value), kind)
        return True

    return Rule(KEYS.words, fits, read_keys, "LIST")


def _may_be_folder(value: Any) -> bool:
    path = isinstance(value, str | os.PathLike)
    return not path or not os.path.lexists(value) or os.path.isdir(value)


TEXT = Rule("be a text")
NAME = Rule("be a name that is not blank", is_name)
FLAG = Rule("be True or False", _is_switch, metavar="")
POSITIVE = Rule("be a number above 0", _is_positive, float, "NUMBER")
AT_LEAST_ZERO = Rule("be a number of at least 0", _is_at_least_zero, float, "NUMBER")
NAMES = Rule("be names with commas between them", read=all_names, metavar="LIST")
KEYS = Rule("name at least one metric", _are_keys, read_keys, "LIST")
METRICS = metrics_on("embeddings")
TEXT_METRICS = metrics_on("texts")
LIKELIHOOD_METRICS = metrics_on("likelihoods")
FOLDER = FolderRule("name a folder", _may_be_folder, metavar="FOLDER")
