"""Run the examples of a page, in order, in one folder that has ``docs``, and compare what they
print with the page.

A fenced block of the language ``sh`` holds commands; the ``text`` block behind it, if there is one,
what they print to standard output. A ``python`` block is a program, of which the same holds.
Commands that a page cannot run, such as an installation, stand in blocks of the language ``bash``.
A page that has the comment ``<!-- not run: reason -->`` is left alone, and one that has
``<!-- needs data: NAME -->`` where the folder that CALIPERS_DATA names has no NAME. A block behind
a line ``<!-- needs: CALIPERS_MODELS CALIPERS_DATA -->`` is left out where one of these environment
variables is not set: it needs what cannot be had everywhere, such as a real language model, and
has hours. Where CALIPERS_SAMPLES is set, the folder ``samples`` that such blocks write to is that
one, so that what was written before is not written again.

In a ``text`` block a line ``...`` stands for any lines, and ``<...>`` for anything within a line.
White space at the ends of lines does not count.

``python docs/run_examples.py docs/tutorial.md`` runs a page; ``--write`` puts what is printed in
its place, where the block has no ``...``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent

BLOCK = re.compile(
    r"(?:^<!-- needs: (?P<needs>[A-Z_ ]+) -->\n)?"
    r"^```(?P<language>sh|python|text)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LEFT_OUT = "<!-- not run:"
DATA = re.compile(r"<!-- needs data: (\w+) -->")
SECONDS, SECONDS_OF_MODELS = 300, 7200


@dataclass(frozen=True)
class Example:
    """A block that is run, and what stands behind it.

    Attributes
    ----------
    language
        ``"sh"`` or ``"python"``.
    body
        What is run.
    expected
        What it prints, as the page has it; None where the page shows nothing.
    span
        Where in the page `expected` stands.
    needs
        The environment variables without which it is not run.
    """

    language: str
    body: str
    expected: str | None = None
    span: tuple[int, int] = (0, 0)
    needs: tuple[str, ...] = ()

    @property
    def can_run(self) -> bool:
        """Whether all that it needs is named."""
        return all(os.environ.get(name) for name in self.needs)


def examples(page: str) -> Iterator[Example]:
    """Find the examples of a page that are run."""
    blocks = list(BLOCK.finditer(page))
    for place, block in enumerate(blocks):
        if block["language"] == "text":
            continue
        needs = tuple((block["needs"] or "").split())
        following = blocks[place + 1 : place + 2]
        between = page[block.end() : following[0].start()] if following else "x"
        if following and following[0]["language"] == "text" and not between.strip():
            yield Example(
                block["language"],
                block["body"],
                following[0]["body"],
                following[0].span("body"),
                needs,
            )
        else:
            yield Example(block["language"], block["body"], needs=needs)


def run(example: Example, folder: Path) -> tuple[int, str, str]:
    """Run an example in a folder, as a person would; returns its status and what it printed."""
    command = ["bash", "-euo", "pipefail", "-c", example.body]
    if example.language == "python":
        command = [sys.executable, "-c", example.body]
    here = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    limit = SECONDS_OF_MODELS if example.needs else SECONDS
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit
    )
    return done.returncode, done.stdout, done.stderr


def agrees(expected: str, printed: str) -> bool:
    """Whether what was printed is what a page shows, but for what it leaves open.

    Examples
    --------
    >>> agrees("a 1\\n...\\nz <...>\\n", "a 1\\nb\\nc\\nz 3.2 s\\n")
    True
    >>> agrees("a 1\\n", "a 2\\n")
    False
    """
    lines = [
        re.escape(line.rstrip()).replace(re.escape("<...>"), ".*") for line in _lines(expected)
    ]
    pattern = "".join("(?:.*\n)*?" if line == re.escape("...") else f"{line}\n" for line in lines)
    shown = "".join(f"{line.rstrip()}\n" for line in _lines(printed))
    return re.fullmatch(pattern, shown) is not None


def missing_data(text: str) -> list[str]:
    """Name the data that a page needs and that are not there."""
    folder = os.environ.get("CALIPERS_DATA")
    return [
        name for name in DATA.findall(text) if folder is None or not (Path(folder) / name).is_dir()
    ]


def failures(page: Path, *, write: bool = False) -> list[str]:
    """Run all examples of a page; returns what went otherwise than it shows."""
    text = page.read_text("utf-8")
    if LEFT_OUT in text or missing_data(text):
        return []
    found, changes = [], []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").symlink_to(DOCS)
        if samples := os.environ.get("CALIPERS_SAMPLES"):
            (Path(folder) / "samples").symlink_to(Path(samples).resolve())
        for example in examples(text):
            if not example.can_run:
                continue
            status, printed, errors = run(example, Path(folder))
            if status:
                found.append(
                    f"{page.name}: this ended with {status}:\n{example.body}\n{errors}{printed}"
                )
            if example.expected is None or agrees(example.expected, printed):
                continue
            if write and not re.search(r"<\.\.\.>|^\.\.\.$", example.expected, re.MULTILINE):
                changes.append(
                    (example.span, "".join(f"{line.rstrip()}\n" for line in _lines(printed)))
                )
            else:
                found.append(
                    f"{page.name}: this printed\n{example.body}\n{printed}\nand "
                    f"not\n{example.expected}"
                )
    for (start, end), printed in reversed(changes):
        text = text[:start] + printed + text[end:]
    if changes:
        page.write_text(text, "utf-8")
    return found


def _lines(text: str) -> list[str]:
    """Split text into lines, without empty ones at either end."""
    return text.strip("\n").split("\n")


def main() -> int:
    """Run the pages that are named; tell what went otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put what is printed into the page")
    options = parser.parse_args()
    found = [each for page in options.pages for each in failures(page, write=options.write)]
    for each in found:
        sys.stderr.write(f"{each}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
