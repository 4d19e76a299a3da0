"""From what a person hands over to sets of texts of one size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.errors import InputError
from calipers.evaluate.intake import Cut, Entry, as_systems
from calipers.samples import SampleSet, System
from calipers.samples.wording import KINDS, counted


@dataclass(frozen=True)
class TextIntake:
    """All sets as they will be measured; the training set is whole."""

    systems: tuple[Entry, ...]
    reference: Cut | None = None
    train: Cut | None = None

    @property
    def sizes(self) -> dict[str, int]:
        """Texts of each set that is compared with others, by its name."""
        named = [(entry.name, cut) for entry in self.systems for cut in entry.cuts]
        own = [] if self.reference is None else [("the reference", self.reference)]
        return {name: len(cut.samples) for name, cut in [*own, *named]}


def take_in_texts(
    generated: Any,
    *,
    reference: Any,
    train: Any,
    aligned: bool,
    field: str | None,
    max_samples: int | None,
    keep_sizes: bool,
    seed: int,
) -> TextIntake:
    """Read all sets, and cut the reference and every generated set to one size.

    Every set is cut to `max_samples`, and unless `keep_sizes` to the smallest of all, since most
    statistics move with the number of texts. Sets of one size keep the same rows, so aligned ones
    stay aligned. The training set stays whole: a copy of what was cut away would not be seen.

    Raises
    ------
    InputError
        If a set holds no texts, or aligned sets differ in size.
    """
    systems = as_systems(generated, field=field)
    reference_set = None if reference is None else _one("reference", reference, field)
    train_set = None if train is None else _one("train", train, field)
    _check_texts(systems, reference_set, train_set)
    if aligned:
        _check_rows(systems, reference_set)
    sets = [samples for system in systems for samples in system.sets]
    smallest = min(len(samples) for samples in [*sets, *_given(reference_set)])
    size = max_samples if keep_sizes else min(smallest, max_samples or smallest)
    entries = tuple(Entry(s.name, tuple(_cut(x, size, seed) for x in s.sets)) for s in systems)
    return TextIntake(
        entries,
        None if reference_set is None else _cut(reference_set, size, seed),
        None if train_set is None else _cut(train_set, None, seed),
    )


def _one(side: str, value: Any, field: str | None) -> SampleSet:
    """Read a side that is one set."""
    if isinstance(value, dict | System):
        raise InputError(f"{side} must be one set of texts; found a {type(value).__name__}")
    named = isinstance(value, SampleSet | Path | str)
    (system,) = as_systems(value if named else {side: value}, field=field)
    return system.sets[0]


def _check_texts(
    systems: tuple[System, ...], reference: SampleSet | None, train: SampleSet | None
) -> None:
    named = [(system.name, samples) for system in systems for samples in system.sets]
    named += [("the reference", samples) for samples in _given(reference)]
    named += [("the training set", samples) for samples in _given(train)]
    for name, samples in named:
        if samples.kind != "texts":
            raise InputError(
                f"{_where(samples, name)}: text metrics need texts; it holds "
                f"{KINDS[samples.kind]} "
                "(calipers compare takes those)"
            )


def _check_rows(systems: tuple[System, ...], reference: SampleSet | None) -> None:
    """Refuse texts without a reference of their own, or references without a text."""
    if reference is None:
        raise InputError("aligned texts need a reference for each row; found no reference")
    for system in systems:
        for samples in system.sets:
            if len(samples) != len(reference):
                raise InputError(
                    f"{_where(samples, system.name)}: has {counted(len(samples), 'text')} and the "
                    f"reference has {len(reference)}; aligned, text i belongs to reference i, so "
                    f"{_surplus(len(samples), len(reference))}"
                )


def _surplus(texts: int, references: int) -> str:
    few, many = sorted((texts, references))
    rows = f"row {many}" if many == few + 1 else f"rows {few + 1} to {many}"
    return f"{rows} of the {'texts' if texts > references else 'references'} would have no partner"


def _where(samples: SampleSet, name: str) -> str:
    return name if samples.source.startswith("<") else samples.source


def _given(samples: SampleSet | None) -> Iterator[SampleSet]:
    return iter(() if samples is None else (samples,))


def _cut(samples: SampleSet, size: int | None, seed: int) -> Cut:
    kept = samples if size is None else samples.subsample(size, seed=seed)
    return Cut(kept, len(samples))
