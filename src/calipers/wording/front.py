"""Options in messages, named as in Python or on the command line.

A message names an option as Python has it, between backticks: ```skip_words=42```, ```metrics```,
```.to_dict()```. Python shows it as it stands; the command line, which sets its own words by
:func:`speaking`, writes ``--skip-words 42``, ``--metrics`` and ``--json FILE``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from calipers.lazy import pattern

NAMED = pattern(r"`([^`\n]+)`")
"""What a message names as code."""

Speech = Callable[[str], str | None]
"""Gives the words for what stands between backticks; None leaves it as it is."""

_speech: ContextVar[Speech | None] = ContextVar("speech", default=None)


@contextmanager
def speaking(speech: Speech) -> Iterator[None]:
    """Name options by `speech` within a context."""
    token = _speech.set(speech)
    try:
        yield
    finally:
        _speech.reset(token)


def worded(text: str) -> str:
    """Write a message in the form of the present front.

    Examples
    --------
    >>> worded("take the prompt off: `strip_prompt`")
    'take the prompt off: `strip_prompt`'
    >>> with speaking({"strip_prompt": "--strip-prompt"}.get):
    ...     worded("take the prompt off: `strip_prompt`")
    'take the prompt off: --strip-prompt'
    """
    speech = _speech.get()
    if speech is None or "`" not in text:
        return text
    return NAMED.sub(lambda named: speech(named[1]) or named[0], text)
