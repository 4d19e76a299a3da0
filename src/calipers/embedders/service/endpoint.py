"""Embedder of a service with the interface of OpenAI's ``/v1/embeddings``.

It is named ``https://host/v1#MODEL``. Texts go out in batches, several at a time; a passing
trouble is waited for; every answer is kept the moment it arrives, text by text, so that a run that
was stopped goes on where it was and no answer is paid for twice. The vectors are the service's own,
as it sends them.

What it cannot see: whether the service cuts long texts in silence, and whether it changes the
model behind a name; a change of the name in its answers is told.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

import numpy as np

from calipers.embedders.embedder import Embedder, EncodedBatch, check_texts
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.service.answer import (
    EmbeddingAnswer,
    EmbeddingQuestion,
    EmbeddingRequestFormat,
)
from calipers.embedders.service.store import PaidVectors
from calipers.embedders.service.store import Vectors as Known
from calipers.errors import CalipersError
from calipers.service.address import Address, Key, ServiceKind, check_offline, find_key, read_name
from calipers.service.client import READ_TIMEOUT, Client, RequestTooLargeError, RetryPolicy
from calipers.service.refusal import one_line
from calipers.service.side_by_side import GRACE, begin, wait_for

EMBEDDINGS = ServiceKind(
    noun="an embeddings service",
    name="the embedder's name",
    endings=("/embeddings",),
    example="https://api.openai.com/v1#text-embedding-3-small",
)
"""The service, in the words of messages."""

TAKES = frozenset({"endpoint", "prefix", "size"})
"""Options that an embeddings service takes; `size` is sent as ``dimensions``."""

BATCH, CHARACTERS = 64, 100_000
"""Most texts, and most characters, in one request."""

EMPTY = " "
"""What is sent for an empty text, which services refuse."""


def load(name: str, options: EmbedderOptions) -> Endpoint:
    """Make the embedder of an embeddings service, without a request.

    Parameters
    ----------
    name
        ``https://host/v1#MODEL``, or ``MODEL`` with ``options.endpoint``.
    options
        Of them ``endpoint``, ``prefix``, ``size`` and ``batch_size`` count.

    Raises
    ------
    InputError
        If the address cannot be or holds a credential, no model is named, a key would cross the
        network unencrypted, or an offline run would ask a service on another machine.
    MissingExtraError
        If httpx or tenacity is not installed.
    """
    address, model = read_name(name, options.endpoint, EMBEDDINGS)
    check_offline(address, offline=options.offline, remedy="name an embedder that runs here")
    return Endpoint(
        address,
        model,
        key=find_key(address),
        size=options.size,
        prefix=options.prefix or "",
        batch_size=options.batch_size or BATCH,
    )


Accept = Callable[[list[str], EmbeddingAnswer], None]


class Endpoint(Embedder):
    """An embeddings service at a given address.

    Parameters
    ----------
    address, model
        The service, and the model's name there.
    key
        Sent with every request; None for none.
    size
        Numbers that a vector should have; None for the model's own.
    prefix
        Put before every text.
    batch_size
        Most texts in a request.
    connections
        Most requests under way at a time.
    max_retries
        How often a request is made again whose trouble may pass: connection errors, silence, and
        the statuses in :data:`calipers.service.client.TRANSIENT`.
    sleep
        Waits for the given seconds; by default in a way that a stopped run cuts short.
    silence
        Seconds without a byte after which a request counts as lost.
    seed
        Of the spread of waits.

    Attributes
    ----------
    kept
        False: vectors are kept text by text where :meth:`keep_in` says, not in segments.
    """

    views = ("meaning",)
    reads = frozenset({"texts"})
    at_once = 1024
    kept = False
    sends = True

    def __init__(
        self,
        address: Address,
        model: str,
        *,
        key: Key | None = None,
        size: int | None = None,
        prefix: str = "",
        batch_size: int = BATCH,
        connections: int = 8,
        max_retries: int = 8,
        sleep: Callable[[float], object] | None = None,
        silence: float = READ_TIMEOUT,
        seed: int = 0,
    ) -> None:
        self.name, self._address, self._prefix = model, address, prefix
        self._paid = PaidVectors(address, model, size)
        self.view_signature = {"meaning": "as_answered"}
        self.identity = f"{self._paid.service}|prefix:{prefix}"
        pins = {"embedder": model, "endpoint": address.shown, "size": size, "prefix": prefix}
        self._pins = {key: str(pin) for key, pin in pins.items() if pin}
        stopped = Event()
        client = Client(
            address,
            model,
            key=key,
            connections=connections,
            timeout=silence,
            policy=RetryPolicy(max_retries, random.Random(seed)),
            purpose="an embeddings endpoint",
            sleep=sleep,
        )
        manner = EmbeddingRequestFormat(model, size)
        self._requests = Requests(
            lambda texts: client.ask(EmbeddingQuestion(texts, manner), stopped),
            at_once=connections,
            texts=batch_size,
            characters=CHARACTERS,
            stopped=stopped,
        )

    def __repr__(self) -> str:
        return f"<Endpoint {self.name!r} at {self._address.shown}>"

    @property
    def signature(self) -> dict[str, str]:  # type: ignore[override]
        """The model, the service, and the service's own name of the model where it differs."""
        served = "+".join(self._paid.served)
        return self._pins | ({"served": served} if served not in ("", self.name) else {})

    def keep_in(self, folder: Path | None) -> None:
        """Store every vector in a database in this folder; None for nowhere."""
        self._paid.keep_in(folder)

    def told(self) -> tuple[str, ...]:
        """Report the requests since the last call, and any trouble with the store."""
        return self._paid.told()

    def encode(self, samples: Sequence[str]) -> EncodedBatch:
        """Return the service's vectors, requesting only those that are not stored.

        A text that stands several times is asked for once, and an empty one as a single space.

        Raises
        ------
        InputError
            If a sample is no text.
        CalipersError
            If the service refuses, or its trouble does not pass. All that was answered is kept.
        KeyboardInterrupt
            If a person stops it; the message says what is kept.
        """
        texts = [self._prefix + text for text in check_texts(samples)]
        sent = [text or EMPTY for text in texts]
        different = list(dict.fromkeys(sent))
        known = self._paid.look_up(different, empty=texts.count(""))
        self._ask([text for text in different if text not in known], known, sent)
        rows = [known[text] for text in sent]
        view = np.stack(rows) if rows else np.empty((0, self._paid.width or 0), np.float32)
        return EncodedBatch({"meaning": view}, np.zeros(len(rows), np.bool_))

    def _ask(self, missing: list[str], known: Known, sent: Sequence[str]) -> None:
        """Add the vectors of the texts that are missing; say what is kept where that fails."""

        def accept(texts: list[str], answer: EmbeddingAnswer) -> None:
            known.update(self._paid.accept(texts, answer))

        try:
            if missing:
                self._requests.fetch(missing, accept)
        except TextTooLongError as error:
            row, length = sent.index(error.text) + 1, len(error.text)
            raise CalipersError(
                self._ending(
                    f"{error}; it is text {row} of the {len(sent):,} at hand, of {length:,} "
                    f"characters, which begins {one_line(error.text, 40)!r}: shorten it, or choose "
                    "a model that reads longer ones"
                )
            ) from None
        except CalipersError as error:
            raise CalipersError(self._ending(str(error))) from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._ending("stopped")) from None

    def _ending(self, words: str) -> str:
        """Say with what a run ends, and what is kept of it."""
        standing = self._paid.standing()
        return f"{words}. {standing}" if standing else words


class TextTooLongError(RequestTooLargeError):
    """A text that the service refuses even on its own.

    Attributes
    ----------
    text
        As it was sent.
    """

    def __init__(self, text: str, refusal: str, status: int) -> None:
        super().__init__(refusal, status)
        self.text = text


class Requests:
    """Divides texts among requests, and limits how many run at once.

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
        self,
        ask: Callable[[list[str]], EmbeddingAnswer],
        *,
        at_once: int,
        texts: int,
        characters: int,
        stopped: Event,
    ) -> None:
        self._ask, self._at_once, self._stopped = ask, at_once, stopped
        self._texts, self._characters = texts, characters

    def fetch(self, texts: Sequence[str], accept: Accept) -> None:
        """Request all texts; hand each answer to `accept` in the thread that received it.

        Requests that are under way when another fails, or when a person stops the run, are waited
        for, since they are paid for: in the latter case for 15 seconds, or until the person stops
        that too.

        Raises
        ------
        TextTooLongError
            If the service refuses a text for its length.
        CalipersError
            If a request fails for good.
        """
        self._stopped.clear()
        batches = deque(batched(texts, most=self._texts, characters=self._characters))
        failures: list[BaseException] = []
        running: list[Event] = []
        try:
            threads = range(min(self._at_once, len(batches)))
            running.extend(
                begin(
                    batches,
                    lambda batch: self._fetch(batch, accept),
                    stopped=self._stopped,
                    failures=failures,
                )
                for _ in threads
            )
            wait_for(running)
        except KeyboardInterrupt:
            self._stopped.set()
            batches.clear()  # for good, while the next run clears the event
            wait_for(running, GRACE)
            raise
        if failures:
            raise failures[0]

    def _fetch(self, texts: list[str], accept: Accept) -> None:
        if len(texts) > self._texts:
            self._halve(texts, accept)
            return
        try:
            answer = self._ask(texts)
        except RequestTooLargeError as refusal:
            if len(texts) == 1:
                raise TextTooLongError(texts[0], str(refusal), refusal.status) from None
            self._halve(texts, accept)
            self._texts = min(self._texts, (len(texts) + 1) // 2)
            return
        accept(texts, answer)

    def _halve(self, texts: list[str], accept: Accept) -> None:
        middle = (len(texts) + 1) // 2
        self._fetch(texts[:middle], accept)
        self._fetch(texts[middle:], accept)


def batched(texts: Sequence[str], *, most: int, characters: int) -> Iterator[list[str]]:
    """Divide texts into batches, in order.

    Examples
    --------
    >>> list(batched(["a", "b", "cccc", "d"], most=2, characters=3))
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
