"""The signature of a whole comparison: a short line, and every setting.

The signature of a score pins what is behind that score (:mod:`calipers.score`). This one pins what
the scores of a run have in common, whichever of them are shown. Two runs whose short lines are
equal were measured alike, so that their scores of one key are comparable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.score import signature
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.results.comparison import Comparison

HASHED = 6
"""Hexadecimal digits of a hash in the short line; by chance one in 17 million pairs is equal."""

NO_CHOICE = (
    "chosen",  # why the embedder is this one
    "command",
    "engine",  # counts are equal on all
    "generation",  # of the systems, not of their scores
    "group",
    "k_max",  # what else is scored
    "level",  # of intervals and tests
    "margin",
    "max_samples",  # pinned by n
    "metrics",
    "metrics_shown",
    "sizes",  # pinned by n
    "study",
    "tag",
    "views",
)
"""Settings that change no score of a key: what is shown and tested, and how a run is called."""


@dataclass(frozen=True)
class RunSignature(Plain):
    """The signature of a comparison.

    Attributes
    ----------
    short
        The pins that a person looks for; all others behind ``choices``, as the first digits of a
        SHA-256.
    whole
        Every pin in full.
    """

    short: str
    whole: str


def signature_of(comparison: Comparison) -> RunSignature:
    """Return the signature of a comparison.

    Sizes are those of the sets as they were scored: ``n`` of the reference, ``m`` of the systems
    where it is another, ``100-200`` where they differ.
    """
    settings, reference = comparison.settings, comparison.reference
    sizes = sorted({system.summary.n for system in comparison.systems})
    generated = "-".join(map(str, dict.fromkeys((sizes[0], sizes[-1])))) if sizes else ""
    named = {
        "n": reference.n,
        **({"m": generated} if sizes and sizes != [reference.n] else {}),
        "ref": reference.content_hash,
        "embedder": settings.get("embedder"),
        "seed": settings.get("seed"),
    }
    version = {"calipers": comparison.version}
    choices = dict(_choices(settings))
    digest = hashlib.sha256(signature(choices).encode("utf-8", "surrogatepass")).hexdigest()
    brief = {**named, "ref": reference.content_hash[:HASHED], "choices": digest[:HASHED]}
    known = {name: pin for name, pin in brief.items() if pin not in (None, "")}
    return RunSignature(signature(known | version), signature({**named, **choices, **version}))


def _choices(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Give every setting that can change a score and is set, by its name, in order of the names."""
    for name, value in sorted(settings.items()):
        if not above and name in (*NO_CHOICE, "embedder", "seed"):
            continue
        if isinstance(value, Mapping):
            yield from _choices(value, f"{above}{name}.")
        elif value is not None:
            yield f"{above}{name}", str(value).lower() if isinstance(value, bool) else value
