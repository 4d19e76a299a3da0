"""What unrelated texts score, so that BERTScore can be put on a scale that starts there."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from calipers.errors import InputError
from calipers.files import at_home, check_plain
from calipers.metrics.bert_score import Floats

SHUFFLED = "shuffled"
Baseline = str | Path | Sequence[float] | None
"""None, three numbers (P, R, F1), ``"shuffled"``, or the path of a file with a row per layer."""

_COLUMNS = ("LAYER", "P", "R", "F")


def is_shuffled(baseline: object) -> bool:
    """Whether the baseline is to be measured on texts and references of other rows."""
    return isinstance(baseline, str) and baseline == SHUFFLED


def mean_level(others: Floats) -> Floats:
    """Average what texts score against references of other rows, (n, 3) to (3,)."""
    defined = others[~np.isnan(others).any(axis=1)]
    return defined.mean(axis=0) if len(defined) else np.full(3, np.nan)


def baseline_pins(baseline: Baseline, level: Floats | None, seed: int) -> dict[str, object]:
    """What signatures say: the level, and how it was found."""
    if level is None:
        return {"baseline": "none"}
    shown = "/".join(f"{value:.6g}" for value in level)
    if is_shuffled(baseline):
        return {"baseline": f"shuffled/{shown}", "seed": seed}
    return {"baseline": shown}


def given_baseline(baseline: Baseline, layer: int) -> Floats | None:
    """Read a baseline that was given as numbers or as a file, shape (3,); None for the others.

    Parameters
    ----------
    baseline
        A file has the columns LAYER, P, R and F, with commas or tabs between them, as the files
        that come with bert-score.
    layer
        The layer whose row counts.

    Raises
    ------
    InputError
        If there is no such file or row, or a value is no number below 1.
    """
    if baseline is None or is_shuffled(baseline):
        return None
    if isinstance(baseline, str | Path):
        return _checked(_row(at_home(baseline), layer), f"{baseline}, layer {layer}")
    return _checked(baseline, "baseline")


def _checked(values: object, where: str) -> Floats:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (3,) or not (np.isfinite(found) & (found < 1)).all():
        raise InputError(
            f"{where}: a baseline must be 3 numbers below 1, for precision, recall and F1; "
            f"found {values!r}"
        )
    return found


def _row(path: Path, layer: int) -> list[str]:
    rows = _table(path)
    found = next((row for row in rows if _is_layer(row["LAYER"], layer)), None)
    if found is None:
        layers = ", ".join(str(row["LAYER"]) for row in rows[:30]) or "none"
        raise InputError(f"{path}: has no row for layer {layer}; its layers are {layers}")
    return [found[column] for column in _COLUMNS[1:]]


def _is_layer(found: str | None, layer: int) -> bool:
    return str(found).strip() == str(layer)


def _table(path: Path) -> list[dict[str, str]]:
    check_plain(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(
            f"baseline must be 'shuffled', 3 numbers or a readable file; {str(path)!r} cannot be "
            f"read: {reason}"
        ) from error
    lines = text.splitlines()
    reader = csv.DictReader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    columns = [name.strip().upper() for name in reader.fieldnames or ()]
    if not set(_COLUMNS) <= set(columns):
        raise InputError(
            f"{path}: a baseline file must have the columns {', '.join(_COLUMNS)}; "
            f"found {', '.join(columns) or 'none'}"
        )
    reader.fieldnames = columns
    return list(reader)
