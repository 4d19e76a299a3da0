"""Limits on the memory for reading: set by the user, or half of the free memory.

What is read is counted as it comes, before it is kept, and refused with the sizes named once it is
more than the limit; what a file claims to hold is counted before any of it is unpacked. The limit
is one for all files that are read within :func:`memory_limit`.
"""

from __future__ import annotations

import gc
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from calipers.errors import InputError, checks_keywords

SHARE = 0.5
"""Share of the free memory that may be taken where nothing was asked for."""

UNKNOWN = 8 * 2**30
"""Bytes that may be taken where a system does not tell what is free."""

ROW = 48
"""Bytes that a sample counts for beside its text: for places, notes and the order of rows."""

SPREAD = 32
"""How many times its size a line may take while it is parsed."""

_LEAST_LINE = 2**16
_PART = 2**20
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i)?)?b?\s*", re.IGNORECASE)
_MEMINFO = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause garbage collection while many lasting objects are made.

    What is no part of a cycle is freed at once, as ever.
    """
    pausing = gc.isenabled()
    if pausing:
        gc.disable()
    try:
        yield
    finally:
        if pausing:
            gc.enable()


Refusal = Callable[[str], InputError]
"""Builds the error for a file or row, given what is wrong with it."""


class Budget:
    """Bytes that reading may use, and those that it uses.

    Parameters
    ----------
    limit
        Most bytes in all.
    asked
        Whether a person named the limit.
    """

    def __init__(self, limit: int, *, asked: bool) -> None:
        self.limit, self.asked = limit, asked
        self._kept = self._borrowed = 0

    @property
    def left(self) -> int:
        """Bytes that are left."""
        return self.limit - self._kept - self._borrowed

    @property
    def longest_line(self) -> int:
        """Most bytes of one line, whose parsing takes many times its size."""
        return max(self.left // SPREAD, _LEAST_LINE)

    def take(self, size: int, refusal: Refusal) -> None:
        """Count bytes that stay in memory.

        Raises
        ------
        InputError
            If all that was read takes more than the limit.
        """
        self._kept += size
        self._check(refusal)

    def borrow(self, size: int, refusal: Refusal) -> None:
        """Count bytes that are released once the file has been read.

        Raises
        ------
        InputError
            As for :meth:`take`.
        """
        self._borrowed += size
        self._check(refusal)

    def check_claim(self, what: str, size: int, refusal: Refusal) -> None:
        """Refuse the size that a file declares for its contents, before unpacking.

        Parameters
        ----------
        what
            What it says, such as ``"claims to hold 300 rows"``.
        size
            Bytes that this takes at the least.
        refusal
            Builds the error.

        Raises
        ------
        InputError
            If it does not fit into what is left.
        """
        if size > self.left:
            raise refusal(
                f"{what}, which take at least {size_words(size)} of memory, but "
                f"{size_words(max(self.left, 0))} may be taken {self._rule()}"
            )

    @contextmanager
    def borrowing(self) -> Iterator[Budget]:
        """Release at its end what is borrowed within a context."""
        before = self._borrowed
        try:
            yield self
        finally:
            self._borrowed = before

    def _check(self, refusal: Refusal) -> None:
        if self.left < 0:
            raise refusal(
                f"what has been read takes more than {size_words(self.limit)} of memory, the most "
                f"that may be taken {self._rule()}"
            )

    def _rule(self) -> str:
        origin = "as `calipers.memory_limit` says" if self.asked else "(half of what was free)"
        return (
            f"{origin}; give fewer or shorter samples, or allow more with `calipers.memory_limit`"
        )


_current: ContextVar[Budget | None] = ContextVar("calipers_memory", default=None)


@checks_keywords
@contextmanager
def memory_limit(size: int | str | None = None) -> Iterator[None]:
    """Limit the total memory of all samples that are read within a context.

    Parameters
    ----------
    size
        Bytes, or a text such as ``"8GB"`` (10⁹ bytes each), ``"500MB"`` or ``"8GiB"`` (2³⁰ bytes
        each); None for half of the memory that is free now, as the operating system or the
        container says. Without a limit around them, every file is read with half of what is free
        at its turn.

    Raises
    ------
    InputError
        If the size cannot be read.

    Examples
    --------
    >>> import calipers
    >>> with calipers.memory_limit("1GB"):
    ...     pass  # calipers.compare("human.jsonl", "model.jsonl")
    """
    token = _current.set(_budget(size))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def reading() -> Iterator[Budget]:
    """Read one file within the surrounding limit or its own; see :meth:`Budget.borrow`."""
    outer = _current.get()
    token = _current.set(outer or _budget(None))
    try:
        with budget().borrowing() as current:
            yield current
    finally:
        _current.reset(token)


def budget() -> Budget:
    """Return the budget in force."""
    return _current.get() or _budget(None)


def read_whole(stream: BinaryIO, refusal: Refusal) -> bytes:
    """Read a stream to its end, counting its bytes meanwhile."""
    current, content = budget(), io.BytesIO()
    while part := stream.read(_PART):
        current.borrow(len(part), refusal)
        content.write(part)
    return content.getvalue()


def json_size(content: bytes | str) -> int:
    """Estimate how many bytes a JSON value will take as Python objects.

    Parameters
    ----------
    content
        What will be parsed. Its text counts once as a whole and once in its strings, and every
        item, list and object for what CPython takes for a small one.

    Examples
    --------
    >>> json_size(b'["a"]'), json_size(b"[[],[],[]]")
    (74, 404)
    """
    if isinstance(content, bytes):
        items, objects = content.count(b",") + content.count(b"["), content.count(b"{")
    else:
        items, objects = content.count(",") + content.count("["), content.count("{")
    return len(content) * (2 if content.isascii() else 5) + 64 * items + 232 * objects


def parse_size(text: str, parameter: str = "`calipers.memory_limit`") -> int:
    """Parse a size: ``8GB``, ``500 MB`` (powers of ten), ``8GiB`` (powers of two), or bytes.

    Raises
    ------
    InputError
        If it is not a size, or not above 0.

    Examples
    --------
    >>> parse_size("1.5kB"), parse_size("2MiB"), parse_size("700")
    (1500, 2097152, 700)
    """
    match = _SIZE.fullmatch(text)
    size = 0
    if match:
        number, unit, binary = match.groups()
        power = "kmgt".index(unit.lower()) + 1 if unit else 0
        size = int(float(number) * (1024 if binary else 1000) ** power)
    if not 0 < size < 2**63:
        raise InputError(
            f"{parameter} must be a size above 0, such as 8GB (8,000,000,000 bytes), 500MB or "
            f"8GiB (8 times 1,073,741,824 bytes); found {text!r}"
        )
    return size


def size_words(size: float) -> str:
    """Write a number of bytes in a readable unit.

    Examples
    --------
    >>> size_words(8_000_000_000), size_words(1500)
    ('8.0 GB', '1.5 kB')
    """
    unit, name = next((unit, name) for unit, name in _UNITS if size >= unit or name == "kB")
    return f"{size / unit:,.1f} {name}"


def free_memory() -> int | None:
    """Return the bytes that the machine or container can still provide; None where unknown."""
    known = [size for size in (_of_machine(), _of_group()) if size is not None]
    return min(known, default=None)


def _budget(size: int | str | None) -> Budget:
    if size is None:
        free = free_memory()
        return Budget(UNKNOWN if free is None else int(free * SHARE), asked=False)
    if isinstance(size, bool) or not isinstance(size, int | str):
        raise InputError(
            f"a memory limit must be bytes or a size such as '8GB'; found {type(size).__name__}"
        )
    return Budget(parse_size(str(size), "a memory limit"), asked=True)


def _of_machine() -> int | None:
    """What the system could give without swapping."""
    try:
        match = re.search(r"^MemAvailable:\s+(\d+) kB", _MEMINFO.read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        match = None
    if match:
        return int(match[1]) * 1024
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if pages in getattr(os, "sysconf_names", {}):
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_group() -> int | None:
    """What a container may still take, by version 2 or 1 of the kernel's control groups."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most = int((_GROUPS / limit).read_text("ascii"))
            taken = int((_GROUPS / used).read_text("ascii"))
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
        return max(0, most - taken + _given_back((_GROUPS / limit).parent / "memory.stat"))
    return None


def _given_back(stat: Path) -> int:
    """Bytes of the file cache, which counts as taken and is given back when asked for."""
    try:
        match = re.search(r"^inactive_file (\d+)", stat.read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        match = None
    return int(match[1]) if match else 0
