"""The server of a study: an address of this machine, and links for everybody who takes part."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from calipers.annotation.settings import HOST, PORT
from calipers.errors import InputError, require

if TYPE_CHECKING:
    from calipers.annotation.study import AnnotationStudy

GRACE = 3
"""Seconds that requests under way are given when the server stops."""

PURPOSE = "calipers annotate"


def check_server(host: str, port: int) -> None:
    """Check that a study could be served, before any other work.

    Raises
    ------
    MissingExtraError
        If what the server needs is not installed.
    InputError
        If the address cannot be had.
    """
    _need_packages()
    listen(host, port).close()


def _need_packages() -> None:
    for module in ("starlette", "uvicorn"):
        require(module, extra="annotate", purpose=PURPOSE)


def listen(host: str, port: int) -> socket.socket:
    """Bind the address before it is announced.

    Raises
    ------
    InputError
        If it cannot be had.
    """
    if not 0 <= port <= 65_535:
        raise InputError(f"port must be a whole number from 0 to 65,535; found {port}")
    where = f"host {host}, port {port}: cannot be listened on"
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"{where}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise InputError(f"{where}: {reason}; --port 0 takes any port that is free") from None


def addresses(host: str, port: int) -> list[str]:
    """Return the addresses at which people reach a server, the most useful first."""
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return [f"http://{host}:{port}"]
    if not number.is_unspecified:
        return [f"http://{_bracketed(host)}:{port}"]
    names = [name for name in (socket.getfqdn(), socket.gethostname()) if name != "localhost"]
    return [f"http://{name}:{port}" for name in dict.fromkeys([*_own_numbers(), *names])]


def is_open(host: str) -> bool:
    """Whether a server on this address can be reached from other machines."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() != "localhost"


def serve(
    study: AnnotationStudy,
    *,
    host: str = HOST,
    port: int = PORT,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a study until Ctrl-C.

    Parameters
    ----------
    study
        What is shown.
    host, port
        Where to listen.
    ready
        Called with the address once requests are answered.

    Raises
    ------
    MissingExtraError
        If starlette and uvicorn are not installed.
    InputError
        If the address cannot be had.
    """
    _need_packages()
    with listen(host, port) as listening:
        taken = listening.getsockname()[1]
        if ready is not None:
            ready(addresses(host, taken)[0])
        run(study, listening, host)


def run(study: AnnotationStudy, listening: socket.socket, host: str) -> None:
    """Answer requests on a socket until Ctrl-C."""
    try:
        make_server(study, host).run(sockets=[listening])
    except KeyboardInterrupt:
        return


def make_server(study: AnnotationStudy, host: str) -> Any:
    """Make the server of a study: a ``uvicorn.Server`` that has not started."""
    import uvicorn

    from calipers.annotation.app import make_app
    from calipers.annotation.connections import protocol

    config: Any = uvicorn.Config(
        make_app(study, host=host),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=protocol(),
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def _own_numbers() -> list[str]:
    """Return the number under which this machine is seen from outside; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return [str(probe.getsockname()[0])]
        except OSError:
            return []


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
