"""Texts ──► requests of bounded size, several under way at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from threading import Event

from calipers.embed.endpoint_answer import Answer
from calipers.embed.endpoint_client import StoppedError, TooMuchError

Ask = Callable[[list[str]], Answer]
Accept = Callable[[list[str], Answer], None]


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
        for, since they are paid for.

        Raises
        ------
        TooLongError
            If the service refuses a text for its length.
        CalipersError
            If a request fails for good.
        """
        self._stopped.clear()
        with ThreadPoolExecutor(self._at_once, thread_name_prefix="calipers-endpoint") as pool:
            work: list[Future[None]] = []
            try:
                plans = plan(texts, most=self._texts, characters=self._characters)
                work.extend(pool.submit(self._work, batch, accept) for batch in plans)
                for done in as_completed(work):
                    done.result()
            except BaseException as error:
                self._stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise _cause(work, error) from None

    def _work(self, texts: list[str], accept: Accept) -> None:
        """Ask for one batch; stop the others here, before this thread could begin another."""
        if self._stopped.is_set():
            raise StoppedError
        try:
            self._fetch(texts, accept)
        except BaseException:
            self._stopped.set()
            raise

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


def _cause(work: Sequence[Future[None]], error: BaseException) -> BaseException:
    """Return what went wrong first, not that others were stopped for it."""
    if not isinstance(error, StoppedError):
        return error
    failed = (each.exception() for each in work if each.done() and not each.cancelled())
    return next((each for each in failed if each and not isinstance(each, StoppedError)), error)
