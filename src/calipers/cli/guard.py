"""How a command ends when something is in its way: one paragraph and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from calipers.cli.streams import told_of_output, write_error
from calipers.errors import CalipersError

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


@contextmanager
def guarded(interrupted: str = STOPPED_UNCACHED) -> Iterator[None]:
    """Turn what a person can put right into a message and exit code 2.

    So does memory that is not enough: the message names the task and, where it is known, the size.
    Ctrl-C ends with `interrupted` and 130, a reader that went away (``| head``) quietly with 0.
    Anything else is a fault of Calipers and keeps its traceback.
    """
    try:
        yield
        with told_of_output():
            sys.stdout.flush()
    except (typer.Exit, typer.Abort):  # which are RuntimeErrors
        raise
    except CalipersError as error:
        write_error(f"calipers: {error}")
        _flush()
        raise typer.Exit(BAD_INPUT) from None
    except (MemoryError, RuntimeError) as error:
        from calipers.embed.states.batches import is_out_of_memory

        if not is_out_of_memory(error):
            raise
        write_error(f"calipers: {_too_little_memory(error)}")
        _flush()
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt as stop:
        told = stop.args[0] if stop.args else interrupted
        write_error(("\n" if sys.stderr.isatty() else "") + f"calipers: {told}")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _forget_stdout()
        raise typer.Exit(0) from None


def _too_little_memory(error: BaseException) -> str:
    """Say for which task there was not enough memory, and what could not be had."""
    task = next((f" in the task {note!r}" for note in getattr(error, "__notes__", ())), "")
    told = next(iter(str(error).strip().splitlines()), "")
    return (
        f"not enough memory{task}{f': {told}' if told else ''}; use fewer samples (--max-samples), "
        "or free some memory"
    )


def _flush() -> None:
    """Write out what was shown before the error, if it can be written."""
    try:
        sys.stdout.flush()
    except OSError:
        _forget_stdout()


def _forget_stdout() -> None:
    """Let Python's last flush go nowhere, so that it has nothing to complain about."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
