"""An embeddings service that speaks OpenAI's ``/v1/embeddings``, as an embedder.

It is named ``https://host/v1#MODEL``. Texts go out in batches, several at a time; a passing
trouble is waited for; every answer is kept the moment it arrives, text by text, so that a run that
was stopped goes on where it was and no answer is paid for twice. The vectors are the service's own,
as it sends them.

What it cannot see: whether the service cuts long texts in silence, and whether it changes the
model behind a name; a change of the name in its answers is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import numpy as np

from calipers.embed.embedder import Embedder, EncodedBatch
from calipers.embed.options import Options, check_unicode
from calipers.embed.service.client import Answer, Client, Requests, TooLongError
from calipers.embed.service.connection import (
    SILENCE,
    Address,
    Key,
    Patience,
    Transport,
    find_key,
    one_line,
    read_name,
)
from calipers.embed.service.store import Ledger, Vectors
from calipers.errors import CalipersError, InputError

TAKES = frozenset({"endpoint", "prefix", "size"})
"""Options that an embeddings service takes; `size` is sent as ``dimensions``."""

BATCH, CHARACTERS = 64, 100_000
"""Most texts, and most characters, in one request."""

EMPTY = " "
"""What is sent for an empty text, which services refuse."""


def load(name: str, options: Options) -> Endpoint:
    """Make the embedder of an embeddings service; it is not asked anything yet.

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
        If httpx is not installed.
    """
    address, model = read_name(name, options.endpoint)
    if options.offline and not address.local:
        raise InputError(
            f"{address.shown}: offline asks no service beyond this machine; leave --offline "
            "(offline= in Python) out, or name an embedder that runs here"
        )
    return Endpoint(
        address,
        model,
        key=find_key(address),
        size=options.size,
        prefix=options.prefix or "",
        batch_size=options.batch_size or BATCH,
    )


class Endpoint(Embedder):
    """An embeddings service that a person named.

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
        the statuses in :data:`calipers.embed.service.connection.PASSING`.
    sleep
        Waits for the given seconds; by default in a way that a stopped run cuts short.
    silence
        Seconds without a byte after which a request counts as lost.
    seed
        Of the spread of waits.

    Attributes
    ----------
    kept
        False: vectors are kept text by text where :meth:`keep_in` says, not in chunks.
    """

    views = ("meaning",)
    reads = frozenset({"texts"})
    at_once = 1024
    kept = False

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
        silence: float = SILENCE,
        seed: int = 0,
    ) -> None:
        self.name, self._address, self._prefix = model, address, prefix
        self._ledger = Ledger(address, model, size)
        self.view_signature = {"meaning": "as_answered"}
        self.identity = f"{self._ledger.service}|prefix:{prefix}"
        self._pins = {"embedder": model, "endpoint": address.shown}
        self._pins |= {} if size is None else {"size": str(size)}
        self._pins |= {"prefix": prefix} if prefix else {}
        stopped = Event()
        client = Client(
            Transport(address, key, connections=connections, silence=silence),
            address,
            model,
            size=size,
            key=key,
            patience=Patience.of(max_retries, seed),
            sleep=sleep or stopped.wait,
            stopped=stopped,
        )
        self._requests = Requests(
            client.ask,
            at_once=connections,
            texts=batch_size,
            characters=CHARACTERS,
            stopped=stopped,
        )

    def __repr__(self) -> str:
        return f"<Endpoint {self.name!r} at {self._address.shown}>"

    @property
    def signature(self) -> dict[str, str]:  # type: ignore[override]
        """The model, the service, and what the service calls the model where it says otherwise."""
        served = "+".join(self._ledger.served)
        return self._pins | ({"served": served} if served not in ("", self.name) else {})

    def keep_in(self, folder: Path | None) -> None:
        """Keep every vector in a database in this folder from now on; None for nowhere."""
        self._ledger.keep_in(folder)

    def told(self) -> tuple[str, ...]:
        """Tell what was asked for since the last call, and any trouble with what is kept."""
        return self._ledger.told()

    def encode(self, samples: Sequence[str]) -> EncodedBatch:
        """Return the service's vectors; only those that are not kept yet are asked for.

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
        texts = [self._prefix + check_text(each, row) for row, each in enumerate(samples, start=1)]
        sent = [text or EMPTY for text in texts]
        different = list(dict.fromkeys(sent))
        known = self._ledger.look_up(different, empty=texts.count(""))
        self._ask([text for text in different if text not in known], known, sent)
        rows = [known[text] for text in sent]
        view = np.stack(rows) if rows else np.empty((0, self._ledger.width or 0), np.float32)
        return EncodedBatch({"meaning": view}, np.zeros(len(rows), np.bool_))

    def _ask(self, missing: list[str], known: Vectors, sent: Sequence[str]) -> None:
        """Add the vectors of the texts that are missing; say what is kept where that fails."""

        def accept(texts: list[str], answer: Answer) -> None:
            known.update(self._ledger.accept(texts, answer))

        try:
            if missing:
                self._requests.fetch(missing, accept)
        except TooLongError as error:
            raise CalipersError(self._ending(_too_long(error, sent))) from None
        except CalipersError as error:
            raise CalipersError(self._ending(str(error))) from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._ending("stopped")) from None

    def _ending(self, words: str) -> str:
        """Say with what a run ends, and what is kept of it."""
        standing = self._ledger.standing()
        return f"{words}. {standing}" if standing else words


def check_text(sample: object, row: int) -> str:
    """Return a sample that can be sent.

    Raises
    ------
    InputError
        If it is no text, or no valid Unicode.
    """
    if not isinstance(sample, str):
        raise InputError(f"text {row} must be a string; found {type(sample).__name__}")
    check_unicode(f"text {row}", sample)
    return sample


def _too_long(error: TooLongError, sent: Sequence[str]) -> str:
    row, length = sent.index(error.text) + 1, len(error.text)
    return (
        f"{error}; it is text {row} of the {len(sent):,} at hand, of {length:,} characters, which "
        f"begins {one_line(error.text, 40)!r}: shorten it, or choose a model that reads longer ones"
    )
