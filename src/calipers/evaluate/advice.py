"""Advice on the number of samples: what more of them would change about the scores on show.

Both sides are cut, in random orders, to eighths, quarters and halves that contain each other, with
as many cells as all samples have: with a tenth of the samples for cells their number would grow
along, and the bias would never vanish. A part is projected by itself, as a run of its samples is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.embed import Embeddings
from calipers.estimate.quantise import bucket_count
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.noise_floor import Rows, choices_for, length, score_parts
from calipers.metrics.pair import Settings
from calipers.numeric.blocks import Clusters
from calipers.progress import Advance, Progress
from calipers.results import Comparison
from calipers.results.comparison import Advice
from calipers.results.sweep import RELATIVE, ROUNDING, TOLERANCE
from calipers.samples.wording import first_names
from calipers.score import Score
from calipers.uncertainty.sample_size import PARTS, Nested, extrapolate

ORDERS = 2
# So that orders share no stream with whatever else is drawn from the same seed
STREAM = 0xAD71CE

RECOMMENDED = 1_000
"""Samples that each set should have: Pillutla et al., JMLR 2023, section 8."""

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
    """Tell for the scores on show how far they are from where more samples would bring them.

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
    systems = zip(inputs.systems, embedded.systems, strict=True)
    large_enough = [
        (entry, files) for entry, files in systems if chosen and _fits(embedded, files, settings)
    ]
    steps = sum(_steps(files, orders) for _, files in large_enough)
    advice: list[Advice] = []
    with progress.task("Measuring what more samples change", steps) as advance:
        for entry, files in large_enough:
            clusters = inputs.reference.clusters, [file.clusters for file in entry.files]
            job = AdviceJob(embedded.reference, files, chosen, settings, advance, *clusters)
            advice += job.advice(entry.name, orders)
    return tuple(advice)


def with_standard_errors(advice: Sequence[Advice], comparison: Comparison) -> tuple[Advice, ...]:
    """Take the spread from the scores themselves, where they have a standard error."""
    errors = {
        (system.name, name): score.standard_error
        for system in comparison
        for name, score in system.scores.items()
    }
    with_errors = ((one, errors.get((one.system, one.score))) for one in advice)
    return tuple(one if error is None else replace(one, spread=error) for one, error in with_errors)


@dataclass(frozen=True, eq=False)
class AdviceJob:
    """The parts of one system and of the reference, and the scores of all samples once known."""

    reference: Embeddings
    files: Sequence[Embeddings]
    choices: Sequence[Choice]
    settings: Settings
    advance: Advance
    clusters: Clusters | None
    of_files: Sequence[Clusters | None]
    whole: dict[int, Scores] = field(default_factory=dict)

    def advice(self, system: str, orders: int) -> Iterator[Advice]:
        """Advise on every score."""
        drawn = [self._order(order) for order in range(_orders(self.files, orders))]
        smallest = min(length(self.reference), *map(length, self.files))
        sizes = tuple(smallest // parts for parts in PARTS)
        for name, full in self.whole[0].items():
            values = [
                np.array([[part[name].value for part in order[level]] for order in drawn])
                for level in range(len(PARTS))
            ]
            yield _advice(system, name, sizes, Nested(tuple(values)), full.range)

    def _order(self, order: int) -> list[list[Scores]]:
        """Score the parts of one random order, from eighths to the whole."""
        which = order % len(self.files)
        file, parts = self.files[which], PARTS[:-1]
        n, m = length(self.reference), length(file)
        rng = np.random.default_rng([self.settings.seed, STREAM, order])
        # Rows that continue the same prompts, or belong together, stay in one part
        ours, theirs = self.clusters, self.of_files[which]
        if ours is None or theirs is None:
            left = rng.permutation(n)
            right = left if n == m else rng.permutation(m)
        else:
            left = ours.shuffled(rng)
            right = left if ours.alike(theirs) else theirs.shuffled(rng)
        levels = []
        for count in parts:
            pieces = zip(_cut(left, count), _cut(right, count), strict=True)
            levels.append([self._score(file, *rows) for rows in pieces])
        if which not in self.whole:
            self.whole[which] = self._score(file, np.arange(n), np.arange(m))
        return [*levels, [self.whole[which]]]

    def _score(self, file: Embeddings, rows: Rows, others: Rows) -> Scores:
        cells = bucket_count(self.settings.buckets, length(self.reference), length(file))
        settings = replace(self.settings, buckets=cells)
        scores = score_parts((self.reference, rows), (file, others), self.choices, settings)
        self.advance(1)
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
    """How far a score may move on a plateau, beside its error: as in :func:`calipers.sweep`."""
    return TOLERANCE if range[0] >= 0 and range[1] <= 1 else RELATIVE * abs(end)


def _cut(rows: Rows, parts: int) -> list[Rows]:
    """Cut rows into parts; each is the union of two that twice as many parts give."""
    ends = [place * len(rows) // parts for place in range(parts + 1)]
    return [np.sort(rows[start:end]) for start, end in pairwise(ends)]


def _fits(embedded: Embedded, files: Sequence[Embeddings], settings: Settings) -> bool:
    smallest = min(length(embedded.reference), *map(length, files))
    return smallest // PARTS[0] > settings.k


def _orders(files: Sequence[Embeddings], orders: int) -> int:
    return len(files) * -(-orders // len(files))


def _steps(files: Sequence[Embeddings], orders: int) -> int:
    return _orders(files, orders) * sum(PARTS[:-1]) + len(files)


def size_warnings_for(inputs: ComparisonInputs, advice: Sequence[Advice] = ()) -> tuple[str, ...]:
    """Warn of sets below 1,000 samples, and of scores that have not levelled off.

    Parameters
    ----------
    intake
        Both sides, as they are compared.
    advice
        What :func:`advise` gave; empty where it was not asked for.
    """
    return (*_few(inputs), *_moving(advice))


def _few(inputs: ComparisonInputs) -> Iterator[str]:
    """Warn of fewer samples than the paper recommends."""
    sizes = [("the reference", len(inputs.reference.samples))]
    sizes += [
        (entry.name, min(len(file.samples) for file in entry.files)) for entry in inputs.systems
    ]
    small = [f"{name} ({size:,})" for name, size in sizes if size < RECOMMENDED]
    if small:
        yield (
            f"fewer than {RECOMMENDED:,} samples in {first_names(small, NAMED)}: scores of so few "
            "are biased and vary more (Pillutla et al., JMLR 2023, section 8): where both sets are "
            "small, wide balls of neighbours can raise precision, recall and coverage; where the "
            "generated set alone is, coverage falls"
        )


def _moving(advice: Sequence[Advice]) -> Iterator[str]:
    """Warn, for each system, of the scores that moved on from half of the samples to all."""
    for system, of_system in groupby(advice, key=lambda one: one.system):
        moving = [one for one in of_system if not one.plateau]
        if moving:
            half, n = moving[0].sizes[-2:]
            steps = [f"{one.score} by {one.values[-1] - one.values[-2]:+.3g}" for one in moving]
            yield (
                f"{system}: from {half:,} to {n:,} samples these scores still moved: "
                f"{first_names(steps, NAMED)}; more samples would move them on"
            )
