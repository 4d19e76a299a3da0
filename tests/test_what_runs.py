"""What ``pytest`` alone runs, what it says of the rest, and what CI makes of that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CI = ROOT / ".ci"

SETTINGS = """
[tool.pytest.ini_options]
testpaths = ["tests", "src"]
pythonpath = ["tests/helpers"]
addopts = "-ra --doctest-modules --import-mode=importlib"
markers = ["slow: slow"]
"""
FILES = {
    "pyproject.toml": SETTINGS,
    "tests/test_a.py": "from extras import need\nneed('no_such_package')\n",
    "tests/test_b.py": "from extras import need\nneed('no_such_package')\n",
    "tests/test_c.py": (
        "import pytest\nfrom extras import need\n"
        "@pytest.mark.slow\ndef test_slow(): assert False\n"
        "def test_fast(): pass\n"
        "def test_need(): need('no_such_package.part')\n"
    ),
    "src/module.py": '"""\n>>> 1\n1\n"""\nraise ModuleNotFoundError(name="torch")\n',
    "src/passes.py": '"""\n>>> 1\n1\n"""\n',
}

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A few tests under the rules of this project."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "tests" / "helpers").mkdir()
    for name in ("conftest.py", "tests/helpers/extras.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    clean.pop("CALIPERS_REQUIRE_ALL", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:calipers", *arguments]
    return subprocess.run(
        command,
        cwd=project,
        env={**clean, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("processes", [(), ("-n", "0")])
def test_what_was_not_run_is_summed_up(project: Path, processes: tuple[str, ...]) -> None:
    done = run(project, *processes)
    assert done.returncode == 0, done.stdout
    *_, lines = done.stdout.partition("Not run:\n")
    assert "  2 files and 1 test for want of calipers[test-all]\n" in lines
    assert "  1 file for want of calipers[models]\n" in lines
    assert "  1 slow test (pytest --slow)\n" in lines
    assert "2 passed, 4 skipped" in lines


def test_what_is_named_is_run_slow_or_not(project: Path) -> None:
    assert run(project, "tests/test_c.py").returncode == 1
    assert run(project, "--slow").returncode == 1


def test_where_nothing_may_be_missing_it_fails(project: Path) -> None:
    done = run(project, "-n", "0", "--continue-on-collection-errors", CALIPERS_REQUIRE_ALL="1")
    assert done.returncode == 1
    assert "1 failed, 2 passed, 1 deselected, 3 errors" in done.stdout


@pytest.mark.skipif(not CI.is_dir(), reason="an sdist does not hold it")
def test_ci_runs_again_the_files_that_lacked_something(project: Path) -> None:
    options = f"--junitxml={project / 'found.xml'} -o junit_family=xunit1"
    run(project, PYTEST_ADDOPTS=options)
    found = subprocess.run(
        [CI / "lacking", "found.xml"], cwd=project, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == [
        *("src/module.py", "tests/test_a.py", "tests/test_b.py", "tests/test_c.py")
    ]


@pytest.mark.skipif(not CI.is_dir(), reason="an sdist does not hold it")
def test_ci_runs_the_commands_of_the_readme() -> None:
    done = subprocess.run([CI / "readme_commands"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "pip install . && calipers demo",
        "pip install -e '.[test]' && pytest",
    ]
