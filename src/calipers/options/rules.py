"""Rules that options of several groups share."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    Rule,
)

if TYPE_CHECKING:
    pass


def _check_keys(name: str, value: Any) -> None:
    from calipers.catalogue.choosing import check_keys

    check_keys(value)


@dataclass(frozen=True)
class Folder(Rule):
    def parse(self, flag: str, text: str) -> Any:
        if os.path.lexists(text) and not os.path.isdir(text):
            raise InputError(f"{flag} must name a folder; {text} is a file")
        return text


def all_names(text: str) -> list[str] | None:
    found = [name.strip() for name in text.split(",")]
    return found if all(found) else None


def _keys(text: str) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(filter(None, re.split(r"[,\s]+", text)))) or None


def at_least_zero(name: str, value: Any) -> None:
    """Refuse what is no finite number of at least 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value < math.inf:
        raise InputError(f"{name} must be a number of at least 0; found {value!r}")


KEYS = Rule("name at least one metric", _keys, _check_keys, "LIST")
