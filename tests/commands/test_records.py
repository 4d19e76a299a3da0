"""The records of the commands lead where they say, and a command is added as one folder."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import calipers
from calipers.cli.command import CommandSpec
from calipers.command import HOME, Command, commands
from calipers.options.option import Group
from calipers.results.result import Result

FOLDER = Path(calipers.__file__).parent / "commands"

BUILDS_ON = {
    "agree": {"compare"},
    "demo": {"compare"},
    "huse": {"likelihood"},
    "judge": {"generate"},
    "likelihood": {"compare", "text"},
    "tune": {"compare", "generate"},
}
"""The commands that another command takes its run, options or arguments from."""

WITHOUT_EXAMPLES = {"version"}

every_command = pytest.mark.parametrize("record", commands().values(), ids=commands())


def addresses(record: Command) -> list[str]:
    """All addresses of a record."""
    named = (record.cli, record.options, record.run, record.result, record.document)
    shown = (record.summarised, record.axes, record.page, record.page_data)
    plot = "" if record.plot is None else record.plot.drawn_by
    return [each for each in (*named, *shown, plot, *record.also_public) if each]


def test_the_commands_are_the_folders():
    folders = {path.name for path in FOLDER.iterdir() if (path / "__init__.py").exists()}
    assert set(commands()) == folders


@every_command
def test_all_addresses_of_a_record_can_be_imported(record):
    for address in addresses(record):
        assert record.load(address) is not None
    assert record.summary.endswith(".")
    assert isinstance(record.load(record.cli), CommandSpec)
    assert record.load(record.cli).name == record.name


@every_command
def test_the_public_names_of_a_record_are_those_of_the_package(record):
    assert set(record.names()) <= set(calipers.__all__)
    if record.public:
        assert getattr(calipers, record.public) is record.load(record.run)
    if record.options:
        assert issubclass(record.load(record.options), Group)


@every_command
def test_a_result_that_can_be_saved_has_the_kind_of_the_record_and_a_document(record):
    assert bool(record.kind) == bool(record.result) == bool(record.document)
    if record.kind:
        result = record.load(record.result)
        assert issubclass(result, Result)
        assert result.kind == record.kind
        assert isinstance(record.load(record.document), FunctionType)


@every_command
def test_the_help_of_a_command_has_examples(record):
    shown = record.load(record.cli).page.shown
    assert bool(shown) == (record.name not in WITHOUT_EXAMPLES)
    for wish, typed in shown:
        assert wish.endswith((":", "?"))
        assert typed.startswith("calipers ")
    assert all(f"calipers {record.name}" in typed for _, typed in shown[:1])


@every_command
def test_a_command_imports_no_other_command(record):
    others = {name for name in _imported(FOLDER / record.name) if name != record.name}
    others |= {
        module.split(".")[2]
        for module, _ in map(record.address, addresses(record))
        if module.startswith(f"{HOME}.")
    } - {record.name}
    assert others == BUILDS_ON.get(record.name, set())


def _imported(folder: Path) -> Iterator[str]:
    """Name the commands that the modules of a folder import."""
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            yield from (m.split(".")[2] for m in modules if m.startswith(f"{HOME}."))


# A command that is added as one folder, and found without an edit anywhere else ------------------

TOY = {
    "__init__": '''\
"""``calipers toy``: count the words of texts."""

from calipers.command import Command

COMMAND = Command(
    name="toy", panel="Further analyses", summary="Count the words of texts.", cli="cli:toy",
    options="options:ToyOptions", run="run:toy", public="toy", result="result:Toy", kind="toy",
    document="document:document",
)
''',
    "options": '''\
from calipers.options.option import Group, option, options_class
from calipers.options.rules import whole

@options_class
class ToyOptions(Group):
    """The options of ``toy``."""

    shortest: int = option(1, "Count words of at least N letters.", whole(1), setting=True)
''',
    "run": '''\
from calipers.commands.toy.options import ToyOptions
from calipers.commands.toy.result import Toy
from calipers.options.keywords import keywords_of
from calipers.samples import read_samples

@keywords_of(ToyOptions)
def toy(texts, options):
    """Count the words of texts.

    Parameters
    ----------
    texts
        The path of a file.
    """
    words = [word for text in read_samples(texts) for word in text.split()]
    counted = [word for word in words if len(word) >= options.shortest]
    return Toy(words=len(counted), settings=options.settings())
''',
    "result": '''\
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calipers._version import __version__
from calipers.results.result import Result

@dataclass(frozen=True, eq=False)
class Toy(Result):
    """How many words texts have."""

    words: int
    settings: Mapping[str, Any]
    version: str = __version__

    kind = "toy"

    def _outline(self):
        return {**self._stamp(), "words": self.words, "settings": self.settings}
''',
    "document": '''\
from calipers.report.table import Document, Note, Notes

def document(toy):
    """Give all that a count shows."""
    return Document("Words", (Notes((Note("note", f"{toy.words} words"),)),))
''',
    "cli": '''\
from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.commands.toy.options import ToyOptions
from calipers.commands.toy.run import toy as run

Texts = Annotated[str, typer.Argument(metavar="TEXTS", help="Texts.")]
EXAMPLES = (("How many words do my texts have?", "calipers toy human.txt"),)

@command(ToyOptions, writes=FORMATS, reads=("texts",), shown=EXAMPLES)
def toy(texts: Texts, *, options: ToyOptions, outputs: Outputs) -> None:
    """Count the words of texts."""
    deliver(run(texts, options=options), outputs)
''',
}

ADDED = """\
import sys
import calipers.commands
calipers.commands.__path__.append({folder!r})
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder with texts, and the toy in a folder of commands of its own."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "commands" / "toy"
    folder.mkdir(parents=True)
    for name, source in TOY.items():
        (folder / f"{name}.py").write_text(source)
    (home / "human.txt").write_text("a small boat\nout at sea\n")
    return home


def python(home: Path, code: str, *arguments: str) -> str:
    """Run Python where the toy is one of the commands."""
    added = ADDED.format(folder=str(home / "commands"))
    process = subprocess.run(
        [sys.executable, "-c", added + code, *arguments],
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return process.stdout


def typed(home: Path, *arguments: str) -> str:
    """Run the command line where the toy is one of the commands."""
    return python(home, "from calipers.__main__ import main; main()", *arguments)


def test_the_toy_is_short():
    lines = [line for source in TOY.values() for line in source.splitlines() if line.strip()]
    assert len(lines) < 80


@pytest.mark.slow
def test_a_command_of_one_folder_is_in_the_help(home):
    assert "  toy         Count the words of texts.\n" in typed(home, "--help")
    page = typed(home, "toy", "--help")
    assert "calipers toy human.txt" in page
    assert "--shortest N" in page


@pytest.mark.slow
def test_a_command_of_one_folder_is_in_python(home):
    code = "\n".join(
        (
            "import calipers",
            "assert 'toy' in calipers.__all__ and 'Toy' in dir(calipers)",
            "result = calipers.toy('human.txt', shortest=3)",
            "result.save('kept.zip')",
            "assert isinstance(calipers.load('kept.zip'), calipers.Toy)",
            "assert calipers.load('kept.zip').to_dict() == result.to_dict()",
            "calipers.show('kept.zip')",
        )
    )
    assert "4 words" in python(home, code)


@pytest.mark.slow
def test_the_result_of_a_command_of_one_folder_is_written_and_shown_again(home):
    asked = ("--shortest", "3", "--quiet", "--json", "-", "--save", "toy.zip")
    data = json.loads(typed(home, "toy", "human.txt", *asked))
    assert (data["kind"], data["words"], data["settings"]) == ("toy", 4, {"shortest": 3})
    assert "4 words" in typed(home, "show", "toy.zip")


@pytest.mark.slow
def test_the_options_of_a_command_of_one_folder_are_in_the_documentation(home):
    script = Path(__file__).parents[2] / "docs" / "tables.py"
    code = f"import runpy; print(runpy.run_path({str(script)!r})['of_commands']())"
    page = python(home, code)
    assert "## toy\n" in page
    assert "| `shortest` | `--shortest` | `1` | Count words of at least N letters. |" in page
