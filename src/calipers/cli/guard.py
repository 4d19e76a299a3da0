"""How a command ends on an error: one paragraph and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer

from calipers.cli.streams import told_of_output, write_error
from calipers.errors import FAULT, CalipersError

BAD_INPUT = 2
INTERRUPTED = 130

STOPPED = (
    "stopped. Finished embeddings are in the cache, in steps of 1,024 samples; the same command "
    "continues from there."
)
STOPPED_IN_FILES = (
    "stopped. Finished embeddings and finished parts of the search are in files; the same command "
    "continues from there."
)
STOPPED_UNCACHED = "stopped; nothing was saved."

# Of click, which some versions of typer hold within themselves
_USAGE: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

AT_FAULT = (
    "this is a bug in Calipers, not in its input. Please report it, with the lines above "
    f"(exit code {FAULT})."
)


@contextmanager
def guarded(interrupted: str = STOPPED_UNCACHED) -> Iterator[None]:
    """Turn errors that the user can correct into a message and exit code 2.

    So does memory that is not enough: the message names the task and, where it is known, the size.
    Ctrl-C ends with `interrupted` and 130. Anything else is a fault of Calipers: it keeps its
    traceback and ends with 70, never with the 1 that says that a gate failed.
    """
    try:
        yield
        with told_of_output():
            sys.stdout.flush()
    except (typer.Exit, typer.Abort, _USAGE):  # the first two are RuntimeErrors
        raise
    except CalipersError as error:
        _end(f"calipers: {error}", BAD_INPUT)
    except KeyboardInterrupt as stop:
        message = stop.args[0] if stop.args else interrupted
        write_error(("\n" if sys.stderr.isatty() else "") + f"calipers: {message}")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if isinstance(error, MemoryError | RuntimeError):
            from calipers.embedders.states.batches import is_out_of_memory

            if is_out_of_memory(error):
                _end(f"calipers: {_too_little_memory(error)}", BAD_INPUT)
        traceback.print_exc()
        _end(f"calipers: {AT_FAULT}", FAULT)


def _end(message: str, code: int) -> NoReturn:
    """Leave with a message on standard error, behind what was shown before."""
    write_error(message)
    with suppress(OSError):
        sys.stdout.flush()
    raise typer.Exit(code) from None


def _too_little_memory(error: BaseException) -> str:
    """Say for which task there was not enough memory, and what could not be had."""
    task = next((f" in the task {note!r}" for note in getattr(error, "__notes__", ())), "")
    reason = next(iter(str(error).strip().splitlines()), "")
    return (
        f"not enough memory{task}{f': {reason}' if reason else ''}; use fewer samples "
        "(--max-samples), or free some memory"
    )
