"""What counts as prose in wrapped plain-text documentation."""

from __future__ import annotations

import re
import sys

import pytest

from calipers.demo.corpora import LONGEST, SHORTEST, paragraphs, prose
from calipers.errors import CalipersError

SENTENCES = """\
A reader knows prose when she sees it: the lines are of one indentation, the
words are words, and the whole begins and ends as any plain left-
hand sentence does. That is *all* that the **filter** asks for [1].
"""
FLOWED = (
    "A reader knows prose when she sees it: the lines are of one indentation, the words are "
    "words, and the whole begins and ends as any plain left-hand sentence does. That is all that "
    "the filter asks for."
)


def test_lines_are_joined_and_markup_is_dropped() -> None:
    assert prose([SENTENCES]) == [FLOWED]


def test_an_indented_paragraph_is_prose() -> None:
    indented = "\n".join("   " + line for line in SENTENCES.splitlines())
    assert prose([f"name()\n\n{indented}\n"]) == [FLOWED]


def test_a_list_item_of_prose_loses_its_bullet() -> None:
    first, *rest = SENTENCES.splitlines()
    assert prose(["\n".join([f"* {first}", *(f"  {line}" for line in rest)])]) == [FLOWED]


def test_a_definition_loses_its_term() -> None:
    lines = ["Prose (noun)", *(f"   {line}" for line in SENTENCES.splitlines())]
    assert prose(["\n".join(lines)]) == [FLOWED]


def test_repeats_are_kept_once_in_first_order() -> None:
    other = SENTENCES.replace("reader", "writer")
    texts = prose([f"{SENTENCES}\n{other}", f"{other}\n{SENTENCES}"])
    assert texts == [FLOWED, FLOWED.replace("reader", "writer")]


FILLER = " and so on it goes for more than twenty words because a short text is left out anyway"


@pytest.mark.parametrize(
    "block",
    [
        "Too few words for a paragraph.",
        "Heading" + FILLER + ".\n" + "=" * 60,
        '   assert_stmt ::= "assert" expression' + FILLER + ".",
        "   >>> It" + FILLER + ".",
        "| A cell" + FILLER + ". |",
        "[1] A footnote" + FILLER + ".",
        "Changed in version 3.9: It" + FILLER + ".",
        "New in version 3.9: It" + FILLER + ".",
        "an end of a sentence" + FILLER + ".",
        "A sentence without its end" + FILLER,
        "Code" + " x[i] = f(x, *y)" * 10 + FILLER + ".",
        "A first item" + FILLER + "\n   hanging deeper\nand back" + FILLER + ".",
        "Long " + "word " * (LONGEST + 1) + "end.",
        "",
    ],
)
def test_other_blocks_are_left_out(block: str) -> None:
    assert prose([f"\n\n{block}\n\n"]) == []


def test_this_python_carries_some_hundreds_of_clean_paragraphs() -> None:
    texts = paragraphs()
    assert len(texts) >= 500
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert SHORTEST <= len(text.split()) <= LONGEST
        assert text[-1] in '.:!?)”’"'
        assert not re.search(r"::=|>>>|====|\n|  ", text), text


def test_the_paragraphs_are_the_same_each_time() -> None:
    assert paragraphs() == paragraphs()


def test_a_python_without_its_documentation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(CalipersError, match=r"documentation inside Python \(the module pydoc_data"):
        paragraphs()
