"""Whatever holds scores ──► the scores to rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calipers.errors import InputError, unknown_name
from calipers.evaluate.rank_comparison import is_comparison, scores_of_comparison
from calipers.evaluate.rank_rows import scores_of_table
from calipers.evaluate.rank_scores import Scores
from calipers.evaluate.rank_tables import read_file, read_table, table_of
from calipers.results.comparison import Comparison
from calipers.results.texts import TextComparison
from calipers.samples.wording import counted

ALL = "all"


def take_scores(given: Any, reference: str | None, metrics: Sequence[str] | None) -> Scores:
    """Bring a table, a mapping from system to metric to mean, or a comparison to scores.

    Raises
    ------
    InputError
        If it is none of these, breaks a rule of its kind, or lacks one of the metrics.
    """
    held = _read(given, reference)
    chosen = list(metrics or held.usual)
    if metrics is not None and ALL in metrics:
        chosen = list(held.columns)
    for metric in chosen:
        if metric not in held.columns:
            raise unknown_name(f"metric of {held.source}", metric, held.columns)
    left = len(held.columns) - len(chosen)
    more = (f"{counted(left, 'further metric')} left out; --metrics names them, or all",)
    return replace(
        held,
        columns={metric: held.columns[metric] for metric in chosen},
        notes=held.notes + (more if left and metrics is None else ()),
    )


def _read(given: Any, reference: str | None) -> Scores:
    if isinstance(given, str | Path):
        return _of_file(Path(given), reference)
    if isinstance(given, Comparison | TextComparison):
        given = given.to_dict()
    if is_comparison(given):
        return scores_of_comparison(given, "scores", reference)
    if isinstance(given, Mapping):
        given = list(_rows(given))
    return scores_of_table(read_table(given, "scores"), reference)


def _of_file(path: Path, reference: str | None) -> Scores:
    if path.suffix.lower() == ".zip":
        return scores_of_comparison(Comparison.load(path).to_dict(), str(path), reference)
    value, source = read_file(path)
    if is_comparison(value):
        return scores_of_comparison(value, str(path), reference)
    if isinstance(value, Mapping):
        raise source.error("holds neither a list of rows nor what calipers compare --json writes")
    return scores_of_table(table_of(value, source), reference)


def _rows(given: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    for system, metrics in given.items():
        if not isinstance(metrics, Mapping):
            raise InputError(
                f"scores: {system!r} must map metrics to means, or to (mean, sd); "
                f"found a {type(metrics).__name__}"
            )
        for metric, value in metrics.items():
            pair = tuple(value) if isinstance(value, tuple | list) else (value, None)
            if len(pair) != 2:
                raise InputError(f"scores: {metric!r} of {system!r} must be (mean, sd)")
            yield {"system": system, "metric": metric, "mean": pair[0], "sd": pair[1]}
