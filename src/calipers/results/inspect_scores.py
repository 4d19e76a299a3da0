"""Per-sample values in the format that ``precomputed_scores()`` of inspect reads.

A record has the ``id`` and ``epoch`` of a sample in its log, a ``value``, an ``explanation`` for
people and ``metadata``. The value is an object of numbers, for metrics by key, or one number. What
is not defined is NaN, which JSON lacks and inspect writes all the same: its mark for "not scored".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.errors import InputError, unknown_name
from calipers.samples.wording import shortened
from calipers.whole_files import write_text_atomically

if TYPE_CHECKING:
    from calipers.results.comparison import Comparison
    from calipers.results.sets import Samples
    from calipers.results.system import SystemResult

Record = dict[str, Any]

SUFFIXES = (".json", ".jsonl")
"""Files that inspect reads records from."""

MEANING = {
    "in_support": "whether it lies in the support of the reference (1) or not (0), as precision",
    "density": "the balls of the reference that hold it, over k",
    "realism": "how near it is: at least 1 inside one of the smaller half of the balls",
    "distance": "to the nearest sample of the reference",
    "near_copy": "whether it is a near copy of a sample of the reference",
    "train_distance": "to the nearest sample of the training set",
}
"""The values of a sample; those of other views than the first have the view's name in front."""

_FROM = {
    "in_support": ("score", "precision"),
    "density": ("score", "density"),
    "realism": ("score", "realism"),
    "distance": ("place", "reference_distance"),
    "near_copy": ("place", "copied"),
    "train_distance": ("place", "train_distance"),
}
"""Where a result has the values."""

SHOWN = 300
"""Most characters of the nearest sample that an explanation quotes; metadata hold all of it."""


def inspect_records(
    comparison: Comparison,
    system: str | None = None,
    *,
    file: int = 0,
    value: str | None = None,
    redact: bool = False,
) -> list[Record]:
    """Return a record for each sample of a generated set that was read from an inspect log.

    Parameters
    ----------
    comparison
        What was found.
    system
        Whose samples; the only system if None.
    file
        Which of its files, from 0.
    value
        The one value that every record has, a key of `MEANING`, with the view in front for other
        views than the first: ``"form.in_support"``. An object of all of them if None.
    redact
        Whether the nearest samples are named by their rows alone, without their texts.

    Raises
    ------
    InputError
        If there is no such system, file or value, the samples are not of a log of inspect, none of
        the values was measured, or two samples have one id and epoch.
    """
    chosen = comparison.chosen(system)
    if not 0 <= file < max(len(chosen.samples), 1):
        raise InputError(
            f"file must be from 0 to {len(chosen.samples) - 1}, the files of {chosen.name!r}; "
            f"found {file}"
        )
    logged = chosen.samples[file].log_ids if chosen.samples else None
    if logged is None:
        raise not_logged(chosen.seeds[file] if chosen.seeds else chosen.summary.source)
    keys = list(zip(logged.ids, logged.epochs.tolist(), strict=True))
    if len(set(keys)) < len(keys):
        name, epoch = next(key for key in keys if keys.count(key) > 1)
        raise InputError(
            f"{chosen.name}: several samples have the id {name!r} in epoch {epoch}, but inspect "
            "takes one record for each; compare one text of each sample of the log"
        )
    values = _values(chosen, file)
    if value is not None:
        if value not in values:
            raise unknown_name(f"value of the samples of {chosen.name!r}", value, values)
        numbers: list[Any] = values[value].tolist()
    else:
        rows = zip(*(column.tolist() for column in values.values()), strict=True)
        numbers = [dict(zip(values, row, strict=True)) for row in rows]
    about = _about(comparison, chosen, file, redact)
    return [
        {"id": name, "epoch": epoch, "value": number, **about(row)}
        for row, ((name, epoch), number) in enumerate(zip(keys, numbers, strict=True))
    ]


def write_records(records: Sequence[Record], path: str | Path) -> None:
    """Write records as a JSON list, or as JSON lines for a name ending in ``.jsonl``.

    Raises
    ------
    InputError
        If the name ends in neither ``.json`` nor ``.jsonl``, or the file cannot be written.
    """
    place = Path(path)
    check_suffix(str(path))
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    lined = place.suffix.lower() == ".jsonl"
    text = "\n".join(lines) if lined else "[\n" + ",\n".join(lines) + "\n]"
    write_text_atomically(place, text + "\n")


def check_suffix(path: str, name: str = "path") -> None:
    """Refuse a file that inspect would not read, or would read in the other format."""
    if not path.lower().endswith(SUFFIXES):
        raise InputError(f"{name} must name a file ending in .json or .jsonl; found {path}")


def check_value(value: str | None) -> None:
    """Refuse a key that no comparison has, whatever its views."""
    if value is not None and value.rpartition(".")[2] not in MEANING:
        raise unknown_name("value of samples", value, MEANING)


def not_logged(source: str) -> InputError:
    """Build the error for a generated set whose samples no inspect log names."""
    return InputError(
        f"{source}: values of samples go back to inspect by id and epoch, which only its logs have "
        "(.eval or .json); compare such a log"
    )


def _values(system: SystemResult, file: int) -> Mapping[str, NDArray[Any]]:
    """What is known of each sample of a file, by key; NaN where it is not defined or infinite."""
    sizes = [_size(samples) for samples in system.samples]
    span = slice(sum(sizes[:file]), sum(sizes[: file + 1]))
    views = list(system.samples[file].vectors)
    measured: dict[str, NDArray[Any]] = {}
    for view in views:
        prefix = "" if view == views[0] else f"{view}."
        for name, (kind, key) in _FROM.items():
            score = system.scores.get(prefix + key) if kind == "score" else None
            values = system.neighbours.get(prefix + key) if score is None else score.per_sample
            if values is not None and len(values) == sum(sizes):
                measured[prefix + name] = _finite(values[span])
    if system.withheld is not None:
        raise InputError(f"{system.name}: has no values of single samples: {system.withheld}")
    if not measured:
        raise InputError(
            f"{system.name}: no value of single samples was measured; let `metrics` "
            "hold precision, density or realism"
        )
    return measured


def _size(samples: Samples) -> int:
    return len(next(iter(samples.vectors.values())))


def _finite(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        return values
    # As many digits as single precision has: distances are no more exact
    return np.array([_rounded(number) for number in values.tolist()])


def _rounded(value: float) -> float:
    return float(f"{value:.7g}") if math.isfinite(value) else math.nan


def _about(
    comparison: Comparison, system: SystemResult, file: int, redact: bool
) -> Callable[[int], Record]:
    """Return what describes a sample, in words and as metadata, by its row."""
    values = _values(system, file)
    sizes = [_size(samples) for samples in system.samples]
    start = sum(sizes[:file])
    reference = comparison.reference_samples
    texts = None if reference is None or redact else reference.listed
    logged = None if reference is None else reference.log_ids
    near = system.neighbours.get("nearest_reference") if "distance" in values else None
    scored = [system.scores[name] for name in ("precision", "realism") if name in system.scores]
    fixed: Record = {"calipers": __version__, "reference": comparison.reference.name}
    if scored:
        fixed["signature"] = scored[0].signature

    def about(row: int) -> Record:
        sentences: list[str] = []
        metadata = dict(fixed)
        if "in_support" in values:
            inside = "inside" if values["in_support"][row] else "outside"
            sentences.append(f"It lies {inside} the support of the reference.")
        if near is not None:
            place = int(near[start + row])
            nearest: Record = {"row": place}
            if logged is not None:
                nearest |= {"id": logged.ids[place], "epoch": int(logged.epochs[place])}
            sentence = f"The nearest reference sample is at distance {values['distance'][row]:.3g}"
            if texts is not None:
                nearest["text"] = texts[place]
                sentence += f": {shortened(texts[place], SHOWN)}"
            sentences.append(sentence)
            metadata = {"nearest_reference": nearest, **fixed}
        return {"explanation": " ".join(sentences) or None, "metadata": metadata}

    return about
