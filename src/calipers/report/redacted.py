"""A comparison without texts and folders, for sharing.

Every field is filtered by what it holds: a text goes, a path becomes the name of its file, the name
of a thing stays. A sentence stays too, without what it quotes; the comparison holds that apart, as
the example of a check or the source of a set.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self, TypeVar

from calipers.results.caution import Caution
from calipers.results.comparison import Comparison
from calipers.results.pictures import LivePictures, StoredPictures
from calipers.results.sets import Samples
from calipers.wording.words import Name

C = TypeVar("C", bound=Comparison)

LEFT_OUT = "[text left out]"
KEPT = frozenset({"name", "a", "b", "score", "key", "view", "metric", "system"})
"""Fields that name a thing; what is kept under that name is found by it."""

TEXTS = ("text", "example")
"""Fields that hold a text of a sample."""

LONGEST_UNSPACED = 6
"""Letters of a keyword at most, in scripts that put no spaces between words."""
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")

_ROOTED = re.compile(r"(?:[A-Za-z]:|~\w*|\.{1,2}|file:/{0,2})?[/\\]")
_SEPARATORS = re.compile(r"[/\\]")
_STRAY = re.compile(r"(?<![\w.<])(?:[A-Za-z]:|~|\.{1,2}|file:/)?(?:[/\\][^\s/\\'\"`,;:|=]+)+")


def without_texts(comparison: C) -> C:
    """Remove the texts of all samples and the folders of all files; keywords remain.

    A comparison whose texts were taken out has none already; this makes sure of it.
    """
    redacted: C = Redaction.of(comparison).value(comparison)
    return redacted


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
    """The words that sentences of a comparison must not contain, and the filter for all fields.

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
    def of(cls, comparison: Comparison) -> Self:
        """Collect the texts that checks quote, and the paths of sets, settings and the command."""
        settings, reference = comparison.settings, comparison.reference
        checks = [(system.confounders or {}).get("language") or {} for system in comparison]
        paths = {
            reference.source,
            *(() if comparison.train is None else (comparison.train.source,)),
        }
        paths |= {path for system in comparison for path in (system.summary.source, *system.seeds)}
        paths |= {*_rooted(settings), *_rooted(_words_of(settings.get("command") or ""))}
        known = [path for path in paths if path and _SEPARATORS.search(path) and _last(path)]
        return cls(
            tuple(check["example"] for check in checks if check.get("example")),
            tuple(sorted(known, key=len, reverse=True)),
        )

    def value(self, value: Any) -> Any:
        """Filter a result, a part of it, or plain data; numbers, arrays and keys stay."""
        if isinstance(value, str):
            return self.sentence(value)
        if isinstance(value, Name):
            return value
        if isinstance(value, Samples):
            return replace(value, texts=None, log_ids=None, pictures=None)
        if isinstance(value, LivePictures | StoredPictures):
            return None
        if isinstance(value, Caution):  # its text is a sentence, not a sample's
            return _changed(value, lambda _, part: self.value(part))
        if isinstance(value, Mapping):
            # An object of ours stands under a name that a person chose, such as that of a view
            return {
                key: self.value(part) if is_dataclass(part) else self.field(key, part)
                for key, part in value.items()
            }
        if isinstance(value, list | tuple):
            return type(value)(self.value(part) for part in value)
        if is_dataclass(value) and not isinstance(value, type):
            return _changed(value, self.field)
        return value

    def field(self, key: str, value: Any) -> Any:
        """Filter a field by what it holds."""
        if key in KEPT:
            return value
        if key in TEXTS and isinstance(value, str):
            return None
        if key == "file" and isinstance(value, str):
            return _last(value)
        if isinstance(value, list | tuple) and key == "details":
            return type(value)()
        if isinstance(value, list | tuple) and key == "keywords":
            return type(value)(word for word in value if not _is_phrase(word))
        if key == "study" and isinstance(value, str):  # names files in every line
            return None
        if key == "command" and isinstance(value, str):
            return self.sentence(file_names(value))
        return self.value(value)

    def sentence(self, text: str) -> str:
        """Remove known words from a sentence, and the folders of other absolute paths."""
        for quoted in self.texts:
            text = text.replace(repr(quoted), LEFT_OUT).replace(quoted, LEFT_OUT)
        for path in self.paths:
            text = text.replace(path, _last(path))
        return _STRAY.sub(lambda match: _last(match[0]), text)


def _changed(value: Any, change: Callable[[str, Any], Any]) -> Any:
    """Return a dataclass with other fields, or itself where none is another."""
    parts = {one.name: getattr(value, one.name) for one in fields(value)}
    changed = {name: change(name, part) for name, part in parts.items()}
    other = {name: part for name, part in changed.items() if part is not parts[name]}
    return replace(value, **other) if other else value


def _rooted(value: Any) -> Iterator[str]:
    """Return every string that is a path from the root or from where the command ran."""
    if isinstance(value, str) and _ROOTED.match(value) and "\n" not in value:
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _rooted(part)


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
