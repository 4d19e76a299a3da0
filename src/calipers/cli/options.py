"""The options of a group ──► parameters of a command, and what was typed ──► the group.

What an option is called, means and must be is said by its field (``calipers.options.groups``).
Here it only meets typer: its word is read by its rule while the command line is parsed, so that
every error is worded in one place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field
from typing import Annotated, Any, TypeVar

import typer

from calipers.errors import CalipersError, InputError
from calipers.options.option import INPUT, OUTPUT, Group, OptionField, Rule, options_of

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
    """Give a parameter for typer for each option of a group that the command line has."""
    found = []
    for each, about in sorted(options_of(group), key=lambda pair: pair[1].last):
        flags = about.flags(each.name)
        if about.off is None and flags:
            found.append(_parameter(each.name, _annotated(each, about, flags), about))
        elif about.off is not None:
            if each.default is not True:
                found.append(_parameter(each.name, _annotated(each, about, flags), about))
            flag, words = about.off
            option = typer.Option(flag, help=words, rich_help_panel=about.panel)
            found.append(
                inspect.Parameter(
                    _off_name(flag),
                    inspect.Parameter.KEYWORD_ONLY,
                    default=False,
                    annotation=Annotated[bool, option],
                )
            )
    return found


def common_of(group: type[Group]) -> set[str]:
    """Name the options of a group that most people need."""
    return {each.name for each, about in options_of(group) if about.common}


def build(group: type[Made], given: Mapping[str, Any]) -> tuple[Made, frozenset[str]]:
    """Make a group of what was typed; tell the names of the options that were typed at all.

    Raises
    ------
    InputError
        If a value breaks its rule, or two options exclude each other.
    """
    values: dict[str, Any] = {}
    for each, about in options_of(group):
        value = given.get(each.name)
        if about.several and (about.source or about.apart) and value is not None:
            value = list(value) or None  # names of files may hold commas
        elif about.several and value is not None:
            value = about.rule.parse(about.flags(each.name)[0], ", ".join(value)) if value else None
        if value is not None and not (isinstance(each.default, bool) and value is False):
            values[each.name] = value
        if about.off is not None and given.get(_off_name(about.off[0])):
            values[each.name] = False if each.default is True else None
    if "cache_dir" in values and "cache" in values:
        raise InputError("--cache-dir and --no-cache cannot be combined; give one of them")
    return group(**values), frozenset(values)


def complete(*values: str) -> Completer:
    """Make a completion for the shell that offers some values."""

    def offer(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return offer


def complete_list(*values: str) -> Completer:
    """Make a completion that offers some values for the last of a list with commas."""

    def offer(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{value}" for value in values if value.startswith(last)]

    return offer


def complete_metrics(incomplete: str) -> list[str]:
    """Offer metrics and families, for the last of a list; after a colon, options."""
    from calipers.catalogue.embeddings import FAMILIES, METRICS
    from calipers.report.names import LABELS

    head, colon, _ = incomplete.rpartition(",")[2].rpartition(":")
    words = [f"{head}:{word}" for word in LABELS] if colon else ["all", *FAMILIES, *METRICS]
    return complete_list(*dict.fromkeys(words))(incomplete)


def complete_text_metrics(incomplete: str) -> list[str]:
    """Offer text metrics and families, for the last of a list."""
    from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS

    return complete_list("all", *TEXT_FAMILIES, *TEXT_METRICS)(incomplete)


def complete_likelihood_metrics(incomplete: str) -> list[str]:
    """Offer metrics and families of likelihoods, for the last of a list."""
    from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES, LIKELIHOODS

    keys = [key for metric in LIKELIHOODS.values() for key in metric.keys]
    return complete_list("all", *LIKELIHOOD_FAMILIES, *keys)(incomplete)


def complete_all_metrics(incomplete: str) -> list[str]:
    """Offer metrics of embeddings by their name, and those of texts behind their view."""
    from calipers.catalogue.texts import TEXT_METRICS

    texts = complete_list("text", *(f"text.{name}" for name in TEXT_METRICS))(incomplete)
    last = incomplete.rpartition(",")[2]
    return [*complete_metrics(incomplete), *(texts if last.startswith("t") else [])]


def complete_embedders(incomplete: str) -> list[str]:
    """Offer names of embedders, for the last of a list."""
    return complete_list("minilm", "tfidf", "pixels", "inception")(incomplete)


COMPLETERS: Mapping[str, Completer] = {
    "metrics": complete_metrics,
    "text_metrics": complete_text_metrics,
    "likelihood_metrics": complete_likelihood_metrics,
    "all_metrics": complete_all_metrics,
    "embedders": complete_embedders,
}


def _parameter(name: str, annotation: Any, about: OptionField) -> inspect.Parameter:
    default = inspect.Parameter.empty if about.required else _unset(about)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _unset(about: OptionField) -> Any:
    """What an option holds that nobody typed: a switch is off."""
    return False if not about.rule.metavar and "/" not in about.flags("")[0] else None


def _annotated(each: Field[Any], about: OptionField, flags: tuple[str, ...]) -> Any:
    rule, several = about.rule, about.several
    if not rule.metavar:
        kind: Any = bool | None if "/" in flags[0] else bool
        parser = None
    else:
        kind = list[str] if several else str
        kind = kind if about.required else kind | None
        # A list is read as a whole, once all of it was typed
        parser = None if several else functools.partial(_read, rule, max(flags, key=len))
    option = typer.Option(
        *flags,
        help=_help(each, about),
        metavar=about.metavar or rule.metavar or None,
        rich_help_panel=about.panel,
        show_default=False,
        parser=parser,
        autocompletion=_completer(about),
    )
    return Annotated[kind, option]


def _read(rule: Rule, flag: str, text: str) -> Any:
    """Read a word; typer would put words of its own around a ValueError."""
    try:
        return rule.parse(flag, text)
    except InputError as error:
        raise CalipersError(str(error)) from None


def _help(each: Field[Any], about: OptionField) -> str:
    """Say what an option does, and what holds where it is left out."""
    hidden = any(each.default is value for value in (None, False, MISSING))
    silent = about.required or not about.show_default or hidden
    return about.help if silent else f"{about.help} [default: {each.default}]"


def _completer(about: OptionField) -> Completer | None:
    if isinstance(about.complete, str):
        return COMPLETERS[about.complete]
    if about.several and about.rule.values:
        return complete_list(*about.rule.values)
    offered = about.complete or about.rule.values
    return complete(*offered) if offered else None


def _off_name(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")
