"""Report data ──► the same without any text and any folder, for sharing."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from calipers.report.table import Data

LEFT_OUT = "[text left out]"
KEPT = frozenset({"name", "a", "b", "score", "key", "view", "system"})
"""Fields that name a thing; what is kept under that name is found by it."""

LONGEST_UNSPACED = 6
"""Letters of a telling word at most, in scripts that put no spaces between words."""
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")

_ABSOLUTE = re.compile(r"(?<![\w.<])(?:[A-Za-z]:|~|\.{1,2}|file:/)?(?:[/\\][^\s/\\'\"`,;:|=]+)+")
_ROOTED = re.compile(r"(?:[A-Za-z]:|~\w*|\.{1,2}|file:/{0,2})?[/\\]")
_SEPARATORS = re.compile(r"[/\\]")


def without_texts(data: Data) -> dict[str, Any]:
    """Take out the texts of all samples and the folders of all files; telling words remain.

    Report data that says it is redacted has no texts already; this makes sure of it.
    """
    comparison, rewrite = _bare_command(data["comparison"]), _rewriter(data)
    command = data.get("command")
    return {
        **data,
        "comparison": _rewritten(_unquoted(comparison), rewrite),
        "command": None if command is None else rewrite(file_names(command)),
        "explanations": _rewritten(_bare(data.get("explanations") or {}), rewrite),
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


def _quoted(comparison: Data) -> Iterator[str]:
    """Give the texts that a check quotes."""
    for system in comparison.get("systems", ()):
        example = ((system.get("confounders") or {}).get("language") or {}).get("example")
        if example:
            yield example


def _bare_command(comparison: Data) -> Data:
    """Reduce the paths of the command line in the settings, as in that of the report."""
    settings = comparison.get("settings") or {}
    if not settings.get("command"):
        return comparison
    return {**comparison, "settings": {**settings, "command": file_names(settings["command"])}}


def _paths(data: Data) -> Iterator[str]:
    """Give the known paths, the longest first, so that none is replaced in part.

    Where a path has a space in it, only one that is known can be told from the words around it.
    """
    settings = data["comparison"].get("settings") or {}
    words = _words_of(data.get("command") or settings.get("command") or "")
    rooted = filter(_ROOTED.match, words)
    found = {*_sources(data["comparison"]), *_folders(settings), *rooted}
    paths = (path for path in found if _SEPARATORS.search(path) and _last(path))
    yield from sorted(paths, key=len, reverse=True)


def _sources(comparison: Data) -> Iterator[str]:
    """Give where the sets came from."""
    sets = [comparison["reference"], comparison.get("train"), *comparison.get("systems", ())]
    yield from (
        path for each in sets if each for path in (each.get("source"), *_seeds(each)) if path
    )


def _folders(value: Any) -> Iterator[str]:
    """Give every setting that is a path from the root or from where the command ran."""
    if isinstance(value, str) and _ROOTED.match(value) and "\n" not in value:
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _folders(each)


def _words_of(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return [part for word in words for part in word.split("=")]


def _seeds(row: Data) -> list[str]:
    return list(row.get("seeds") or ())


def _rewriter(data: Data) -> Callable[[str], str]:
    """Give what takes quotations and folders out of a sentence."""
    quoted = _quoted(data["comparison"])
    pairs = [(form, LEFT_OUT) for text in quoted for form in (repr(text), text)]
    pairs += [(path, _last(path)) for path in _paths(data)]

    def rewrite(text: str) -> str:
        for found, instead in pairs:
            text = text.replace(found, instead)
        return _ABSOLUTE.sub(lambda match: _last(match[0]), text)

    return rewrite


def _unquoted(comparison: Data) -> Data:
    """Take out the texts that checks quote and the phrases behind scores."""
    systems = []
    for system in comparison.get("systems", ()):
        if scores := system.get("scores"):
            bare = {
                key: {**score, "details": []} if score.get("details") else score
                for key, score in scores.items()
            }
            system = {**system, "scores": bare}
        checks = system.get("confounders") or {}
        if (checks.get("language") or {}).get("example"):
            checks = {**checks, "language": {**checks["language"], "example": None}}
            system = {**system, "confounders": checks}
        systems.append(system)
    return {**comparison, "systems": systems}


def _bare(value: Any) -> Any:
    """Set every text of a sample to None, and leave out telling words that are whole phrases."""
    if isinstance(value, Mapping):
        return {key: _bare_field(key, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_bare(each) for each in value]
    return value


def _bare_field(key: str, value: Any) -> Any:
    if key == "text":
        return None
    if key == "words" and isinstance(value, list | tuple):
        return [word for word in value if not _is_phrase(word)]
    return _bare(value)


def _is_phrase(word: str) -> bool:
    """Tell whether a word of a script without spaces is so long that it may be a whole text."""
    return len(word) > LONGEST_UNSPACED and any(map(_is_unspaced, word))


def _is_unspaced(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(UNSPACED)


def _rewritten(value: Any, rewrite: Callable[[str], str]) -> Any:
    """Rewrite every sentence in nested data; numbers, keys and names stay."""
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return {
            key: each if key in KEPT or key == "words" else _rewritten(each, rewrite)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_rewritten(each, rewrite) for each in value]
    return value
