"""The frame of every command: parse, check, compute, deliver, exit.

A command is a function of what it reads, its options and where its results go. :func:`command`
gives it the flags of all of these, and everything that is alike in all commands: the check of files
before the work, the limit of memory, progress, what is written, how it ends.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import typer

from calipers.cli.flags import flags_of
from calipers.cli.guard import STOPPED, STOPPED_IN_FILES, STOPPED_UNCACHED, guarded
from calipers.cli.help import CommandPage, Config, HelpAll, WriteConfig
from calipers.cli.options import MaxMemory, build, common_of, parameter, parameters
from calipers.cli.outputs import COMMON, Outputs, output_parameters
from calipers.cli.streams import write_error
from calipers.errors import InputError
from calipers.memory import memory_limit, parse_size
from calipers.options.embedding import Model
from calipers.options.engines import SearchEngine
from calipers.options.machine import variables_named
from calipers.options.option import Group, options_of
from calipers.options.running import Running
from calipers.whole_files import write_text_atomically
from calipers.wording.front import speaking

STDIO = "-"
MAX_MEMORY = parameter("max_memory", MaxMemory, None)
HELP_ALL = parameter("help_all", HelpAll, False)
STUDY = [parameter("config", Config, None), parameter("write_config", WriteConfig, None)]


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
    serves: bool = False,
    **worded: Any,
) -> Callable[[Callable[..., None]], CommandSpec]:
    """Make a command from a function.

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
    serves
        Whether it waits for people, so that nothing is said of how long it has been running.
    worded
        Outputs in the words of the command, as for
        :func:`~calipers.cli.outputs.output_parameters`.
    """

    def decorate(function: Callable[..., None]) -> CommandSpec:
        takes = inspect.signature(function, eval_str=True).parameters
        made = {
            "options": [] if options is None else parameters(options),
            "outputs": [*output_parameters(*writes, **worded), *([MAX_MEMORY] if limited else [])],
            "typed": [],
        }
        laid_out = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, plain in takes.items()
            for one in made.get(name, [plain])
        ]
        laid_out += [*(STUDY if options is not None else []), HELP_ALL]

        def run(**given: Any) -> None:
            outputs, files = Outputs.of(given), [given[name] for name in reads]
            values = {name: given[name] for name in takes if name not in made}
            values |= {"outputs": outputs} if "outputs" in takes else {}
            group, typed = None, frozenset[str]()
            if options is not None:
                group, typed = build(options, given)
                files += _sources(group)
                if isinstance(group, Running):
                    group = group.changed(progress=outputs.progress())
                values |= {"options": group, **({"typed": typed} if "typed" in takes else {})}
            watched = nullcontext() if serves else outputs.running(function.__name__)
            named = nullcontext() if options is None else variables_named(options, typed)
            ended = guarded(_ending(group, stopped))
            with speaking(flags_of(options)), ended, _limited(given), watched, named:
                read = _checked(files)
                if given.get("write_config") is not None:
                    _write_study(function.__name__, options, laid_out, given, outputs)
                    return
                if checked:
                    outputs.check(read)
                function(**values)

        functools.update_wrapper(run, function)
        del run.__wrapped__  # type: ignore[attr-defined]
        run.__signature__ = inspect.Signature(laid_out)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in laid_out}
        needed = {one.name for one in laid_out if one.default is inspect.Parameter.empty}
        listed = needed | {*common, *COMMON} | (common_of(options) if options else set())
        return CommandSpec(function.__name__, run, page.of(frozenset(listed), shown))

    return decorate


def _write_study(
    name: str,
    options: type[Group] | None,
    laid_out: Sequence[inspect.Parameter],
    given: dict[str, Any],
    outputs: Outputs,
) -> None:
    from calipers.cli.study import study_of

    lists = {
        field.name
        for field, about in (options_of(options) if options is not None else ())
        if about.several and not (about.source or about.apart)
    }
    study = study_of(name, laid_out, given, lists)
    place = given["write_config"]
    replace(outputs, paths={"write_config": place}).check([])
    if place == STDIO:
        typer.echo(study, nl=False)
        return
    write_text_atomically(place, study)
    if not outputs.quiet:
        write_error(f"{place}: run it with calipers run {shlex.quote(place)}")


def _ending(options: Group | None, stopped: str | None) -> str:
    """What is said where Ctrl-C ends a command: from where the same command continues."""
    if isinstance(options, SearchEngine) and options.in_files:
        return STOPPED_IN_FILES
    if stopped is not None:
        return stopped
    return STOPPED if isinstance(options, Model) and options.cache else STOPPED_UNCACHED


def _sources(options: Group) -> list[Any]:
    """Return the values of the options that name files."""
    return [getattr(options, field.name) for field, about in options_of(options) if about.source]


def _checked(files: Iterable[Any]) -> list[str]:
    """Return every file that is named once or in a list; refuse standard input twice."""
    names: list[str] = []
    for value in files:
        names += [value] if isinstance(value, str) else list(value or ())
    if names.count(STDIO) > 1:
        raise InputError("standard input (-) can be read only once, but is given more than once")
    return names


@contextmanager
def _limited(given: dict[str, Any]) -> Iterator[None]:
    """Count all that is read against one limit, and read it as was asked for."""
    from calipers.samples.source import quotation_marks

    size = given.get("max_memory")
    limit = memory_limit(None if size is None else parse_size(size))
    with limit, quotation_marks(enclose=not given.get("no_quotes")):
        yield
