"""Signatures shared by the systems of a comparison, written once.

A signature pins every choice behind a score, which are the same for most systems: beside a hundred
of them they would be half of all that is written of the scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

Data = Mapping[str, Any]


def with_shared_signatures(data: Data) -> dict[str, Any]:
    """Move signatures that several systems share into ``signatures``, by key.

    Examples
    --------
    >>> score = {"value": 1.0, "signature": "metric:recall"}
    >>> data = {"systems": [{"scores": {"recall": score}}, {"scores": {"recall": score}}]}
    >>> with_shared_signatures(data)["signatures"]
    {'recall': 'metric:recall'}
    """
    counts: dict[str, Counter[str]] = {}
    for key, score in _scores(data):
        counts.setdefault(key, Counter())[score["signature"]] += 1
    common = {key: count.most_common(1)[0] for key, count in counts.items()}
    shared = {key: signature for key, (signature, times) in common.items() if times > 1}

    def shorter(key: str, score: Data) -> Data:
        if score["signature"] != shared.get(key):
            return score
        return {name: value for name, value in score.items() if name != "signature"}

    made: dict[str, Any] = {}
    for name, value in data.items():
        if name == "systems":
            made["signatures"] = shared
            value = [_with_scores(system, shorter) for system in value]
        made[name] = value
    return made


def with_own_signatures(data: Data) -> Data:
    """Restore the signature of every score in written data."""
    shared = data.get("signatures")
    if not isinstance(shared, Mapping) or not isinstance(data.get("systems"), list):
        return data

    def whole(key: str, score: Data) -> Data:
        known = "signature" in score or key not in shared
        return score if known else {**score, "signature": shared[key]}

    return {**data, "systems": [_with_scores(system, whole) for system in data["systems"]]}


def _scores(data: Data) -> Iterator[tuple[str, Data]]:
    for system in data["systems"]:
        yield from system["scores"].items()


def _with_scores(system: Any, change: Any) -> Any:
    """Change the scores of a system; what is none is refused by whoever reads it."""
    if not isinstance(system, Mapping) or not isinstance(system.get("scores"), Mapping):
        return system
    scores = {
        key: change(key, score) if isinstance(score, Mapping) else score
        for key, score in system["scores"].items()
    }
    return {**system, "scores": scores}
