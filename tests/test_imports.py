"""Starting is light, and within a folder no module is needed by what it needs itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

HEAVY = {
    "torch",
    "sklearn",
    "scipy.stats",
    "matplotlib",
    "plotly",
    "jinja2",
    "pyarrow",
    "cattrs",
    "pandas",
    "starlette",
    "uvicorn",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", "import calipers"],
        ["-c", "import calipers.demo"],
        ["-m", "calipers", "--help"],
        ["-m", "calipers", "compare", "--help"],
        ["-m", "calipers", "metrics", "--help"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    process = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr[-2000:]
    imported = {line.rpartition("|")[2].strip() for line in process.stderr.splitlines()}
    assert "calipers" in imported
    assert not imported & HEAVY


UNUSED = HEAVY - {"pyarrow", "pandas"} | {"transformers", "scipy.optimize", "PIL"}
"""What a comparison of vectors does without."""


@pytest.mark.slow
def test_a_comparison_of_vectors_imports_only_what_it_uses(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("reference", "model"):
        np.save(tmp_path / f"{name}.npy", rng.standard_normal((60, 4)))
    command = "-X importtime -m calipers compare model.npy --reference reference.npy"
    process = subprocess.run(
        [sys.executable, *command.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    assert "Precision" in process.stdout
    imported = {line.rpartition("|")[2].strip() for line in process.stderr.splitlines()}
    assert "calipers.numeric.native" in imported
    assert not imported & UNUSED


SOURCE = Path(__file__).resolve().parent.parent / "src"

KNOWN: set[frozenset[str]] = set()
"""Cycles that are there still; one that is mended goes from here too."""


def test_modules_form_no_cycles_but_the_known_ones():
    found = set(cycles(imports(SOURCE)))
    assert found - KNOWN == set(), "new cycles"
    assert KNOWN - found == set(), "mended: take them out of KNOWN"


def test_a_cycle_is_found(tmp_path):
    write(tmp_path / "room/a.py", "from room import b\n")
    write(tmp_path / "room/b.py", "def late():\n    from room.c import NAME\n")
    write(tmp_path / "room/c.py", "import room.a\n")
    write(tmp_path / "room/d.py", "from room.a import b\n")
    assert cycles(imports(tmp_path)) == [frozenset({"room.a", "room.b", "room.c"})]


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import room.a\n",
        "import json\n",
        "from other.a import NAME\n",
    ],
)
def test_types_and_other_packages_are_left_out(tmp_path, text):
    write(tmp_path / "room/a.py", "import room.b\n")
    write(tmp_path / "room/b.py", text)
    assert cycles(imports(tmp_path)) == []


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def imports(source: Path) -> dict[str, set[str]]:
    """Map every module beneath a folder to those of them that it imports, at once or later."""
    paths = {name_of(path.relative_to(source)): path for path in source.rglob("*.py")}
    return {
        name: {each for each in imported(ast.parse(path.read_text("utf-8")), paths) if each != name}
        for name, path in paths.items()
    }


def name_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name in known)
            case ast.ImportFrom(module=str(module), names=names):
                for each in names:
                    submodule = f"{module}.{each.name}"
                    yield from [name for name in (submodule, module) if name in known][:1]
            case _:
                yield from imported(node, known)


def cycles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """List the sets of two or more modules that can each be reached from each other."""
    reached = {name: reachable(graph, name) for name in graph}
    together = {
        frozenset(other for other in reached[name] if name in reached[other]) for name in graph
    }
    return sorted((each for each in together if len(each) > 1), key=sorted)


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen, waiting = set(), [start]
    while waiting:
        for each in graph[waiting.pop()] - seen:
            seen.add(each)
            waiting.append(each)
    return seen
