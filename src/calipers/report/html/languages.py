"""Which language the letters of a text tell, so that a browser takes the right shapes and breaks.

Han characters look different in Chinese, Japanese and Korean fonts, and a browser that is not told
takes those of the reader's own language. Kana are Japanese and Hangul is Korean; Han characters
alone are taken for Chinese. Most scripts are of many languages, and nothing is said of them.
"""

from __future__ import annotations

import re

from markupsafe import Markup

MOST = 2_000
"""Characters that are looked at."""

KANA = re.compile("[\u3041-\u30ff\uff66-\uff9d]")
HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
OTHERS = {
    "th": re.compile("[\u0e01-\u0e5b]"),
    "lo": re.compile("[\u0e81-\u0edf]"),
    "km": re.compile("[\u1780-\u17dd]"),
    "my": re.compile("[\u1000-\u109f]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "ka": re.compile("[\u10d0-\u10ff]"),
    "hy": re.compile("[\u0531-\u058a]"),
    "ta": re.compile("[\u0b82-\u0bfa]"),
    "te": re.compile("[\u0c00-\u0c7f]"),
    "si": re.compile("[\u0d81-\u0df4]"),
}
SHARE = 0.2
"""Share of letters that tells a language; a quotation does not."""


def language_of(text: str) -> str:
    """Give the tag of the language that the script of a text tells; empty where it tells none.

    Examples
    --------
    >>> [language_of(text) for text in ("これは日本語です", "这是中文", "한국어", "English")]
    ['ja', 'zh', 'ko', '']
    """
    start = text[:MOST]
    letters = max(1, sum(map(str.isalpha, start)))

    def share(script: re.Pattern[str]) -> float:
        return len(script.findall(start)) / letters

    if start.isascii():
        return ""
    kana, hangul, han = share(KANA), share(HANGUL), share(HAN)
    if kana + hangul + han >= SHARE:
        return "ja" if kana >= max(hangul, 0.02) else "ko" if hangul >= 0.02 else "zh"
    return next((tag for tag, script in OTHERS.items() if share(script) >= SHARE), "")


def language(text: object) -> Markup:
    """Write the attribute of an element that holds a text; nothing where no language is told."""
    tag = language_of(str(text or ""))
    return Markup(' lang="{}"').format(tag) if tag else Markup("")
