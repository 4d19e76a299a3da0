"""The help pages: what typer knows about the commands, laid out to be read from top to bottom."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from calipers import __version__
from calipers.cli.command_line import remember
from calipers.cli.guard import guarded
from calipers.report.plot_kinds import KINDS

WIDTH = max(40, min(80, shutil.get_terminal_size().columns))

TITLE = f"calipers {__version__}: are generated samples good, and as varied as the real thing?"

INTRODUCTION = """\
Give it a reference set (texts that people wrote) and one or more generated sets
(texts that models wrote). For each generated set it answers:

  how good?     precision, the share of generated samples that could be real
  how diverse?  recall, the share of the real variety that they reach
  how close?    MAUVE*, from 0 to 1, where 1 is no gap

Each question is asked of two views of the same texts: their meaning (topics,
content) and their form (style, fluency, word order; topics too)."""

EXAMPLES = (
    ("See a result first; nothing to prepare:", "calipers demo"),
    (
        "Compare two models with human texts:",
        "calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl",
    ),
    (
        "See why, in pictures: worst samples, topics, a map of all texts:",
        "calipers compare -r human.jsonl model.jsonl --html report.html",
    ),
    (
        "Take several files as the seeds of one model, and keep everything:",
        "calipers compare -r human.jsonl 'xl=runs/xl-*.jsonl' --save run.zip",
    ),
)

READ_ON = """\
  calipers compare --help    file formats, every option, more examples
  calipers metrics           every metric: what it tells, its range, its source
  python -m pydoc calipers   the same from Python: calipers.compare(...)"""

TEXT_METRICS_NOTE = """\
  calipers metrics text        lists them: what each tells, range, needs
  calipers metrics self_bleu   one of them: its options, source, what it misses
  Options follow a colon: distinct:n=3, self_bleu:pairwise, compression:zstd.
  docs/text.md tells how to choose."""

METRICS_NOTE = """\
  calipers metrics         lists all of them: what each tells, range, needs
  calipers metrics mauve   one of them: its options, its source, what it misses
  Options follow a colon: mauve_star:chi2, frontier_integral:knn, prd:kde.
  docs/sanity.md tells which one to trust when."""


class Group(TyperGroup):
    """The page of ``calipers`` itself; it remembers what was typed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        remember(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a word that breaks the rule of its option ends in one sentence."""
        with guarded():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        listed = [
            (name, (command.help or "").split("\n")[0]) for name, command in commands if command
        ]
        parts = [
            _bold(TITLE),
            INTRODUCTION,
            f"{_bold('Usage')}  {ctx.command_path} COMMAND [OPTIONS]",
            _section("Commands", _columns(listed)),
            _section("Examples", examples(EXAMPLES)),
            _section("Options", _columns([_record(param) for param in self.get_params(ctx)])),
            _section("Read on", READ_ON),
        ]
        formatter.write("\n\n".join(parts) + "\n")


class Command(TyperCommand):
    """The page of one command: options under the heading of their help panel."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        parts = [
            f"{_bold('Usage')}  {ctx.command_path} {' '.join(self.collect_usage_pieces(ctx))}",
            *(textwrap.fill(paragraph, WIDTH) for paragraph in (self.help or "").split("\n\n")),
            *(_section(name, _columns(rows)) for name, rows in _panels(self, ctx).items()),
            *self.further_sections(),
            *([_section("Examples", self.epilog)] if self.epilog else []),
        ]
        formatter.write("\n\n".join(parts) + "\n")

    def further_sections(self) -> list[str]:
        """Give what stands between the options and the examples: nothing, as a rule."""
        return []

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name what must be given, in the order in which a person would type it."""
        params = self.get_params(ctx)
        needed = [param for param in params if param.required and not _argument(param)]
        options = [f"{param.opts[0]} {param.metavar}" for param in needed]
        arguments = [_argument_name(param) for param in params if _argument(param)]
        return [*options, *arguments, "[OPTIONS]"]


class CompareCommand(Command):
    """The page of ``calipers compare``: it names the families of metrics too."""

    def further_sections(self) -> list[str]:
        """List the families."""
        from calipers.catalogue.embeddings import FAMILIES

        families = [(family.name, family.members) for family in FAMILIES.values()]
        return [_section("Metrics", f"{_columns(families)}\n{METRICS_NOTE}")]


class PlotCommand(Command):
    """The page of ``calipers plot``: it names the kinds of plots too."""

    def further_sections(self) -> list[str]:
        """List the kinds."""
        return [_section("Kinds", _columns([(name, kind.shows) for name, kind in KINDS.items()]))]


class TextCommand(Command):
    """The page of ``calipers text``: it names the families of text metrics too."""

    def further_sections(self) -> list[str]:
        """List the families."""
        from calipers.catalogue.texts import TEXT_FAMILIES

        listed = _columns([(family.name, family.members) for family in TEXT_FAMILIES.values()])
        return [_section("Metrics", f"{listed}\n{TEXT_METRICS_NOTE}")]


def examples(pairs: Iterable[tuple[str, str]]) -> str:
    """Write examples: what a person wants, and below it what they type."""
    return "\n".join(f"  {wish}\n    {command}" for wish, command in pairs)


def _panels(command: TyperCommand, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Sort the parameters under the headings of their panels, in the order of their first one."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        name = getattr(param, "rich_help_panel", None) or "Help"
        panels.setdefault(name, []).append(_record(param))
    return panels


def _record(param: Any) -> tuple[str, str]:
    """Give the names of a parameter, and what it does."""
    names = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    valued = f"{names} {param.metavar}" if param.metavar else names
    name = _argument_name(param) if _argument(param) else valued
    return name, f"{param.help or ''}{' [required]' if param.required else ''}"


def _argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _argument_name(param: Any) -> str:
    return f"{param.metavar}..." if param.nargs == -1 else str(param.metavar)


def _section(heading: str, body: str) -> str:
    return f"{_bold(heading)}\n{body}"


def _columns(rows: Sequence[tuple[str, str]]) -> str:
    """Set names on the left and texts on the right, wrapped; a long name has its own line."""
    margin = min(26, max((len(name) for name, _ in rows), default=0) + 4)
    return "\n".join(_entry(name, text, margin) for name, text in rows)


def _entry(name: str, text: str, margin: int) -> str:
    lines = textwrap.wrap(text, WIDTH - margin, break_on_hyphens=False) or [""]
    first = f"  {name}".ljust(margin)
    lead = [first + lines[0]] if len(name) + 4 <= margin else [f"  {name}", " " * margin + lines[0]]
    return "\n".join([*lead, *(" " * margin + line for line in lines[1:])])


def _bold(text: str) -> str:
    return typer.style(text, bold=True)
