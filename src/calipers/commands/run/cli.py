"""``calipers run``: a command with its files, options, outputs and checks from one file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.command_line import keep_study
from calipers.cli.help import CommandPage, Subcommands
from calipers.errors import InputError
from calipers.options.option import INPUT

StudyFile = Annotated[
    str,
    typer.Argument(
        metavar="STUDY.toml",
        help="What --write-config of a command wrote, or a person. Paths in it begin in the folder "
        "where this command runs.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
More = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[OPTION]",
        help="Options of the study's command, which count in place of what the file says.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

EXAMPLES = (
    ("Run a study:", "calipers run study.toml"),
    ("The same with another seed, and a report:", "calipers run study.toml --seed 1 --html r.html"),
    (
        "Write a study from a command line:",
        "calipers compare -r human.jsonl a.jsonl --write-config study.toml",
    ),
)


class RunPage(CommandPage):
    """The help page of ``calipers run``, which leaves options to the command of the study."""

    def make_parser(self, ctx: Any) -> Any:
        """Make a parser that accepts arguments which are no options of its own."""
        ctx.ignore_unknown_options = True
        ctx.allow_interspersed_args = False
        return super().make_parser(ctx)


@command(limited=False, page=RunPage, shown=EXAMPLES)
def run(study: StudyFile, more: More = None) -> None:
    """Run a study: a command with its files, options, outputs and checks from one file.

    A study is TOML: command (compare unless it says otherwise), reference, a table [systems] of
    names and files, [options], [outputs] and [checks], the conditions of calipers check. Keys are
    the command's flags without dashes. Exit codes are those of the command, and of the check.
    """
    from calipers.cli.study import check_words, read_study, words_of

    known = Subcommands()
    read = read_study(study)
    words = words_of(read, known[read.command].params, list(more or ()))
    checks = check_words(read, known["check"].params)
    saved = _saved_to(words) if checks else None
    if checks and saved is None:
        raise InputError(
            f"{study}: [checks] are of the saved result; name its file in [outputs], such as "
            "save = 'run.zip'"
        )
    keep_study(read.text)
    _call(known, read.command, words)
    if saved is not None:
        _call(known, "check", [saved, *checks, *({"-q", "--quiet"} & set(words))])


def _call(known: Subcommands, name: str, words: list[str]) -> None:
    """Run a command; one that fails ends the study with its exit code."""
    code = known[name].main(args=words, prog_name=f"calipers {name}", standalone_mode=False)
    if code:
        raise typer.Exit(code)


def _saved_to(words: list[str]) -> str | None:
    """Return the file that the result is saved to."""
    places = [
        word.partition("=")[2] if "=" in word else words[place + 1]
        for place, word in enumerate(words)
        if word.partition("=")[0] == "--save" and ("=" in word or place + 1 < len(words))
    ]
    return places[-1] if places else None
