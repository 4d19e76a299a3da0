"""What a comparison says after its scores: tests, noise floor, advice on sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calipers.catalogue.choosing import Choice
from calipers.catalogue.shown import shown_keys
from calipers.evaluate.advice import advise, with_standard_errors
from calipers.evaluate.advice_warnings import size_warnings_for
from calipers.evaluate.certainty import Certainty, Spreads, with_tests
from calipers.evaluate.certainty_warnings import interval_warnings
from calipers.evaluate.floor import Floors, add_floors, measure_floors
from calipers.evaluate.intake import Intake
from calipers.evaluate.stages import Embedded
from calipers.metrics.pair import Settings
from calipers.progress import Progress
from calipers.results import Comparison
from calipers.results.significance import Advice

CHEAP = 5_000
"""Reference samples below which the noise floor is measured unless it is refused."""


@dataclass(frozen=True, eq=False)
class Sureness:
    """The sets of a run and its choices, from which all of it is made.

    Attributes
    ----------
    intake, embedded
        Both sides, as they are compared.
    choices, settings
        What is measured, and how.
    progress
        What shows how far it is.
    """

    intake: Intake
    embedded: Embedded
    choices: Sequence[Choice]
    settings: Settings
    progress: Progress

    def add(
        self,
        comparison: Comparison,
        spreads: Sequence[Spreads],
        certainty: Certainty | None,
        *,
        floor: bool | None,
        advice: bool,
    ) -> Comparison:
        """Add what was asked for to a comparison that has its scores and settings."""
        keys = [shown.key for shown in shown_keys(comparison.to_dict())]
        if certainty is not None:
            comparison = with_tests(
                comparison, self.intake, spreads, certainty, keys=keys, seed=self.settings.seed
            )
            few = interval_warnings(self.intake, self.choices, self.settings.k)
            comparison = replace(comparison, warnings=(*comparison.warnings, *few))
        if floor:
            comparison = add_floors(comparison, self._floors())
        elif floor is None and certainty is not None and self._is_cheap:
            comparison = add_floors(comparison, self._floors(shown=keys))
        return self._advised(comparison, keys if advice else [])

    @property
    def _is_cheap(self) -> bool:
        return len(self.intake.reference.samples) < CHEAP

    def _floors(self, *, shown: Sequence[str] | None = None) -> Floors:
        """The floors of all scores that were measured, or of those on show."""
        sides = self.intake, self.embedded
        return measure_floors(*sides, self.choices, self.settings, self.progress, shown=shown)

    def _advised(self, comparison: Comparison, keys: Sequence[str]) -> Comparison:
        """What more samples would change, and a warning of sets that are small in any case."""
        found: tuple[Advice, ...] = ()
        if keys:
            sides = self.intake, self.embedded
            found = advise(*sides, self.choices, self.settings, self.progress, shown=keys)
        warnings = (*comparison.warnings, *size_warnings_for(self.intake, found))
        advice = with_standard_errors(found, comparison)
        return replace(comparison, advice=advice, warnings=warnings)
