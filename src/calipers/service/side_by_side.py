"""Requests side by side: threads that take one piece of work after another until none is left."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import TypeVar

from calipers.service.client import StoppedError

GRACE = 15.0
"""Seconds that answers under way have to arrive when a person stops the run."""

Work = TypeVar("Work")


def begin(
    waiting: deque[Work],
    do: Callable[[Work], object],
    *,
    stopped: Event,
    failures: list[BaseException],
) -> Event:
    """Do one piece of work after another in a thread; return what it sets when it ends.

    A failure is noted, and sets `stopped`, after which no thread takes another piece. The thread is
    of no pool, since Python would wait for that before it ends, and so for a service that is
    silent; and it is not joined, since a join that Ctrl-C breaks off counts the thread as ended.
    """
    ended = Event()

    def work() -> None:
        try:
            while not stopped.is_set():
                try:
                    piece = waiting.popleft()
                except IndexError:
                    return
                do(piece)
        except StoppedError:
            pass
        except BaseException as error:
            failures.append(error)
            stopped.set()
        finally:
            ended.set()

    Thread(target=work, name="calipers-endpoint", daemon=True).start()
    return ended


def wait_for(running: Sequence[Event], seconds: float = math.inf) -> None:
    """Wait until all threads have ended, or for so many seconds.

    In short steps: a Ctrl-C just before a wait would else be heard only after it.
    """
    until = time.monotonic() + seconds
    for ended in running:
        while time.monotonic() < until and not ended.wait(0.2):
            pass
