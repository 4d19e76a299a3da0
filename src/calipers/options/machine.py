"""What a machine fixes for every run: environment variables that stand for options not given."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import Any

from calipers.errors import InputError
from calipers.options.option import Group, options_of


def of_machine(group: type[Group], given: Container[str]) -> dict[str, Any]:
    """Give the values of the options that the environment fixes and that were not given.

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
