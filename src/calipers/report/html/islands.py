"""Data and scripts embedded in a page: safe JSON, and the Content-Security-Policy.

A sample may hold anything, `</script>` among it. JSON in a page therefore spells every character
that means something to HTML by its number, and characters that UTF-8 cannot hold are replaced by
U+FFFD, which a reader sees.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

REPLACED = "\N{REPLACEMENT CHARACTER}"
_ESCAPED = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_UNHOLDABLE = re.compile("[\ud800-\udfff]")
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_PILED = re.compile(r"[^\w\s\x00-\x7f]{17,}")
_PILE = 16
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_NUL = r"\u0000"


def island(data: Any) -> str:
    """Write data as JSON that is safe within a ``script`` element.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.

    Examples
    --------
    >>> island({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    text = data_text(data)
    for character, spelt in _ESCAPED.items():
        text = text.replace(character, spelt)
    return text


def data_text(data: Any) -> str:
    """Write data as compact JSON, with U+FFFD for characters that UTF-8 or HTML cannot hold.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.
    """
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    text = _UNHOLDABLE.sub(REPLACED, text)
    return _ESCAPE.sub(_without_nul, text) if _NUL in text else text


def visible(text: str) -> str:
    """Replace characters that HTML cannot hold, controls and lone surrogates, by a visible one.

    Line breaks and tabs stay. Of many combining marks in a row, which take a browser seconds to
    set, the first sixteen stay, and three dots.

    Examples
    --------
    >>> visible("a\\x00b\\nc") == "a\\N{REPLACEMENT CHARACTER}b\\nc"
    True
    """
    return _PILED.sub(_lower_pile, _UNSHOWN.sub(REPLACED, text))


def policy(scripts: Iterable[str]) -> str:
    """Write the Content-Security-Policy that allows only these inline scripts.

    No request leaves the page, and no text of it can become a script.
    """
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    rules = {
        "default-src": "'none'",
        "script-src": allowed or "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "font-src": "data:",
        "connect-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def _lower_pile(match: re.Match[str]) -> str:
    """Keep the first marks of each pile; other characters that are no letters stay."""
    shown: list[str] = []
    marks = 0
    for character in match[0]:
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        if marks <= _PILE:
            shown.append(character)
        elif marks == _PILE + 1:
            shown.append("…")
    return "".join(shown)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _without_nul(match: re.Match[str]) -> str:
    return REPLACED if match[0] == _NUL else match[0]
