"""The help pages: the common options on one screen, all of them by --help-all."""

from __future__ import annotations

import re

import pytest

from calipers.cli.help import FEW, first_sentence
from calipers.command import commands

MANY = (
    "show",
    "demo",
    "compare",
    "check",
    "generate",
    "tune",
    "sweep",
    "overlap",
    "prompts",
    "agree",
    "probe",
    "rank",
    "annotate",
    "text",
    "likelihood",
    "judge",
    "huse",
    "embed",
    "plot",
)
NEEDED = (
    "--reference", "--field", "--metrics", "--embedder", "--max-samples", "--group",
    "--strip-prompt", "--html", "--json", "--save", "--explain", "--details", "--seed", "--quiet",
)  # fmt: skip


def flags(page: str) -> set[str]:
    """Give the options that a page has a line for."""
    entries = re.findall(r"^  (?:-\w, )?(--[\w-]+)", page, flags=re.MULTILINE)
    return {flag for flag in entries if flag not in ("--help", "--help-all")}


def test_compare_shows_what_most_people_need_on_one_screen(calipers):
    page = calipers("compare", "--help").stdout
    assert flags(page) >= {*NEEDED}
    assert len(flags(page)) <= 15
    assert len(page.splitlines()) <= 52
    assert page.index("\nExamples\n") < page.index("\nOptions\n")


@pytest.mark.parametrize("command", MANY)
def test_the_short_page_names_the_number_of_all_options(calipers, command):
    page, everything = (calipers(command, flag).stdout for flag in ("--help", "--help-all"))
    assert flags(page) < flags(everything)
    assert f"\n{len(flags(everything))} options in all: calipers {command} --help-all" in page
    assert len(flags(page)) <= FEW
    assert calipers(command, "-h").stdout == page


@pytest.mark.parametrize("command", [name for name in commands() if name not in MANY])
def test_few_options_are_all_on_the_page(calipers, command):
    page = calipers(command, "--help").stdout
    assert page == calipers(command, "--help-all").stdout
    assert "--help-all" not in page
    assert (0 if command in ("version", "run") else 1) <= len(flags(page)) <= FEW


@pytest.mark.parametrize("command", list(commands()))
def test_whatever_must_be_given_is_on_the_short_page(calipers, command):
    page, everything = (calipers(command, flag).stdout for flag in ("--help", "--help-all"))
    assert page.count("[required]") == everything.count("[required]")


@pytest.mark.parametrize("command", list(commands()))
@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_pages_keep_to_the_width_of_the_terminal(calipers, command, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    for flag in ("--help", "--help-all"):
        lines = calipers(command, flag).stdout.splitlines()
        commands = [line for line in lines if line.startswith(("    calipers ", "      --"))]
        assert not [
            line for line in lines if len(line) > min(columns, 100) and line not in commands
        ]


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_first_page_keeps_to_the_width_of_the_terminal(calipers, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    page = calipers("--help").stdout
    examples = page[page.index("\nExamples\n") : page.index("\nOptions\n")]
    rest = page.replace(examples, "")
    assert max(map(len, rest.splitlines())) <= columns


def test_the_first_page_lists_every_command_once(calipers):
    page = calipers("--help").stdout
    for name in commands():
        assert len(re.findall(rf"^  {name} +[A-Z]", page, flags=re.MULTILINE)) == 1


def test_the_first_page_names_the_common_options_as_such(calipers):
    page = calipers("--help").stdout
    assert "calipers compare --help  " in page
    assert "calipers compare --help-all  every option" in page


@pytest.mark.parametrize("command", MANY)
def test_the_short_page_gives_first_sentences(calipers, command):
    page = calipers(command, "--help").stdout
    everything = calipers(command, "--help-all").stdout
    assert len(page) < 0.7 * len(everything)
    entries = re.split(r"\n  (?=\S)", page[page.index("\nOptions\n") : page.rindex("\n\n")])[1:]
    for entry in entries:
        assert len(entry.splitlines()) <= 6, entry


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        ("One such as a.b[0]. Two. [default: 4]", "One such as a.b[0]. [default: 4]"),
        ("As in Le Bronnec et al. (2024). Two.", "As in Le Bronnec et al. (2024)."),
        ("One. [default: 0]", "One. [default: 0]"),
        ("No full stop", "No full stop"),
    ],
)
def test_the_first_sentence(text, first):
    assert first_sentence(text) == first


def test_all_options_are_completed(calipers, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "calipers compare --")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("_CALIPERS_COMPLETE", "complete_bash")
    shown = calipers().stdout
    assert "--ties" in shown
    assert "--cache-dir" in shown
    assert "--help-all" in shown
