"""Advice on sample size: how far the shown scores would change with more samples.

Both sides are cut, in random orders, to eighths, quarters and halves that contain each other, with
as many cells as all samples have: with a tenth of the samples for cells their number would grow
along, and the bias would never vanish. A part is projected on its own, as a run of its samples is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.estimate.quantise import bucket_count
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.given_prompts import GivenPrompts
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.scoring import Rows, choices_for, score_rows
from calipers.numeric.blocks import Clusters
from calipers.progress import Advance, Progress
from calipers.results import Comparison
from calipers.results.comparison import Advice
from calipers.samples.wording import first_names
from calipers.score import Score
from calipers.uncertainty.plateau import RELATIVE, ROUNDING, TOLERANCE
from calipers.uncertainty.sample_size import PARTS, Nested, extrapolate

ORDERS = 2
# So that orders share no stream with whatever else is drawn from the same seed
STREAM = 0xAD71CE

NAMED = 4

Scores = dict[str, Score]


def advise(
    inputs: ComparisonInputs,
    embedded: Embedded,
    choices: Sequence[Choice],
    settings: Settings,
    progress: Progress,
    *,
    shown: Collection[str],
    orders: int = ORDERS,
) -> tuple[Advice, ...]:
    """Estimate how far the shown scores are from their values with more samples.

    Parameters
    ----------
    shown
        Keys ``[view.]metric[:option…]`` of the scores to advise on; others are not measured.
    orders
        Random orders of the rows; more where a system has more files, which take them in turn.

    Returns
    -------
    tuple of Advice
        One for each system and score; none for a system with too few samples to cut in eight.
    """
    chosen = choices_for(shown, choices, tuple(embedded.reference.views))
    nested = [
        NestedParts(
            system.name,
            embedded.reference,
            files,
            chosen,
            settings,
            inputs.reference.clusters,
            [file.clusters for file in system.files],
            len(files) * -(-orders // len(files)),
            given,
        )
        for system, files, given in zip(
            inputs.systems, embedded.systems, embedded.prompts, strict=True
        )
    ]
    large_enough = [parts for parts in nested if chosen and parts.smallest // PARTS[0] > settings.k]
    steps = sum(parts.steps for parts in large_enough)
    with progress.task("Estimating the effect of more samples", steps) as advance:
        return tuple(advice for parts in large_enough for advice in parts.advice(advance))


def with_standard_errors(advice: Sequence[Advice], comparison: Comparison) -> tuple[Advice, ...]:
    """Replace the spread by the scores' own standard errors, where they have them."""
    errors = {
        (system.name, name): score.standard_error
        for system in comparison
        for name, score in system.scores.items()
    }
    with_errors = ((one, errors.get((one.system, one.score))) for one in advice)
    return tuple(one if error is None else replace(one, spread=error) for one, error in with_errors)


@dataclass(frozen=True, eq=False)
class NestedParts:
    """Nested parts of one system and of the reference, with scores of all samples once known."""

    system: str
    reference: Embeddings
    files: Sequence[Embeddings]
    choices: Sequence[Choice]
    settings: Settings
    clusters: Clusters | None
    file_clusters: Sequence[Clusters | None]
    orders: int
    given: Sequence[GivenPrompts | None]
    whole: dict[int, Scores] = field(default_factory=dict)

    @property
    def smallest(self) -> int:
        """Number of samples of the smallest set."""
        return min(len(self.reference), *map(len, self.files))

    @property
    def steps(self) -> int:
        """Number of parts to score; whole files count once each."""
        return self.orders * sum(PARTS[:-1]) + len(self.files)

    def advice(self, advance: Advance) -> Iterator[Advice]:
        """Return advice for every score."""
        drawn = [self._order(order, advance) for order in range(self.orders)]
        sizes = tuple(self.smallest // parts for parts in PARTS)
        for name, full in self.whole[0].items():
            values = [
                np.array([[part[name].value for part in order[level]] for order in drawn])
                for level in range(len(PARTS))
            ]
            yield _advice(self.system, name, sizes, Nested(tuple(values)), full.range)

    def _order(self, order: int, advance: Advance) -> list[list[Scores]]:
        """Score the parts of one random order, from eighths to the whole."""
        which = order % len(self.files)
        file, ours, theirs = self.files[which], self.clusters, self.file_clusters[which]
        given = self.given[which]
        if given is not None and (ours is None or theirs is None):
            ours, theirs = given.clusters
        n, m = len(self.reference), len(file)
        rng = np.random.default_rng([self.settings.seed, STREAM, order])
        # Rows that continue the same prompts, or belong together, stay in one part
        if ours is None or theirs is None:
            left = rng.permutation(n)
            right = left if n == m else rng.permutation(m)
        else:
            left = ours.shuffled(rng)
            right = left if ours.alike(theirs) else theirs.shuffled(rng)
        levels = []
        for count in PARTS[:-1]:
            pieces = zip(_cut(left, count), _cut(right, count), strict=True)
            levels.append([self._score(file, *rows, advance, given) for rows in pieces])
        if which not in self.whole:
            self.whole[which] = self._score(file, np.arange(n), np.arange(m), advance, given)
        return [*levels, [self.whole[which]]]

    def _score(
        self,
        file: Embeddings,
        reference_rows: Rows,
        file_rows: Rows,
        advance: Advance,
        given: GivenPrompts | None,
    ) -> Scores:
        cells = bucket_count(self.settings.buckets, len(self.reference), len(file))
        reference, settings, strata = self.reference, self.settings, None
        if given is not None:
            reference, file = given.embeddings(reference, file, settings)
            settings, strata = given.settings(settings), given.strata
        sides = (reference, reference_rows), (file, file_rows)
        settings = replace(settings, buckets=cells)
        scores = score_rows(*sides, self.choices, settings, strata=strata)
        advance(1)
        return scores


def _advice(
    system: str, name: str, sizes: tuple[int, ...], nested: Nested, range: tuple[float, float]
) -> Advice:
    means, error = nested.means, nested.step_error
    limit = extrapolate(means, error, range=range).limit
    allowed = max(tolerance(means[-1], range), error) + ROUNDING
    return Advice(
        system=system,
        score=name,
        sizes=sizes,
        values=means,
        limit=limit,
        bias=means[-1] - limit,
        spread=nested.spread,
        plateau=abs(means[-1] - means[-2]) <= allowed,
    )


def tolerance(end: float, range: tuple[float, float]) -> float:
    """Return how far a score may move on a plateau besides its error, as in ``calipers.sweep``."""
    return TOLERANCE if range[0] >= 0 and range[1] <= 1 else RELATIVE * abs(end)


def _cut(rows: Rows, parts: int) -> list[Rows]:
    """Cut rows into parts; each is the union of two that twice as many parts give."""
    ends = [place * len(rows) // parts for place in range(parts + 1)]
    return [np.sort(rows[start:end]) for start, end in pairwise(ends)]


def unlevelled(advice: Sequence[Advice]) -> Iterator[str]:
    """Warn, for each system, of scores that still change from half of the samples to all."""
    for system, of_system in groupby(advice, key=lambda one: one.system):
        moving = [one for one in of_system if not one.plateau]
        if moving:
            half, n = moving[0].sizes[-2:]
            steps = [f"{one.score} by {one.values[-1] - one.values[-2]:+.3g}" for one in moving]
            yield (
                f"{system}: these scores still changed from {half:,} to {n:,} samples: "
                f"{first_names(steps, NAMED)}; they would change further with more samples"
            )
