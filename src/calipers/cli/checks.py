"""What can be told from the arguments alone, before anything is read or computed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from calipers.catalogue.estimation import ESTIMATORS
from calipers.errors import InputError, unknown_name

STDIO = "-"
TIES: Sequence[Literal["closed", "open"]] = ("closed", "open")
DISTANCES: Sequence[Literal["euclidean", "cosine"]] = ("euclidean", "cosine")
PROJECTIONS: Sequence[Literal["none", "union"]] = ("none", "union")
CELLS: Sequence[Literal["auto", "cube-root"]] = ("auto", "cube-root")
DTYPES: Sequence[Literal["float32", "auto"]] = ("float32", "auto")

Word = TypeVar("Word", bound=str)


def whole(option: str, text: str, *, least: int) -> int:
    """Read a whole number that must not be below `least`."""
    rule = f"{option} must be a whole number of at least {least}; found {text!r}"
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
        raise InputError(rule)
    return int(text)


def optional_whole(option: str, text: str | None, *, least: int) -> int | None:
    """Read a whole number, where one was given."""
    return None if text is None else whole(option, text, least=least)


def one_of(option: str, text: str, known: Sequence[Word]) -> Word:
    """Read a word that must be among the known ones."""
    for word in known:
        if word == text:
            return word
    raise InputError(f"{option} must be {' or '.join(known)}; found {text!r}")


def parse_buckets(text: str) -> int | Literal["auto", "cube-root"]:
    """Read ``--buckets``: a number of cells, ``auto`` or ``cube-root``."""
    for word in CELLS:
        if text == word:
            return word
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < 2:
        raise InputError(
            f"--buckets must be auto, cube-root or a whole number of at least 2; found {text!r}"
        )
    return int(text)


def parse_scaling(text: str | None) -> float | None:
    """Read ``--c``: a number above 0."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"--c must be a number above 0; found {text!r}")
    return value


def parse_level(text: str) -> float:
    """Read ``--level``: a number between 0 and 1."""
    return _share("--level", text, usual="0.95")


def parse_margin(text: str | None) -> float | None:
    """Read ``--margin``: a number between 0 and 1, or nothing."""
    return None if text is None else _share("--margin", text, usual="0.05")


def _share(option: str, text: str, *, usual: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise InputError(f"{option} must lie between 0 and 1, such as {usual}; found {text!r}")
    return share


def parse_estimator(text: str) -> str:
    """Read ``--estimator``."""
    if text not in ESTIMATORS:
        raise unknown_name("--estimator", text, ESTIMATORS)
    return text


def parse_metrics(options: Sequence[str]) -> tuple[str, ...] | None:
    """Read ``--metrics``, given once or often, each time one key or a list of them."""
    if not options:
        return None
    keys = [key for option in options for key in re.split(r"[,\s]+", option) if key]
    if not keys:
        raise InputError(f"--metrics must name at least one metric; found {options[0]!r}")
    return tuple(dict.fromkeys(keys))


def check_per_sample(paths: Container[str], *, per_sample: bool) -> None:
    """Refuse ``--per-sample`` where no JSON is written; `paths` are the outputs by name."""
    if per_sample and "json" not in paths:
        raise InputError("--per-sample adds values to the JSON; give --json FILE with it")


def check_label(option: str, field: str | None) -> None:
    """Refuse an empty name of a field."""
    if field is not None and not field.strip():
        raise InputError(f"{option} must name a field; found {field!r}")


def check_cache(folder: Path | None, *, no_cache: bool) -> None:
    """Refuse a cache folder that cannot be one, or that is not wanted."""
    if folder is not None and no_cache:
        raise InputError("--cache-dir and --no-cache exclude each other; give one of them")
    if folder is not None and os.path.lexists(folder) and not folder.is_dir():
        raise InputError(f"--cache-dir must name a folder; {folder} is a file")


def check_specs(reference: str, generated: Sequence[str], train: str | None = None) -> None:
    """Refuse what cannot be meant: standard input twice, or a metric in the place of a file."""
    from calipers.catalogue.embeddings import FAMILIES, METRICS

    if [reference, train, *generated].count(STDIO) > 1:
        raise InputError("standard input (-) can be read once only; it is given more than once")
    for spec in generated:
        if spec.partition(":")[0] in (*METRICS, *FAMILIES) and not os.path.exists(spec):
            raise InputError(
                f"{spec}: there is no such file. Several metrics are written "
                f"as one list: --metrics precision,{spec}"
            )
