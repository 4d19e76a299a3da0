"""Scripts that set no space between words, and whether a text is written in one."""

from __future__ import annotations

import re

WITHOUT_SPACES = "".join(
    rf"\p{{Script={name}}}"
    for name in (
        *("Han", "Hiragana", "Bopomofo", "Yi"),
        *("Thai", "Lao", "Khmer", "Myanmar"),
        *("Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Balinese", "Javanese"),
    )
)
"""Characters of scripts whose words are not set apart, as the inside of a class of ``regex``;
without katakana, of which a run is mostly one word."""

BLOCKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u312f"
    "\u3190-\ua4cf\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f\U000116d0-\U000116ff"
    "\U00016fe0-\U00018fff\U0001aff0-\U0001b2ff\U0001f200\U00020000-\U0003ffff"
)
"""The blocks that hold them, katakana and their marks, as the inside of a class of ``re``."""

_RUNS = re.compile(f"[{BLOCKS}]+")


def without_spaces(text: str) -> bool:
    """Whether most letters of a text belong to scripts that set no space between words.

    Examples
    --------
    >>> without_spaces("我喜欢用 iPhone 手机拍照片"), without_spaces("The word 你好")
    (True, False)
    """
    return unspaced_share(text) > 0.5


def unspaced_share(text: str) -> float:
    """The share of the letters of a text that belong to such scripts; 0 without letters.

    Examples
    --------
    >>> unspaced_share("ab你好")
    0.5
    """
    runs = "" if text.isascii() else "".join(_RUNS.findall(text))
    return letters(runs) / letters(text) if runs else 0.0


def letters(text: str) -> int:
    """Count the letters of a text."""
    return sum(map(str.isalpha, text))
