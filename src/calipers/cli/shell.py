"""One parameter of a command ──► a family of options that several commands share.

A command takes one parameter; :func:`with_options` puts the options of the family in its place, and
hands the command what they came to.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

REQUIRED = inspect.Parameter.empty

Options = Mapping[str, tuple[Any, Any]]
"""Name to the annotated type of an option and its default, `REQUIRED` for none."""


def with_options(
    command: Callable[..., None], place: str, options: Options, build: Callable[..., Any]
) -> Callable[..., None]:
    """Give a command the options in the place of its parameter.

    Parameters
    ----------
    command
        Takes a parameter named `place`.
    place
        The parameter that stands for the options; they come where it stands.
    options
        The family.
    build
        Makes of what was given, by name, the value of the parameter.
    """
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in options.items()
    ]
    laid: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        laid += added if each.name == place else [each]
    keyword_only = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in laid]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        own = {name: value for name, value in given.items() if name not in options}
        command(**own, **{place: build({name: given.get(name) for name in options})})

    run.__signature__ = signature.replace(parameters=keyword_only)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in keyword_only}
    del run.__wrapped__
    return run
