"""Options of a group as parameters of a command, and typed values as the group.

Its field says what an option is called, means and must be (:mod:`calipers.options.option`). Here it
only meets typer. Words become values by the rules, and the group checks them when it is made;
messages then name flags and the words that were typed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field
from typing import Annotated, Any, TypeVar

import typer

from calipers.errors import InputError
from calipers.options.machine import of_machine, variables_named
from calipers.options.option import INPUT, OUTPUT, Group, OptionField, options_of, without_markup
from calipers.options.rules import OptionError

Made = TypeVar("Made", bound=Group)
Completer = Callable[[str], list[str]]

Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="Show everything: also sizes and lengths, tests, the noise floor, the differences "
        "between systems, all warnings and a legend.",
        rich_help_panel=OUTPUT,
    ),
]


def complete(*values: str) -> Completer:
    """Make a shell completion that offers some values."""

    def offer(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return offer


Sort = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="KEY",
        help="Order of the systems in tables and on the page: closeness to the reference, name, "
        "given (as on the command line), or a score such as recall or form.mauve_star, the best "
        "first. [default: closeness; of decodings that differ in a parameter, given]",
        rich_help_panel=OUTPUT,
        autocompletion=complete("closeness", "name", "given"),
    ),
]
AllSystems = Annotated[
    bool,
    typer.Option(
        "--all-systems",
        help="Show the scores of all systems, where of more than 24 the screen shows the first "
        "and the last ten and those in question; --details and files have all of them.",
        rich_help_panel=OUTPUT,
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Largest amount of memory for the samples that are read, such as 8GB or 500MB (powers "
        "of ten), or 8GiB (powers of two). More is an error. By default half of the free memory.",
        rich_help_panel=INPUT,
    ),
]


def parameters(group: type[Group]) -> list[inspect.Parameter]:
    """Return a typer parameter for each option of a group that the command line has."""
    made = []
    for field, about in sorted(options_of(group), key=lambda pair: pair[1].last):
        flags = about.flags(field.name)
        if flags and (about.off is None or field.default is not True):
            made.append(_parameter(field, about, flags))
        if about.off is not None:
            flag, text = about.off
            option = typer.Option(flag, help=text, rich_help_panel=about.panel)
            made.append(parameter(_off_name(flag), Annotated[bool, option], False))
    return made


def parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Make a parameter of a command for typer."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def common_of(group: type[Group]) -> set[str]:
    """List the common options of a group."""
    return {field.name for field, about in options_of(group) if about.common}


def build(group: type[Made], given: Mapping[str, Any]) -> tuple[Made, frozenset[str]]:
    """Make a group from typed values, and list the options that were typed.

    Raises
    ------
    InputError
        If a value breaks its rule, or two options exclude each other.
    """
    values: dict[str, Any] = {}
    words: dict[str, str] = {}
    try:
        for field, about in options_of(group):
            name, typed = field.name, given.get(field.name)
            if about.off is not None and given.get(_off_name(about.off[0])):
                values[name] = False if field.default is True else None
            elif typed in (None, [], ()) or (field.default is False and typed is False):
                continue
            elif about.several and (about.source or about.apart):
                values[name] = list(typed)  # names of files may hold commas
            elif isinstance(typed, bool):
                values[name] = typed
            else:
                words[name] = ", ".join(typed) if about.several else typed
                values[name] = about.rule.value_of(name, words[name])
        if "cache_dir" in values and "cache" in values:
            raise InputError("--cache-dir and --no-cache cannot be combined; give one of them")
        with variables_named(group, values):
            return group(**of_machine(group, values), **values), frozenset(values)
    except OptionError as error:
        flags = {field.name: _flag(field.name, about) for field, about in options_of(group)}
        raise InputError(error.worded(flags, words)) from None


def _flag(name: str, about: OptionField) -> str:
    return max(about.flags(name), key=len, default=name)


def complete_list(*values: str) -> Completer:
    """Make a shell completion for the last item of a comma-separated list."""

    def offer(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{value}" for value in values if value.startswith(last)]

    return offer


def complete_metrics(incomplete: str) -> list[str]:
    """Complete metrics and families in a list; after a colon, options."""
    from calipers.catalogue.embeddings import FAMILIES, METRICS
    from calipers.wording.names import LABELS

    head, colon, _ = incomplete.rpartition(",")[2].rpartition(":")
    words = [f"{head}:{word}" for word in LABELS] if colon else ["all", *FAMILIES, *METRICS]
    return complete_list(*dict.fromkeys(words))(incomplete)


def complete_text_metrics(incomplete: str) -> list[str]:
    """Complete text metrics and families in a list."""
    from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS

    return complete_list("all", *TEXT_FAMILIES, *TEXT_METRICS)(incomplete)


def complete_likelihood_metrics(incomplete: str) -> list[str]:
    """Complete likelihood metrics and families in a list."""
    from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, LIKELIHOODS

    keys = [key for metric in LIKELIHOODS.values() for key in metric.keys]
    return complete_list("all", *LIKELIHOOD_FAMILIES, *keys)(incomplete)


def complete_all_metrics(incomplete: str) -> list[str]:
    """Complete metrics on embeddings, and metrics on texts after their view."""
    from calipers.catalogue.texts import TEXT_METRICS

    texts = complete_list("text", *(f"text.{name}" for name in TEXT_METRICS))(incomplete)
    last = incomplete.rpartition(",")[2]
    return [*complete_metrics(incomplete), *(texts if last.startswith("t") else [])]


def complete_embedders(incomplete: str) -> list[str]:
    """Complete names of embedders in a list."""
    names = ("minilm", "use", "characters", "tfidf", "efficientnet", "pixels", "inception")
    return complete_list(*names)(incomplete)


COMPLETERS: Mapping[str, Completer] = {
    "metrics": complete_metrics,
    "text_metrics": complete_text_metrics,
    "likelihood_metrics": complete_likelihood_metrics,
    "all_metrics": complete_all_metrics,
    "embedders": complete_embedders,
}


def _parameter(field: Field[Any], about: OptionField, flags: tuple[str, ...]) -> inspect.Parameter:
    switch = not about.rule.metavar
    two_way = switch and "/" not in flags[0]
    kind: Any = bool if switch else list[str] if about.several else str
    option = typer.Option(
        *flags,
        help=_help(field, about),
        metavar=about.metavar or about.rule.metavar or None,
        rich_help_panel=about.panel,
        show_default=False,
        autocompletion=_completer(about),
    )
    if about.required:
        return parameter(field.name, Annotated[kind, option], inspect.Parameter.empty)
    kind = kind if two_way else kind | None
    return parameter(field.name, Annotated[kind, option], False if two_way else None)


def _help(field: Field[Any], about: OptionField) -> str:
    """Say what an option does, and what holds where it is left out."""
    text = without_markup(about.text)
    hidden = any(field.default is value for value in (None, False, MISSING))
    silent = about.required or not about.show_default or hidden
    return text if silent else f"{text} [default: {field.default}]"


def _completer(about: OptionField) -> Completer | None:
    if isinstance(about.complete, str):
        return COMPLETERS[about.complete]
    if about.several and about.rule.values:
        return complete_list(*about.rule.values)
    offered = about.complete or about.rule.values
    return complete(*offered) if offered else None


def _off_name(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")
