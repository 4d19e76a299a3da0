"""Any text ──► Markdown that shows it as it is, wherever it stands in a line."""

from __future__ import annotations

import re

from calipers.report.names import clean

_REFERENCES = {ord(character): f"&#{ord(character)};" for character in "|\\`$<>&{}@"}
"""Written as references: within a table parsers disagree about a backslash before a bar, and
sites act on these before or after Markdown does (mathematics, Liquid, mentions)."""

_ESCAPED = re.compile(r"([*~^#\[\]]|=(?==))|(?<![^\W_])(_)|(_)(?![^\W_])")
_MENTION = re.compile(r"(?<![^\W_])(&#64;)(?=\w)")
_WORD_JOINER = "\N{WORD JOINER}"


def escape(text: object) -> str:
    """Write a text on one line so that Markdown shows its characters and acts on none.

    A ``@`` that would mention a person on GitHub is followed by an invisible joiner.

    Examples
    --------
    >>> escape("model_a|b"), escape("<b>*x*"), escape("MAUVE*")
    ('model_a&#124;b', '&#60;b&#62;\\\\*x\\\\*', 'MAUVE\\\\*')
    """
    safe = clean(text).translate(_REFERENCES)
    safe = re.sub(r"&#(?=\d+;)", "\0", safe)  # these # are part of a reference
    safe = _ESCAPED.sub(lambda found: "\\" + found.group(), safe).replace("\0", "&#")
    return _MENTION.sub(rf"\1{_WORD_JOINER}", safe)
