"""Run the programs on the pages docs/coming_from_*.md, and write what they print beside each other.

``python docs/coming_from.py`` runs all of them; ``--check`` only says which pages are not current;
names of pages (``prdc mauve``) run those alone. Each program runs in an interpreter of its own,
with no network. A package that needs other versions than Calipers may have one of its own:
``--python torch-fidelity=PATH``; without it, what that package printed stays as it is.

A page is its own source. ``<!-- outputs -->`` follows one or two programs, each under its name in
bold; what stands from there to ``<!-- end of outputs -->`` is written here.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

DOCS = Path(__file__).parent
START, END = "<!-- outputs -->\n", "<!-- end of outputs -->"
PROGRAM = re.compile(
    r"^\*\*(?P<name>[^*]+)\*\*[^\n]*\n\n```python\n(?P<code>.*?)^```$", re.M | re.S
)
SECONDS = 300
ELSEWHERE = ("torch-fidelity",)
"""Packages that cannot be installed beside Calipers' own versions."""


@dataclass(frozen=True)
class Program:
    """A program of a page, and whose it is."""

    name: str
    code: str


class NotRunError(Exception):
    """A program needs an interpreter that is not there."""


def pages(names: Sequence[str]) -> list[Path]:
    """The pages of these names; all without."""
    if not names:
        return sorted(DOCS.glob("coming_from_*.md"))
    return [DOCS / f"coming_from_{name.replace('-', '_')}.md" for name in names]


def current(page: Path, pythons: Mapping[str, str]) -> str:
    """The text of a page with what its programs print now."""
    text, done = page.read_text("utf-8"), 0
    while (start := text.find(START, done)) >= 0:
        programs = [
            Program(found["name"], found["code"]) for found in PROGRAM.finditer(text, done, start)
        ]
        if len(programs) not in (1, 2):
            raise SystemExit(f"{page.name}: one or two programs go before the outputs")
        end = text.index(END, start)
        before = text[start + len(START) : end]
        try:
            after = beside([program.name for program in programs], _outputs(programs, pythons))
        except NotRunError as problem:
            sys.stderr.write(f"{page.name}: kept what {problem} printed; see --python\n")
            after = before
        text = text[: start + len(START)] + after + text[end:]
        done = text.index(END, start)
    return text


def _outputs(programs: Sequence[Program], pythons: Mapping[str, str]) -> list[str]:
    for program in programs:
        if program.name in ELSEWHERE and program.name not in pythons:
            raise NotRunError(program.name)
    return [run(program, pythons.get(program.name, sys.executable)) for program in programs]


def run(program: Program, python: str) -> str:
    """What a program prints; where it fails, the last line of its error."""
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(program.code, "utf-8")
        done = subprocess.run(
            [python, str(path)],
            cwd=folder,
            env={**os.environ, **quiet},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
    lines = done.stdout.rstrip().splitlines()
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        lines += _wrapped(last.replace(f"{folder}{os.sep}", ""))
    return "\n".join(lines)


def _wrapped(line: str, width: int = 60) -> list[str]:
    return re.findall(rf"(?:\S{{{width},}}|.{{1,{width}}})(?:\s+|$)", line)


def beside(names: Sequence[str], outputs: Sequence[str]) -> str:
    """A block of text in which outputs stand beside each other, or alone."""
    columns = [
        [name, "-" * len(name), *output.splitlines()]
        for name, output in zip(names, outputs, strict=True)
    ]
    width = 3 + max(map(len, columns[0]))
    if len(columns) == 1:
        rows = columns[0][2:]
    else:
        rows = [left.ljust(width) + right for left, right in zip_longest(*columns, fillvalue="")]
    return "\n".join(["```text", *(row.rstrip() for row in rows), "```", ""])


def main() -> int:
    """Write the pages, or say which are not current."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--python", action="append", default=[], metavar="PACKAGE=PATH")
    options = parser.parse_args()
    pythons = dict(each.split("=", 1) for each in options.python)
    stale = []
    for page in pages(options.pages):
        text = current(page, pythons)
        if text != page.read_text("utf-8"):
            stale.append(page.name)
            if not options.check:
                page.write_text(text, "utf-8")
    if stale:
        done = "not current" if options.check else "written"
        sys.stderr.write(f"{done}: {', '.join(stale)}\n")
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main())
