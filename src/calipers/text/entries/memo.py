"""Results that several keys are read from, kept for as long as the texts are."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary, ref

if TYPE_CHECKING:
    from calipers.text.corpus import Corpus
    from calipers.text.entries.metric import Held

Result = TypeVar("Result")


class Memo:
    """One result for each pair of sets and choice of options; a failure is not kept."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Corpus, dict[Hashable, Any]] = WeakKeyDictionary()

    def get(self, held: Held, options: Hashable, make: Callable[[], Result]) -> Result:
        """Return what was made of these sets by these options before, or make it."""
        mine = self._kept.setdefault(held.texts, {})
        against = None if held.against is None else ref(held.against)
        place = (against, held.seed, options)
        if place not in mine:
            mine[place] = make()
        found: Result = mine[place]
        return found
