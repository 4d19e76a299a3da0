"""What the driver found, kept as one small JSON file for each source."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from calipers.whole_files import write_text_atomically
from reproduction.item import Found, Line, Setting, Source

FOLDER = Path(__file__).resolve().parent / "results"
DIGITS = 5
"""Significant digits of the numbers that are kept."""


def read(source: Source) -> dict[str, Found]:
    """Read what was kept of a source, by item; items that were never run are absent."""
    path = FOLDER / f"{source.page}.json"
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text("utf-8"))
    return {key: restored(each) for key, each in kept.items()}


def restored(data: dict[str, Any]) -> Found:
    """Make what was found of its JSON."""
    lines = []
    for line in data["lines"]:
        intervals = [None if pair is None else tuple(pair) for pair in line.pop("intervals", ())]
        values = [math.nan if value is None else value for value in line.pop("values", ())]
        lines.append(Line(**line, values=tuple(values), intervals=tuple(intervals)))
    setting = data.get("setting")
    if setting is not None:
        setting = Setting(**setting | {"models": tuple(setting.get("models", ()))})
    return Found(tuple(lines), setting)


def written(found: Found) -> dict[str, Any]:
    """Make JSON of what was found; what is empty is left out."""
    kept: dict[str, Any] = {}
    if found.setting is not None:
        kept["setting"] = _filled(asdict(found.setting))
    kept["lines"] = [_line(line) for line in found.lines]
    return kept


def _line(line: Line) -> dict[str, Any]:
    data = asdict(line)
    data["values"] = [_rounded(value) for value in line.values]
    data["intervals"] = [
        None if pair is None else [_rounded(end) for end in pair] for pair in line.intervals
    ]
    needed = {name: data[name] for name in ("what", "paper", "ours", "verdict")}
    return needed | _filled({name: data[name] for name in ("values", "intervals", "basis")})


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in ("", None, (), [])}


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def keep(source: Source, found: dict[str, Found]) -> None:
    """Write what was found of a source, in the order of its items; unknown keys are dropped."""
    FOLDER.mkdir(exist_ok=True)
    kept = {item.key: written(found[item.key]) for item in source.items if item.key in found}
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    write_text_atomically(FOLDER / f"{source.page}.json", text)
