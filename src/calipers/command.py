"""The record of a command, in the ``__init__`` of its folder under ``calipers.commands``.

A record holds words and addresses, so that reading all of them imports nothing else. From them
follow the subcommand and its place in the help, the public Python name, the kind that JSON and zip
name, and what ``show`` prints of a saved result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

HOME = "calipers.commands"

PANELS = (
    "Commands",
    "Language models",
    "Judgements",
    "Commands for saved results",
    "Further analyses",
)
"""Headings of ``calipers --help``, in the order in which a newcomer meets them."""


@dataclass(frozen=True, kw_only=True)
class PlotKind:
    """A kind of plot that ``calipers plot`` draws from a saved result.

    Attributes
    ----------
    name
        What a user types.
    shows
        What it shows, in one line.
    drawn_by
        The address of the function of the result that gives a ``Plot``.
    source
        What a person calls the results that it is drawn from, and where they come from.
    noun
        What one such result is called in a message; its kind if empty.
    takes
        The kind of result that it is drawn from; that of the command's record where it is in one.
    place
        Its place in the list of kinds; those of comparisons come first.
    options
        Which options it has.
    needs
        What of a comparison it is drawn from besides the scores: ``"curves"``, ``"maps"`` or
        ``"explanations"``.
    several
        Whether it is drawn from one or more results; from exactly one otherwise.
    paged
        Whether the HTML page of the result shows it.
    """

    name: str
    shows: str
    drawn_by: str
    source: str
    noun: str = ""
    takes: str = ""
    place: int = 50
    options: tuple[str, ...] = ()
    needs: str = ""
    several: bool = False
    paged: bool = False


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command; its addresses are ``"module:name"``, relative to its folder, or empty.

    Attributes
    ----------
    name
        What a user types, and the name of its folder.
    panel
        The heading that lists it, one of :data:`PANELS`.
    place
        Its place under the heading; equal places are sorted by name.
    summary
        What it does, in one sentence.
    cli
        The declaration of its arguments, :class:`calipers.cli.command.CommandSpec`.
    options
        The class of its options.
    run
        The function that computes its result.
    public
        The name of `run` in the package ``calipers``; empty if it is not public.
    result
        The class of its result, also public, under its own name.
    kind
        What JSON and zip call its result, where it has a class of its own.
    document
        What makes the tables and notes of its result: a function of the result and ``details``.
    summarised
        What makes the document for a paper or a notebook; `document` if empty.
    paged
        What makes the document of its HTML page, with every table; `document` if empty.
    plot
        How its result is drawn.
    axes
        What draws a kind of plot of its result into axes, where there are several kinds.
    page
        What writes the HTML report of its result, where that has texts and pictures of samples.
    page_data
        What gives all that such a report shows as plain data.
    also_public
        Further functions or classes that the package ``calipers`` offers.
    """

    name: str
    panel: str
    summary: str
    place: int = 50
    cli: str = ""
    options: str = ""
    run: str = ""
    public: str = ""
    result: str = ""
    kind: str = ""
    document: str = ""
    summarised: str = ""
    paged: str = ""
    plot: PlotKind | None = None
    axes: str = ""
    page: str = ""
    page_data: str = ""
    also_public: tuple[str, ...] = ()

    def address(self, address: str) -> tuple[str, str]:
        """Return the module and the name of an address of this record."""
        module, _, name = address.partition(":")
        return (module if module.startswith("calipers") else f"{HOME}.{self.name}.{module}"), name

    def load(self, address: str) -> Any:
        """Import the object of an address of this record."""
        module, name = self.address(address)
        return getattr(import_module(module), name)

    def names(self) -> Mapping[str, tuple[str, str]]:
        """Return its public names in the package ``calipers``, with module and name."""
        classes = [*([self.result] if self.kind else []), *self.also_public]
        names = {address.rpartition(":")[2]: self.address(address) for address in classes}
        return {**names, **({self.public: self.address(self.run)} if self.public else {})}


@cache
def commands() -> Mapping[str, Command]:
    """Return all commands by name, in the order of the help.

    Raises
    ------
    ValueError
        If the record of a folder has another name, or an unknown heading.
    """
    records = []
    for folder in iter_modules(import_module(HOME).__path__):
        if folder.ispkg:
            record: Command = import_module(f"{HOME}.{folder.name}").COMMAND
            if record.name != folder.name or record.panel not in PANELS:
                raise ValueError(
                    f"the record of {folder.name} names {record.name!r} in {record.panel!r}"
                )
            records.append(record)
    records.sort(key=lambda record: (PANELS.index(record.panel), record.place, record.name))
    return {record.name: record for record in records}


@cache
def kinds() -> Mapping[str, Command]:
    """Return the command of each kind of result that can be saved and loaded."""
    return {record.kind: record for record in commands().values() if record.kind}


@cache
def public_names() -> Mapping[str, tuple[str, str]]:
    """Return the public names that commands add to ``calipers``, with module and name."""
    return {name: place for record in commands().values() for name, place in record.names().items()}
