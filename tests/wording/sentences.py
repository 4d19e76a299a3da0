"""Every sentence that a person can meet, read from the sources: ``sentences.txt`` lists them.

A sentence is a string of at least two words, ``{…}`` standing for each value that is filled in.
Docstrings are left out, and so are keys, patterns, selectors and code. Of templates and scripts
of pages, the text is listed. ``python tests/wording/sentences.py --write`` writes the list anew.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "calipers"
LIST = Path(__file__).with_name("sentences.txt")
HEAD = "# Written by tests/wording/sentences.py --write\n"
FILLED = "{…}"

PATTERN_FUNCTIONS = {"compile", "match", "fullmatch", "search", "finditer", "findall", "sub"}
WORD = re.compile(r"[^\W\d_]{2,}|\b[aAI]\b")
CODE = re.compile(
    r"[{};]\s*$|^[.#@][\w-]+|</\w|/>|^\s*<!?\w|\w\(\)|=>|\|\||&&|^\s*--\w"  # styles, tags, scripts
    r"|\b[fiu][1248]\["  # what a kernel takes
    r"|^(?:SELECT|INSERT|UPDATE|CREATE|PRAGMA|BEGIN) "  # SQL
)
NAMES_ALONE = re.compile(r"[\w.\-:/\[\]=,|*<>@]*[_\-:/=@|][\w.\-:/\[\]=,|*<>@]*")
JS_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`""", re.S
)
JINJA = re.compile(r"\{#.*?#\}", re.S)
JINJA_STRING = re.compile(r"\{[%{].*?[%}]\}", re.S)
SPOKEN = re.compile(r'(?:aria-label|title|alt|placeholder|data-empty|content)="([^"]*)"')
INLINE = re.compile(r"</?(?:a|abbr|b|bdi|code|em|i|kbd|span|strong|sub|sup|small)\b[^>]*>")


def listed() -> dict[str, list[str]]:
    """Return the sentences of every file that holds one, sorted, by its path."""
    readers = {".py": of_python, ".js": of_script, ".html": of_template}
    found = {}
    for path in sorted(SOURCES.rglob("*")):
        if read := readers.get(path.suffix):
            texts = {" ".join(each.split()) for each in read(path.read_text("utf-8"))}
            if sentences := sorted(filter(is_sentence, texts)):
                found[path.relative_to(SOURCES).as_posix()] = sentences
    return found


def as_text(found: dict[str, list[str]]) -> str:
    """Return the list as ``sentences.txt`` holds it."""
    parts = [f"\n{path}\n" + "".join(f"    {each}\n" for each in found[path]) for path in found]
    return HEAD + "".join(parts)


def is_sentence(text: str) -> bool:
    """Tell whether words stand in `text`: two, or one beside a value that is filled in."""
    plain = text.replace(FILLED, " ")
    if " " not in text or CODE.search(plain):
        return False
    words = [word for word in plain.split() if not NAMES_ALONE.fullmatch(word)]
    return sum(bool(WORD.search(word)) for word in words) >= 2 - (FILLED in text)


def of_python(source: str) -> Iterator[str]:
    """Yield the strings of a module that are neither docstrings nor keys nor patterns."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        skipped.update(id(each) for each in _unread(node))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) else FILLED for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _unread(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the strings below `node` that nobody reads as text."""
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        yield from ast.walk(node.format_spec)
    if isinstance(node, ast.Expr):
        yield node.value  # docstrings
    if isinstance(node, ast.Subscript):
        yield from ast.walk(node.slice)
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield from ast.walk(node.annotation)
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        yield from ast.walk(node.returns)
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in PATTERN_FUNCTIONS or name == "cast":
            yield from node.args[:1]


def of_script(source: str) -> Iterator[str]:
    """Yield the strings of a script; comments are left out."""
    for match in JS_STRING.finditer(source):
        text = next((group for group in match.groups() if group is not None), "")
        yield re.sub(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", FILLED, text)


def of_template(source: str) -> Iterator[str]:
    """Yield what a template says: the text between tags of blocks, and what is read aloud."""
    source = JINJA.sub("", source)
    for code in JINJA_STRING.findall(source):
        yield from re.findall(r'"([^"]*)"', code)
    source = re.sub(r"\{\{.*?\}\}", FILLED, source, flags=re.S)
    source = re.sub(r"\{%.*?%\}", "", source, flags=re.S)
    yield from SPOKEN.findall(source)
    yield from re.split(r"<[^>]*>", INLINE.sub("", source))


def main() -> None:
    """Print the list, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {LIST.name}")
    text = as_text(listed())
    if parser.parse_args().write:
        LIST.write_text(text, "utf-8")
    else:
        print(text, end="")  # noqa: T201


if __name__ == "__main__":
    main()
