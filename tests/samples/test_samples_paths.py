from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples.fields import PathError, extractor, parse_path, root

ROW: dict[str, Any] = {
    "text": "t",
    "a": {"b": ["x", "y"], "c": {"d": "z"}},
    "choices": [{"message": {"content": "one"}}, {"message": {"content": "two"}}],
    "dotted.name": "kept",
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("text", ["t"]),
        ("a.b[0]", ["x"]),
        ("a.b[-1]", ["y"]),
        ("a.c.d", ["z"]),
        ("a.b", [["x", "y"]]),
        ("a.b[*]", ["x", "y"]),
        ("choices[*].message.content", ["one", "two"]),
        ("choices[1].message.content", ["two"]),
        ("dotted.name", ["kept"]),
    ],
)
def test_finds(path: str, found: list[Any]) -> None:
    assert extractor(path)(ROW) == found


def test_paths_may_start_in_a_list() -> None:
    assert extractor("[0]")(["a", "b"]) == ["a"]
    assert extractor("[*][0]")([["a"], ["b"]]) == ["a", "b"]
    assert extractor("[*]")([]) == []
    assert root("[0].a") is None
    assert root("a.b[0]") == "a"


@pytest.mark.parametrize("path", ["", ".", "a.", "a..b", ".a", "a[", "a[x]", "a[1", "a]b", "a[0]b"])
def test_refuses_what_is_no_path(path: str) -> None:
    with pytest.raises(InputError, match="is not understood from character"):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("txt", "there is no field 'txt'; the fields are 'text', 'a', 'choices' and 'dotted.name'"),
        ("a.x", "the field 'a.x' breaks at 'a': there is no field 'x'; the fields are 'b' and 'c'"),
        ("a.b[2]", r"breaks at 'a\.b': there is no item \[2\] in a list of 2 items"),
        ("a.c[0]", r"breaks at 'a\.c': expected a list, found an object with the fields 'd'"),
        ("a.c.d.e", r"breaks at 'a\.c\.d': the string 'z' has no field 'e'"),
        ("choices[*].text", r"breaks at 'choices\[\*\]': there is no field 'text'; .*'message'"),
        ("text[*]", "breaks at 'text': expected a list, found the string 't'"),
    ],
)
def test_says_where_a_path_breaks(path: str, message: str) -> None:
    with pytest.raises(PathError, match=message):
        extractor(path)(ROW)


def test_long_lists_of_fields_are_cut() -> None:
    row = {f"{'long' * 30}{i}": 1 for i in range(40)}
    with pytest.raises(PathError) as caught:
        extractor("x")(row)
    assert "and 28 more" in str(caught.value)
    assert len(str(caught.value)) < 700


KEY = st.text(st.characters(exclude_characters=".[]", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(KEY | st.integers(0, 3), min_size=1, max_size=5))
def test_reads_back_any_path(steps: list[str | int]) -> None:
    value: Any = "here"
    for step in reversed(steps):
        value = {step: value} if isinstance(step, str) else [None] * step + [value]
    path = "".join(f".{s}" if isinstance(s, str) else f"[{s}]" for s in steps).removeprefix(".")
    assert parse_path(path) == tuple(steps)
    assert extractor(path)(value) == ["here"]
