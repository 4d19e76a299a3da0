"""Print which tests hold a module: ``python tests/helpers/which.py src/calipers/score.py ...``.

First the test file of its name, in the mirrored folder or above it; then the files that import it,
those that import most of it first; for a module that no test imports those of its users, with the
module by way of which, or of its command. Without arguments every module, a line each.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src"
PACKAGE = "calipers"
MOST = 4
"""Test files that a line names."""


@cache
def sources() -> dict[str, ast.Module]:
    """Every module and package of the source, by its dotted name."""
    return {dotted(path): ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}


def dotted(path: Path) -> str:
    """The name of a module by its file."""
    parts = path.resolve().relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_in(tree: ast.AST) -> Iterator[str]:
    """What a file imports, and addresses in strings, as ``package.module.name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith(f"{PACKAGE}.") and " " not in node.value:
                yield node.value.replace(":", ".")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"  # calipers.compare
            yield f"{PACKAGE}.{node.value.id}.{node.attr}"  # metrics.mauve


@cache
def handed_on() -> dict[str, str]:
    """Public names of packages, and where each is defined."""
    packages = {name for name in sources() if any(key.startswith(f"{name}.") for key in sources())}
    return {
        f"{package}.{name.rpartition('.')[2]}": name
        for package in packages
        for name in names_in(sources()[package])
        if name != package and name.startswith(f"{PACKAGE}.")
    }


def module_of(name: str) -> str | None:
    """The module that a dotted name leads to; None outside the package."""
    for _ in range(9):
        name = handed_on().get(name, name)
    while name and name not in sources():
        name = name.rpartition(".")[0]
    return name or None


@cache
def imports() -> dict[str, Counter[str]]:
    """For each module the test files that import it, and how much of it."""
    files: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(set(TESTS.rglob("test_*.py")) - {TESTS / "test_which.py"}):
        for name in names_in(ast.parse(path.read_text())):
            module = module_of(name)
            if module:
                files[module][path.relative_to(TESTS).as_posix()] += 1
    return files


@cache
def users() -> dict[str, set[str]]:
    """For each module those that import it."""
    found: dict[str, set[str]] = defaultdict(set)
    for user, tree in sources().items():
        for module in filter(None, map(module_of, names_in(tree))):
            if module != user:
                found[module].add(user)
    return found


def of_its_name(module: str) -> list[str]:
    """Test files that are called as the module is, the nearest folder first."""
    *folders, name = module.split(".")[1:] or [PACKAGE]
    stems = [f"test_{name.strip('_')}", *(f"test_{folder}_{name}" for folder in folders)]
    places = [TESTS.joinpath(*folders[:depth]) for depth in range(len(folders), -1, -1)]
    paths = [place / f"{stem}.py" for place in places for stem in stems]
    if folders[:1] == ["commands"] and len(folders) == 1:
        paths += of_command(name)
    return [path.relative_to(TESTS).as_posix() for path in paths if path.is_file()]


def of_command(name: str) -> list[Path]:
    """Test files of a command: its folder's, else those of the command line that run it."""
    own = sorted((TESTS / "commands" / name).rglob("test_*.py"))
    return own or [
        path
        for path in sorted((TESTS / "cli").glob("test_*.py"))
        if f'"{name}"' in path.read_text()
    ]


def listed_tests(module: str) -> tuple[list[str], str | None]:
    """The test files that hold a module, and by way of which other module, if none imports it."""
    room = module.split(".")[1:2]
    seen, front = {module}, [module]
    while front:
        for one in front:
            ranked = sorted(
                imports()[one].items(), key=lambda item: (item[0].split("/")[:1] != room, -item[1])
            )
            files = list(dict.fromkeys([*of_its_name(one), *(file for file, _ in ranked)]))
            if files:
                return files, None if one == module else one
        front = sorted({user for one in front for user in users()[one]} - seen)
        seen.update(front)
    command = ".".join(module.split(".")[:3])
    return (of_its_name(command) if room == ["commands"] else []), command


def modules() -> list[str]:
    """All that hold code: no package that only hands names on."""
    return sorted(
        name
        for name, tree in sources().items()
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
    )


def line_of(module: str) -> str:
    """One line on a module: its test files."""
    files, way = listed_tests(module)
    more = f" and {len(files) - MOST} more" if len(files) > MOST else ""
    through = f" (by way of {way})" if way else ""
    return f"{module}: {', '.join(files[:MOST]) or 'none'}{more}{through}"


def main(arguments: Sequence[str]) -> None:
    """Print a line for each module that is named."""
    chosen = [dotted(Path(given)) if given.endswith(".py") else given for given in arguments]
    unknown = [name for name in chosen if name not in sources()]
    if unknown:
        sys.exit(f"not a module of the source: {', '.join(unknown)}")
    sys.stdout.writelines(f"{line_of(module)}\n" for module in chosen or modules())


if __name__ == "__main__":
    main(sys.argv[1:])
