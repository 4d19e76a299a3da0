"""Decoding algorithms by name, each with all of its parameters.

A decoding is written ``temperature=0.8,top_k=40``, ``greedy``, ``beam=4,no_repeat_ngram=4``,
``contrastive=0.6,top_k=4`` or ``adversarial``. The temperature is applied first, then truncations
in the order in which they are written, each to what the one before left, renormalised: so
``top_p=0.9,top_k=40`` is top-K after nucleus. Nothing that is not written is in force.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from calipers.errors import InputError, unknown_name

Method = Literal["sample", "greedy", "beam", "contrastive", "adversarial"]

TRUNCATIONS = ("top_k", "top_p", "min_p", "typical", "epsilon", "eta", "top_h")
"""What leaves tokens out, by the names that a decoding is written with."""


@dataclass(frozen=True)
class _Rule:
    """What the value of a parameter must be."""

    words: str
    low: float
    high: float = math.inf
    whole: bool = False
    low_in: bool = False
    high_in: bool = True

    def read(self, name: str, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        fits = value > self.low or (self.low_in and value == self.low)
        fits = fits and (value < self.high or (self.high_in and value == self.high))
        if not fits or math.isinf(value) or (self.whole and value != int(value)):
            raise InputError(f"{name} must be {self.words}; found {text!r}")
        return int(value) if self.whole else value


RULES: Mapping[str, _Rule] = {
    "temperature": _Rule("a number above 0 (greedy for 0)", 0),
    "top_k": _Rule("a whole number of at least 1", 1, whole=True, low_in=True),
    "top_p": _Rule("above 0 and at most 1", 0, 1),
    "min_p": _Rule("above 0 and at most 1", 0, 1),
    "typical": _Rule("above 0 and at most 1", 0, 1),
    "epsilon": _Rule("above 0 and below 1", 0, 1, high_in=False),
    "eta": _Rule("above 0 and below 1", 0, 1, high_in=False),
    "top_h": _Rule("above 0 and at most 1", 0, 1),
    "repetition_penalty": _Rule("a number above 0", 0),
    "no_repeat_ngram": _Rule("a whole number of at least 1", 1, whole=True, low_in=True),
    "beam": _Rule("a whole number of at least 2", 2, whole=True, low_in=True),
    "length_penalty": _Rule("a number", -math.inf),
    "contrastive": _Rule("above 0 and below 1", 0, 1, high_in=False),
    "adversarial": _Rule("a perplexity above 1", 1),
    "random_share": _Rule("at least 0 and below 1", 0, 1, low_in=True, high_in=False),
}
"""What each parameter must be."""

_TAKES: Mapping[str, tuple[str, ...]] = {
    "sample": ("temperature", *TRUNCATIONS, "repetition_penalty", "no_repeat_ngram"),
    "greedy": ("repetition_penalty", "no_repeat_ngram"),
    "beam": ("beam", "length_penalty", "no_repeat_ngram", "repetition_penalty"),
    "contrastive": ("contrastive", "top_k"),
    "adversarial": ("adversarial", "random_share"),
}
_WORDS = ("greedy", "ancestral", "adversarial")
"""What may be written without a value."""


@dataclass(frozen=True)
class Decoding:
    """A decoding algorithm with its parameters.

    Attributes
    ----------
    method
        ``"sample"``, ``"greedy"``, ``"beam"``, ``"contrastive"`` or ``"adversarial"``.
    parameters
        Pairs of a name and a number, in the order in which they are applied. Of adversarial
        perplexity sampling, ``adversarial`` is the perplexity to come close to; it is absent until
        it was measured on the reference.
    """

    method: Method = "sample"
    parameters: tuple[tuple[str, float], ...] = ()

    @classmethod
    def parse(cls, text: str | Decoding) -> Decoding:
        """Parse a decoding; one that is parsed already is returned.

        Raises
        ------
        InputError
            If a parameter is unknown, given twice, out of its range, or does not go with another.

        Examples
        --------
        >>> Decoding.parse("top_k=40,temperature=0.8")
        Decoding(method='sample', parameters=(('temperature', 0.8), ('top_k', 40)))
        >>> str(Decoding.parse("ancestral"))
        'ancestral'
        """
        if isinstance(text, Decoding):
            return text
        given: dict[str, float] = {}
        words: list[str] = []
        for part in filter(None, (part.strip() for part in str(text).split(","))):
            name, equals, value = part.partition("=")
            name = name.strip().replace("-", "_")
            if name in given or name in words:
                raise InputError(f"the decoding {text!r} gives {name} twice")
            if not equals and name in _WORDS:
                words.append(name)
            elif name in RULES and equals:
                given[name] = RULES[name].read(name, value.strip())
            elif name in _WORDS and name not in RULES:
                raise InputError(f"the decoding {text!r}: {name} takes no value; found {value!r}")
            elif name in RULES:
                raise InputError(f"the decoding {text!r}: {name} needs a value, as in {name}=…")
            else:
                raise unknown_name("decoding parameter", name, {*RULES, *_WORDS})
        if not words and not given:
            raise InputError(
                "the decoding is empty; write ancestral to sample from the model as it is"
            )
        return cls.of(text, words, given)

    @classmethod
    def of(cls, text: str, words: list[str], given: Mapping[str, float]) -> Decoding:
        """Make a decoding from parsed words and parameters."""
        named: list[Method] = [
            method
            for method in ("greedy", "beam", "contrastive", "adversarial")
            if method in words or method in given
        ]
        method: Method = named[0] if named else "sample"
        others = [*named[1:], *(name for name in given if name not in _TAKES[method])]
        if "ancestral" in words and (named or given):
            raise InputError(
                f"the decoding {text!r}: ancestral samples from the model as it is and cannot be "
                f"combined with {next(iter(named or given))}"
            )
        if method == "sample" and others:
            owner = "beam" if others[0] == "length_penalty" else "adversarial"
            raise InputError(
                f"the decoding {text!r}: {others[0]} goes with {owner} only, and {owner} is not "
                "written"
            )
        if others:
            raise InputError(
                f"the decoding {text!r}: {method} and {others[0]} cannot be combined; "
                f"{method} goes with {', '.join(n for n in _TAKES[method] if n != method)}"
            )
        if method == "contrastive" and "top_k" not in given:
            raise InputError(
                f"the decoding {text!r}: contrastive search needs top_k, the number of candidates, "
                "as in contrastive=0.6,top_k=4"
            )
        order = ("beam", "contrastive", "adversarial", "temperature")
        first_ones = [(name, given[name]) for name in order if name in given]
        rest = [(name, value) for name, value in given.items() if name not in order]
        return cls(method, (*first_ones, *rest))

    def __str__(self) -> str:
        """Write it in its one canonical form, which :meth:`parse` reads."""
        parts = [f"{name}={_written(value)}" for name, value in self.parameters]
        if self.method == "sample":
            return ",".join(parts) or "ancestral"
        bare = self.method not in dict(self.parameters)
        return ",".join(([self.method] if bare else []) + parts)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a parameter, or a default where it does not apply."""
        return dict(self.parameters).get(name, default)

    @property
    def temperature(self) -> float:
        """The temperature; 1 leaves the probabilities unchanged."""
        return float(self.get("temperature", 1.0))

    @property
    def truncations(self) -> tuple[tuple[str, float], ...]:
        """The truncations of the distribution, in order of application."""
        return tuple(parameter for parameter in self.parameters if parameter[0] in TRUNCATIONS)

    @property
    def random(self) -> bool:
        """Whether samples depend on the seed."""
        return self.method in ("sample", "adversarial")

    def with_value(self, name: str, value: float | str) -> Decoding:
        """Return the same decoding with another value of one parameter."""
        changed = {**dict(self.parameters), name: value}
        words = [self.method] if self.method not in ("sample", *changed) else []
        return self.parse(
            ",".join([*words, *(f"{key}={setting}" for key, setting in changed.items())])
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the complete decoding as plain data, as recorded with every sample."""
        return {"method": self.method, **dict(self.parameters)}


def read_over(over: Any) -> dict[str, tuple[float, ...]]:
    """Parse which parameters of a decoding vary, and over which values.

    Parameters
    ----------
    over
        ``"top_p=0.8,0.9"``, for a grid ``"top_p=0.8,0.9, temperature=0.7,1"``, or a dict from a
        parameter to its values.

    Raises
    ------
    InputError
        If a parameter is unknown, has fewer than two values or one twice, or a value is out of its
        range.

    Examples
    --------
    >>> read_over("top_p=0.8,0.9, temperature=0.7,1")
    {'top_p': (0.8, 0.9), 'temperature': (0.7, 1.0)}
    """
    if isinstance(over, Mapping):
        named = {str(name): list(map(str, _several(values))) for name, values in over.items()}
    else:
        named = {}
        for part in filter(None, (part.strip() for part in str(over).split(","))):
            name, equals, value = part.rpartition("=")
            if equals and name in named:
                raise InputError(f"over names {name} twice; found {over!r}")
            if equals:
                named[name] = [value]
            elif named:
                named[next(reversed(named))].append(value)
            else:
                raise InputError(
                    f"over must name a parameter and its values, as top_p=0.8,0.9; found {over!r}"
                )
    if not named:
        raise InputError("over must name a parameter and its values, as top_p=0.8,0.9; found none")
    grid: dict[str, tuple[float, ...]] = {}
    for name, texts in named.items():
        key = name.strip().replace("-", "_")
        if key not in RULES:
            raise unknown_name("decoding parameter", key, RULES)
        if key in grid:
            raise InputError(f"over names {key} twice; found {over!r}")
        values = tuple(RULES[key].read(key, text.strip()) for text in texts)
        if len(set(values)) < len(values):
            raise InputError(f"over gives a value of {key} twice; found {', '.join(texts)}")
        grid[key] = values
    if max(map(len, grid.values())) < 2:
        raise InputError(f"over must give at least two values of a parameter; found {over!r}")
    return grid


def _several(values: Any) -> Iterable[Any]:
    """Return the values of a parameter; one alone is a list of one, and a string is read."""
    if isinstance(values, str):
        return values.split(",")
    return values if isinstance(values, Iterable) else [values]


def _written(value: float) -> str:
    """Write a number in as few digits as read back as the same."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)
