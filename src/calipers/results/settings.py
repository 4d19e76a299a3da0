"""The settings in results: plain data, with checks.

A setting means the same in all commands, so there is one table of types. What is not in it is known
to the command alone, and may be any plain data of a few levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from calipers.catalogue.settings import Settings
from calipers.serialise import read_fields

Data = Mapping[str, Any]

DEEPEST = 8
"""Levels of lists and objects that a setting may have."""

OF_PAIRS = ("k", "distance", "projection", "normalise", "c", "seed")
"""The choices of the metrics of a pair that mean the same in all commands."""

TYPES: Mapping[str, Any] = {
    **{name: kind | None for name, kind in get_type_hints(Settings).items() if name in OF_PAIRS},
    **dict.fromkeys(("embedder", "view", "tokenizer", "samples", "group", "cluster"), str | None),
    **dict.fromkeys(("estimator", "sizes"), str | None),
    **dict.fromkeys(("command", "study", "decoding", "end_of_text", "first_token"), str | None),
    "over": str | None,
    **dict.fromkeys(("seeds", "half", "k_max", "max_samples"), int | None),
    **dict.fromkeys(("skip_words", "match_length", "permutations", "tests"), int | None),
    **dict.fromkeys(("level", "margin", "pca", "threshold", "tolerance"), float | None),
    **dict.fromkeys(("views", "metrics"), tuple[str, ...]),
    **dict.fromkeys(("changes", "metrics_shown"), tuple[str, ...] | None),
    "values": tuple[int, ...],
    "embedders": Mapping[str, Any],
    "rubric": Mapping[str, Any],
    "embedding": Mapping[str, Any] | None,
    "chosen": Mapping[str, Any] | None,
    "generation": Mapping[str, Any] | None,
}
"""What a setting is, by its name."""

LEAST: Mapping[str, int] = {"k": 1, "half": 1, "max_samples": 1}


def check_settings(settings: Data, needed: Sequence[str] = ()) -> None:
    """Refuse settings that would break the code that reads them.

    Parameters
    ----------
    settings
        What a result holds.
    needed
        Those that must be there, and not null.

    Raises
    ------
    ValueError
        Names the setting, the rule and what it holds.
    """
    for name in needed:
        if settings.get(name) in (None, [], ()):
            raise ValueError(f"settings lack {name!r}")
    read_fields({name: TYPES[name] for name in settings if name in TYPES}, settings, "settings")
    for name, least in LEAST.items():
        value = settings.get(name)
        if value is not None and value < least:
            raise ValueError(f"{name} is {value}, not a whole number of at least {least}")
    level = settings.get("level")
    if level is not None and not 0 < level < 1:
        raise ValueError(f"level is {level}, not a number between 0 and 1")
    deep = next((name for name, value in settings.items() if not _is_shallow(value, DEEPEST)), None)
    if deep is not None:
        raise ValueError(f"the setting {deep!r:.100} has more than {DEEPEST} levels")


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, Mapping | list | tuple):
        return True
    inside = value.values() if isinstance(value, Mapping) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in inside)
