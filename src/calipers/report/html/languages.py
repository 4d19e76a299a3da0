"""Which language the letters of a text tell, so that a browser takes the right shapes and breaks.

Han characters look different in Chinese, Japanese and Korean fonts, and a browser that is not told
takes those of the reader's own language. Kana are Japanese and Hangul is Korean; Han characters
alone are taken for Chinese. Most scripts are of many languages, and nothing is said of them.
"""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

MOST = 2_000
"""Characters that are looked at."""

Ranges = tuple[tuple[int, int], ...]

KANA: Ranges = ((0x3041, 0x30FF), (0xFF66, 0xFF9D))
HANGUL: Ranges = ((0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3))
HAN: Ranges = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x3FFFF))
OTHERS: dict[str, Ranges] = {
    "th": ((0x0E01, 0x0E5B),),
    "lo": ((0x0E81, 0x0EDF),),
    "km": ((0x1780, 0x17DD),),
    "my": ((0x1000, 0x109F),),
    "he": ((0x05D0, 0x05EA),),
    "el": ((0x0370, 0x03FF),),
    "ka": ((0x10D0, 0x10FF),),
    "hy": ((0x0531, 0x058A),),
    "ta": ((0x0B82, 0x0BFA),),
    "te": ((0x0C00, 0x0C7F),),
    "si": ((0x0D81, 0x0DF4),),
}
SHARE, FEW = 0.2, 0.02
"""Share of letters that tells a language; a quotation does not. Of a text with Han characters, the
share of kana or Hangul that tells Japanese or Korean."""


def language_of(text: str) -> str:
    """Give the tag of the language that the script of a text tells; empty where it tells none.

    Examples
    --------
    >>> [language_of(text) for text in ("これは日本語です", "这是中文", "한국어", "English")]
    ['ja', 'zh', 'ko', '']
    """
    start = text[:MOST]
    if start.isascii():
        return ""
    codes = Counter(map(ord, start))
    letters = max(1, sum(map(str.isalpha, start)))

    def share(ranges: Ranges) -> float:
        within = (n for code, n in codes.items() if any(low <= code <= up for low, up in ranges))
        return sum(within) / letters

    kana, hangul, han = share(KANA), share(HANGUL), share(HAN)
    if kana + hangul + han >= SHARE:
        return "ja" if kana >= max(hangul, FEW) else "ko" if hangul >= FEW else "zh"
    return next((tag for tag, ranges in OTHERS.items() if share(ranges) >= SHARE), "")


def language(text: object) -> Markup:
    """Write the attribute of an element that holds a text; nothing where no language is told."""
    tag = language_of(str(text or ""))
    return Markup(' lang="{}"').format(tag) if tag else Markup("")
