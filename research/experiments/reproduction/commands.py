"""Whether a command that a page names exists, and would be understood, without running it."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path

import typer
from typer.core import TyperGroup

from calipers.catalogue import choosing
from calipers.cli.app import app
from calipers.errors import InputError
from reproduction.item import Item

LOOK_UP = {"text": choosing.find_text, "likelihood": choosing.find_likelihood}

UsageError = typer.BadParameter.__base__
"""What the parser raises; of its errors typer names this one alone, a child of it."""

ROOT = Path(__file__).resolve().parents[3]


def faults(item: Item) -> list[str]:
    """Say what is wrong with the commands and the links of an item; an empty list for nothing."""
    found = []
    for line in filter(None, [item.command, *item.would.split("\n")]):
        program, *words = shlex.split(line)
        if program == "calipers":
            found += _calipers(words)
        elif program == "python":
            found += _script(words)
        else:
            found.append(f"{program} is neither calipers nor python")
    if item.run:
        module, name = item.run.split(":")
        path = Path(__file__).with_name(f"{module}.py")
        if not path.is_file() or f"def {name}()" not in path.read_text("utf-8"):
            found.append(f"{item.run} does not exist")
    found += [f"docs/{page} does not exist" for page in item.see if not _page(page).is_file()]
    return [f"{item.key}: {fault}" for fault in found]


def _page(name: str) -> Path:
    return ROOT / "docs" / name


@functools.cache
def _command_line() -> TyperGroup:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    return command


def _calipers(words: list[str]) -> list[str]:
    """Parse the words as the command line does; no file is opened and nothing is run."""
    command = _command_line()
    name, *rest = words
    if name not in command.commands:
        return [f"calipers has no command {name}"]
    try:
        with command.make_context("calipers", [], resilient_parsing=True) as context:
            command.commands[name].make_context(name, list(rest), parent=context)
    except UsageError as error:
        return [f"calipers {name}: {error.format_message()}"]
    return _metrics(name, rest)


def _metrics(name: str, words: list[str]) -> list[str]:
    """Look up the metrics that are asked for."""
    look_up = LOOK_UP.get(name, choosing.find)
    found = []
    for place, word in enumerate(words[:-1]):
        if word == "--metrics":
            for key in words[place + 1].split(","):
                try:
                    look_up(key)
                except InputError as error:
                    found.append(f"calipers {name} --metrics {key}: {error}")
    return found


def _script(words: list[str]) -> list[str]:
    """Find the script, and each option that is given to it in its text."""
    path = ROOT / words[0]
    if not path.is_file():
        return [f"{words[0]} does not exist"]
    text = path.read_text("utf-8")
    options = [word for word in words[1:] if word.startswith("--")]
    return [f"{words[0]} has no {option}" for option in options if f'"{option}"' not in text]
