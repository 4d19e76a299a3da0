"""Scores as tidy rows for data frames: one for each score of each set, or of each sample.

The rows are dicts of strings, numbers and None, so that any table can be made from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.errors import require
from calipers.score import Score
from calipers.whole_files import replacing

if TYPE_CHECKING:
    from calipers.results.comparison import Comparison
    from calipers.results.texts import TextComparison

Row = dict[str, Any]
Wide = tuple[Sequence[str], str, str]
"""Of a wide table: the columns that name a row, the one that names its columns, and the values."""

TEXT = "text"
"""The view of statistics that need no embeddings."""


def score_rows(result: Comparison | TextComparison) -> list[Row]:
    """Return one row for each score of each set, the reference's own first.

    Returns
    -------
    list of dict
        ``system``, ``role`` (``"generated"`` or ``"reference"``), ``view``, ``metric``,
        ``options``, ``key`` (of which the three before are the parts), ``value``, ``low``, ``high``
        and ``level`` of the interval, ``standard_error``, ``approximate``, ``noise_floor`` and
        ``noise_floor_sd`` (two halves of the reference, of ``noise_floor_n`` samples each),
        ``at_noise_floor_n`` (the system at that size, which alone may be compared with the floor),
        ``within_noise_floor``, ``range_low``, ``range_high``, ``better``, ``reference``, ``gap``,
        ``note``, ``n``, ``reason``, ``signature``. None where something was not measured; an
        undefined value is NaN, and ``reason`` says why.
    """
    return [
        {**about, **of_score(score), "n": n, "reason": score.reason, "signature": score.signature}
        for about, n, score in _scores(result)
    ]


def sample_rows(result: Comparison | TextComparison) -> list[Row]:
    """Return one row for each sample and each score with per-sample values.

    Returns
    -------
    list of dict
        ``system``, ``role``, ``view``, ``metric``, ``options``, ``key``, ``sample`` (its place, the
        files of a system one after another) and ``value``, a float: 1 for what holds of a sample
        and 0 for what does not. Recall and coverage have a value for each sample of the reference.
    """
    return [
        {**about, "sample": place, "value": float(value)}
        for about, _, score in _scores(result)
        if score.per_sample is not None
        for place, value in enumerate(score.per_sample.tolist())
    ]


def wide_rows(rows: Iterable[Row], index: Sequence[str], column: str, value: str) -> list[Row]:
    """Pivot rows: a row for each index, a column for each value of `column`.

    Examples
    --------
    >>> rows = [{"system": "a", "key": "x", "value": 1}, {"system": "a", "key": "y", "value": 2}]
    >>> wide_rows(rows, ["system"], "key", "value")
    [{'system': 'a', 'x': 1, 'y': 2}]
    """
    made: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        about = {name: row[name] for name in index}
        made.setdefault(tuple(about.values()), about)[row[column]] = row[value]
    return list(made.values())


def data_frame(rows: Iterable[Row]) -> Any:
    """Make a data frame from rows.

    Raises
    ------
    MissingExtraError
        If pandas is not installed.
    """
    pandas = require("pandas", extra="pandas", purpose="a data frame of scores")
    return pandas.DataFrame(list(rows))


def write_rows(rows: Iterable[Row], path: str | Path) -> None:
    """Write rows as a table for data frames, Parquet or Arrow by the suffix of the file.

    Parameters
    ----------
    rows
        What :func:`score_rows` or :func:`sample_rows` gave.
    path
        Ends in ``.parquet`` or ``.arrow`` (Arrow's file format, Feather). The file is written whole
        or not at all.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    pa = require("pyarrow", extra="parquet", purpose="a table for data frames")
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    table, place = pa.Table.from_pylist(list(rows)), Path(path)
    with replacing(place) as file:
        if place.suffix.lower() == ".parquet":
            parquet.write_table(table, file)
        else:
            feather.write_feather(table, file)


def _scores(result: Comparison | TextComparison) -> Iterator[tuple[Row, int, Score]]:
    """Every score, with what names it and the samples of its set."""
    views = list(result.settings.get("views") or [TEXT])
    sets = [(system.summary, "generated", system.scores) for system in result.systems]
    if result.reference is not None:
        sets.insert(0, (result.reference, "reference", result.reference_scores))
    for summary, role, scores in sets:
        for key, score in scores.items():
            about = {"system": summary.name, "role": role, **of_key(key, views)}
            yield about, summary.n, score


def of_key(key: str, views: Sequence[str]) -> Row:
    """Split a key into view, metric and options; without a view it is the first one."""
    view, dot, rest = key.partition(".")
    known = bool(dot) and view in (*views, TEXT)
    metric, _, options = (rest if known else key).partition(":")
    return {"view": view if known else views[0], "metric": metric, "options": options, "key": key}


def of_score(score: Score) -> Row:
    """Split a score into columns, without its reason and signature."""
    low, high = score.interval or (None, None)
    floor = score.floor
    return {
        "value": float(score.value),
        "low": low,
        "high": high,
        "level": score.level,
        "standard_error": score.standard_error,
        "approximate": score.approximate,
        "noise_floor": score.noise_floor,
        "noise_floor_sd": None if floor is None else floor.spread,
        "noise_floor_n": None if floor is None else floor.size,
        "at_noise_floor_n": None if floor is None else floor.beside,
        "within_noise_floor": None if floor is None else floor.inside,
        "range_low": float(score.range[0]),
        "range_high": float(score.range[1]),
        "better": score.better,
        "reference": score.reference,
        "gap": score.gap,
        "note": score.note,
    }
