"""Starting is light: neither the import nor the help loads a package that takes long to load."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "torch",
    "numba",
    "sklearn",
    "scipy.stats",
    "matplotlib",
    "plotly",
    "jinja2",
    "pyarrow",
}


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
