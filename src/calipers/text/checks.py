"""What the public functions over texts accept as options, said once.

The shared checks load numba, which the catalogue, whose options have the same limits, does not
need; so they are imported where they are used.
"""

from __future__ import annotations

import numpy as np

from calipers.errors import InputError

LONGEST = 100
"""Most tokens of an n-gram, since all shorter ones are numbered on the way."""


def check_order(order: int, *, name: str = "order", least: int = 1) -> int:
    """Return the tokens of an n-gram, or refuse what is no sensible number for it."""
    from calipers.numeric.validation import is_whole

    if not is_whole(order, least) or order > LONGEST:
        raise InputError(
            f"{name} must be a whole number from {least} to {LONGEST}; found {order!r}"
        )
    return int(order)


def check_threads(threads: int | None) -> int | None:
    """Return the number of threads, None for as many as there are cores."""
    from calipers.numeric.validation import check_whole

    return None if threads is None else check_whole("threads", threads, 1)


def check_flags(**flags: bool) -> None:
    """Refuse options that are neither on nor off, such as the word "no"."""
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_):
            raise InputError(f"{name} must be True or False; found {flag!r}")
