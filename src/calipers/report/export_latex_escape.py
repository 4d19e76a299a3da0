"""Any text ──► LaTeX that prints it, whatever it holds."""

from __future__ import annotations

import re
import unicodedata

from calipers.report.names import clean

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
"""Brackets and stars in braces: the end of a row takes those that begin the next for its own."""

_SYMBOLS = {
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "≈": r"$\approx$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "·": r"$\cdot$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "χ": r"$\chi$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "λ": r"$\lambda$",
    "¹": r"\textsuperscript{1}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\N{NO-BREAK SPACE}": "~",
}
_KNOWN = _ASCII | _SYMBOLS
_DASHES = re.compile(r"-(?=-)")
"""A dash before another one: together they would be printed as one long dash."""


def escape(text: object) -> str:
    """Write a text so that LaTeX prints its characters and runs none of them.

    Letters of any script stay as they are, for an engine that has them; a symbol that is not known
    here is printed as its code point, since most engines would stop at it.

    Examples
    --------
    >>> escape("model_a & 50 %"), escape("[x]"), escape("χ²")
    ('model\\\\_a \\\\& 50 \\\\%', '{[}x{]}', '$\\\\chi$\\\\textsuperscript{2}')
    """
    whole = _DASHES.sub("-\0", unicodedata.normalize("NFC", clean(text)))
    return "".join(map(_printed, whole)).replace("\0", "{}")


def needs_unicode_fonts(text: str) -> bool:
    """Tell whether a text holds letters that pdfLaTeX cannot print without further packages."""
    return any(ord(character) > 0x17F for character in text)


def _printed(character: str) -> str:
    known = _KNOWN.get(character)
    if known is not None:
        return known
    letter = unicodedata.category(character)[0] in "LM"
    return character if character.isascii() or letter else rf"\texttt{{U+{ord(character):04X}}}"
