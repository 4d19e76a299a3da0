"""The language that the script of a text implies, for fonts and line breaks of the browser.

Han characters look different in Chinese, Japanese and Korean fonts, and a browser that is not told
takes those of the reader's own language. Kana are Japanese and Hangul is Korean; Han characters
alone are taken for Chinese. Most scripts are of many languages, and nothing is said of them.
"""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from calipers.lazy import pattern
from calipers.unicode.scripts import LETTERS, letters

MOST = 2_000
"""Characters that are looked at."""

SCRIPTS = {
    "kana": LETTERS["Hiragana"] + LETTERS["Katakana"],
    "hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "han": LETTERS["Han"],
    "th": LETTERS["Thai"],
    "lo": LETTERS["Lao"],
    "km": LETTERS["Khmer"],
    "my": LETTERS["Burmese"],
    "he": "\u05d0-\u05ea",
    "el": "\u0370-\u03ff",
    "ka": "\u10d0-\u10ff",
    "hy": "\u0531-\u058a",
    "ta": "\u0b82-\u0bb9",
    "te": "\u0c05-\u0c39",
    "si": "\u0d85-\u0dc6",
}
"""Letters of each script, by the tag of its language where it is that of one."""
_SCRIPT = pattern("|".join(f"(?P<{name}>[{letters}])" for name, letters in SCRIPTS.items()))
SHARE, FEW = 0.2, 0.02
"""Share of letters that tells a language; a quotation does not. Of a text with Han characters, the
share of kana or Hangul that tells Japanese or Korean."""


def language_of(text: str) -> str:
    """Return the language tag that the script of a text implies; empty where it implies none.

    Examples
    --------
    >>> [language_of(text) for text in ("これは日本語です", "这是中文", "한국어", "English")]
    ['ja', 'zh', 'ko', '']
    """
    start = text[:MOST]
    if start.isascii():
        return ""
    found = Counter[str | None]()
    for sign, count in Counter(start).items():
        if script := _SCRIPT.match(sign):
            found[script.lastgroup] += count
    size = max(1, letters(start))
    kana, hangul = found["kana"], found["hangul"]
    if kana + hangul + found["han"] >= SHARE * size:
        few = FEW * size
        return "ja" if kana >= max(hangul, few) else "ko" if hangul >= few else "zh"
    return next((str(tag) for tag, count in found.most_common() if count >= SHARE * size), "")


def language(text: object) -> Markup:
    """Write the ``lang`` attribute of an element with a text; empty where none is implied."""
    tag = language_of(str(text or ""))
    return Markup(' lang="{}"').format(tag) if tag else Markup("")
