"""Files ──► the data that a plot is drawn from, whatever command wrote them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calipers.errors import CalipersError, InputError
from calipers.files import check_there
from calipers.report.plot_kinds import INPUTS, check_input, kind_of

# What data of another version, or made by hand, may raise while they are drawn
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def read_input(path: str, kind: str) -> Mapping[str, Any]:
    """Read one input of a plot, and refuse what the plot is not drawn from.

    Raises
    ------
    InputError
        Names the file, what it is, and what the plot takes.
    """
    place = Path(path)
    check_there(place)
    if place.is_dir():
        raise InputError(f"{path}: is a folder; the plot {kind!r} takes {_words(kind)}")
    data = _kept(place, kind) if _is_zip(place) else _json(place, kind)
    check_input(kind, data, path)
    found: Mapping[str, Any] = data
    return found


@contextmanager
def blaming(paths: list[str]) -> Iterator[None]:
    """Say of data that lack what they should hold that they are damaged."""
    try:
        yield
    except CalipersError:
        raise
    except DAMAGE as error:
        if all(_is_zip(Path(path)) for path in paths):
            raise
        raise InputError(
            f"{', '.join(paths)}: cannot be drawn; is damaged, or from another version: {error!r}"
        ) from error


def _kept(path: Path, kind: str) -> Any:
    from calipers.results import Comparison
    from calipers.results.report_data import picture_data

    return picture_data(Comparison.load(path), kind)


def _json(path: Path, kind: str) -> Any:
    from calipers.evaluate.rank_tables import read_file

    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: is no zip and no .json; the plot {kind!r} takes {_words(kind)}")
    return read_file(path)[0]


def _words(kind: str) -> str:
    return INPUTS[kind_of(kind).takes]


def _is_zip(path: Path) -> bool:
    return zipfile.is_zipfile(path)
