"""Loading by transformers: without output, complete, and with errors in plain words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from calipers.errors import InputError, first_line


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keep transformers from writing on the terminal while it loads."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def recent(transformers: Any, major: int, minor: int = 0) -> bool:
    """Whether transformers has at least this version."""
    numbers = re.match(r"(\d+)\.(\d+)", transformers.__version__)
    assert numbers is not None
    return (int(numbers[1]), int(numbers[2])) >= (major, minor)


def check_complete(folder: Path, missing: Iterable[str]) -> None:
    """Refuse weights that lack tensors through which the states pass.

    Raises
    ------
    InputError
        If any is missing.
    """
    needed = sorted(missing)
    if needed:
        raise InputError(f"{folder}: the weights lack {len(needed)} tensors, such as {needed[0]}")


def unreadable(folder: Path, part: str, error: Exception) -> InputError:
    """Build the error for a part of a model that transformers cannot load."""
    reason = first_line(error)
    if isinstance(error, KeyError):
        reason = f"its files lack the entry {reason}"
    if "weights_only" in reason:  # torch would advise to let the file run its code
        reason = "its pickled weights hold more than tensors, which is not read even with leave"
    return InputError(f"{folder}: transformers cannot load the {part}: {reason}")
