"""Option names of Python turned into flags in messages of the command line.

Messages name options in one way (:mod:`calipers.wording.front`): ```skip_words=42``` becomes
``--skip-words 42``. Which flag an option has, its field says.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Mapping
from dataclasses import Field
from functools import cache
from typing import Any

from calipers.command import commands
from calipers.options.option import Group, OptionField, options_of

METHODS: Mapping[str, str] = {
    ".to_dict()": "--json FILE",
    ".html()": "--html FILE",
    ".paged()": "--html FILE",
    ".summary()": "--html FILE or --markdown FILE",
    ".save(path)": "--save FILE",
    ".plot()": "--plot FILE",
    ".explain()": "--explain",
    ".document(details=True)": "--details",
    ".document(all_systems=True)": "--all-systems",
    "overwrite=True": "--force",
    "calipers.memory_limit": "--max-memory",
    "calipers.measure_texts": "calipers text",
}
"""What Python does by a call, and the command line by a flag, or a command of another name."""

Known = Mapping[str, tuple[Field[Any], OptionField]]


def flags_of(group: type[Group] | None = None) -> Callable[[str], str | None]:
    """Return a function that writes options as flags: those of `group`, then of all commands."""

    def speech(named: str) -> str | None:
        if named in METHODS:
            return METHODS[named]
        home, _, command = named.partition(".")
        if home == "calipers" and command in commands():
            return f"calipers {command}"
        name, given, value = named.partition("=")
        own = {} if group is None else _known(group)
        known = own if name in own else _every()
        return _flag(*known[name], value if given else None) if name in known else None

    return speech


def _known(group: type[Group]) -> Known:
    return {field.name: (field, about) for field, about in options_of(group)}


@cache
def _every() -> Known:
    """The options of all commands; of those of one name the first that has a flag."""
    known: dict[str, tuple[Field[Any], OptionField]] = {}
    for record in commands().values():
        for name, pair in _known(record.load(record.options)).items() if record.options else ():
            if name not in known or not known[name][1].flags(name):
                known[name] = pair
    return known


def _flag(field: Field[Any], about: OptionField, word: str | None) -> str | None:
    """Write an option with a value, as Python writes that, or alone."""
    flags = about.flags(field.name)
    if not flags:
        return None
    on, _, off = max(flags, key=len).partition("/")
    if word is None:
        return on
    value = _value(word)
    if value is None or value is False:
        return about.off[0] if about.off is not None else off or f"no {on}"
    if value is True:
        return on
    return f"{on} {value}"


def _value(word: str) -> Any:
    """Read a value as Python writes it; a word that stands for one, such as FILE, stays."""
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word
    if isinstance(value, bool | None):
        return value
    listed = value if isinstance(value, list | tuple) else [value]
    return shlex.quote(",".join(map(str, listed)))
