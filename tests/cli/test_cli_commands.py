"""The smaller commands, the help pages, and completion."""

from __future__ import annotations

import json

import pytest

import calipers as library
from calipers.catalogue.embeddings import FAMILIES


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version(calipers, arguments):
    assert calipers(*arguments).stdout == f"calipers {library.__version__}\n"


def test_demo_shows_the_table_how_to_read_it_and_what_comes_next(calipers, calls):
    result = calipers("demo", "--seed", "3")
    assert result.exit_code == 0
    assert calls.compare[0]["seed"] == 3
    table, reading, own = (result.stdout.index(part) for part in ("model_a", "One. Two.", "own"))
    assert table < reading < own
    assert result.stdout.endswith(
        "  calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl\n"
    )


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
    page = calipers("compare", "--help").stdout
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
