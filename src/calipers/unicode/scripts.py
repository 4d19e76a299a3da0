"""Scripts without spaces between words, and texts written in them."""

from __future__ import annotations

from calipers.lazy import pattern

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

LETTERS = {
    "Thai": "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46",
    "Lao": "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf",
    "Burmese": (
        "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070"
        "\u1075-\u1081\u108e\ua9e0-\ua9e4\ua9e6-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a"
        "\uaa7e\uaa7f"
    ),
    "Khmer": "\u1780-\u17b3\u17d7\u17dc",
    "Tai_Tham": "\u1a20-\u1a54\u1aa7",
    "Balinese": "\u1b05-\u1b33\u1b45-\u1b4c",
    "Javanese": "\ua984-\ua9b2",
    "Han": (
        "\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9"
        "\U00020000-\U0003ffff"
    ),
    "Hiragana": "\u3041-\u3096\u309d-\u309f",
    "Katakana": (
        "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff9d"
        "\U0001aff0-\U0001b000\U0001b120-\U0001b122\U0001b155-\U0001b168"
    ),
    "others": (
        "\u109e\u109f\u17f0-\u17f9\u1950-\u19c9\u19da-\u19ff\u1b61-\u1b6a\u1b74-\u1b7c"
        "\u2e80-\u2fd5\u3105-\u312f\u31a0-\u31bf\ua000-\ua4c6\uaa77-\uaa79\uaa80-\uaaaf\uaab1"
        "\uaab5\uaab6\uaab9-\uaabd\uaac0\uaac2-\uaadd\U00016fe3\U00016ff2-\U00016ff6"
        "\U0001b001-\U0001b11f\U0001b123-\U0001b152"
    ),
}
"""Letters of scripts that set no space between words, each as the inside of a class of ``re``; the
others are Bopomofo, Yi, Tai Le, New Tai Lue, Tai Viet, radicals of Han, rare kana and signs."""

_RUNS = pattern(f"[{BLOCKS}]+")


def without_spaces(text: str) -> bool:
    """Whether most letters of a text belong to scripts without spaces between words.

    Examples
    --------
    >>> without_spaces("我喜欢用 iPhone 手机拍照片"), without_spaces("The word 你好")
    (True, False)
    """
    return unspaced_share(text) > 0.5


def unspaced_share(text: str) -> float:
    """Return the share of a text's letters that belong to such scripts; 0 without letters.

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
