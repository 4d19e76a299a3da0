"""Single judgements of pairs: the rater, the side shown first, the item, and the answer.

:mod:`~calipers.uncertainty.preferences` counts wins and ties of every two systems, which is all
that a plain Bradley-Terry fit needs. How far raters differ, whether they follow the side, and how
far they agree can be estimated only from single judgements: here in columns, one place
for each judgement. Answers are read as there: the steps "definitely" and "slightly" count alike.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Floats, Longs
from calipers.uncertainty.preferences import (
    PreferenceAnswers,
    Preferences,
    read_pairs,
)

UNKNOWN = -1
"""Place of an item or a rater that no column names."""

EVEN = 0.5
"""Share of a win where neither system is preferred."""


@dataclass(frozen=True, eq=False)
class RatedPairs:
    """Judgements of pairs of systems, each with its rater.

    Attributes
    ----------
    names
        The systems, each once.
    raters
        The raters, each once; empty where nobody knows who answered.
    items
        The items (pairs of texts), each once; empty where they are not known.
    i, j
        Places of the two systems of every judgement in `names`, shape ``(rows,)``.
    outcome
        1 where i was preferred, 0 for a tie, -1 where j was.
    rater
        Place of the rater in `raters`; -1 where they are not known.
    first
        1 where i was shown first, -1 where j was, 0 where it is not known.
    item
        Place of the item in `items`; -1 where it is not known.
    repeat
        How often the rater had answered this item in this order before.
    prompts
        The prompts that items answer, each once; empty where they are not known.
    prompt
        Place of the prompt of each judgement in `prompts`; None where they are not known.
    share
        How much of a win the preferred system has, above 0.5 and at most 1, where the rater gave a
        probability; of a tie it means nothing. None where each is a whole one.
    """

    names: tuple[str, ...]
    raters: tuple[str, ...]
    items: tuple[str, ...]
    i: Longs
    j: Longs
    outcome: Longs
    rater: Longs
    first: Longs
    item: Longs
    repeat: Longs
    prompts: tuple[str, ...] = ()
    prompt: Longs | None = None
    share: Floats | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    @cached_property
    def preferences(self) -> Preferences:
        """Wins and ties of every two systems."""
        n = len(self.names)
        wins, ties = np.zeros((2, n, n))
        tied = self.outcome == 0
        for one, other, share in (
            (self.i, self.j, (1 + self.signed) / 2),
            (self.j, self.i, (1 - self.signed) / 2),
        ):
            np.add.at(wins, (one[~tied], other[~tied]), share[~tied])
        np.add.at(ties, (self.i[tied], self.j[tied]), 1)
        return Preferences(self.names, wins, ties + ties.T)

    @property
    def signed(self) -> Floats:
        """The outcome: the share of a win of i minus that of j, where each win counts fully."""
        whole = self.outcome.astype(np.float64)
        return whole if self.share is None else whole * (2 * self.share - 1)

    @property
    def prefers_first(self) -> Longs:
        """1 where the text shown first was preferred, -1 where the other was, else 0."""
        return self.outcome * self.first

    def select(self, rows: NDArray[np.bool_] | Longs) -> RatedPairs:
        """Keep some judgements, by mask or index; systems, raters and items stay."""
        return replace(
            self,
            i=self.i[rows],
            j=self.j[rows],
            outcome=self.outcome[rows],
            rater=self.rater[rows],
            first=self.first[rows],
            item=self.item[rows],
            repeat=self.repeat[rows],
            prompt=None if self.prompt is None else self.prompt[rows],
            share=None if self.share is None else self.share[rows],
        )

    def of_raters(self, raters: Sequence[str]) -> RatedPairs:
        """Keep the judgements of some raters, in this order.

        Raises
        ------
        InputError
            If a rater is unknown.
        """
        for name in raters:
            if name not in self.raters:
                raise unknown_name("rater", name, self.raters)
        place = np.full(len(self.raters) + 1, UNKNOWN)
        place[[self.raters.index(name) for name in raters]] = np.arange(len(raters))
        selected = self.select(place[self.rater] >= 0)
        return replace(selected, raters=tuple(raters), rater=place[selected.rater])


def count_rated_pairs(
    a: Sequence[object],
    b: Sequence[object],
    answer: Sequence[object],
    *,
    rater: Sequence[object] | None = None,
    first: Sequence[object] | None = None,
    item: Sequence[object] | None = None,
    repeat: Sequence[object] | None = None,
    prompt: Sequence[object] | None = None,
    share: Sequence[object] | None = None,
    names: Sequence[str] | None = None,
) -> RatedPairs:
    """Read judgements of pairs.

    Parameters
    ----------
    a, b, answer, names
        As of :func:`~calipers.uncertainty.preferences.count_preferences`.
    rater
        Who answered each row; None where nobody knows.
    first
        Which of the two was shown first in each row: "a" or "b", or the system's name; empty where
        it is not known.
    item
        Id of the pair of texts of each row; empty where it is not known. One item always compares
        the same two systems.
    repeat
        How often the rater had answered the item in this order before: whole numbers from 0. None
        counts them, in the order of the rows.
    prompt
        What the texts of each row answer; empty where it is not known.
    share
        How much of a win the preferred one has, from 0.5 to 1; an empty one is a whole win, and 0.5
        a tie.

    Raises
    ------
    InputError
        As of `count_preferences`; and, with the number of the row, if a rater is missing, the
        answer to which was first is not one of those, an item compares other systems than in an
        earlier row, a repeat is no whole number from 0, or a share none from 0.5 to 1.

    Examples
    --------
    >>> found = count_rated_pairs(["x", "y"], ["y", "x"], ["a", "tie"], first=["a", "a"])
    >>> found.outcome.tolist(), found.first.tolist(), found.preferences.wins.tolist()
    ([1, 0], [1, 1], [[0.0, 1.0], [0.0, 0.0]])
    """
    known, pairs = read_pairs(a, b, answer, names)
    rows = len(pairs)
    _check_lengths(
        rows, rater=rater, first=first, item=item, repeat=repeat, prompt=prompt, share=share
    )
    place = {name: i for i, name in enumerate(known)}
    systems = np.array([(place[p], place[q]) for p, q in pairs], dtype=np.int64).reshape(rows, 2)
    read = PreferenceAnswers(known)
    outcome = np.zeros(rows, dtype=np.int64)
    for row, (pair, given) in enumerate(zip(pairs, answer, strict=True), start=1):
        winner = read(row, *pair, given)
        outcome[row - 1] = 0 if winner is None else 1 if winner == pair[0] else -1
    shares = None if share is None else _shares(share)
    if shares is not None:
        outcome[shares == EVEN] = 0
    raters, by_rater = _places(None if rater is None else _raters(rater), rows)
    items, by_item = _places(None if item is None else [_label(given) for given in item], rows)
    _check_items(items, by_item, systems, known)
    prompts, by_prompt = _places(
        None if prompt is None else [_label(given) for given in prompt], rows
    )
    sides = np.zeros(rows, dtype=np.int64) if first is None else _sides(pairs, first)
    return RatedPairs(
        names=known,
        raters=raters,
        items=items,
        i=systems[:, 0],
        j=systems[:, 1],
        outcome=outcome,
        rater=by_rater,
        first=sides,
        item=by_item,
        repeat=_counted(by_rater, by_item, systems, sides) if repeat is None else _whole(repeat),
        prompts=prompts,
        prompt=by_prompt if prompts else None,
        share=shares,
    )


def _check_lengths(rows: int, **columns: Sequence[object] | None) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise InputError(
                f"{name} must have one value for each comparison, "
                f"found {len(column)} for {rows} of them"
            )


def _label(given: object) -> str:
    """Write an id as text; empty where there is none."""
    if given is None or (isinstance(given, float) and given != given):
        return ""
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    return str(given).strip()


def _raters(given: Sequence[object]) -> list[str]:
    labels = [_label(name) for name in given]
    for row, name in enumerate(labels, start=1):
        if not name:
            raise InputError(f"row {row}: the name of the rater is missing")
    return labels


def _places(labels: Sequence[str] | None, rows: int) -> tuple[tuple[str, ...], Longs]:
    """Number labels in the order in which they appear; an empty one is unknown."""
    if labels is None:
        return (), np.full(rows, UNKNOWN, dtype=np.int64)
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(name, len(numbers)) if name else UNKNOWN for name in labels]
    return tuple(numbers), np.array(places, dtype=np.int64)


def _sides(pairs: Sequence[tuple[str, str]], first: Sequence[object]) -> Longs:
    """1 where the system in column a was first, -1 where the other was, 0 where nobody knows."""
    sides = np.zeros(len(pairs), dtype=np.int64)
    for row, ((a, b), given) in enumerate(zip(pairs, first, strict=True)):
        label = _label(given)
        if not label:
            continue
        # A system's name goes before a letter, as in answers
        if label in (a, b):
            sides[row] = 1 if label == a else -1
        elif label.casefold() in ("a", "b"):
            sides[row] = 1 if label.casefold() == "a" else -1
        else:
            raise InputError(
                f"row {row + 1}: which was shown first must be 'a', 'b', {a!r} or {b!r}, "
                f"found {label!r}"
            )
    return sides


def _whole(repeat: Sequence[object]) -> Longs:
    numbers = np.zeros(len(repeat), dtype=np.int64)
    for row, given in enumerate(repeat):
        label = _label(given) or "0"
        if not (label.isascii() and label.isdigit()) or len(label) > 9:
            raise InputError(
                f"row {row + 1}: repeat must be a whole number from 0, found {given!r}"
            )
        numbers[row] = int(label)
    return numbers


def _shares(share: Sequence[object]) -> Floats:
    numbers = np.ones(len(share))
    for row, given in enumerate(share):
        label = _label(given)
        if not label:
            continue
        try:
            numbers[row] = float(label)
        except ValueError:
            numbers[row] = math.nan
        if not EVEN <= numbers[row] <= 1:
            raise InputError(
                f"row {row + 1}: share must be a number from {EVEN} to 1, what the preferred one "
                f"has of the preference; found {given!r}"
            )
    return numbers


def _check_items(
    items: tuple[str, ...], item: Longs, systems: Longs, names: tuple[str, ...]
) -> None:
    """Refuse an item that stands for two different pairs of systems."""
    seen: dict[int, tuple[int, int]] = {}
    for row, (place, (i, j)) in enumerate(zip(item.tolist(), systems.tolist(), strict=True)):
        if place == UNKNOWN:
            continue
        pair = (min(i, j), max(i, j))
        earlier = seen.setdefault(place, pair)
        if earlier != pair:
            raise InputError(
                f"row {row + 1}: the item {items[place]!r} compares {names[i]!r} with "
                f"{names[j]!r}, but {names[earlier[0]]!r} with {names[earlier[1]]!r} in an "
                "earlier row"
            )


def _counted(rater: Longs, item: Longs, systems: Longs, first: Longs) -> Longs:
    """How often each rater had answered each item with the same system in front before."""
    seen: dict[Hashable, int] = {}
    repeats = np.zeros(len(rater), dtype=np.int64)
    of_first = np.where(first > 0, systems[:, 0], systems[:, 1])
    shown_first = np.where(first == 0, UNKNOWN, of_first)
    for row, key in enumerate(
        zip(rater.tolist(), item.tolist(), shown_first.tolist(), strict=True)
    ):
        if key[1] == UNKNOWN:
            continue
        repeats[row] = seen.get(key, 0)
        seen[key] = int(repeats[row]) + 1
    return repeats
