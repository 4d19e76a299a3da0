"""Every regular expression in the package takes time in proportion to what it reads.

A pattern that begins anew at every place of a run, or reads a run in several ways, takes the square
of its length or more: an answer of 64 KB then holds a run for minutes, and Python hears no Ctrl-C
meanwhile. So all patterns are found in the source, hostile texts are made of the parts of each, and
all are read in a process that is given far more processor time than linear patterns take, and far
less than any other.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import calipers
from calipers.cli.help import WHOLE
from calipers.text import nltk_tokenizer

SOURCE = Path(calipers.__file__).parent
ANCHORED = {"match", "fullmatch"}
FLAGS = ("IGNORECASE", "MULTILINE", "DOTALL", "ASCII")
METHODS = {*ANCHORED, "search", "sub", "subn", "split", "findall", "finditer"}

SECONDS = 400
"""Of the processor, for all patterns; linear ones take a twentieth of that."""

MADE = {
    "catalogue/keys.py": [r"[0-9]{1,18}", r"-?[0-9]{1,18}(\.[0-9]{1,18})?"],
    "cli/help.py": [WHOLE],
    "embedders/states/pretrained.py": [r"position_ids", r"\.attn\.bias$"],
    "evaluate/end_of_text.py": [r"<a>|</a>|x", r"\A(?:\s*(?:<a>|</a>|x))+"],
    "unicode/composition.py": ["[\u0301\u0323\u0f73]{30,}"],
    "explain/unspaced.py": ["[\u30a1-\u30fa]{2}"],
    "service/address.py": [r"[^A-Za-z0-9+/]", r"sk\-12345\S*|\S{0,200}abcdefgh"],
}
MADE["text/nltk_tokenizer.py"] = [rule.pattern for rule in nltk_tokenizer.RULES]
"""Patterns as functions make them, by file: each has as many lines as there are calls."""


@dataclass(frozen=True)
class Used:
    """A pattern, where it stands, and whether it is only asked at the beginning of a text."""

    where: str
    pattern: str | bytes
    flags: int
    anchored: bool


def used() -> Iterator[Used]:
    """Find all patterns of the package by its source."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    asked = [
        (path, ast.unparse(node.func.value), node.func.attr)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    for path, tree in trees.items():
        file = path.relative_to(SOURCE).as_posix()
        names = {
            id(node.value): node.targets[0].id
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            function, where = ast.unparse(node.func), f"{file}:{node.lineno}"
            lazy = function == "pattern" and not node.keywords  # calipers.lazy, compiled by re
            if not (lazy or function.startswith("re.")):
                continue
            how = "compile" if lazy else function[3:]
            if how == "compile":
                name = names.get(id(node), "")
                if not name:  # made in a function; others are compiled in the body of a module
                    yield from (Used(where, text, 0, False) for text in MADE[file])
                    continue
                module = file.removesuffix(".py").replace("/", ".")
                found = getattr(importlib.import_module(f"calipers.{module}"), name)
                uses = [(there, way) for there, owner, way in asked if owner == name]
                own = [way for there, way in uses if there == path and way in METHODS]
                ways = {*own} or {way for _, way in uses if way in METHODS}
                yield Used(where, found.pattern, found.flags, bool(ways) and ways <= ANCHORED)
            elif how in METHODS:
                given = {each.arg: ast.unparse(each.value) for each in node.keywords}
                words = " ".join([given.get("flags", ""), *map(ast.unparse, node.args[1:])])
                flags = sum(getattr(re, name) for name in FLAGS if f"re.{name}" in words)
                fixed = isinstance(node.args[0], ast.Constant)
                for text in [node.args[0].value] if fixed else MADE[file]:
                    yield Used(where, text, flags, how in ANCHORED)


READ_ALL = '''
import json, re, sys
from re import _constants as op, _parser

LENGTH = 60_000
BRANCHES = []


def of_set(items):
    """A few characters that a set has."""
    if items and items[0][0] is op.NEGATE:
        left_out = [value for kind, value in items if kind is op.LITERAL]
        return [each for each in " ax0<-" if ord(each) not in left_out]
    found = []
    for kind, value in items:
        if kind is op.LITERAL:
            found.append(chr(value))
        elif kind is op.RANGE:
            found.append(chr(value[0]))
        elif kind is op.CATEGORY:
            found.append({op.CATEGORY_DIGIT: "0", op.CATEGORY_SPACE: " "}.get(value, "a"))
    return found


def example(nodes, chars):
    """A text that a pattern may match; the characters that it names go to a list."""
    text = ""
    for kind, value in nodes:
        if kind is op.LITERAL:
            more = chr(value)
            chars.append(more)
        elif kind is op.NOT_LITERAL:
            more = "a"
        elif kind is op.ANY:
            more = "a"
        elif kind is op.IN:
            some = of_set(value)
            chars.extend(some[:3])
            more = some[0] if some else "a"
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            more = example(value[2], chars) * max(1, value[0])
        elif kind is op.SUBPATTERN:
            more = example(value[3], chars)
        elif kind is op.ATOMIC_GROUP:
            more = example(value, chars)
        elif kind is op.BRANCH:
            some = [example(each, chars) for each in value[1]]
            BRANCHES.extend(some[:20])
            more = some[0]
        else:
            if kind in (op.ASSERT, op.ASSERT_NOT):
                example(value[1], chars)
            more = ""
        text += more
    return text


def hostile(pattern, flags):
    """Long texts of the parts of a pattern, most of which it nearly matches."""
    tree = list(_parser.parse(pattern, flags & ~re.DEBUG))
    starts, chars = [""], []
    BRANCHES.clear()
    for end in range(1, len(tree) + 1):
        starts.append(example(tree[:end], chars)[:200])
    pumps = list(dict.fromkeys([*chars[:12], *BRANCHES[:30], *starts[1:], " ", "a"]))
    starts = list(dict.fromkeys([starts[0], starts[1], starts[-2], starts[-1]]))
    for pump in filter(None, pumps):
        run = pump * (LENGTH // len(pump))
        for start in starts:
            for end in ("\\\\n\\\\0", "") if not start else ("\\\\0",):
                yield start + run + end


for where, pattern, packed, flags, anchored in json.load(sys.stdin):
    print(where, flush=True)
    given = pattern.encode("latin-1") if packed else pattern
    compiled = re.compile(given, flags)
    for text in hostile(given, flags):
        if packed:
            text = text.encode("latin-1", "replace")
        if anchored:
            compiled.match(text), compiled.fullmatch(text)
        else:
            for _ in compiled.finditer(text):
                pass
print("read", flush=True)
'''


@pytest.fixture(scope="module")
def every() -> list[Used]:
    return list(used())


def test_patterns_are_found(every):
    files = {each.where.partition(":")[0] for each in every}
    assert {"service/address.py", "service/refusal.py", "language_model/pieces.py"} <= files
    assert {"wording/front.py", "unicode/written_words.py"} <= files  # compiled when used
    assert len(every) > 100


@pytest.mark.slow
def test_every_pattern_is_linear(every):
    given = [
        (
            each.where,
            each.pattern if isinstance(each.pattern, str) else each.pattern.decode("latin-1"),
            isinstance(each.pattern, bytes),
            each.flags & ~re.UNICODE if isinstance(each.pattern, str) else each.flags,
            each.anchored,
        )
        for each in every
    ]
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))\n"
    done = subprocess.run(
        [sys.executable, "-c", limited + READ_ALL],
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )
    last = (done.stdout.splitlines() or [""])[-1]
    assert last == "read", f"the pattern at {last} never ends: {done.stderr[-300:]}"
