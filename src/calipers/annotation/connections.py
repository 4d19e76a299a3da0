"""The connections that the server of a study keeps: those with a request, up to a limit.

Whoever connects and sends nothing, or a request that never ends, holds a place that others need.
Such a connection is closed after a while, and at once where all places are taken; one whose request
came whole is never closed for another.
"""

from __future__ import annotations

from functools import cache
from typing import Any

MOST = 200
"""Connections that are kept at a time: many times as many as people who annotate."""

PATIENCE = 20.0
"""Seconds in which a request must have come whole, body included."""


@cache
def protocol() -> type[Any]:
    """Return the connection protocol, as a class for uvicorn."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(H11Protocol):  # type: ignore[misc]
        """A connection that waits for a request so long, and not longer."""

        _waiting: Any = None
        """The timer that closes it; None while no request is awaited."""

        def connection_made(self, transport: Any) -> None:
            """Take the connection, in the place of the one that waits longest if need be."""
            super().connection_made(transport)
            self._wait()
            if len(self.connections) > MOST:
                waiting = [
                    connection for connection in self.connections if connection._waiting is not None
                ]
                min(waiting, key=lambda connection: connection._waiting.when())._close()

        def data_received(self, data: bytes) -> None:
            """Take some bytes; the time of a request runs from the first of them."""
            if self._waiting is None:
                self._wait()
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # it is whole, or is not one
                self._wait_no_more()

        def connection_lost(self, error: Exception | None) -> None:
            """Forget the connection."""
            self._wait_no_more()
            super().connection_lost(error)

        def _wait(self) -> None:
            self._waiting = self.loop.call_later(PATIENCE, self._close)

        def _wait_no_more(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _close(self) -> None:
            self._wait_no_more()
            self.connections.discard(self)
            self.transport.abort()

    return Connection
