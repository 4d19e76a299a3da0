"""Controls are shown, and what belongs to the spelling of a word or an emoji stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.wording.names import clean
from calipers.wording.printable import REPLACED, printable


@pytest.mark.parametrize(
    "text",
    [
        "model",
        "می\u200cخواهم",  # Persian, a non-joiner within a word
        "ශ්\u200dරී",  # Sinhala
        "ക്\u200d",  # Malayalam, a chillu as it was once written
        "👨\u200d👩\u200d👧",
        "👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏽",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "שלום\u200f!",
        "ภาษา\u200bไทย",
        "\u0601١٢",
    ],
)
def test_spelling_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc\u2028d\u3000e", "a b c d e"),
        ("\x1b[31mred", f"{REPLACED}[31mred"),
        ("a\x00b\x85c", f"a{REPLACED}b c"),
        ("a\u202eb\u2066c\u2069", f"a{REPLACED}b{REPLACED}c{REPLACED}"),
        ("نظام\u202e", f"نظام{REPLACED}"),
        ("a\u200db\u200cc\u200bd", f"a{REPLACED}b{REPLACED}c{REPLACED}d"),
        ("\u200cنظام\u200c", f"{REPLACED}نظام{REPLACED}"),
        ("👩\u200d\u200d💻", f"👩{REPLACED}{REPLACED}💻"),
        ("abc\u200f", f"abc{REPLACED}"),
        ("x\U000e0067", f"x{REPLACED}"),
        ("\ud800", REPLACED),
    ],
)
def test_controls_are_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_line_breaks_stay_where_they_are_asked_for() -> None:
    assert printable("a\nb\tc", keep="\n") == "a\nb c"


@given(st.text())
def test_what_is_clean_stays_so_and_keeps_its_length(text: str) -> None:
    shown = clean(text)
    assert len(shown) == len(text)
    assert clean(shown) == shown
    assert not set(shown) & {
        *map(chr, range(32)),
        "\x7f",
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    }
