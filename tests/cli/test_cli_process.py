"""The command as a process of its own: what it imports, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

HEAVY = ("torch", "numba", "sklearn", "scipy", "matplotlib", "pyarrow", "numpy")

LIST_MODULES = """
import sys
sys.argv = ["calipers", *{arguments!r}]
from calipers.__main__ import main
try:
    main()
except SystemExit as end:
    print("exit", end.code)
print("loaded", *sys.modules)
"""


def python(*arguments: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=60, **more
    )


@pytest.mark.parametrize(
    "arguments", [["--help"], ["compare", "--help"], ["--version"], ["demo", "-h"]]
)
def test_help_loads_nothing_heavy(arguments):
    result = python("-c", LIST_MODULES.format(arguments=arguments))
    assert "exit 0" in result.stdout, result.stderr
    loaded = result.stdout.rpartition("loaded ")[2].split()
    assert "calipers.cli.app" in loaded
    assert not set(HEAVY) & set(loaded)


def test_help_is_quick():
    begun = time.perf_counter()
    python("-m", "calipers", "--help")
    first = time.perf_counter() - begun
    begun = time.perf_counter()
    python("-m", "calipers", "--help")
    assert min(first, time.perf_counter() - begun) < 0.5


def test_a_usage_error_exits_2_without_a_traceback():
    result = python("-m", "calipers", "compare")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "--reference" in result.stderr


WRITE_MUCH = """
import typer
from calipers.cli.guard import guarded
try:
    with guarded():
        print("x" * 10**6)
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""


def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        result = subprocess.run(
            [sys.executable, "-c", WRITE_MUCH], stdout=gone, stderr=subprocess.PIPE, timeout=60
        )
    assert (result.returncode, result.stderr) == (0, b"")


def test_output_that_cannot_show_arrows_gets_plain_characters():
    code = "from calipers.cli.streams import write\nwrite('Precision↑ – Fréchet↓ 模')"
    result = python("-c", code, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.stdout == "Precision^ - Frechetv ?\n"


KEPT_AND_SHOWN = """
import typer
from calipers.cli.guard import guarded
from calipers.cli.outputs import Outputs, Results
results = Results(
    show=lambda: print("x" * 10**6), warnings=lambda: (), texts={"json": lambda: "{}"}
)
try:
    with guarded():
        Outputs({"json": "/dev/full"}).deliver(results)
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_reader_that_goes_away_hides_no_failure():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        result = subprocess.run(
            [sys.executable, "-c", KEPT_AND_SHOWN], stdout=gone, stderr=subprocess.PIPE, timeout=60
        )
    assert result.returncode == 2
    assert result.stderr == b"calipers: /dev/full: cannot be written: No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
@pytest.mark.parametrize("arguments", [["metrics"], ["metrics", "--json", "-"]])
def test_a_full_standard_output_is_told_without_a_traceback(arguments):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "calipers", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert result.returncode == 2
    told = b"calipers: standard output cannot be written: No space left on device\n"
    assert result.stderr == told


@pytest.mark.skipif(os.name != "posix", reason="the shell closes the streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_end_no_command(closed, tmp_path):
    kept = tmp_path / "kept.json"
    command = f'"$0" -m calipers metrics --json "$1" {closed}'
    result = subprocess.run(
        ["sh", "-c", command, sys.executable, str(kept)], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, "Traceback" in result.stderr) == (0, False)
    assert kept.stat().st_size > 1000
