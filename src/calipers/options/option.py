"""What an option is: one field of a frozen dataclass, and everything that is made of it.

From the field come the keyword of the Python function (:func:`two_sides`, :func:`one_side`), the
option of the command line (``calipers.cli.options``), the check of its value, what a result keeps
of it (:meth:`Group.settings`) and its line in the documentation. The options themselves stand in
:mod:`calipers.options.groups`.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, dataclass_transform

from calipers.errors import InputError, unknown_name

INPUT = "Input"
MEASUREMENT = "Measurement"
CERTAINTY = "How sure"
EMBEDDING = "Embedding"
ENGINE = "Where it runs"
OUTPUT = "Output"
LANGUAGE_MODEL = "Language model"
PROMPTS = "Prompts"


# What a value must be ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """What a value must be: checked in Python, read from a word on the command line.

    Attributes
    ----------
    words
        Complete "--k must …" where a word on the command line is refused.
    read
        Reads such a word; None or an error where it is none.
    check
        Refuses a value given in Python; takes the name of the parameter and the value.
    metavar
        What stands for the value in the help.
    values
        What the shell offers.
    """

    words: str
    read: Callable[[str], Any]
    check: Callable[[str, Any], None]
    metavar: str = "NAME"
    values: tuple[str, ...] = ()

    def parse(self, flag: str, text: str) -> Any:
        """Read what was typed.

        Raises
        ------
        InputError
            Names the option, the rule and what was found.
        """
        try:
            value = self.read(text)
        except InputError:
            raise
        except ValueError:
            value = None
        if value is None:
            raise InputError(f"{flag} must {self.words}; found {text!r}")
        return value


def whole(least: int, *, optional: bool = False, metavar: str = "N") -> Rule:
    """A whole number from `least` on."""

    def read(text: str) -> int | None:
        found = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else -1
        return found if found >= least else None

    def check(name: str, value: Any) -> None:
        from calipers.numeric.validation import check_whole

        if value is not None or not optional:
            check_whole(name, value, least)

    return Rule(f"be a whole number of at least {least}", read, check, metavar)


def share(usual: str, *, optional: bool = False, none: str = "") -> Rule:
    """A number between 0 and 1; `none` says in Python what else will do where it is optional."""
    words = f"lie between 0 and 1, such as {usual}"

    def check(name: str, value: Any) -> None:
        from calipers.numeric.validation import check_inner_share

        if value is not None or not optional:
            check_inner_share(name, value, f"must {words}{none};")

    def read(text: str) -> float | None:
        found = float(text)
        return found if 0 < found < 1 else None

    return Rule(words, read, check, "NUMBER")


def one_of(*known: str, optional: bool = False) -> Rule:
    """One of a few words."""

    def check(name: str, value: Any) -> None:
        if value not in known and not (value is None and optional):
            raise unknown_name(f"value for {name}", str(value), known)

    def read(text: str) -> str | None:
        return text if text in known else None

    return Rule(f"be {' or '.join(known)}", read, check, "|".join(known), known)


def positive(name: str, value: Any) -> None:
    """Refuse what is neither None nor a finite number above 0."""
    from calipers.numeric.validation import is_positive

    if value is not None and not is_positive(value):
        raise InputError(f"{name} must be a number above 0, or None; found {value!r}")


def switch(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False; found {value!r}")


def three_way(name: str, value: Any) -> None:
    """Refuse what is neither True, False nor None."""
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name} must be True, False or None; found {value!r}")


def unchecked(name: str, value: Any) -> None:
    """Leave a value to what uses it, which knows its rule."""


TEXT = Rule("be a text", lambda text: text, unchecked)
FLAG = Rule("be a flag", lambda text: None, switch, "")


Class = TypeVar("Class")


# What an option is -------------------------------------------------------------------------------


@dataclass(frozen=True)
class OptionField:
    """What is said of an option, beside its type and default.

    Attributes
    ----------
    help
        What it does, as the command line says it.
    rule
        What its value must be.
    panel
        Under which heading the help lists it.
    flag
        Its flags, such as ``("--reference", "-r")``; by default its name; empty for one that only
        Python has.
    metavar
        What stands for its value; by default that of the rule.
    doc
        What it does, as the documentation of the Python function says it; by default `help`.
    off
        A flag that stands for None, or for False where True is usual, and its help.
    show_default
        Whether the help tells the default.
    kept
        Whether the settings of a result hold it.
    kept_as
        Under which name they hold what of its value, where that is not the option itself.
    several
        Whether it may be given more than once on the command line.
    apart
        Whether what was given several times is not cut at commas, which a value may hold.
    required
        Whether the command line asks for it, default or not.
    last
        Whether the help lists it below the others of its panel.
    complete
        What offers values to the shell: ``"metrics"``, ``"text_metrics"`` … of ``calipers.cli``.
    source
        Whether its value names a file that is read.
    common
        Whether most people need it: the short help lists it, by the first sentence of `help`.
    """

    help: str
    rule: Rule = TEXT
    panel: str = MEASUREMENT
    flag: tuple[str, ...] | None = None
    metavar: str | None = None
    doc: str = ""
    off: tuple[str, str] | None = None
    show_default: bool = True
    kept: bool = False
    kept_as: tuple[str, Callable[[Any], Any]] | None = None
    several: bool = False
    apart: bool = False
    required: bool = False
    last: bool = False
    complete: str | tuple[str, ...] = ()
    source: bool = False
    common: bool = False

    def flags(self, name: str) -> tuple[str, ...]:
        """The flags of the command line."""
        return (f"--{name.replace('_', '-')}",) if self.flag is None else self.flag


def option(default: Any, help: str, rule: Rule = TEXT, **more: Any) -> Any:
    """Make an option with a default, as a field of a group."""
    return field(default=default, metadata={"option": OptionField(help, rule, **more)})


def reworded(base: type, name: str, help: str | None = None, **more: Any) -> Any:
    """Make the option `name` of another group anew, in the words of a command."""
    old = next(each for each in fields(base) if each.name == name)
    default = more.pop("default", old.default)
    changed = replace(old.metadata["option"], help=help or old.metadata["option"].help, **more)
    return field(default=default, metadata={"option": changed})


def options_of(group: Any) -> Iterator[tuple[Field[Any], OptionField]]:
    """Give every option of a group."""
    for each in fields(group):
        yield each, each.metadata["option"]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def options_class(cls: type[Class]) -> type[Class]:
    """Make a frozen dataclass of options; what :class:`Group` does is not made for each anew."""
    make = dataclass(frozen=True, kw_only=True, eq=False, repr=False, match_args=False)
    return make(cls)


@options_class
class Group:
    """Options that go together; a value that breaks its rule is refused when they are made."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # values may be lists

    def __repr__(self) -> str:
        changed = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) is not each.default
        }
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def __post_init__(self) -> None:
        """Check every value.

        Raises
        ------
        InputError
            Names the parameter, its rule and the value found.
        """
        for each, about in options_of(self):
            about.rule.check(each.name, getattr(self, each.name))

    def settings(self) -> dict[str, Any]:
        """Give what a result keeps of them."""
        kept = {}
        for each, about in options_of(self):
            value = getattr(self, each.name)
            if about.kept_as is not None:
                name, made = about.kept_as
                kept[name] = made(value)
            elif about.kept:
                kept[each.name] = value
        return kept

    def keywords(self) -> dict[str, Any]:
        """Give them as the keywords of the Python function."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


# From a group to the keywords of a function -----------------------------------------------------

ALIASES = {"reference": "references", "generated": "predictions"}
"""Other names of parameters, as people know them from the library `evaluate`."""

Keywords = ParamSpec("Keywords")
Options = TypeVar("Options", bound=Group)
Result = TypeVar("Result", covariant=True)


class OfTwoSides(Protocol[Keywords, Result]):
    """A function of a reference and generated sets; the rest are options."""

    __name__: str

    def __call__(
        self, reference: Any, generated: Any, *args: Keywords.args, **options: Keywords.kwargs
    ) -> Result:
        """Run it."""


def two_sides(
    group: Callable[Keywords, Options],
) -> Callable[[Callable[[Any, Any, Options], Result]], OfTwoSides[Keywords, Result]]:
    """Give a function of ``(reference, generated, options)`` the options as keywords.

    Editors, type checkers and ``help()`` see every keyword with its type and default, and the
    docstring a line for each.
    """
    return functools.partial(_with_keywords, group)  # type: ignore[arg-type]


def one_side(
    group: Callable[Keywords, Options],
) -> Callable[[Callable[[Any, Options], Result]], Callable[Concatenate[Any, Keywords], Result]]:
    """Give a function of one thing and ``options`` the options as keywords."""
    return functools.partial(_with_keywords, group)  # type: ignore[arg-type]


def keywords_only(
    group: Callable[Keywords, Options],
) -> Callable[[Callable[[Options], Result]], Callable[Keywords, Result]]:
    """Give a function of ``options`` alone the options as keywords."""
    return functools.partial(_with_keywords, group)  # type: ignore[arg-type]


def _with_keywords(group: type[Group], function: Callable[..., Result]) -> Callable[..., Result]:
    *own, _ = inspect.signature(function).parameters.values()
    added = [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=_default(each), annotation=each.type
        )
        for each in fields(group)
    ]
    plain = inspect.signature(function).replace(parameters=[*own, *added])
    aliases = [
        inspect.Parameter(
            ALIASES[name], inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any"
        )
        for name in plain.parameters
        if name in ALIASES
    ]
    shown = plain.replace(parameters=[*own, *added, *aliases])

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Result:
        places = {each.name: place for place, each in enumerate(own)}
        for name in plain.parameters:
            other = named.pop(ALIASES.get(name, ""), None)
            if other is None:
                continue
            if name in named or places.get(name, len(positional)) < len(positional):
                raise InputError(
                    f"{ALIASES[name]} is another name of {name}; give one of them, not both"
                )
            named[name] = other
        try:
            bound = plain.bind(*positional, **named).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        inputs = [bound.pop(each.name) for each in own]
        return function(*inputs, group(**bound))

    call.__signature__ = shown  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in shown.parameters.values()}
    call.__doc__ = _documented(function.__doc__, group, [each.name for each in aliases])
    return call


def _default(each: Field[Any]) -> Any:
    return inspect.Parameter.empty if each.default is MISSING else each.default


def _documented(docstring: str | None, group: type[Group], aliases: Sequence[str]) -> str:
    """Put a line for each option before what a docstring says of the result."""
    before, heading, after = (docstring or "").partition("    Returns\n")
    lines = [] if "    Parameters\n" in before else ["", "    Parameters", "    ----------"]
    for each, about in options_of(group):
        words = textwrap.wrap(about.doc or about.help, 88)
        lines += [f"    {each.name} : {each.type}", *(f"        {line}" for line in words)]
    if aliases:
        meant = [name for alias in aliases for name in ALIASES if ALIASES[name] == alias]
        lines += [
            f"    {', '.join(aliases)} : Any",
            f"        Other names of {' and '.join(f'`{name}`' for name in meant)}.",
        ]
    return f"{before.rstrip()}\n" + "\n".join(lines) + f"\n\n{heading}{after}"
