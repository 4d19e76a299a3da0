"""The command as a process, its help pages, its smaller commands, and the command line it keeps."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
import sys

import pytest

import calipers as library
from calipers.catalogue.embeddings import FAMILIES
from calipers.numeric import native

HEAVY = ("torch", "sklearn", "scipy", "matplotlib", "pyarrow", "numpy")

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--help"], ["compare", "--help"], ["--version"], ["demo", "-h"]]
)
def test_help_loads_nothing_heavy(arguments):
    result = python("-c", LIST_MODULES.format(arguments=arguments))
    assert "exit 0" in result.stdout, result.stderr
    loaded = result.stdout.rpartition("loaded ")[2].split()
    assert "calipers.cli.app" in loaded
    assert not set(HEAVY) & set(loaded)


@pytest.mark.slow
def test_a_usage_error_exits_2_without_a_traceback():
    result = python("-m", "calipers", "compare")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "--reference" in result.stderr


WRITE_MUCH = """
import typer
from calipers.cli.guard import guarded
from calipers.cli.streams import outlive_readers
outlive_readers()
try:
    with guarded():
        print("x" * 10**6)
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        result = subprocess.run(
            [sys.executable, "-c", WRITE_MUCH], stdout=gone, stderr=subprocess.PIPE, timeout=60
        )
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.slow
def test_output_that_cannot_show_arrows_gets_plain_characters():
    code = "from calipers.cli.streams import write\nwrite('Precision↑ – Fréchet↓ 模')"
    result = python("-c", code, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.stdout == "Precision^ - Frechetv ?\n"


KEPT_AND_SHOWN = """
import typer
from calipers.cli.guard import guarded
from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import outlive_readers
outlive_readers()
results = Results(
    show=lambda: print("x" * 10**6), warnings=lambda: (), texts={"json": lambda: "{}"}
)
try:
    with guarded():
        Outputs({"json": "/dev/full"}).deliver(results)
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version(calipers, arguments):
    assert calipers(*arguments).stdout == f"calipers {library.__version__}\n"


def test_a_verbose_version_says_what_it_runs_on(calipers):
    result = calipers("version", "--verbose")
    first, python, _, kernels = result.stdout.splitlines()
    assert first == f"calipers {library.__version__}"
    assert python.startswith(f"Python {platform.python_version()}, NumPy ")
    assert kernels.startswith(f"kernels for {native.instruction_set()}")
    names = re.findall(r"x86-64|avx2|avx512vnni|avx512|neon", kernels)
    assert {*names} == {*native.available_sets()}


def test_a_verbose_version_without_kernels_says_how_to_get_them(calipers, monkeypatch, tmp_path):
    monkeypatch.setattr(native, "FOLDER", tmp_path)
    native._loaded.cache_clear()
    try:
        result = calipers("version", "--verbose")
    finally:
        native._loaded.cache_clear()
    assert result.exit_code == 2
    assert "python native/build.py" in result.stderr
    assert calipers("version").exit_code == 0


def test_demo_shows_the_table_how_to_read_it_and_what_comes_next(calipers, calls):
    result = calipers("demo", "--seed", "3")
    assert result.exit_code == 0
    assert calls.compare[0]["seed"] == 3
    table, reading, own = (result.stdout.index(part) for part in ("model_a", "One. Two.", "own"))
    assert table < reading < own
    assert result.stdout.endswith(
        "  calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl\n"
    )


def test_demo_says_first_where_its_vectors_come_from(calipers, calls, monkeypatch):
    assert "come with Calipers" not in calipers("demo").stdout
    monkeypatch.setattr("calipers.demo.carried.is_carried", lambda settings: True)
    first, second, *_ = calipers("demo").stdout.splitlines()
    assert (
        first == "The vectors of these texts come with Calipers; those of yours are computed here."
    )
    assert second == ""
    assert json.loads(calipers("demo", "--json", "-").stdout)["reference"]["name"] == "human"


def test_demo_as_json_is_json_alone(calipers, calls):
    assert json.loads(calipers("demo", "--json", "-").stdout)["reference"]["name"] == "human"


def test_demo_refuses_a_bad_seed(calipers, calls):
    assert calipers("demo", "--seed", "x").exit_code == 2
    assert calls.compare == []


def test_show_displays_what_was_kept(calipers, calls):
    result = calipers("show", "run.zip")
    assert result.exit_code == 0
    assert "model_b" in result.stdout
    assert json.loads(calipers("show", "run.zip", "--json", "-").stdout)["calipers"] == "0.1.0"


def test_show_does_not_overwrite_what_it_shows(calipers, calls):
    result = calipers("show", "run.zip", "--json", "run.zip")
    assert result.exit_code == 2
    assert "overwrite" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_the_page_answers_what_a_newcomer_asks(calipers, arguments):
    result = calipers(*arguments)
    assert result.exit_code == 0
    page = result.stdout
    for part in ("how good?", "Commands", "Examples", "Options", "Read on", "calipers demo"):
        assert part in page
    for command in ("compare", "demo", "show", "version", "--version", "--install-completion"):
        assert f"\n  {command} " in page
    assert max(map(len, page.splitlines())) <= 80


def test_the_page_of_compare_groups_its_options(calipers):
    page = calipers("compare", "--help-all").stdout
    headings = ["Input", "Measurement", "Embedding", "Output", "Help", "Metrics", "Examples"]
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert "--k N" in page
    assert "[default: 4]" in page
    assert "[required]" in page
    families = page[places[-2] : places[-1]]
    assert all(f"\n  {family}" in families for family in FAMILIES)
    assert "calipers metrics" in families
    assert len(families.splitlines()) <= 20
    assert max(map(len, page.splitlines())) <= 80


@pytest.mark.parametrize("command", ["compare", "demo", "show", "version"])
def test_every_command_has_a_page(calipers, command):
    result = calipers(command, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage")
    assert "None" not in result.stdout


JOB = ("compare", "--reference", "human.jsonl", "a.jsonl")


def command_of(result) -> str | None:
    assert result.exit_code == 0, result.output
    found: str | None = json.loads(result.stdout)["settings"]["command"]
    return found


def test_the_command_is_kept_as_it_was_typed(calipers, calls):
    typed = (*JOB, "my run/b's *.jsonl", "--field", "choices[0].text", "--json", "-")
    found = command_of(calipers(*typed))
    assert shlex.split(found) == ["calipers", *typed]
    assert "'my run/b'\"'\"'s *.jsonl'" in found
    assert command_of(calipers("demo", "--json", "-")) == "calipers demo --json -"


def test_show_and_report_keep_the_command_of_the_run(calipers, calls):
    for command in ("show", "report"):
        data = json.loads(calipers(command, "run.zip", "--json", "-").stdout)
        assert "command" not in data["settings"]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://me:pass@host/v1#m", "https://...@host/v1#m"),
        ("http://token@host/v1", "http://...@host/v1"),
        ("m:prefix=sk-12345678", "m:prefix=..."),
        ("me@host", "me@host"),
    ],
)
def test_a_secret_is_blanked(calipers, calls, monkeypatch, typed, kept):
    monkeypatch.setenv("CALIPERS_ENDPOINT_KEY", "sk-12345678")
    found = command_of(calipers(*JOB, "--prefix", typed, "--json", "-"))
    assert shlex.split(found)[5:7] == ["--prefix", kept]


def test_a_file_name_that_is_no_utf8_does_no_harm(calipers, calls):
    name = os.fsdecode(b"caf\xe9.jsonl")
    found = command_of(calipers(*JOB, name, "--json", "-"))
    assert shlex.split(found)[4:6] == ["a.jsonl", "caf\ufffd.jsonl"]


def test_the_library_keeps_no_command():
    import numpy as np

    import calipers

    rng = np.random.default_rng(0)
    sets = [rng.standard_normal((40, 3)) for _ in range(2)]
    found = calipers.compare(*sets, metrics=["precision"], floor=False, level=None)
    assert found.to_dict()["settings"].get("command") is None
