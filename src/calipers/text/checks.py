"""What the public functions over texts accept as options, said once."""

from __future__ import annotations

import numpy as np

from calipers.catalogue.texts import LONGEST
from calipers.errors import InputError
from calipers.numeric.validation import check_whole, is_whole


def check_order(order: int, *, name: str = "order", least: int = 1) -> int:
    """Return the tokens of an n-gram, or refuse what is no sensible number for it."""
    if not is_whole(order, least) or order > LONGEST:
        raise InputError(
            f"{name} must be a whole number from {least} to {LONGEST}; found {order!r}"
        )
    return int(order)


def check_threads(threads: int | None) -> int | None:
    """Return the number of threads, None for as many as there are cores."""
    return None if threads is None else check_whole("threads", threads, 1)


def check_flags(**flags: bool) -> None:
    """Refuse options that are neither on nor off, such as the word "no"."""
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_):
            raise InputError(f"{name} must be True or False; found {flag!r}")
