"""Functions of ``(…, options)`` turned into functions with keyword arguments.

Editors, type checkers and ``help()`` see every keyword with its type and default, and the docstring
has a line for each. A group that is there already is given as ``options``, and passed on as it is.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, fields
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from calipers.errors import InputError, check_keywords
from calipers.options.machine import of_machine, variables_named
from calipers.options.option import Group, options_of

ALIASES = {"reference": "references", "generated": "predictions"}
"""Other names of parameters, as people know them from the library `evaluate`."""

Keywords = ParamSpec("Keywords")
Chosen = TypeVar("Chosen", bound=Group)
Options = TypeVar("Options", bound=Group, contravariant=True)
Made = TypeVar("Made", covariant=True)
Itself = TypeVar("Itself")


class OfTwoSides(Protocol[Keywords, Options, Made]):
    """A function of a reference and generated sets, with options as keywords."""

    __name__: str

    @overload
    def __call__(
        self, reference: Any, generated: Any, *args: Keywords.args, **keywords: Keywords.kwargs
    ) -> Made: ...
    @overload
    def __call__(self, reference: Any, generated: Any, *, options: Options) -> Made: ...


class OfOneThing(Protocol[Keywords, Options, Made]):
    """A function of one argument, with options as keywords."""

    __name__: str

    @overload
    def __call__(
        self, given: Any, /, *args: Keywords.args, **keywords: Keywords.kwargs
    ) -> Made: ...
    @overload
    def __call__(self, given: Any, /, *, options: Options) -> Made: ...


class OfOptions(Protocol[Keywords, Options, Made]):
    """A function with options as keywords only."""

    __name__: str

    @overload
    def __call__(self, *args: Keywords.args, **keywords: Keywords.kwargs) -> Made: ...
    @overload
    def __call__(self, *, options: Options) -> Made: ...


class TakesKeywords(Protocol[Keywords, Chosen]):
    """A decorator that makes such functions."""

    @overload
    def __call__(
        self, function: Callable[[Any, Any, Chosen], Made], /
    ) -> OfTwoSides[Keywords, Chosen, Made]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, Chosen], Made], /
    ) -> OfOneThing[Keywords, Chosen, Made]: ...
    @overload
    def __call__(
        self, function: Callable[[Chosen], Made], /
    ) -> OfOptions[Keywords, Chosen, Made]: ...


def keywords_of(group: Callable[Keywords, Chosen]) -> TakesKeywords[Keywords, Chosen]:
    """Make a function, whose last parameter is `options`, take these options as keywords."""
    return functools.partial(_with_keywords, group)  # type: ignore[arg-type]


def constructor_of(
    group: Callable[Keywords, Chosen],
) -> Callable[
    [Callable[[Itself, Any, Chosen], None]], Callable[Concatenate[Itself, Any, Keywords], None]
]:
    """Make the ``__init__`` of a class take these options as keywords."""
    return functools.partial(_with_keywords, group)  # type: ignore[arg-type]


def _with_keywords(group: type[Group], function: Callable[..., Made]) -> Callable[..., Made]:
    *sides, last = inspect.signature(function).parameters.values()
    only, names = inspect.Parameter.KEYWORD_ONLY, [side.name for side in sides]
    keywords = [
        inspect.Parameter(
            option.name,
            only,
            default=inspect.Parameter.empty if option.default is MISSING else option.default,
            annotation=option.type,
        )
        for option in fields(group)
    ]
    aliases = {
        parameter.name: ALIASES[parameter.name]
        for parameter in (*sides, *keywords)
        if parameter.name in ALIASES
    }
    known = [*names, *(option.name for option in keywords), *aliases.values(), "options"]
    shown_name = _shown_name(function)
    ways = {False: inspect.Signature([*sides, *keywords]), True: inspect.Signature(sides)}

    @functools.wraps(function)
    def call(*positional: Any, options: Any = None, **named: Any) -> Made:
        for name, alias in aliases.items():
            other = named.pop(alias, None)
            if other is None:
                continue
            if name in named or name in names[: len(positional)]:
                raise InputError(f"{alias} is another name of {name}; give one of them, not both")
            named[name] = other
        check_keywords(shown_name, named, names if options is not None else known)
        try:
            bound = ways[options is not None].bind(*positional, **named).arguments
        except TypeError as error:
            raise TypeError(f"{shown_name}() {error}") from None
        given = [bound.pop(name) for name in names]
        if options is not None and not isinstance(options, group):
            raise TypeError(
                f"{shown_name}() takes options of the class {group.__name__}; found "
                f"{type(options).__name__}"
            )
        with nullcontext() if options is not None else variables_named(group, bound):
            if options is None:
                options = group(**of_machine(group, bound), **bound)
            with _as_quoted(options):
                return function(*given, options)

    others = [
        inspect.Parameter(alias, only, default=None, annotation="Any") for alias in aliases.values()
    ]
    whole = last.replace(kind=only, default=None, annotation=f"{group.__name__} | None")
    shown = [*sides, *keywords, *others, whole]
    call.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    call.__doc__ = _documented(function.__doc__, group, aliases)
    return call


def _shown_name(function: Callable[..., Any]) -> str:
    """The name by which a function is called: of an ``__init__`` that of its class."""
    owner = function.__qualname__.rpartition(".")[0]
    return owner if function.__name__ == "__init__" else function.__name__


def _as_quoted(options: Group) -> AbstractContextManager[None]:
    """Read files as the options say, where they say how values are quoted."""
    if getattr(options, "quotes", True):
        return nullcontext()
    from calipers.samples.source import quotation_marks

    return quotation_marks(enclose=False)


def _documented(docstring: str | None, group: type[Group], aliases: Mapping[str, str]) -> str:
    """Put a line for each option before what a docstring says of the result."""
    before, heading, after = (docstring or "").partition("    Returns\n")
    lines = [] if "    Parameters\n" in before else ["", "    Parameters", "    ----------"]
    entries = [(field.name, str(field.type), about.text) for field, about in options_of(group)]
    if aliases:
        meant = " and ".join(f"`{name}`" for name in aliases)
        entries.append((", ".join(aliases.values()), "Any", f"Other names of {meant}."))
    entries.append(("options", group.__name__, "All options as one group, in place of keywords."))
    for name, kind, text in entries:
        filled = textwrap.wrap(text, 88, break_on_hyphens=False)
        lines += [f"    {name} : {kind}", *(f"        {line}" for line in filled)]
    return f"{before.rstrip()}\n" + "\n".join(lines) + f"\n\n{heading}{after}"
