"""When to ask again: which troubles pass, how long to wait, and when to give up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses of an answer that may be another one a moment later."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
LONGEST_ASKED = 600.0
"""Seconds that a service may ask to be left alone; for longer, the run ends instead."""

BROKEN_OFF = 3
"""How often a request is made again whose answer broke off: what cuts it is likely to stay."""

LONGEST_TROUBLE = 600.0
"""Seconds after which a request is not made again, unless the service asked for the wait."""

BEFORE_FIRST = 3
"""How often a service that never answered is asked again: a wrong address is more likely."""

_BUSY = frozenset({429, 503})


class PassingError(Exception):
    """A trouble that may be gone a moment later.

    Attributes
    ----------
    after
        Seconds that the service asks to be left alone, or None.
    status
        Of its answer, or None where there was none.
    broken_off
        Whether the service closed the connection before its answer was whole.
    """

    def __init__(
        self,
        words: str,
        *,
        after: float | None = None,
        status: int | None = None,
        broken_off: bool = False,
    ) -> None:
        super().__init__(words)
        self.after, self.status, self.broken_off = after, status, broken_off


@dataclass(frozen=True)
class Patience:
    """How often to ask again, and how long to wait before.

    Attributes
    ----------
    retries
        How often a request is made again.
    random
        Where the spread of waits comes from, so that requests do not come back all at once.
    """

    retries: int
    random: random.Random
    lock: Lock

    @classmethod
    def of(cls, retries: int, seed: int) -> Patience:
        """Make it from numbers."""
        return cls(retries, random.Random(seed), Lock())

    def lasts(
        self, attempt: int, trouble: PassingError, *, answered: bool, seconds: float = 0.0
    ) -> bool:
        """Tell whether to ask once more after `attempt` attempts, which took some seconds.

        `answered` says whether the service ever gave an answer.
        """
        if trouble.after is not None and trouble.after > LONGEST_ASKED:
            return False
        if trouble.after is None and seconds > LONGEST_TROUBLE:
            return False
        return attempt <= self.again(trouble, answered=answered)

    def again(self, trouble: PassingError, *, answered: bool) -> int:
        """Tell how often a request with such a trouble is made again at most."""
        if trouble.broken_off:
            return min(self.retries, BROKEN_OFF)
        known = answered or trouble.status in _BUSY
        return self.retries if known else min(self.retries, BEFORE_FIRST)

    def wait(self, attempt: int, after: float | None) -> float:
        """Return the seconds to wait: twice as long each time, and as long as was asked for."""
        longest = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
        with self.lock:
            spread = self.random.uniform(0.5, 1.0)
        return max(longest * spread, after or 0.0)


def retry_after(header: str | None, now: float) -> float | None:
    """Read the header ``Retry-After``: seconds, or a date; None where it is neither.

    Examples
    --------
    >>> retry_after("20", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 15.0)
    (20.0, 45.0)
    """
    if header is None:
        return None
    text = header.strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((date - datetime.fromtimestamp(now, UTC)).total_seconds(), 0.0)
