"""The scores to be ranked, a mean and a deviation for each system and metric, from any source.

They come from a table with a row for each system and metric, from a mapping, or from what
``calipers compare`` wrote.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.shown import chance_of, views_of
from calipers.errors import InputError, unknown_name
from calipers.evaluate.shown import shown_scores
from calipers.results.comparison import Comparison
from calipers.results.texts import TextComparison
from calipers.samples.row_tables import (
    Row,
    RowTable,
    as_number,
    is_blank,
    read_file,
    read_table,
    table_of,
)
from calipers.samples.wording import counted, describe, names

ALL = "all"
BETTER = ("higher", "lower", "closest")
LEAST = 2


@dataclass
class MetricColumn:
    """One metric while it is being read.

    Attributes
    ----------
    means, deviations
        By the name of the system.
    kinds
        What each deviation is: ``"sd"``, ``"seeds"``, ``"errors"``, or empty where none was given.
    better
        Where it is better; empty where it was not given.
    reference
        What the reference itself scores, T(P), beside each system's T(Q); empty without one.
    reasons
        Why systems have no value, where that is known.
    chance
        What sets score that cannot be distinguished; what is below ranks as this does.
    """

    means: dict[str, float] = field(default_factory=dict)
    deviations: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    better: str = ""
    reference: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    chance: float | None = None

    def add(self, system: str, mean: float, deviation: float, kind: str) -> None:
        """Add the value of one system."""
        self.means[system] = mean
        self.deviations[system] = deviation
        self.kinds[system] = kind

    def drop(self, system: str) -> float:
        """Remove a system, and return its value."""
        del self.deviations[system], self.kinds[system]
        return self.means.pop(system)


@dataclass(frozen=True)
class ScoredSystems:
    """Every metric of every system, ready to be ranked.

    Attributes
    ----------
    source
        What a person calls them.
    systems
        In the order in which they come up, without the reference.
    columns
        By the key of the metric.
    reference
        Name of the system that is the reference, or None.
    named
        All systems with scores, the reference among them where it has some.
    defaults
        Keys of the metrics that are ranked by unless others were asked for.
    notes
        Data that were left out, and assumptions.
    copies
        Systems that are not ranked, since they hold only samples of the reference.
    """

    source: str
    systems: tuple[str, ...]
    columns: Mapping[str, MetricColumn]
    reference: str | None
    named: tuple[str, ...]
    defaults: tuple[str, ...]
    notes: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()


def ranking_values(
    column: MetricColumn, systems: Sequence[str], errors: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return values that rank the systems, higher being better; NaN for a system without one.

    A metric that is better closest to the reference's own value is compared as -|T(Q) - T(P)|.

    Parameters
    ----------
    column
        The metric.
    systems
        Whose values.
    errors
        What is added to the values as measured, shape ``(draws, systems)``, if anything.
    """
    means = np.array([column.means.get(name, math.nan) for name in systems], dtype=np.float64)
    values = means if errors is None else means + errors
    if column.better == "closest":
        values = -np.abs(values - [column.reference.get(name, math.nan) for name in systems])
    if column.better == "lower":
        return -(values if column.chance is None else np.maximum(values, column.chance))
    return values


def read_scores(given: Any, reference: str | None, metrics: Sequence[str] | None) -> ScoredSystems:
    """Read scores from a table, a mapping from system to metric to mean, or a comparison.

    Raises
    ------
    InputError
        If it is not one of these, breaks a rule of its kind, or lacks one of the metrics.
    """
    scores = _read(given, reference)
    chosen = list(metrics or scores.defaults)
    if metrics is not None and ALL in metrics:
        chosen = list(scores.columns)
    for metric in chosen:
        if metric not in scores.columns:
            raise unknown_name(f"metric of {scores.source}", metric, scores.columns)
    left = len(scores.columns) - len(chosen)
    notes = scores.notes
    if left and metrics is None:
        notes += (f"{counted(left, 'further metric')} left out; `metrics` names them, or all",)
    columns = {metric: scores.columns[metric] for metric in chosen}
    return replace(scores, columns=columns, notes=notes)


def _read(given: Any, reference: str | None) -> ScoredSystems:
    if isinstance(given, str | Path):
        return _of_file(Path(given), reference)
    if isinstance(given, Comparison | TextComparison):
        given = given.to_dict()
    if _is_comparison(given):
        return _scores_of_comparison(given, "scores", reference)
    if isinstance(given, Mapping):
        given = list(_rows(given))
    return _scores_of_table(read_table(given, "scores"), reference)


def _of_file(path: Path, reference: str | None) -> ScoredSystems:
    if path.suffix.lower() == ".zip":
        return _scores_of_comparison(Comparison.load(path).to_dict(), str(path), reference)
    value, source = read_file(path)
    if _is_comparison(value):
        return _scores_of_comparison(value, str(path), reference)
    if isinstance(value, Mapping):
        raise source.error(
            "holds neither a list of rows nor what `calipers.compare` writes as JSON"
        )
    return _scores_of_table(table_of(value, source), reference)


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


def _scores_of_table(table: RowTable, reference: str | None) -> ScoredSystems:
    """Read a row for each system and metric: columns system, metric, mean, sd and better.

    Raises
    ------
    InputError
        If a column is missing, a mean is not a number, an sd is below 0, or a system has two rows
        of one metric.
    """
    table.need(
        "system", "metric", "mean", hint="; scores need a row for each system and each metric"
    )
    columns: dict[str, MetricColumn] = {}
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
        column = columns.setdefault(metric, MetricColumn())
        column.add(system, table.number(row, "mean"), *_deviation_in(table, row))
        column.better = _better(table, row, metric, column.better)
    notes = []
    if reference is not None and reference not in {system for system, _ in seen}:
        notes = [f"the reference {reference!r} has no scores, so none is compared with its own"]
    return _gather(table.source.path, columns, reference, notes)


def _deviation_in(table: RowTable, row: Row) -> tuple[float, str]:
    if is_blank(row[1].get("sd")):
        return 0.0, ""
    deviation = table.number(row, "sd")
    if deviation < 0:
        raise table.source.row_error(row[0], f"sd must not be below 0; found {deviation:g}")
    return deviation, "sd"


def _better(table: RowTable, row: Row, metric: str, earlier: str) -> str:
    cell = row[1].get("better")
    if is_blank(cell):
        return earlier
    word = str(cell).strip()
    if word not in BETTER:
        raise table.source.row_error(
            row[0], f"better must be {', '.join(BETTER[:-1])} or {BETTER[-1]}; found {word!r}"
        )
    if earlier and word != earlier:
        raise table.source.row_error(
            row[0], f"{metric!r} is better {word!r} here and {earlier!r} in a row above"
        )
    return word


def _is_comparison(value: Any) -> bool:
    """Whether a value is the data of a comparison, as ``compare --json`` writes it."""
    return isinstance(value, Mapping) and isinstance(value.get("systems"), list)


def _scores_of_comparison(
    data: Mapping[str, Any], source: str, reference: str | None
) -> ScoredSystems:
    """Take every score of every system; deviations come from seed files or standard errors.

    A metric that is better closest to the reference is compared by its distance from the value
    that the comparison holds of the reference.

    Raises
    ------
    InputError
        If it is no comparison of two systems or more, or a score holds what none can; names where.
    """
    _check_settings(data.get("settings", {}), source)
    columns: dict[str, MetricColumn] = {}
    given = [_system(system, source) for system in data["systems"]]
    ranked = [system.get("is_reference") is not True for system in data["systems"]]
    systems = list(compress(given, ranked))
    copies = tuple(name for (name, _), r in zip(given, ranked, strict=True) if not r)
    about = f"{names(copies)} left out: only samples of the reference" if copies else ""
    if len(systems) < LEAST:
        found = f"found {names(name for name, _ in systems)}{'; ' * bool(about)}{about}"
        raise InputError(
            f"{source}: a comparison of one system has no order; compare at least two ({found})"
        )
    for name, of_system in systems:
        for key, score in of_system.items():
            _add(columns.setdefault(key, MetricColumn()), key, name, score, source)
    compared = data.get("reference")
    given_name = compared.get("name") if isinstance(compared, Mapping) else None
    compared_with = given_name if isinstance(given_name, str) else None
    notes = [about] if about else []
    scores = _gather(source, columns, reference or compared_with, notes)
    shown = tuple(key for key in _shown_keys(data, systems) if key in columns)
    named = (*scores.named, *copies, *([compared_with] if compared_with else []))
    return replace(scores, named=named, copies=copies, defaults=shown or tuple(columns))


def _shown_keys(
    data: Mapping[str, Any], systems: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[str]:
    """Return the keys of the scores that a comparison shows; one made by hand may not say."""
    shown = data.get("shown")
    if isinstance(shown, list) and all(isinstance(s, Mapping) and "key" in s for s in shown):
        return [str(score["key"]) for score in shown]
    settings = data.get("settings", {})
    keys = (key for _, given in systems for key, score in given.items() if score)
    asked, estimator = settings.get("metrics_shown"), settings.get("estimator", COUNTING)
    return [score.key for score in shown_scores(keys, views_of(settings), asked, estimator)]


def _system(system: Any, source: str) -> tuple[str, Mapping[str, Any]]:
    scores = system.get("scores") if isinstance(system, Mapping) else None
    if not isinstance(scores, Mapping) or not isinstance(system.get("name"), str):
        named = isinstance(system, Mapping) and isinstance(system.get("name"), str)
        given = f"{system['name']!r} with scores {describe(scores)}" if named else describe(system)
        raise InputError(
            f"{source}: each of its systems must have a name and scores, as JSON of "
            f"`calipers.compare` has them; found {given}"
        )
    for key, score in scores.items():
        if not isinstance(score, Mapping):
            raise InputError(
                f"{source}: the score {key!r} of {system['name']!r} must be an object with a "
                f"value, as `calipers.compare` writes as JSON it; found {describe(score)}"
            )
    return system["name"], scores


def _check_settings(settings: Any, source: str) -> None:
    """Refuse settings that do not say in lists of names which scores were shown."""
    if not isinstance(settings, Mapping):
        raise InputError(f"{source}: settings must be an object; found {describe(settings)}")
    for key in ("views", "metrics_shown"):
        value = settings.get(key)
        listed = isinstance(value, list) and all(isinstance(name, str) for name in value)
        if value is not None and not listed:
            raise InputError(
                f"{source}: {key} of its settings must be a list of names; found {describe(value)}"
            )
    if not isinstance(settings.get("estimator", ""), str):
        raise InputError(
            f"{source}: estimator of its settings must be a name; "
            f"found {describe(settings['estimator'])}"
        )


def _add(column: MetricColumn, key: str, name: str, score: Mapping[str, Any], source: str) -> None:
    place = f"{source}: the score {key!r} of {name!r}"
    better = score.get("better")
    if better is not None and better not in BETTER:
        raise InputError(
            f"{place}: better must be {', '.join(BETTER[:-1])} or {BETTER[-1]}; "
            f"found {describe(better)}"
        )
    column.better = column.better or better or "higher"
    column.chance = chance_of(score.get("signature") or "")
    reference, value = _number(score, "reference", place), _number(score, "value", place)
    if reference is not None:
        column.reference[name] = reference
    if value is None:
        column.reasons[name] = str(score.get("reason") or "no reason was recorded")
    else:
        column.add(name, value, *_deviation(score, place))


def _deviation(score: Mapping[str, Any], place: str) -> tuple[float, str]:
    """The spread over seed files, else the standard error, else 0; and which it is."""
    given = score.get("seeds") or []
    if not isinstance(given, list):
        raise InputError(f"{place}: seeds must be a list of numbers; found {describe(given)}")
    seeds = [_finite(seed, "a seed's value", place) for seed in given if seed is not None]
    if len(seeds) > 1:
        return statistics.stdev(seeds), "seeds"
    error = _number(score, "standard_error", place)
    if error is not None and error < 0:
        raise InputError(f"{place}: standard_error must not be below 0; found {error:g}")
    return (0.0, "") if error is None else (error, "errors")


def _number(score: Mapping[str, Any], field: str, place: str) -> float | None:
    value = score.get(field)
    return None if value is None else _finite(value, field, place)


def _finite(value: Any, what: str, place: str) -> float:
    number = None if isinstance(value, str) else as_number(value)
    if number is None or not math.isfinite(number):
        raise InputError(
            f"{place}: {what} must be a finite number or null; found {describe(value)}"
        )
    return number


def _gather(
    source: str,
    columns: Mapping[str, MetricColumn],
    reference: str | None,
    notes: Sequence[str] = (),
) -> ScoredSystems:
    """Take the reference out of the systems, and say for every metric where it is better.

    A metric of which the reference has a value is better the closer to that (Pillutla et al.,
    JMLR 2023, section 6.3), unless the table says otherwise; any other is better when higher.
    """
    systems = dict.fromkeys(name for column in columns.values() for name in column.means)
    for metric, column in columns.items():
        if reference in column.means and reference is not None:
            column.reference = dict.fromkeys(column.means, column.drop(reference))
        column.better = column.better or ("closest" if column.reference else "higher")
        if column.better == "closest" and column.means and not column.reference:
            raise _without_own(source, metric, reference, systems)
    ranked = tuple(name for name in systems if name != reference)
    if len(ranked) < LEAST:
        others = "" if reference is None else f" besides the reference {reference!r}"
        raise InputError(
            f"{source}: a ranking needs at least {LEAST} systems{others}; found {names(ranked)}"
        )
    return ScoredSystems(
        source, ranked, columns, reference, tuple(systems), tuple(columns), tuple(notes)
    )


def _without_own(
    source: str, metric: str, reference: str | None, systems: Mapping[str, None]
) -> InputError:
    rule = f"{source}: {metric!r} is better closest to the reference's own value"
    if reference is None:
        return InputError(f"{rule}; say which of {names(systems)} is the reference")
    return InputError(f"{rule}, but the reference {reference!r} has no row of it")


def only_on_one_side(scores: ScoredSystems, systems: Iterable[str], source: str) -> Iterator[str]:
    """List the systems that have scores or a truth, but not both.

    Parameters
    ----------
    scores
        With their systems.
    systems
        Those of the truth.
    source
        What a person calls the truth.
    """
    systems = tuple(systems)
    known = (*scores.systems, scores.reference, *scores.copies)
    extra = [name for name in systems if name not in known]
    lacking = [name for name in scores.systems if name not in systems]
    if extra:
        yield f"{source}: {names(extra)} left out of the correlations: no scores"
    if lacking:
        yield f"{names(lacking)} left out of the correlations: not in {source}"
