"""What is released says the same everywhere: versions, requirements, licence, containers."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import calipers
from extras import need

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

CONDA = {"matplotlib": "matplotlib-base"}
"""Packages that conda-forge splits: the part that is needed."""


def read_yaml(name: str) -> Any:
    return need("yaml").safe_load((ROOT / name).read_text())


def test_versions_agree() -> None:
    version = calipers.__version__
    assert read_yaml("CITATION.cff")["version"] == version
    assert read_yaml("conda/recipe.yaml")["context"]["version"] == version
    changelog = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog, flags=re.MULTILINE)
    if headings:
        assert headings[0] == version
    else:  # nothing is out yet
        assert f"The first version, {version}, is not out yet." in changelog


def test_conda_asks_for_what_the_project_asks_for() -> None:
    run = read_yaml("conda/recipe.yaml")["requirements"]["run"]
    asked = {}
    for requirement in PROJECT["dependencies"]:
        match = re.fullmatch(r"([\w-]+)([<>=,.\d]+)", requirement)
        assert match is not None, requirement
        asked[CONDA.get(match[1], match[1])] = match[2]
    asked["python"] = PROJECT["requires-python"]
    assert dict(line.split(" ", 1) for line in run) == asked
    host = read_yaml("conda/recipe.yaml")["requirements"]["host"]
    assert f"python {PROJECT['requires-python']}" in host


def test_the_command_is_the_name_of_the_package() -> None:
    # so that `pipx run calipers demo` finds it
    assert PROJECT["scripts"][PROJECT["name"]] == "calipers.__main__:main"
    (entry,) = read_yaml("conda/recipe.yaml")["build"]["python"]["entry_points"]
    assert entry == f"{PROJECT['name']} = {PROJECT['scripts'][PROJECT['name']]}"


def test_the_citation_has_what_the_format_needs() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year", "url"} <= set(reference)


def test_the_container_runs_calipers_without_root() -> None:
    lines = (ROOT / "Containerfile").read_text().splitlines()
    last = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM ")) :]
    assert 'ENTRYPOINT ["calipers"]' in last
    user = next(line for line in last if line.startswith("USER "))
    assert user.split()[1] not in ("root", "0")
    assert last.index(user) < last.index('ENTRYPOINT ["calipers"]')
    copied = (ROOT / ".dockerignore").read_text()
    assert copied == (ROOT / ".containerignore").read_text()
    needed = (
        "src",
        "native",
        "pyproject.toml",
        "hatch_build.py",
        PROJECT["readme"],
        *PROJECT["license-files"],
    )
    assert {line[1:] for line in copied.splitlines()[1:]} == set(needed)


@pytest.mark.slow
def test_what_is_called_public_is_there() -> None:
    page = (ROOT / "docs" / "stability.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith("| Python | the names"))
    listed, _, rest = row.partition(" list in `__all__`")
    modules = re.findall(r"`(calipers[\w.]*)`", listed)
    assert len(modules) == 10
    for name in modules:
        module = importlib.import_module(name)
        assert all(hasattr(module, each) for each in module.__all__)
    assert "`calipers.errors`" in rest
