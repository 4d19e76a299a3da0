"""Scores in shared formats: Every Eval Ever, and model pages of the Hugging Face Hub.

**Every Eval Ever**, the schema of the EvalEval Coalition: one JSON object for each system, with its
scores, their standard errors and intervals (``eval.schema.json``, version 0.3.0). Who made the
model, who ran the evaluation, and how the model can be had, is not known here: it is ``unknown`` or
``other`` unless it is given.

**.eval_results** of the Hugging Face Hub: a YAML list for the folder of that name in the repository
of a model. Every score is one task of a data set that is registered there as a benchmark
(https://huggingface.co/docs/hub/eval-results).

Nothing is sent anywhere: these are files, which a person uploads.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from calipers.errors import InputError, either, unknown_name
from calipers.results.rows import TEXT, of_key
from calipers.score import Score
from calipers.whole_files import write_text_atomically

if TYPE_CHECKING:
    from calipers.results.comparison import Comparison
    from calipers.results.system import SystemResult

Record = dict[str, Any]
Relationship = Literal["first_party", "third_party", "collaborative", "other"]

EVERY_EVAL_EVER = "0.3.0"
"""The version of the schema that is written."""

HUB_SUFFIXES = (".yaml", ".yml")

_DATASET = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def every_eval_ever(
    comparison: Comparison,
    system: str | None = None,
    *,
    model: str | None = None,
    organization: str = "unknown",
    relationship: Relationship = "other",
    retrieved: float | None = None,
) -> Record:
    """Return the scores of a system as a record of Every Eval Ever.

    Scores that are not finite are left out. Of a score that should be close to the reference's own,
    such as a mean length, the distance to it is written, of which lower is better.

    Parameters
    ----------
    comparison
        What was found.
    system
        Whose scores; the only system if None.
    model
        Which model made its samples, as ``org/name`` on the Hub; the system's name if None.
    organization, relationship
        Who ran the evaluation, and how they stand to those who made the model.
    retrieved
        When, in seconds since 1970; now if None.

    Returns
    -------
    dict
        Valid by version `EVERY_EVAL_EVER` of ``eval.schema.json``.

    Raises
    ------
    InputError
        If there is no such system or relationship, or no score is finite.
    """
    if relationship not in get_args(Relationship):
        raise unknown_name("relationship", relationship, get_args(Relationship))
    chosen = comparison.chosen(system)
    moment = str(int(time.time() if retrieved is None else retrieved))
    name = model or chosen.summary.name
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"calipers/{name}/{moment}",
        "retrieved_timestamp": moment,
        "source_metadata": {
            "source_name": "Calipers",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {"name": "calipers", "version": comparison.version},
        "model_info": {
            "name": chosen.summary.name,
            "id": name,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _evaluated(comparison, chosen, key, score) for key, score in _scores(chosen)
        ],
    }


def hub_results(
    comparison: Comparison,
    system: str | None = None,
    *,
    benchmark: str,
    day: date | None = None,
) -> list[Record]:
    """Return the scores of a system as entries of ``.eval_results`` of the Hugging Face Hub.

    Parameters
    ----------
    comparison
        What was found.
    system
        Whose scores; the only system if None.
    benchmark
        The data set on the Hub that is registered as the benchmark, ``org/name``. Every score is a
        task of it, by its key, such as ``precision`` or ``form.recall``.
    day
        When the evaluation was run; today (UTC) if None.

    Returns
    -------
    list of dict
        ``dataset`` (``id`` and ``task_id``), ``value``, ``date`` and ``notes``; scores that are not
        finite are left out.

    Raises
    ------
    InputError
        If there is no such system, the benchmark is no ``org/name``, or no score is finite.
    """
    check_benchmark(benchmark)
    chosen = comparison.chosen(system)
    when = (day or datetime.now(UTC).date()).isoformat()
    return [
        {
            "dataset": {"id": benchmark, "task_id": key},
            "value": float(score.value),
            "date": when,
            "notes": _notes(comparison, chosen, score),
        }
        for key, score in _scores(chosen)
    ]


def check_benchmark(benchmark: str) -> None:
    """Refuse a name that is no data set of the Hub."""
    if _DATASET.fullmatch(benchmark) is None:
        raise InputError(
            f"benchmark must name a data set of the Hub as org/name; found {benchmark!r}"
        )


def write_every_eval_ever(record: Record, path: str | Path) -> None:
    """Write a record of Every Eval Ever as JSON, atomically."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2)
    write_text_atomically(Path(path), text + "\n")


def write_hub_results(entries: Sequence[Record], path: str | Path) -> None:
    """Write entries of ``.eval_results`` as YAML, atomically.

    Raises
    ------
    InputError
        If the name ends in neither ``.yaml`` nor ``.yml``, or the file cannot be written.
    """
    place = Path(path)
    if place.suffix.lower() not in HUB_SUFFIXES:
        raise InputError(f"path must name a file ending in {either(HUB_SUFFIXES)}; found {path}")
    write_text_atomically(place, "".join(_yaml(entry) for entry in entries))


def _scores(system: SystemResult) -> Iterator[tuple[str, Score]]:
    """Go through the finite scores, of those that have a goal the distance to it."""
    count = 0
    for key, score in system.scores.items():
        number = score.gap if score.better == "closest" else score.value
        if number is not None and math.isfinite(number):
            count += 1
            yield key, score
    if not count:
        raise InputError(f"{system.summary.name}: has no score that is a finite number")


def _evaluated(
    comparison: Comparison, system: SystemResult, key: str, score: Score
) -> dict[str, Any]:
    parts = of_key(key, list(comparison.settings.get("views") or [TEXT]))
    closest = score.better == "closest"
    metric = f"calipers.{parts['metric']}{'.gap' if closest else ''}"
    low, high = (0.0, math.inf) if closest else score.range
    options = {"options": parts["options"]} if parts["options"] else {}
    return {
        "evaluation_result_id": key,
        "evaluation_name": f"{comparison.reference.name}: {key}",
        "source_data": {
            "dataset_name": comparison.reference.name,
            "source_type": "other",
            "additional_details": {
                "samples": str(comparison.reference.n),
                "content_sha256": comparison.reference.content_hash,
            },
        },
        "metric_config": {
            "metric_id": metric,
            "metric_name": key,
            "metric_parameters": {"view": parts["view"], **options},
            "lower_is_better": closest or score.better == "lower",
            "score_type": "continuous",
            "min_score": _bound(low),
            "max_score": _bound(high),
        },
        "score_details": {
            "score": float(score.gap if closest and score.gap is not None else score.value),
            "details": _details(system, score, closest=closest),
            # A gap has no interval of its own
            **({} if closest else _uncertainty(system, score)),
        },
    }


def _bound(value: float) -> float | str:
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _details(system: SystemResult, score: Score, *, closest: bool) -> Mapping[str, str]:
    details: dict[str, str] = {"samples": str(system.summary.n), "signature": score.signature}
    if closest:
        details |= {"value": repr(float(score.value)), "reference": repr(score.reference)}
    if score.noise_floor is not None and math.isfinite(score.noise_floor):
        details["noise_floor"] = repr(float(score.noise_floor))
    if score.floor is not None:
        details["noise_floor_n"] = str(score.floor.size)
        details["at_noise_floor_n"] = repr(float(score.floor.beside))
    return details


def _uncertainty(system: SystemResult, score: Score) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if score.standard_error is not None and math.isfinite(score.standard_error):
        fields["standard_error"] = {"value": float(score.standard_error)}
    if score.interval is not None and all(map(math.isfinite, score.interval)):
        low, high = score.interval
        fields["confidence_interval"] = {"lower": float(low), "upper": float(high)}
        if score.level is not None:
            fields["confidence_interval"]["confidence_level"] = float(score.level)
    return {"uncertainty": {**fields, "num_samples": system.summary.n}} if fields else {}


def _notes(comparison: Comparison, system: SystemResult, score: Score) -> str:
    notes = []
    if score.interval is not None and score.level is not None:
        low, high = score.interval
        notes.append(f"{score.level:.0%} interval {low:.4g} to {high:.4g}")
    if score.better == "closest":
        notes.append(f"closest to the reference's own {score.reference:.4g} is best")
    notes.append(f"{system.summary.n:,} samples against {comparison.reference.n:,}")
    notes.append(f"calipers {comparison.version}")
    return "; ".join([*notes, score.signature])


def _yaml(entry: Record) -> str:
    """Write an entry as an item of a YAML list."""
    lines: list[str] = []
    for key, value in entry.items():
        if isinstance(value, Mapping):
            lines.append(f"{key}:")
            lines += [f"  {name}: {_scalar(inner)}" for name, inner in value.items()]
        else:
            lines.append(f"{key}: {_scalar(value)}")
    return "".join(f"{'  ' if number else '- '}{line}\n" for number, line in enumerate(lines))


def _scalar(value: str | float) -> str:
    """Write a number, or a text in quotes so that nothing in it is taken for YAML.

    Examples
    --------
    >>> _scalar(0.25), _scalar(1e-7), _scalar("yes: no")
    ('0.25', '1.0e-07', '"yes: no"')
    """
    if isinstance(value, str):
        plain = (
            character
            if character.isprintable() and character not in '"\\'
            else f"\\U{ord(character):08x}"
            for character in value
        )
        return f'"{"".join(plain)}"'
    # Without a point in it YAML 1.1 takes a number with an exponent for a text
    mantissa, e, exponent = repr(float(value)).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"
