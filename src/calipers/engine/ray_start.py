"""Connect to a Ray cluster, or start workers on this machine, and end both.

An address is tried before Ray uses it, since Ray would wait for minutes; what Ray writes of workers
that died goes to standard error; temporary files of a run that was killed are removed by the next.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from calipers.engine.locks import LOCKS, hold, hold_new
from calipers.errors import InputError, require

STORE = 128 * 2**20
"""Bytes of Ray's object store on this machine, which holds only the names of tiles."""

REACHED = 10.0
"""Seconds within which an address must answer."""

CLIENT_PORT = 10001
"""Of ``ray://HOST``, where none is named."""

PLACES = "calipers-ray-"
"""How folders for Ray's temporary files begin."""

HELD = "held"
"""The file in such a folder that the run holds to which it belongs."""

ENDS = 60
"""Times that it is looked whether Ray's processes have written their last."""

LONGEST_FOLDER = 20
"""Bytes that the path of the folder for temporary files may have: Ray's sockets lie in a folder of
a folder of a folder in it, and the path of a socket ends at 107 bytes."""


def imported_ray() -> Any:
    """Import Ray without its usage reports."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # of copies nobody waits for
    return require("ray", extra="ray", purpose="the engine 'ray'")


@contextmanager
def connected(ray: Any, address: str | None, threads: int | None) -> Iterator[None]:
    """Connect to a cluster, or start workers on this machine, for the duration of a context.

    Parameters are those of :func:`calipers.engine.ray_cluster.ray_cluster`.

    Raises
    ------
    InputError
        If there is no such cluster.
    MissingExtraError
        If it needs a package that is not installed.
    """
    from calipers.numeric.threads import available_threads

    with ExitStack() as stack:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            options |= {
                "address": "local",
                "num_cpus": available_threads(threads),
                "include_dashboard": False,
                "object_store_memory": STORE,
            }
            parent = _short_folder()
            if parent is not None:
                options["_temp_dir"] = stack.enter_context(_temporary_folder(parent))
        else:
            _check_answers(address)
            options["address"] = address
        stack.enter_context(_news_on_stderr())
        stack.callback(ray.shutdown)
        try:
            ray.init(**options)
        except (
            *(ConnectionError, RuntimeError, ValueError, TimeoutError, OSError),
            ray.exceptions.RayError,
        ) as error:
            client = address is not None and address.startswith("ray://")
            token = " (a cluster that wants a token needs RAY_AUTH_MODE=token here, too)"
            raise _unusable(address, told(error) + client * token) from error
        yield


@contextmanager
def _news_on_stderr() -> Iterator[None]:
    """Have Ray report workers that died where it spoils no result that goes to a file or a pipe.

    It writes such news to standard output, and has no option for it.
    """
    from ray._private import worker

    tell = vars(worker).get("print_to_stdstream")
    if tell is None:
        yield
        return

    def tell_aside(data: dict[str, Any], *more: Any, **named: Any) -> None:
        tell({**data, "is_err": True}, *more, **named)

    worker.print_to_stdstream = tell_aside
    try:
        yield
    finally:
        worker.print_to_stdstream = tell


def _unusable(address: str | None, reason: str) -> InputError:
    """Say that there is no such cluster."""
    if address is None:
        return InputError(f"Ray cannot start workers on this machine: {reason}")
    return InputError(
        f"no Ray cluster can be used at {address!r}: {reason}; start one with 'ray start --head', "
        "name its address with `address`, or leave the address out for "
        "workers on this machine"
    )


def told(error: BaseException) -> str:
    """Return the message of an error, on one line and without its full stop."""
    return textwrap.shorten(str(error), 300, placeholder=" …").rstrip(".") or type(error).__name__


def _check_answers(address: str) -> None:
    """Refuse an address at which nothing listens, for which Ray itself would wait for minutes.

    Raises
    ------
    InputError
        If it does not answer in time.
    MissingExtraError
        If it is one for clients, and the package for those is not installed.
    """
    known = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
    parts = urlsplit(known if "://" in known else f"//{known}")
    try:
        port = parts.port or (CLIENT_PORT if parts.scheme == "ray" else None)
    except ValueError as error:
        raise _unusable(address, told(error)) from error
    if parts.hostname is None or port is None:
        return  # a name for which Ray looks on this machine
    try:
        socket.create_connection((parts.hostname, port), REACHED).close()
    except OSError as error:
        reason = error.strerror or told(error)
        raise _unusable(address, f"nothing answers there ({reason})") from error
    if parts.scheme == "ray":
        require("grpc", extra="ray", purpose=f"the Ray cluster {address}")


@contextmanager
def _temporary_folder(parent: Path) -> Iterator[str]:
    """Make a folder for Ray's sockets and logs, gone at the end; remove those of killed runs."""
    _remove_old_folders(parent)
    place = Path(tempfile.mkdtemp(prefix=PLACES, dir=parent))
    try:
        with hold_new(place / HELD):
            yield str(place)
    finally:
        _remove(place)
        _remove_old_folders(parent)  # in which processes of a killed run were still writing


def _short_folder() -> Path | None:
    """Where temporary files may lie, by the environment or as usual; None where Ray chooses."""
    places = (tempfile.gettempdir(), "/tmp")
    short = (place for place in places if len(os.fsencode(place)) <= LONGEST_FOLDER)
    return next((Path(place) for place in short if LOCKS and os.access(place, os.W_OK)), None)


def _remove_old_folders(parent: Path) -> None:
    """Remove the folders of runs that were killed."""
    for old in parent.glob(f"{PLACES}*/{HELD}"):
        with suppress(OSError):  # maybe another user's
            lock = hold(old)
            if lock is not None:
                lock.close()
                _remove(old.parent)


def _remove(place: Path) -> None:
    """Remove a folder in which processes that end may still write; last what tells whose it is."""
    for _ in range(ENDS):
        others = [path for path in place.glob("*") if path.name != HELD]
        for path in others:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if not others:
            (place / HELD).unlink(missing_ok=True)
            with suppress(OSError):
                place.rmdir()
                return
        time.sleep(0.05)
