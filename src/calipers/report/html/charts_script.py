"""Plotly's script, without the parts that no chart of the page runs.

The script that plotly publishes holds some fifty kinds of traces, maps and three-dimensional scenes
among them, and takes 4.8 MB. Each of its modules is a function that runs when another one asks
for it by ``name()``, and a list at its end names the kinds. The page draws lines, marks and bars:
what these ask for, directly or not, takes 1.1 MB. Any ``name()`` in a module counts as asking, so
that too much may stay and nothing that runs is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

KINDS = ('name:"bar"',)
"""What the modules of the kinds that the page draws hold; lines and marks are always there."""

_FUNCTION = r"\((?:\([\w$,]*\)|[\w$]+)=>\{"
_MODULE = re.compile(rf";var [\w$]+=W{_FUNCTION}")
_DEFINED = re.compile(rf"[ ,;]([\w$]+)=(?:W|Ea){_FUNCTION}")
_ASKED = re.compile(r"(?<![\w$])([\w$]+)\(\)")
_LISTED = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\);[\w$]+\.exports=[\w$]+\}\);return")


def needed_parts(script: str) -> str:
    """Leave out of plotly's script what the charts of the page do not run.

    Parameters
    ----------
    script
        As plotly publishes it.

    Returns
    -------
    str
        The same with fewer kinds of traces; `script` itself where it is built otherwise than the
        version that Calipers carries.
    """
    listed = _LISTED.search(script)
    starts = [0, *(match.start() + 1 for match in _MODULE.finditer(script))]
    if listed is None or listed.start() < starts[-1]:
        return script
    defined = {match[1]: match.start(1) for match in _DEFINED.finditer(script)}
    ends = [*starts[1:], len(script)]

    def part_of(place: int) -> int:
        return bisect_right(starts, place) - 1

    def asked(part: int) -> Iterator[int]:
        for name in set(_ASKED.findall(texts[part])):
            if name in defined:
                yield part_of(defined[name])

    texts = dict(enumerate(map(script.__getitem__, map(slice, starts, ends))))
    drawn = {part_of(place) for kind in KINDS if (place := script.find(kind)) >= 0}
    kinds = [
        name
        for name in _ASKED.findall(listed[1])
        if drawn & {part_of(defined[name]), *asked(part_of(defined[name]))}
    ]
    if len(kinds) != len(KINDS):
        return script
    last = len(starts) - 1
    texts[last] = texts[last].replace(listed[1], ",".join(f"{name}()" for name in kinds))
    kept: set[int] = set()
    waiting = {0, last}
    while waiting:
        part = waiting.pop()
        kept.add(part)
        waiting.update(set(asked(part)) - kept)
    return "".join(texts[part] for part in sorted(kept))
