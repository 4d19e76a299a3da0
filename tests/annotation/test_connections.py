"""Connections that ask for nothing: closed after a while, and before any that does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from calipers.annotation import connections
from calipers.annotation.server import listen, make_server

PLACES = 5
ASKED = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HALF = [b"", b"GET", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"]
HALF += [b"POST /item/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nab"]


@pytest.fixture
def port(study, monkeypatch) -> Iterator[int]:
    """Serve a study to few at a time."""
    monkeypatch.setattr(connections, "MOST", PLACES)
    with listen("127.0.0.1", 0) as listening:
        server = make_server(study(), "127.0.0.1")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(60)


def connected(port: int, sent: bytes) -> socket.socket:
    """Connect, and send a part of a request."""
    made = socket.create_connection(("127.0.0.1", port), timeout=60)
    made.sendall(sent)
    return made


def is_closed(made: socket.socket) -> bool:
    """Wait until the server closes a connection, whatever it says before."""
    try:
        while made.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.slow
@pytest.mark.parametrize("half", HALF)
def test_a_request_that_never_ends_is_closed(port, monkeypatch, half):
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    with connected(port, half) as made:
        assert is_closed(made)


@pytest.mark.slow
def test_many_half_open_connections_keep_nobody_out(port):
    half = [connected(port, HALF[n % len(HALF)]) for n in range(4 * PLACES)]
    with connected(port, ASKED) as made:
        assert made.recv(12) == b"HTTP/1.1 200"
    assert sum(map(is_closed, half[: 3 * PLACES])) == 3 * PLACES
    for each in half:
        each.close()
