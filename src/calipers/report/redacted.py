"""Report data ──► the same without any text and any folder, for sharing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from calipers.report.content import Data

LEFT_OUT = "[text left out]"
KEPT = frozenset({"name", "a", "b", "score", "key", "view", "system"})
"""Fields that name a thing; what is kept under that name is found by it."""

_ABSOLUTE = re.compile(r"(?<![\w.<])(?:[A-Za-z]:|~|\.{1,2}|file:/)?(?:[/\\][^\s/\\'\"`,;:|=]+)+")
_SEPARATORS = re.compile(r"[/\\]")


def without_texts(data: Data) -> dict[str, Any]:
    """Take out the texts of all samples and the folders of all files; telling words remain.

    Report data that says it is redacted has no texts already; this makes sure of it.
    """
    command, comparison = data.get("command"), data["comparison"]
    rewrite = _rewriter(list(_quoted(comparison)), list(_sources(comparison)))
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


def _sources(comparison: Data) -> Iterator[str]:
    """Give where the sets came from, the longest first, so that none is replaced in part."""
    sets = [comparison["reference"], comparison.get("train"), *comparison.get("systems", ())]
    found = {path for each in sets if each for path in (each.get("source"), *_seeds(each)) if path}
    yield from sorted((path for path in found if _SEPARATORS.search(path)), key=len, reverse=True)


def _seeds(row: Data) -> list[str]:
    return list(row.get("seeds") or ())


def _rewriter(quoted: list[str], sources: list[str]) -> Callable[[str], str]:
    """Give what takes quotations and folders out of a sentence."""
    pairs = [(form, LEFT_OUT) for text in quoted for form in (repr(text), text)]
    pairs += [(source, _last(source)) for source in sources]

    def rewrite(text: str) -> str:
        for found, instead in pairs:
            text = text.replace(found, instead)
        return _ABSOLUTE.sub(lambda match: _last(match[0]), text)

    return rewrite


def _unquoted(comparison: Data) -> Data:
    systems = []
    for system in comparison.get("systems", ()):
        checks = system.get("confounders") or {}
        if (checks.get("language") or {}).get("example"):
            checks = {**checks, "language": {**checks["language"], "example": None}}
            system = {**system, "confounders": checks}
        systems.append(system)
    return {**comparison, "systems": systems}


def _bare(value: Any) -> Any:
    """Set every text of a sample to None."""
    if isinstance(value, Mapping):
        return {key: None if key == "text" else _bare(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_bare(each) for each in value]
    return value


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
