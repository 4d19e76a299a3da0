"""An option: one field of a frozen dataclass (a group), with text, rule, panel and flag.

From the field come the keyword of the Python function (:mod:`calipers.options.keywords`), the flag
of the command line (:mod:`calipers.cli.options`), the check of its value, which is made once, when
the group is made, what a result holds of it (:meth:`Group.settings`) and its line in the
documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Self, TypeVar, dataclass_transform

from calipers.options.rules import TEXT, Rule

INPUT = "Input"
MEASUREMENT = "Measurement"
CERTAINTY = "How sure"
EMBEDDING = "Embedding"
ENGINE = "Where it runs"
OUTPUT = "Output"
LANGUAGE_MODEL = "Language model"
PROMPTS = "Prompts"

Class = TypeVar("Class")


@dataclass(frozen=True)
class OptionField:
    """Properties of an option besides its type and default.

    Attributes
    ----------
    text
        What it does, in one or more sentences; the first is the short help of the command line.
    rule
        What its value must be.
    panel
        Under which heading the help lists it.
    flag
        Its flags, such as ``("--reference", "-r")``; by default its name; empty for one that only
        Python has.
    metavar
        What stands for its value; by default that of the rule.
    off
        A flag that stands for None, or for False where True is the default, and its text.
    show_default
        Whether the help shows the default.
    setting
        Whether the settings of a result hold it.
    setting_as
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
        Whether most people need it: the short help lists it.
    variable
        The environment variable that fixes it for a machine, where nothing is given.
    """

    text: str
    rule: Rule = TEXT
    panel: str = MEASUREMENT
    flag: tuple[str, ...] | None = None
    metavar: str | None = None
    off: tuple[str, str] | None = None
    show_default: bool = True
    setting: bool = False
    setting_as: tuple[str, Callable[[Any], Any]] | None = None
    several: bool = False
    apart: bool = False
    required: bool = False
    last: bool = False
    complete: str | tuple[str, ...] = ()
    source: bool = False
    common: bool = False
    variable: str = ""

    def flags(self, name: str) -> tuple[str, ...]:
        """The flags of the command line."""
        return (f"--{name.replace('_', '-')}",) if self.flag is None else self.flag


def option(default: Any, text: str, rule: Rule = TEXT, **more: Any) -> Any:
    """Make an option with a default, as a field of a group."""
    return field(default=default, metadata={"option": OptionField(text, rule, **more)})


def reworded(base: type[Group], name: str, text: str | None = None, **more: Any) -> Any:
    """Copy the option `name` of another group, in the words of a command."""
    (old,) = (option_field for option_field in fields(base) if option_field.name == name)
    default = more.pop("default", old.default)
    about = old.metadata["option"]
    changed = replace(about, text=about.text if text is None else text, **more)
    return field(default=default, metadata={"option": changed})


def options_of(group: Any) -> Iterator[tuple[Field[Any], OptionField]]:
    """Return every option of a group."""
    for option_field in fields(group):
        yield option_field, option_field.metadata["option"]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def options_class(cls: type[Class]) -> type[Class]:
    """Make a frozen dataclass of options, without generating the methods of :class:`Group` anew."""
    make = dataclass(frozen=True, kw_only=True, eq=False, repr=False, match_args=False)
    return make(cls)


@options_class
class Group:
    """A group of options; invalid values are refused when it is made."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # values may be lists

    def __repr__(self) -> str:
        changed = (
            f"{option_field.name}={getattr(self, option_field.name)!r}"
            for option_field in fields(self)
            if getattr(self, option_field.name) is not option_field.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __post_init__(self) -> None:
        """Check every value.

        Raises
        ------
        InputError
            Names the option, its rule and the value.
        """
        for option_field, about in options_of(self):
            value = getattr(self, option_field.name)
            if value is not None or not may_be_none(option_field):
                about.rule.check(option_field.name, value)

    def changed(self, **values: Any) -> Self:
        """Return the same options with some values replaced, without checks."""
        return self.of(self, **values)

    @classmethod
    def of(cls, other: Group, **values: Any) -> Self:
        """Take the options of another group with some values replaced, without checks.

        What the other group lacks has its default. Nothing is checked again.
        """
        copy = object.__new__(cls)
        taken = {
            option_field.name: getattr(other, option_field.name, option_field.default)
            for option_field in fields(cls)
        }
        vars(copy).update(taken | values)
        return copy

    def settings(self) -> dict[str, Any]:
        """Return the settings that a result records."""
        settings = {}
        for option_field, about in options_of(self):
            value = getattr(self, option_field.name)
            if about.setting_as is not None:
                name, make = about.setting_as
                settings[name] = make(value)
            elif about.setting:
                settings[option_field.name] = value
        return settings


def may_be_none(option_field: Field[Any]) -> bool:
    """Whether None is a valid value: the default, or the value of a flag."""
    about = option_field.metadata["option"]
    default = option_field.default
    return default is None or (about.off is not None and not isinstance(default, bool))


def without_markup(text: str) -> str:
    """Return the text of an option without markup of references and names."""
    return re.sub(r":\w+:(?=`)|`~?", "", text)
