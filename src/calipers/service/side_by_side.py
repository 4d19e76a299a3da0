"""Concurrent requests: threads that process pieces of work until none is left.

What is under way when a run is stopped is waited for, since it is paid for.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from threading import Event, Semaphore, Thread
from typing import TypeVar

from calipers.service.client import StoppedError

GRACE = 15.0
"""Seconds that answers under way have to arrive when a person stops the run."""

Work = TypeVar("Work")
Result = TypeVar("Result")


def begin(
    waiting: deque[Work],
    do: Callable[[Work], object],
    *,
    stopped: Event,
    failures: list[BaseException],
) -> Event:
    """Start a thread that processes pieces of work; return the event that it sets at its end.

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
    """Wait until all threads have ended, or for a number of seconds.

    In short steps: a Ctrl-C just before a wait would else be heard only after it.
    """
    until = time.monotonic() + seconds
    for ended in running:
        while time.monotonic() < until and not ended.wait(0.2):
            pass


def as_they_arrive(
    work: Sequence[Work],
    ask: Callable[[Work, Event], Result],
    *,
    at_once: int,
    first_alone: bool,
    leave: Callable[[Work, Result], object],
) -> Generator[tuple[Work, Result], None, None]:
    """Process every piece of work in threads; yield each with its result as it arrives.

    No more than `at_once` requests are under way, or answered and not yet dealt with by whoever
    takes the results, so that no more is lost where the process is killed. Requests that are under
    way when another fails, when a person stops the run or when the generator is closed are waited
    for: in the latter two cases for 15 seconds, or until the person stops that too.

    Parameters
    ----------
    work
        What to ask for.
    ask
        Makes one request, unless the event is set that it is given; called from several threads.
    at_once
        Most requests under way.
    first_alone
        Whether the others wait for the result of the first.
    leave
        Called with each result that came after the generator was closed.

    Raises
    ------
    KeyboardInterrupt
        If a person stopped the run; all that arrived was given before.
    Exception
        The first with which a request failed; all that arrived was given before.
    """
    stopped, waiting, come = Event(), deque(work), Event()
    # Kept in a list and not taken out of a queue: Ctrl-C behind `get` would lose what it gave
    arrived: list[tuple[Work, Result] | None] = []
    ahead = Semaphore(at_once)
    failures: list[BaseException] = []
    running: list[Event] = []
    interrupted, until = False, math.inf

    def do(piece: Work) -> None:
        while not ahead.acquire(timeout=0.2):
            if stopped.is_set():
                return
        arrived.append((piece, ask(piece, stopped)))
        come.set()

    def start(threads: int) -> None:
        running.extend(
            begin(waiting, do, stopped=stopped, failures=failures) for _ in range(threads)
        )

    left, taken, result = len(work), 0, None
    try:
        start(min(1 if first_alone else at_once, left))
        while left:
            try:
                more = _one_more(arrived, taken, come, running, until)
            except KeyboardInterrupt:
                if interrupted:
                    until = 0.0
                    raise
                interrupted, until = True, time.monotonic() + GRACE
                stopped.set()
                waiting.clear()
                continue
            if not more:
                break
            result, arrived[taken], taken = arrived[taken], None, taken + 1
            left -= 1
            start(min(at_once, left) - len(running) if not stopped.is_set() else 0)
            given, result = result, None
            assert given is not None
            yield given
            ahead.release()
    finally:
        stopped.set()
        waiting.clear()
        try:
            wait_for(running, min(GRACE, until - time.monotonic()))
        finally:
            for outcome in (result, *arrived[taken:]):
                if outcome is not None:
                    leave(*outcome)
    if interrupted:
        raise KeyboardInterrupt("stopped")
    if failures:
        raise failures[0]


def _one_more(
    arrived: Sequence[object], taken: int, come: Event, running: Sequence[Event], until: float
) -> bool:
    """Wait until there is a result more than were taken; False where none will come in time."""
    while True:
        ended = all(thread.is_set() for thread in running) or time.monotonic() >= until
        come.clear()
        if len(arrived) > taken or ended:
            return len(arrived) > taken
        come.wait(0.2)
