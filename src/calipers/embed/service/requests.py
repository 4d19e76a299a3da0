"""Texts ──► requests of bounded size, several under way at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread

from calipers.embed.service.answer import Answer
from calipers.embed.service.client import StoppedError, TooMuchError

Ask = Callable[[list[str]], Answer]
Accept = Callable[[list[str], Answer], None]

GRACE = 15.0
"""Seconds that answers under way have to arrive when a person stops the run."""


class TooLongError(TooMuchError):
    """A text that the service refuses even by itself.

    Attributes
    ----------
    text
        As it was sent.
    """

    def __init__(self, text: str, refusal: str) -> None:
        super().__init__(refusal)
        self.text = text


class Requests:
    """How texts are divided among requests, and how many of these are under way.

    Parameters
    ----------
    ask
        Makes one request; called from several threads.
    at_once
        Most requests under way.
    texts, characters
        Most of each in one request; a longer text goes by itself.
    stopped
        Set when one request has failed or a person has stopped the run, so that no other begins.
    """

    def __init__(
        self, ask: Ask, *, at_once: int, texts: int, characters: int, stopped: Event
    ) -> None:
        self._ask, self._at_once, self._stopped = ask, at_once, stopped
        self._texts, self._characters = texts, characters

    def fetch(self, texts: Sequence[str], accept: Accept) -> None:
        """Ask for all texts; hand each answer to `accept` in the thread that received it.

        Requests that are under way when another fails, or when a person stops the run, are waited
        for, since they are paid for: in the latter case for 15 seconds, or until the person stops
        that too.

        Raises
        ------
        TooLongError
            If the service refuses a text for its length.
        CalipersError
            If a request fails for good.
        """
        self._stopped.clear()
        batches = _Queue(plan(texts, most=self._texts, characters=self._characters))
        failures: list[BaseException] = []
        running: list[Event] = []
        try:
            threads = range(min(self._at_once, len(texts)))
            running.extend(self._begin(batches, accept, failures) for _ in threads)
            _wait_for(running)
        except KeyboardInterrupt:
            self._stopped.set()
            batches.close()
            _wait_for(running, GRACE)
            raise
        if failures:
            raise failures[0]

    def _begin(self, batches: _Queue, accept: Accept, failures: list[BaseException]) -> Event:
        """Ask for one batch after another in a thread; return what it sets when it ends.

        The thread is of no pool, since Python would wait for that before it ends, and so for a
        service that is silent; and it is not joined, since a join that Ctrl-C breaks off counts
        the thread as ended.
        """
        ended = Event()

        def work() -> None:
            try:
                self._work_off(batches, accept)
            except BaseException as error:
                failures.append(error)
                self._stopped.set()
            finally:
                ended.set()

        Thread(target=work, name="calipers-endpoint", daemon=True).start()
        return ended

    def _work_off(self, batches: _Queue, accept: Accept) -> None:
        with suppress(StoppedError):
            while not self._stopped.is_set() and (batch := batches.take()):
                self._fetch(batch, accept)

    def _fetch(self, texts: list[str], accept: Accept) -> None:
        if len(texts) > self._texts:
            self._halve(texts, accept)
            return
        try:
            answer = self._ask(texts)
        except TooMuchError as refusal:
            if len(texts) == 1:
                raise TooLongError(texts[0], str(refusal)) from None
            self._halve(texts, accept)
            self._texts = min(self._texts, (len(texts) + 1) // 2)
            return
        accept(texts, answer)

    def _halve(self, texts: list[str], accept: Accept) -> None:
        middle = (len(texts) + 1) // 2
        self._fetch(texts[:middle], accept)
        self._fetch(texts[middle:], accept)


class _Queue:
    """Batches for several threads, until there are no more or it is closed."""

    def __init__(self, batches: Iterable[list[str]]) -> None:
        self._batches, self._lock, self._open = iter(batches), Lock(), True

    def take(self) -> list[str] | None:
        with self._lock:
            return next(self._batches, None) if self._open else None

    def close(self) -> None:
        with self._lock:
            self._open = False


def plan(texts: Sequence[str], *, most: int, characters: int) -> Iterator[list[str]]:
    """Divide texts into batches, in their order.

    Examples
    --------
    >>> list(plan(["a", "b", "cccc", "d"], most=2, characters=3))
    [['a', 'b'], ['cccc'], ['d']]
    """
    batch: list[str] = []
    filled = 0
    for text in texts:
        if batch and (len(batch) == most or filled + len(text) > characters):
            yield batch
            batch, filled = [], 0
        batch.append(text)
        filled += len(text)
    if batch:
        yield batch


def _wait_for(running: Sequence[Event], seconds: float = math.inf) -> None:
    """Wait until all threads have ended, or for so many seconds.

    In short steps: a Ctrl-C just before a wait would else be heard only after it.
    """
    until = time.monotonic() + seconds
    for ended in running:
        while time.monotonic() < until and not ended.wait(0.2):
            pass
