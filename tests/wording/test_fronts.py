"""Messages name options as Python does; the command line says them as flags, and never mixes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import calipers
from calipers.cli import app
from calipers.cli.flags import METHODS, flags_of
from calipers.command import commands
from calipers.errors import InputError
from calipers.options.comparison import CompareOptions
from calipers.wording.front import NAMED, speaking, worded

SOURCE = Path(calipers.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")

OF_THE_COMMAND_LINE = re.compile(
    r"cli/|commands/\w+/(cli|__init__)\.py"
    r"|commands/metrics/|catalogue/(describing|embeddings|likelihoods|texts)\.py"
    r"|report/plot_kinds\.py|report/redacted\.py"
)
"""Where only the command line speaks: its frame, the texts of its help, its list of metrics."""

OF_OPTIONS = re.compile(r"options/|commands/\w+/options\.py")

OF_OTHERS = {
    *("--no-deps", "--force-reinstall"),  # pip
    *("--head", "--num-cpus"),  # ray
    "--merge",  # llama.cpp
    "--revision",  # hf
    "--calipers-inconclusive",  # pytest
    *("--port", "--import-label-studio", "--export"),  # calipers annotate, which runs in a shell
}


def messages():
    """Give every text of the library that is no docstring, with its place; values stand as {}."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        tree: ast.AST = ast.parse(path.read_text())
        if OF_OPTIONS.match(name):  # the text of an option is help, what is raised is a message
            tree = ast.Module([node for node in ast.walk(tree) if isinstance(node, ast.Raise)], [])
        elif OF_THE_COMMAND_LINE.match(name):
            continue
        parts, docs = set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts |= {id(value) for value in node.values}
            for line in node.body if isinstance(getattr(node, "body", None), list) else ():
                if isinstance(line, ast.Expr):
                    docs.add(id(line.value))
        others = parts | docs
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield name, node.lineno, "".join(map(_part, node.values))
            elif isinstance(getattr(node, "value", None), str) and id(node) not in others:
                yield name, node.lineno, node.value


def _part(node):
    return node.value if isinstance(node, ast.Constant) else "{}"


MESSAGES = list(messages())


def test_no_message_of_the_library_names_a_flag():
    found = [
        f"{name}:{line}: {flag}"
        for name, line, text in MESSAGES
        for flag in FLAG.findall(text)
        if flag not in OF_OTHERS
    ]
    assert found == []
    assert len(MESSAGES) > 5_000


def test_every_option_that_a_message_names_is_one_and_has_a_flag():
    speech = flags_of()
    named = {
        span
        for name, _, text in MESSAGES
        if not name.startswith(("report/html/", "report/render/", "wording/"))
        for span in NAMED.findall(text)
        if not span.startswith("{")
    }
    assert len(named) > 60
    assert {span for span in named if speech(span) is None} == set()
    said = {span: speech(span) for span in named}
    assert all(flag.lstrip("no ").startswith(("--", "calipers ")) for flag in said.values()), said
    assert set(METHODS) <= named | {".paged()"}


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("skip_words=42", "--skip-words 42"),
        ("skip_words", "--skip-words"),
        ("strip_prompt", "--strip-prompt"),
        ("strip_prompt=True", "--strip-prompt"),
        ("quotes=False", "--no-quotes"),
        ("level=None", "--no-intervals"),
        ("floor=False", "--no-floor"),
        ("floor=True", "--floor"),
        ("fail_if='recall < 0.8'", "--fail-if 'recall < 0.8'"),
        ("metrics=['recall', 'mauve']", "--metrics recall,mauve"),
        ("match_length=WORDS", "--match-length WORDS"),
        (".to_dict()", "--json FILE"),
        ("calipers.compare", "calipers compare"),
        ("no option", None),
        ("k=", "--k "),
    ],
)
def test_an_option_is_said_as_its_flag(python, shell):
    assert flags_of(CompareOptions)(python) == shell
    with speaking(flags_of(CompareOptions)):
        assert worded(f"use `{python}`.") == (f"use {shell}." if shell else f"use `{python}`.")
    assert worded(f"use `{python}`.") == f"use `{python}`."


SHORT = [f"The {i}th cat sat quietly on a mat beside the old red door." for i in range(60)]
LONG = [f"Story: {text} {text} {text.replace('cat', 'dog')}" for text in SHORT]
OPTIONS = {
    name
    for record in commands().values()
    if record.options
    for name in record.load(record.options).__dataclass_fields__
    if "_" in name
}
KEYWORD = re.compile(rf"`|\b({'|'.join(sorted(OPTIONS))})\b(?!:)")
"""What belongs to Python: backticks, and names of options that a flag spells otherwise.

Signatures have them before a colon.
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    for name, lines in {"human": SHORT, "model": LONG, "same": SHORT}.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return folder


def test_a_result_speaks_python_in_python_and_flags_on_the_command_line(texts, monkeypatch):
    monkeypatch.chdir(texts)
    run = calipers.compare("human.txt", {"m": "model.txt"}, embedder="tfidf", max_samples=50)
    for shown in (str(run), str(run.document(details=True)), str(run["m"]), *run["m"].warnings):
        assert FLAG.search(shown) is None, shown
    assert "`match_length=" in "".join(run["m"].warnings)
    run.save("run.zip")
    typed = "compare -r human.txt m=model.txt --embedder tfidf --max-samples 50"
    for command in (typed, f"{typed} --details", "show run.zip", "show run.zip --details"):
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, done.output
        assert KEYWORD.search(done.output) is None, done.output
    assert "--match-length" in done.output


@pytest.mark.parametrize("form", ["html", "markdown", "latex"])
def test_files_of_the_command_line_speak_flags(texts, monkeypatch, form):
    monkeypatch.chdir(texts)
    typed = f"compare -r human.txt m=model.txt --embedder tfidf --{form} out.{form} -q"
    assert CliRunner().invoke(app, typed.split()).exit_code == 0
    text = Path(f"out.{form}").read_text()
    assert "`match_length" not in text
    assert ("--match-length" in text) == (form != "latex") or "match-length" in text


def test_an_error_speaks_python_in_python_and_flags_on_the_command_line(texts, monkeypatch):
    monkeypatch.chdir(texts)
    Path("odd.jsonl").write_text('{"left": "a", "right": "b"}\n' * 9)
    with pytest.raises(InputError, match="choose one with `field`"):
        calipers.compare("odd.jsonl", "human.txt")
    done = CliRunner().invoke(app, ["compare", "-r", "odd.jsonl", "human.txt"])
    assert "choose one with --field, or" in done.stderr
    assert KEYWORD.search(done.stderr) is None
