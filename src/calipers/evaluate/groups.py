"""Groups of samples: who has them, how large they are, and what a person should know of them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.samples import SampleSet, System
from calipers.samples.wording import first_names

FEW_IN_GROUP = 10
NAMED = 5


@dataclass(frozen=True, eq=False)
class Labels:
    """The groups of a pair of sets: one label for each sample, shapes ``(n,)`` and ``(m,)``.

    `pin` names the field and the reference's labels in signatures.
    """

    reference: NDArray[np.str_]
    generated: NDArray[np.str_] | None
    pin: str


def check_group(group: Any) -> None:
    """Refuse what cannot name a field."""
    if group is not None and not isinstance(group, str):
        raise InputError(
            "group must be the name of a field, or None; "
            f"found a {type(group).__name__}. Labels go to the samples: SampleSet.with_groups"
        )
    if group is not None and not group.strip():
        raise InputError(f"group must be the name of a field, or None; found {group!r}")


def grouped(
    reference: SampleSet, systems: Sequence[System], group: str | None
) -> tuple[SampleSet, tuple[System, ...]]:
    """Return both sides with the groups that were asked for, and without any others.

    Raises
    ------
    InputError
        If the reference carries no groups, or only some files of a system do.
    """
    if group is None:
        bare = [System(s.name, tuple(map(_without_groups, s.sets))) for s in systems]
        return _without_groups(reference), tuple(bare)
    if reference.groups is None:
        raise InputError(
            f"{reference.name}: its samples carry no groups; read them with "
            f"read_samples(path, group={group!r}), or label them with SampleSet.with_groups"
        )
    for system in systems:
        lack = [samples.source for samples in system.sets if samples.groups is None]
        if 0 < len(lack) < len(system.sets):
            raise InputError(
                f"{system.name}: {len(lack)} of its {len(system.sets)} sets lack the group "
                f"{group!r}, the first one is {lack[0]}; all must have it, or none"
            )
    return reference, tuple(systems)


def labels(reference: SampleSet, generated: SampleSet, group: str | None) -> Labels | None:
    """Give the labels of a pair; None where no groups were asked for."""
    own = _labels(reference)
    if own is None:
        return None
    content = hashlib.sha256("\0".join(own.tolist()).encode()).hexdigest()
    return Labels(own, _labels(generated), f"{group}({content[:8]})")


def group_sizes(sets: Iterable[SampleSet]) -> dict[str, int] | None:
    """Count the samples of every group, in the order of the labels; None without groups."""
    counts: Counter[str] = Counter()
    for samples in sets:
        if samples.groups is None:
            return None
        counts.update(samples.groups.to_pylist())
    return {label: counts[label] for label in sorted(counts, key=_order)}


def small_groups(sizes: Mapping[str, int] | None) -> tuple[str, ...]:
    """Warn of groups in which chance decides."""
    few = {label: size for label, size in (sizes or {}).items() if size < FEW_IN_GROUP}
    if not few:
        return ()
    listed = first_names([f"{label!r} ({size})" for label, size in few.items()], NAMED)
    return (f"groups of fewer than {FEW_IN_GROUP} samples, whose scores mean little: {listed}",)


def lost_groups(before: SampleSet, after: SampleSet) -> tuple[str, ...]:
    """Warn of groups of which cutting the set has left nothing."""
    if before.groups is None or len(before) == len(after):
        return ()
    kept = group_sizes([after]) or {}
    lost = [repr(label) for label in group_sizes([before]) or {} if label not in kept]
    if not lost:
        return ()
    return (
        f"cut to {len(after)} samples, it has none left of the groups {first_names(lost, NAMED)}",
    )


def foreign_groups(
    reference: Mapping[str, int] | None, generated: Mapping[str, int] | None
) -> tuple[str, ...]:
    """Warn of groups that only the generated set has; often they are spelt differently."""
    foreign = [repr(label) for label in generated or {} if label not in (reference or {})]
    if not foreign:
        return ()
    return (
        f"has groups that the reference lacks: {first_names(foreign, NAMED)}; "
        "are they spelt alike?",
    )


def _labels(samples: SampleSet) -> NDArray[np.str_] | None:
    return None if samples.groups is None else np.array(samples.groups.to_pylist(), dtype=np.str_)


def _without_groups(samples: SampleSet) -> SampleSet:
    return samples if samples.groups is None else replace(samples, groups=None)


def _order(label: str) -> tuple[bool, float, str]:
    """Numbers by their value, before words by their letters."""
    try:
        value = float(label)
    except ValueError:
        return True, 0.0, label
    return (False, value, label) if math.isfinite(value) else (True, 0.0, label)
