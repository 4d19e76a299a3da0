"""Options that environment variables set for every run on a machine."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

from calipers.errors import CalipersError, InputError
from calipers.options.option import Group, options_of


def of_machine(group: type[Group], given: Container[str]) -> dict[str, Any]:
    """Return the values of options that the environment sets and that were not given.

    Parameters
    ----------
    group
        The options.
    given
        The names of those that were given.

    Raises
    ------
    InputError
        If the value of a variable breaks the rule of its option.
    """
    values: dict[str, Any] = {}
    for field, about in options_of(group):
        word = os.environ.get(about.variable) if about.variable else None
        if not word or field.name in given:
            continue
        try:
            values[field.name] = about.rule.value_of(about.variable, word)
            about.rule.check(about.variable, values[field.name])
        except InputError as error:
            raise InputError(f"{error} (an environment variable)") from None
    return values


@contextmanager
def variables_named(group: type[Group], given: Container[str]) -> Iterator[None]:
    """Add, to an error that quotes a value from the environment, the name of the variable.

    Parameters
    ----------
    group
        The options.
    given
        The names of those that were given.
    """
    try:
        yield
    except CalipersError as error:
        for field, about in options_of(group):
            word = os.environ.get(about.variable) if about.variable else None
            unnamed = about.variable not in str(error)
            if word and unnamed and field.name not in given and repr(word) in str(error):
                error.args = (f"{error} ({about.variable} in the environment says {word})",)
        raise
