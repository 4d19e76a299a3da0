"""One way to run a command: parse, check, compute, deliver, stop.

A command is a function of what it reads, its options and where its results go. :func:`command`
gives it the flags of all of these, and everything that is alike in all commands: the check of files
before the work, the limit of memory, progress, what is written, how it ends.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from calipers.cli.guard import STOPPED, STOPPED_IN_FILES, STOPPED_UNCACHED, guarded
from calipers.cli.help import CommandPage, HelpAll
from calipers.cli.options import MaxMemory, build, common_of, parameters
from calipers.cli.outputs import COMMON, Outputs, output_parameters
from calipers.errors import InputError
from calipers.memory import memory_limit, parse_size
from calipers.options.engines import SearchEngine
from calipers.options.option import Group, options_of
from calipers.options.running import Running

STDIO = "-"


@dataclass(frozen=True)
class CommandSpec:
    """A command as typer takes it: its name, function and help page."""

    name: str
    run: Callable[..., None]
    page: type[CommandPage]


def command(
    options: type[Group] | None = None,
    *,
    writes: Sequence[str] = (),
    reads: Sequence[str] = (),
    limited: bool = True,
    page: type[CommandPage] = CommandPage,
    shown: Sequence[tuple[str, str]] = (),
    common: Iterable[str] = (),
    stopped: str | None = None,
    checked: bool = True,
    **worded: Any,
) -> Callable[[Callable[..., None]], CommandSpec]:
    """Make a command of a function.

    Parameters
    ----------
    options
        The group whose options it takes; the function gets them as `options`, and as `typed` the
        names of those that were typed, if it has such a parameter.
    writes
        The files that it can write, such as ``"json"``; the function gets them as `outputs`.
    reads
        Its parameters that name files, beside the options that do.
    limited
        Whether ``--max-memory`` has a meaning for it.
    page
        How its help is laid out.
    shown
        Its examples: what a person wants, and what they type; the short help has the first two.
    common
        Which of its own options the short help lists, beside those whose fields say so.
    stopped
        What is said where Ctrl-C ends it; by default whether embeddings were kept.
    checked
        Whether its outputs are checked before it runs; else it does so itself.
    worded
        Outputs in the words of the command, as for
        :func:`~calipers.cli.outputs.output_parameters`.
    """

    def decorate(function: Callable[..., None]) -> CommandSpec:
        own = inspect.signature(function, eval_str=True).parameters
        added = {
            "options": [] if options is None else parameters(options),
            "outputs": [*output_parameters(*writes, **worded), *([_memory()] if limited else [])],
            "typed": [],
        }
        laid = [p for name, each in own.items() for p in added.get(name, [each])]
        laid.append(_switch("help_all", HelpAll))
        laid = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in laid]

        def run(**given: Any) -> None:
            outputs, files = Outputs.of(given), [given[name] for name in reads]
            named = {name: given[name] for name in own if name not in added}
            named |= {"outputs": outputs} if "outputs" in own else {}
            kept = stopped or STOPPED_UNCACHED
            if options is not None:
                chosen, typed = build(options, given)
                files += _sources(chosen)
                if isinstance(chosen, Running):
                    chosen = replace(chosen, progress=outputs.progress())
                named |= {"options": chosen, **({"typed": typed} if "typed" in own else {})}
                if isinstance(chosen, SearchEngine) and chosen.in_files:
                    kept = STOPPED_IN_FILES
                elif stopped is None and getattr(chosen, "cache", False):
                    kept = STOPPED
            with guarded(kept), _limited(given):
                read = _checked(files)
                if checked:
                    outputs.check(read)
                function(**named)

        functools.update_wrapper(run, function)
        del run.__wrapped__  # type: ignore[attr-defined]
        run.__signature__ = inspect.Signature(laid)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in laid}
        needed = {p.name for p in laid if p.default is inspect.Parameter.empty}
        listed = needed | {*common, *COMMON} | (common_of(options) if options else set())
        return CommandSpec(function.__name__, run, page.of(frozenset(listed), shown))

    return decorate


def _sources(options: Group) -> list[Any]:
    """Give the values of the options that name files."""
    return [getattr(options, each.name) for each, about in options_of(options) if about.source]


def _checked(files: Iterable[Any]) -> list[str]:
    """Give every file that is named once or in a list; refuse standard input twice."""
    named: list[str] = []
    for each in files:
        named += [each] if isinstance(each, str) else list(each or ())
    if named.count(STDIO) > 1:
        raise InputError("standard input (-) can be read only once, but is given more than once")
    return named


def _switch(name: str, annotation: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=False, annotation=annotation)


def _memory() -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter("max_memory", kind, default=None, annotation=MaxMemory)


@contextmanager
def _limited(given: dict[str, Any]) -> Iterator[None]:
    """Count all that is read against one limit."""
    size = given.get("max_memory")
    with memory_limit(None if size is None else parse_size(size)):
        yield
