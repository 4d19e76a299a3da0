"""Texts that two systems share: planted copies are said with their rows, whatever was cut."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import calipers
from calipers.commands.overlap.result import Overlap
from calipers.report.render.text import plain
from calipers.samples import SampleSet, System

QUIET = {"cache": False, "threads": 1, "embedder": "tfidf"}
LONG = 90


def drawn(rng, n, length=LONG):
    return [" ".join(f"w{w}" for w in rng.integers(0, 400, length)) for _ in range(n)]


def planted(rng, n=60, systems=3):
    """Systems a, b, c …; ten texts of a are in b too, five of them with one other word."""
    sets = {name: drawn(rng, n) for name in "abcdefghijklmnop"[:systems]}
    for row in range(10):
        words = sets["a"][row].split()
        if row >= 5:
            words[30] = "other"
        sets["b"][row + 20] = " ".join(words).upper()
    return sets


@pytest.fixture(scope="module")
def found():
    return calipers.overlap(planted(np.random.default_rng(3)), **QUIET)


def test_planted_copies_are_said_first_with_counts_and_rows(found):
    (pair,) = found.shared.pairs
    assert (pair.a, pair.b, pair.verbatim, pair.near, pair.short) == ("a", "b", 5, 5, 0)
    assert [(row.row, row.other) for row in pair.rows] == [(i, i + 20) for i in range(10)]
    lines = plain(found.document(), width=80).splitlines()
    assert lines[2] == "shared texts: a and b 10 texts (5 verbatim, 5 nearly so)"
    at = lines.index("Texts that two systems share")
    assert " ".join(lines[at + 2].split()) == "a and b 5 5 0 0=20, 1=21, 2=22, …"
    (row,) = next(t for t in found.paged().tables if t.id == "shared").scores[-1].cells
    assert row.text == ", ".join(f"{i}={i + 20}" for i in range(10))


def test_it_says_from_how_many_texts_on_copies_show(found):
    text = " ".join(plain(found.document(), width=80).split())
    # 0.951 ** 60 is 0.05
    assert "shares none of 60 texts has fewer than 4.9 % of copies" in text
    assert "copies of 1 % show from 299 texts on" in text
    rng = np.random.default_rng(5)
    none = calipers.overlap({"a": drawn(rng, 60), "b": drawn(rng, 60)}, **QUIET)
    assert none.shared.pairs == ()
    assert (
        "no two systems share a text of more than a few words: of 60, copies of 4.9 % of the "
        "texts or more would show"
    ) in " ".join(plain(none.document(), width=80).split())


def test_short_answers_that_are_the_same_by_chance_are_not_said_first():
    rng = np.random.default_rng(5)
    found = calipers.overlap(
        {"a": [*drawn(rng, 40), "Yes."], "b": [*drawn(rng, 40), "yes."]}, **QUIET
    )
    ((pair,),) = [found.shared.pairs]
    assert (pair.verbatim, pair.short) == (1, 1)
    assert "no two systems share a text of more than a few words" in str(found)


def test_rows_are_those_of_the_files_also_where_sets_are_cut():
    sets = planted(np.random.default_rng(3))
    sets["c"] = sets["c"][:30]
    cut = calipers.overlap(sets, **QUIET)
    whole = {(i, i + 20) for i in range(10)}
    rows = {(row.row, row.other) for pair in cut.shared.pairs for row in pair.rows}
    assert rows
    assert rows <= whole


def test_rows_of_several_files_name_the_file():
    sets = planted(np.random.default_rng(3))
    files = tuple(
        SampleSet.from_texts(part, name="a", source=f"a-{i}")
        for i, part in enumerate((sets["c"], sets["a"]))
    )
    systems = (System("a", files), System("b", (SampleSet.from_texts(sets["b"], name="b"),)))
    found = calipers.overlap(systems, **QUIET)
    (pair,) = found.shared.pairs
    assert {(row.file, row.other_file) for row in pair.rows} == {(1, 0)}
    assert "1:0=20" in str(found)


def test_samples_that_are_no_texts_are_not_searched(rng):
    found = calipers.overlap({"a": rng.normal(size=(30, 3)), "b": rng.normal(size=(30, 3))})
    assert found.shared is None
    assert "shared texts" not in str(found)


def test_it_is_kept_and_read_again(found, tmp_path: Path):
    found.save(tmp_path / "run.zip")
    assert calipers.load(tmp_path / "run.zip").shared == found.shared
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["shared"]["pairs"][0]["verbatim"] == 5
    older = {key: value for key, value in data.items() if key != "shared"}
    assert Overlap.from_dict(older).shared is None


def test_many_systems_have_a_line_each_and_the_page_the_matrices():
    found = calipers.overlap(planted(np.random.default_rng(3), n=30, systems=12), **QUIET)
    lines = plain(found.document(), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert [sum(line.split()[:1] == [name] for line in lines) for name in "cdefghijkl"] == [1] * 10
    assert any("of 66 pairs" in line for line in lines)
    assert [table.id for table in found.document().tables] == ["shared", "overview"]
    assert "wording" in [table.id for table in found.paged().tables]
    assert "reference" in calipers.report.markdown(found.summary())
