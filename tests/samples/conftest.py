"""Files for the tests of the readers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write text or bytes under a name; a name that ends in .gz is compressed."""

    def write_file(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


@pytest.fixture
def write_rows(write: Write) -> Write:
    """Write one JSON value a line."""

    def write_lines(name: str, rows: list[Any]) -> Path:
        return write(name, "".join(json.dumps(row) + "\n" for row in rows))

    return write_lines
