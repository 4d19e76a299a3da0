"""Names that are safe to draw, their numbers and their families."""

from __future__ import annotations

import pytest

from calipers.report.plots.choosing import drawable, families, family, last_number


def test_formulas_and_underscores_are_plain_words():
    assert drawable("$a$") == r"\$a\$"
    assert drawable("_a") == "\N{HAIR SPACE}_a"
    assert drawable("a\nb\x00") == "a b\N{REPLACEMENT CHARACTER}"
    assert len(drawable("x" * 1_000_000)) <= 40


@pytest.mark.parametrize(
    ("name", "before", "value", "behind"),
    [
        ("nucleus-0.9", "nucleus", 0.9, ""),
        ("nucleus-.95", "nucleus", 0.95, ""),
        ("top-k-40", "top-k", 40.0, ""),
        ("gpt2-xl,p=0.8", "gpt2-xl,p", 0.8, ""),
        ("k=1,000", "k", 1000.0, ""),
        ("1,2", "1", 2.0, ""),
        ("lr 1e-05", "lr", 1e-05, ""),
        ("llama-7B-chat", "llama", 7.0, "B-chat"),
        ("t=0.7.jsonl", "t", 0.7, "jsonl"),
        ("0.5", "", 0.5, ""),
        ("v1.2.3", "v1.2", 3.0, ""),
        ("1,2345", "1", 2345.0, ""),
    ],
)
def test_the_last_number_in_a_name(name, before, value, behind):
    assert last_number(name) == (before, value, behind)


def test_a_name_without_a_number():
    assert last_number("greedy") is None
    assert family("greedy") == "greedy"


def test_families_leave_out_single_systems_and_follow_the_number():
    names = ["t=1.0", "greedy", "p-0.9", "t=0.5", "k 3"]
    assert families(names) == [["t=0.5", "t=1.0"]]
