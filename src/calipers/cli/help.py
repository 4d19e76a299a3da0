"""The help pages: the commands and their options, laid out to be read from top to bottom.

``--help`` of a command with many options shows those that most people need, each by the first
sentence of its help; ``--help-all`` shows every option in full.
"""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from calipers._version import __version__
from calipers.cli.command_line import CONFIG, STUDIES, remember
from calipers.cli.flags import flags_of
from calipers.cli.guard import guarded
from calipers.command import PANELS, Command, commands
from calipers.options.option import INPUT, OUTPUT
from calipers.wording.front import speaking

NARROWEST = 40
WIDEST = 100

FEW = 15
"""So many options fit on one page; of more, the page shows the common ones."""

FIRST_EXAMPLES = 2

TITLE = f"calipers {__version__}: are generated samples good, and as varied as the real ones?"

INTRODUCTION = (
    "Give it a reference set (texts that people wrote, or real images) and one or more generated "
    "sets (what models made). For each generated set it answers:"
)

QUESTIONS = (
    ("how good?", "precision, the share of generated samples that could be real"),
    ("how diverse?", "recall and coverage, the share of the real variety that they cover"),
    ("how close?", "MAUVE*, from 0 to 1, where 1 means no difference"),
)

VIEWS = (
    "Texts are compared in two views: their meaning (topics, content) and their form (style, "
    "fluency, word order; topics too)."
)

EXAMPLES = (
    ("See a result first; no files needed:", "calipers demo"),
    (
        "Compare two models with human texts:",
        "calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl",
    ),
    (
        "Write a report: worst samples, topics, a map of all texts:",
        "calipers compare -r human.jsonl model.jsonl --html report.html",
    ),
    (
        "Take several files as the seeds of one model, and save the result:",
        "calipers compare -r human.jsonl 'xl=runs/xl-*.jsonl' --save run.zip",
    ),
)

READ_ON = (
    ("calipers compare --help", "the options that most people need"),
    ("calipers compare --help-all", "every option, file format and example"),
    ("calipers metrics", "every metric: what it measures, its range, its source"),
    ("python -m pydoc calipers", "the same from Python: calipers.compare(...)"),
)

WHOLE = r"`[^`]*`|\[default: \S+\]"
"""What is not broken at the end of a line."""

NO_BREAK = "\N{NO-BREAK SPACE}"

_ALL = "calipers.help_all"


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[_ALL] = True
        typer.echo(context.get_help(), color=context.color)
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        is_eager=True,
        callback=_show_all,
        help="Show every option of this command, and exit.",
    ),
]


Config = Annotated[
    str | None,
    typer.Option(
        CONFIG,
        metavar="STUDY.toml",
        rich_help_panel=INPUT,
        help="Take the options that are not typed from this file, as --write-config wrote it.",
    ),
]
WriteConfig = Annotated[
    str | None,
    typer.Option(
        "--write-config",
        metavar="STUDY.toml",
        rich_help_panel=OUTPUT,
        help="Write this command as a study, for `calipers run`, and do not run it.",
    ),
]


class Subcommands(dict[str, Any]):
    """The commands by name, each imported when it is first requested."""

    def __missing__(self, name: str) -> Any:
        record = commands()[name]
        spec = record.load(record.cli)
        alone = typer.Typer(
            add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
        )
        alone.command(name, cls=spec.page, help=_about(record, spec.run.__doc__))(spec.run)
        made = typer.main.get_command(alone)
        made.context_settings.setdefault("help_option_names", ["--help", "-h"])
        self[name] = made
        return made

    def get(self, name: str, default: Any = None) -> Any:
        """Return a command, or the default for an unknown name."""
        return self[name] if name in commands() else default

    def __contains__(self, name: object) -> bool:
        return name in commands()

    def __iter__(self) -> Iterator[str]:
        return iter(commands())

    def __len__(self) -> int:
        return len(commands())

    def keys(self) -> Any:
        """Return the names of the commands."""
        return commands().keys()


def _about(record: Command, docstring: str | None) -> str:
    """The summary of the record, and what the docstring of the function says after its first."""
    _, _, more = inspect.cleandoc(docstring or "").partition("\n\n")
    return f"{record.summary}\n\n{more}".strip()


class Page(TyperGroup):
    """The help page of ``calipers`` itself, which remembers what was typed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Subcommands()

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands in the order of the help."""
        return list(commands())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        remember(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and turn an invalid value of an option into a one-sentence message."""
        with speaking(flags_of()), guarded():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        parts = [
            "\n".join(_bold(line) for line in textwrap.wrap(TITLE, width())),
            f"{_filled(INTRODUCTION)}\n\n{columns(QUESTIONS)}\n\n{_filled(VIEWS)}",
            f"{_bold('Usage')}  {ctx.command_path} COMMAND [OPTIONS]",
            *(section(panel, _listed(panel)) for panel in PANELS),
            section("Examples", examples(EXAMPLES)),
            section("Options", columns([_record(param) for param in self.get_params(ctx)])),
            section("Read on", columns(READ_ON, margin=32)),
        ]
        formatter.write("\n\n".join(parts) + "\n")


def _listed(panel: str) -> str:
    """List the commands under a heading by their summaries."""
    longest = max(map(len, commands()))
    records = [record for record in commands().values() if record.panel == panel]
    return columns([(record.name.ljust(longest), record.summary) for record in records])


class CommandPage(TyperCommand):
    """The help page of one command: common options, or all options by panel.

    Attributes
    ----------
    common
        The parameters that the short page lists; None where all of them fit on it.
    shown
        Examples: what a person wants, and what they type.
    """

    common: ClassVar[frozenset[str] | None] = None
    shown: ClassVar[Sequence[tuple[str, str]]] = ()

    @classmethod
    def of(cls, common: frozenset[str], shown: Sequence[tuple[str, str]]) -> type[CommandPage]:
        """Make the page of a command with these common options and examples."""
        return type(cls.__name__, (cls,), {"common": common, "shown": shown})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, preceded by those of the study that ``--config`` names."""
        if any(word.partition("=")[0] == CONFIG for word in args):
            from calipers.cli.study import with_study

            args = with_study(self.name or "", self.params, args)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        usage = f"{ctx.command_path} {' '.join(self.collect_usage_pieces(ctx))}"
        about = (self.help or "").split("\n\n")
        options = [param for param in self.get_params(ctx) if not _argument(param)]
        counted = [param for param in options if param.name not in STUDIES]
        short = self.common is not None and len(counted) > FEW and not ctx.meta.get(_ALL)
        parts = [
            textwrap.fill(f"Usage  {usage}", width(), subsequent_indent=" " * 7).replace(
                "Usage", _bold("Usage"), 1
            ),
            *map(_filled, about),
            *(self._short(ctx) if short else self._full(ctx)),
        ]
        formatter.write("\n\n".join(parts) + "\n")

    def _short(self, ctx: Any) -> list[str]:
        common = [param for param in self.get_params(ctx) if param.name in (self.common or ())]
        common.sort(key=lambda param: (not _argument(param), not param.required))
        number = sum(not _argument(param) and not _asks_help(param) for param in self.params)
        return [
            section("Examples", examples(self.shown[:FIRST_EXAMPLES])),
            section("Options", columns([_record(param, brief=True) for param in common])),
            *self.choices(),
            f"{number} options in all: {ctx.command_path} --help-all",
        ]

    def _full(self, ctx: Any) -> list[str]:
        panels = [(name, columns(rows)) for name, rows in _panels(self, ctx).items()]
        return [
            *(section(name, rows) for name, rows in panels),
            *self.choices(),
            *self.further_sections(),
            *([section("Examples", examples(self.shown))] if self.shown else []),
        ]

    def choices(self) -> list[str]:
        """Return the accepted values of an argument with a list of its own; none by default."""
        return []

    def further_sections(self) -> list[str]:
        """Return the sections between options and examples; none by default."""
        return []

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """List the required arguments, in the order in which they are typed."""
        params = self.get_params(ctx)
        needed = [param for param in params if param.required and not _argument(param)]
        options = [f"{param.opts[0]} {param.metavar}" for param in needed]
        arguments = [_argument_name(param) for param in params if _argument(param)]
        return [*options, *arguments, "[OPTIONS]"]


def examples(pairs: Iterable[tuple[str, str]]) -> str:
    """Write examples: the purpose, and below it the command."""
    filled = [(textwrap.fill(wish, width() - 2), command) for wish, command in pairs]
    return "\n".join(f"{textwrap.indent(wish, '  ')}\n    {command}" for wish, command in filled)


def width() -> int:
    """Return the width of the pages: that of the terminal, within limits."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, with the default that it ends in."""
    sentence = re.match(r".*?\.(?= [A-Z\[]|$)", text)
    default = re.search(r" \[default: [^]]*\]$", text)
    if sentence is None:
        return text
    return sentence[0] + (default[0] if default is not None else "")


def metrics_section(
    families: Sequence[tuple[str, str]], read_on: Sequence[tuple[str, str]], note: str
) -> str:
    """Return the section that lists the families of metrics, and how to describe a metric."""
    filled = textwrap.indent(textwrap.fill(note, width() - 2), "  ")
    body = f"{columns(families)}\n\n{columns(read_on, margin=30)}\n\n{filled}"
    return section("Metrics", body)


def _panels(command: TyperCommand, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Sort the parameters under the headings of their panels, in the order of their first one."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        if not _asks_help(param):
            name = getattr(param, "rich_help_panel", None) or "Help"
            panels.setdefault(name, []).append(_record(param))
    return panels


def _record(param: Any, *, brief: bool = False) -> tuple[str, str]:
    """Return the names of a parameter, and what it does."""
    names = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    valued = f"{names} {param.metavar}" if param.metavar else names
    name = _argument_name(param) if _argument(param) else valued
    text = first_sentence(param.help or "") if brief else param.help or ""
    return name, f"{text}{' [required]' if param.required else ''}"


def _argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _asks_help(param: Any) -> bool:
    return "--help-all" in param.opts


def _argument_name(param: Any) -> str:
    return f"{param.metavar}..." if param.nargs == -1 else str(param.metavar)


def section(heading: str, body: str) -> str:
    """Write a body under its heading."""
    return f"{_bold(heading)}\n{body}"


def _filled(text: str) -> str:
    return textwrap.fill(text, width(), break_on_hyphens=False)


def columns(rows: Sequence[tuple[str, str]], *, margin: int = 26) -> str:
    """Write names on the left and wrapped texts on the right; a long name has its own line."""
    most = min(margin, width() // 2)
    margin = min(most, max((len(name) for name, _ in rows), default=0) + 4)
    return "\n".join(_entry(name, text, margin) for name, text in rows)


def _entry(name: str, text: str, margin: int) -> str:
    whole = re.sub(WHOLE, lambda words: words[0].replace(" ", NO_BREAK), text)
    wrapped = textwrap.wrap(whole, width() - margin, break_on_hyphens=False) or [""]
    lines = [line.replace(NO_BREAK, " ") for line in wrapped]
    first = f"  {name}".ljust(margin)
    lead = [first + lines[0]] if len(name) + 4 <= margin else [f"  {name}", " " * margin + lines[0]]
    return "\n".join([*lead, *(" " * margin + line for line in lines[1:])])


def _bold(text: str) -> str:
    return typer.style(text, bold=True)
