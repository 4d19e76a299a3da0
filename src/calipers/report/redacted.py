"""Report data ──► the same without any text and any folder, for sharing.

Every field is filtered by what it holds: a text goes, a path becomes the name of its file, the name
of a thing stays. A sentence stays too, without what it quotes; the data hold that apart, as the
example of a check or the source of a set.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from calipers.report.table import Data

LEFT_OUT = "[text left out]"
KEPT = frozenset({"name", "a", "b", "score", "key", "view", "system"})
"""Fields that name a thing; what is kept under that name is found by it."""

TEXTS = ("text", "example")
"""Fields that hold a text of a sample."""

LONGEST_UNSPACED = 6
"""Letters of a keyword at most, in scripts that put no spaces between words."""
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")

_ROOTED = re.compile(r"(?:[A-Za-z]:|~\w*|\.{1,2}|file:/{0,2})?[/\\]")
_SEPARATORS = re.compile(r"[/\\]")
_STRAY = re.compile(r"(?<![\w.<])(?:[A-Za-z]:|~|\.{1,2}|file:/)?(?:[/\\][^\s/\\'\"`,;:|=]+)+")


def without_texts(data: Data) -> dict[str, Any]:
    """Take out the texts of all samples and the folders of all files; keywords remain.

    Report data that says it is redacted has no texts already; this makes sure of it.
    """
    redaction = Redaction.of(data)
    return {
        **data,
        "comparison": redaction.value(data["comparison"]),
        "command": redaction.field("command", data.get("command")),
        "explanations": redaction.value(data.get("explanations") or {}),
        "excerpts": [{**each, "excerpts": None} for each in data.get("excerpts") or ()],
    }


def file_names(command: str) -> str:
    """Reduce every path in a command line to the name of its file.

    Examples
    --------
    >>> file_names("calipers compare -r /data/human.jsonl --html=out/report.html")
    'calipers compare -r human.jsonl --html=report.html'
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return " ".join(map(_last_of_option, command.split()))
    return shlex.join(map(_last_of_option, words))


def _last_of_option(word: str) -> str:
    return "=".join(map(_last, word.split("=")))


def _last(path: str) -> str:
    return _SEPARATORS.split(path.rstrip("/\\"))[-1]


@dataclass(frozen=True)
class Redaction:
    """What the sentences of some report data may not say, and the filter for all fields.

    Attributes
    ----------
    texts
        Texts of samples that a sentence may quote.
    paths
        Paths that it may name, the longest first, so that none is replaced in part. Where a path
        has a space in it, only one that is known can be told from the words around it.
    """

    texts: tuple[str, ...]
    paths: tuple[str, ...]

    @classmethod
    def of(cls, data: Data) -> Self:
        """Gather the texts that checks quote, and the paths of sets, settings and the command."""
        comparison = data["comparison"]
        systems, settings = comparison.get("systems", ()), comparison.get("settings") or {}
        checks = [(system.get("confounders") or {}).get("language") or {} for system in systems]
        sets = [row for row in (comparison["reference"], comparison.get("train"), *systems) if row]
        words = _words_of(data.get("command") or settings.get("command") or "")
        paths = {path for row in sets for path in (row.get("source"), *(row.get("seeds") or ()))}
        paths |= {*_rooted(settings), *_rooted(words)}
        known = [path for path in paths if path and _SEPARATORS.search(path) and _last(path)]
        return cls(
            tuple(check["example"] for check in checks if check.get("example")),
            tuple(sorted(known, key=len, reverse=True)),
        )

    def value(self, value: Any) -> Any:
        """Filter nested data; numbers and keys stay."""
        if isinstance(value, str):
            return self.sentence(value)
        if isinstance(value, Mapping):
            return {key: self.field(key, each) for key, each in value.items()}
        return [self.value(each) for each in value] if isinstance(value, list | tuple) else value

    def field(self, key: str, value: Any) -> Any:
        """Filter a field by what it holds."""
        is_list = isinstance(value, list | tuple)
        if key in KEPT:
            return value
        if key in TEXTS and isinstance(value, str):
            return None
        if key == "details" and is_list:
            return []
        if key == "cautions" and is_list:  # their text is a sentence, not a sample's
            return [
                {name: self.value(each) for name, each in one.items()}
                for one in value
                if isinstance(one, Mapping)
            ]
        if key == "keywords" and is_list:
            return [word for word in value if not _is_phrase(word)]
        if key == "command" and isinstance(value, str):
            return self.sentence(file_names(value))
        return self.value(value)

    def sentence(self, text: str) -> str:
        """Take what is known out of a sentence, and the folders of any other path from a root."""
        for quoted in self.texts:
            text = text.replace(repr(quoted), LEFT_OUT).replace(quoted, LEFT_OUT)
        for path in self.paths:
            text = text.replace(path, _last(path))
        return _STRAY.sub(lambda match: _last(match[0]), text)


def _rooted(value: Any) -> Iterator[str]:
    """Give every string that is a path from the root or from where the command ran."""
    if isinstance(value, str) and _ROOTED.match(value) and "\n" not in value:
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _rooted(each)


def _words_of(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return [part for word in words for part in word.split("=")]


def _is_phrase(word: str) -> bool:
    """Tell whether a word of a script without spaces is so long that it may be a whole text."""
    unspaced = (unicodedata.name(letter, "").startswith(UNSPACED) for letter in word)
    return len(word) > LONGEST_UNSPACED and any(unspaced)
