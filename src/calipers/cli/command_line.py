"""The command line as it was typed, saved with the results."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from calipers.results import Comparison
    from calipers.results.result import Result

C = TypeVar("C", bound="Comparison")
R = TypeVar("R", bound="Result")

KEYS = ("CALIPERS_ENDPOINT_KEY", "OPENAI_API_KEY", "HF_TOKEN")
"""Environment variables with secrets: their values are blanked, should one have been typed."""

BLANK = "..."

CONFIG = "--config"
"""The option that names a study."""

STUDIES = ("config", "write_config")
"""The parameters of every command that are about studies, and in none."""

_typed: ContextVar[tuple[str, ...] | None] = ContextVar("_typed", default=None)
_study: ContextVar[str | None] = ContextVar("_study", default=None)


def remember(arguments: Sequence[str]) -> None:
    """Remember the arguments of this run."""
    _typed.set(tuple(arguments))
    _study.set(None)


def keep_study(text: str) -> None:
    """Remember the study file that this run takes its options from."""
    _study.set(_blanked(text))


def command_line() -> str | None:
    """Return the command in shell syntax; None where nothing was typed.

    No option takes a secret. Should one have been typed none the less, as part of an address or
    as the value of a variable that holds one, it is blanked.
    """
    arguments = _typed.get()
    if arguments is None:
        return None
    return shlex.join(["calipers", *(_blanked(_utf8(argument)) for argument in arguments)])


def _blanked(argument: str) -> str:
    for value in filter(None, map(os.environ.get, KEYS)):
        argument = argument.replace(value, BLANK)
    return re.sub(r"(?<=://)[^/@\s]*(?=@)", BLANK, argument)


def _utf8(argument: str) -> str:
    """Replace what is no UTF-8, such as bytes in the name of a file."""
    return os.fsencode(argument).decode("utf-8", "replace")


def with_command(comparison: C) -> C:
    """Add the command that was typed to the settings of a result."""
    return replace(comparison, settings={**comparison.settings, "command": command_line()})


def with_study(result: R) -> R:
    """Add the study file, if there was one, to the settings of a result."""
    study, settings = _study.get(), getattr(result, "settings", None)
    if study is None or settings is None:
        return result
    return replace(result, settings={**settings, "study": study})  # type: ignore[type-var]
