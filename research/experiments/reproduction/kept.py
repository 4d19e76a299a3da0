"""What the driver found, kept as one small JSON file for each source."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from calipers.whole_files import write_text_atomically
from reproduction.item import Found, Line, Source

FOLDER = Path(__file__).resolve().parent / "results"


def read(source: Source) -> dict[str, Found]:
    """Read what was kept of a source, by item; items that were never run are absent."""
    path = FOLDER / f"{source.page}.json"
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text("utf-8"))
    return {key: tuple(Line(**line) for line in lines) for key, lines in kept.items()}


def keep(source: Source, found: dict[str, Found]) -> None:
    """Write what was found of a source, in the order of its items; unknown keys are dropped."""
    FOLDER.mkdir(exist_ok=True)
    kept = {
        item.key: [asdict(line) for line in found[item.key]]
        for item in source.items
        if item.key in found
    }
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    write_text_atomically(FOLDER / f"{source.page}.json", text)
