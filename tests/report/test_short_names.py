"""Short names: none is that of another, and what tells them apart stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from calipers.report import latex, markdown, plain
from calipers.report.html import html_page
from calipers.wording.names import clean
from calipers.wording.short_names import among, short, short_forms, shorten_names
from hand_made import comparison_of

PIECES = ("llama", "-", "7b", "70b", "_", "v0.1", "v0.3", "Infinity", "Instruct", "0613", "0625")
ALIKE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
NAMES = st.lists(st.one_of(ALIKE, st.text(max_size=30).map(clean)), unique=True, max_size=25)


@given(NAMES, st.integers(min_value=1, max_value=40))
def test_no_two_names_are_shortened_alike(names: list[str], width: int) -> None:
    forms = short_forms(names, width)
    assert set(forms) == set(names)
    assert len(set(forms.values())) == len(names)


@given(NAMES, st.integers(min_value=1, max_value=40))
def test_a_name_that_fits_stays_as_it_is_but_for_parameters(names: list[str], width: int) -> None:
    forms = short_forms(names, width)
    for name in names:
        if cell_len(name) <= width and len(name) <= width and "=" not in "".join(names):
            assert forms[name] == name


@given(st.lists(ALIKE, unique=True, max_size=25), st.integers(min_value=6, max_value=40))
def test_short_forms_fit_and_tell_which_name_they_are_of(names: list[str], width: int) -> None:
    """Whatever a cut is read as, no other name has the letters that were kept."""
    for name, form in short_forms(names, width).items():
        assert cell_len(form) <= width
        if "~" not in form:
            read = re.compile(".*".join(map(re.escape, form.split("…"))), re.DOTALL)
            assert [other for other in names if read.fullmatch(other)] == [name]


@given(NAMES, st.integers(min_value=1, max_value=40), st.integers(min_value=1, max_value=40))
def test_a_document_of_two_widths_confuses_no_two_names(
    names: list[str], wide: int, narrow: int
) -> None:
    with among(names) as peers:
        pairs = {(short(name, width), name) for width in (wide, narrow) for name in names}
    assert all(peers.whole.get(form, form) == name for form, name in pairs)


@pytest.mark.parametrize(
    ("names", "width", "kept"),
    [
        (("xwinlm-7b-v0.3", "xwinlm-70b-v0.3"), 12, ("7b", "70b")),
        (
            ("Infinity-Instruct-3M-0613-Mistral-7B", "Infinity-Instruct-3M-0625-Mistral-7B"),
            16,
            ("0613", "0625"),
        ),
        (("a" * 30 + "x" + "b" * 30, "a" * 30 + "y" + "b" * 30), 12, ("x", "y")),
    ],
)
def test_the_part_that_tells_names_apart_stays(
    names: Sequence[str], width: int, kept: Sequence[str]
) -> None:
    forms = shorten_names(names, width)
    assert all(cell_len(form) <= width for form in forms)
    assert all(part in form for part, form in zip(kept, forms, strict=True))


def test_names_that_letters_cannot_tell_apart_have_numbers() -> None:
    names = ["a" * size for size in range(30, 40)]
    forms = shorten_names(names, 8)
    assert len(set(forms)) == 10
    assert all(cell_len(form) <= 8 for form in forms)


def test_a_name_cut_twice_is_cut_from_its_whole() -> None:
    names = ["Infinity-Instruct-3M-0613-Mistral-7B", "Infinity-Instruct-3M-0625-Mistral-7B"]
    with among(names):
        once = short(names[0], 24)
        assert short(once, 16) == short(names[0], 16)
    assert short("x" * 50) == f"{'x' * 20}…{'x' * 19}"


LONG = [f"{'a' * 30}{middle}{'b' * 30}" for middle in "xy"]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "python", "page"])
def test_no_format_writes_two_long_names_alike(make: dict[str, Any], form: str) -> None:
    """In tables and in sentences, of names that differ in their middle alone."""
    systems = [
        make["system"](name, {key: make["score"](value) for key in ("recall", "mauve_star")})
        for name, value in zip(LONG, (0.9, 0.1), strict=True)
    ]
    result = comparison_of(make["comparison"](systems, views=["meaning"]))
    write = {
        "text": lambda: plain(result, width=100),
        "markdown": lambda: markdown(result),
        "latex": lambda: latex(result),
        "html": result._repr_html_,
        "python": lambda: str(result.verdict),
        "page": lambda: html_page(result).replace("<wbr>", ""),
    }[form]
    text = write().replace(r"\ldots{}", "…")
    forms = set(re.findall(r"a+[xy]?…[…xy]*b+|a+…[xy]…?b+", text))
    assert forms
    assert all(("x" in short_form) != ("y" in short_form) for short_form in forms)


def test_values_of_parameters_stay_whole_beside_other_names() -> None:
    grid = [f"temperature={t},top_p={p}" for t in (0.5, 1) for p in (0.8, 1)]
    others = ["reference", "a sentence that is long and no name of a system", ", ".join(grid)]
    forms = short_forms([*grid, *others], 20)
    assert [forms[name] for name in grid] == [
        f"temper={t},top_p={p}" for t in (0.5, 1) for p in (0.8, 1)
    ]
    assert len({*forms.values()}) == len(forms)


def test_a_short_form_is_no_name_beside_the_one_that_it_stands_for() -> None:
    grid = [f"temperature={t},top_p={p}" for t in (0.5, 1) for p in (0.8, 1)]
    with among(grid):
        once = [short(name, 20) for name in grid]
        with among(once):
            assert [short(form, 20) for form in once] == once
            assert [short(name, 20) for name in grid] == once
            assert short(once[0], 40) == grid[0]
