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

SYSTEMS = {
    "linux-64": "manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64",
    "osx-64": "macosx_11_0_x86_64",
    "osx-arm64": "macosx_11_0_arm64",
    "win-64": "win_amd64",
}
"""The wheel that each of conda's platforms takes."""


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


@pytest.mark.parametrize(("platform", "tag"), SYSTEMS.items())
def test_rattler_build_renders_the_recipe_with_the_wheel_of_each_system(platform, tag) -> None:
    rattler = need("rattler_build")
    config = rattler.PlatformConfig(
        target_platform=platform, build_platform=platform, host_platform=platform
    )
    recipe = rattler.Stage0Recipe.from_file(ROOT / "conda/recipe.yaml")
    (rendered,) = recipe.render(rattler.VariantConfig(), rattler.RenderConfig(platform=config))
    made = rendered.recipe.to_dict()
    assert (made["package"]["name"], made["package"]["version"]) == (
        PROJECT["name"],
        calipers.__version__,
    )
    (source,) = made["source"]
    wheel = f"{PROJECT['name']}-{calipers.__version__}-py3-none-{tag}.whl"
    assert source["file_name"] == wheel
    assert source["url"].endswith(f"/{wheel}")


def test_conda_has_every_wheel() -> None:
    native = ROOT / "native" / "build.py"
    tags = re.findall(r'Target\("[^"]+", "([^"]+)"', native.read_text())
    assert set(tags) == set(SYSTEMS.values())


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
