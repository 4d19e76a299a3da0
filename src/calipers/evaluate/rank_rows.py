"""A table with a row for each system and metric ──► scores to rank."""

from __future__ import annotations

from calipers.evaluate.rank_scores import Column, Scores, finished
from calipers.evaluate.rank_tables import Row, Table, is_blank

BETTER = ("higher", "lower", "closest")


def scores_of_table(table: Table, reference: str | None) -> Scores:
    """Read a row for each system and metric: columns system, metric, mean, sd and better.

    Raises
    ------
    InputError
        If a column is missing, a mean is no number, an sd is below 0, or a system has two rows of
        one metric.
    """
    table.need(
        "system", "metric", "mean", hint="; scores need a row for each system and each metric"
    )
    columns: dict[str, Column] = {}
    seen: dict[tuple[str, str], int] = {}
    for row in table.rows:
        system, metric = table.name(row, "system"), table.name(row, "metric")
        first = seen.setdefault((system, metric), row[0])
        if first != row[0]:
            raise table.source.row_error(
                row[0],
                f"{system!r} has a second mean of {metric!r}; the first stands in "
                f"{table.source.unit} {first}",
            )
        column = columns.setdefault(metric, Column())
        spread = "" if is_blank(row[1].get("sd")) else "sd"
        column.add(system, table.number(row, "mean"), _deviation(table, row), spread)
        column.better = _better(table, row, metric, column.better)
    notes = []
    if reference is not None and reference not in {system for system, _ in seen}:
        notes = [f"the reference {reference!r} has no scores, so none is compared with its own"]
    return finished(table.source.path, columns, reference, notes)


def _deviation(table: Table, row: Row) -> float:
    if is_blank(row[1].get("sd")):
        return 0.0
    deviation = table.number(row, "sd")
    if deviation < 0:
        raise table.source.row_error(row[0], f"sd must not be below 0; found {deviation:g}")
    return deviation


def _better(table: Table, row: Row, metric: str, said: str) -> str:
    found = row[1].get("better")
    if is_blank(found):
        return said
    word = str(found).strip()
    if word not in BETTER:
        raise table.source.row_error(
            row[0], f"better must be {', '.join(BETTER[:-1])} or {BETTER[-1]}; found {word!r}"
        )
    if said and word != said:
        raise table.source.row_error(
            row[0], f"{metric!r} is better {word!r} here and {said!r} in a row above"
        )
    return word
