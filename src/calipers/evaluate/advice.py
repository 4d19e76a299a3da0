"""Advice on the number of samples: what more of them would change about the scores on show.

Both sides are cut, in random orders, to eighths, quarters and halves that contain each other, with
as many cells as all samples have: with a tenth of the samples for cells their number would grow
along, and the bias would never vanish. A part is projected by itself, as a run of its samples is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.embed import Embeddings
from calipers.estimate.quantise import bucket_count
from calipers.evaluate.floor_scores import Rows, choices_for, score_parts
from calipers.evaluate.intake import Intake
from calipers.evaluate.stages import Embedded
from calipers.metrics.pair import Settings
from calipers.numeric.blocks import Clusters
from calipers.progress import Advance, Progress
from calipers.results import Comparison
from calipers.results.comparison import Advice
from calipers.results.sweep import RELATIVE, ROUNDING, TOLERANCE
from calipers.score import Score
from calipers.uncertainty.sample_size import PARTS, Nested, extrapolate

ORDERS = 2
# So that orders share no stream with whatever else is drawn from the same seed
STREAM = 0xAD71CE

Scores = dict[str, Score]


def advise(
    intake: Intake,
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
    wanted = choices_for(shown, choices, tuple(embedded.reference.views))
    systems = list(zip(intake.systems, embedded.systems, strict=True))
    fit = [
        (entry, parts) for entry, parts in systems if wanted and _fits(embedded, parts, settings)
    ]
    steps = sum(_steps(parts, orders) for _, parts in fit)
    found: list[Advice] = []
    with progress.task("Measuring what more samples change", steps) as advance:
        for entry, files in fit:
            known = intake.reference.clusters, [cut.clusters for cut in entry.cuts]
            job = AdviceJob(embedded.reference, files, wanted, settings, advance, *known)
            found += job.advice(entry.name, orders)
    return tuple(found)


def with_standard_errors(advice: Sequence[Advice], comparison: Comparison) -> tuple[Advice, ...]:
    """Take the spread from the scores themselves, where they have a standard error."""
    errors = {
        (system.name, name): score.standard_error
        for system in comparison
        for name, score in system.scores.items()
    }
    known = ((each, errors.get((each.system, each.score))) for each in advice)
    return tuple(each if error is None else replace(each, spread=error) for each, error in known)


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
        smallest = min(_length(self.reference), *map(_length, self.files))
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
        n, m = _length(self.reference), _length(file)
        rng = np.random.default_rng([self.settings.seed, STREAM, order])
        # Rows that continue the same prompts, or belong together, stay in one part
        ours, theirs = self.clusters, self.of_files[which]
        if ours is None or theirs is None:
            left = rng.permutation(n)
            right = left if n == m else rng.permutation(m)
        else:
            left = ours.shuffled(rng)
            right = left if ours.alike(theirs) else theirs.shuffled(rng)
        found = []
        for count in parts:
            cut = zip(_cut(left, count), _cut(right, count), strict=True)
            found.append([self._score(file, *rows) for rows in cut])
        if which not in self.whole:
            self.whole[which] = self._score(file, np.arange(n), np.arange(m))
        return [*found, [self.whole[which]]]

    def _score(self, file: Embeddings, rows: Rows, others: Rows) -> Scores:
        cells = bucket_count(self.settings.buckets, _length(self.reference), _length(file))
        settings = replace(self.settings, buckets=cells)
        found = score_parts((self.reference, rows), (file, others), self.choices, settings)
        self.advance(1)
        return found


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
    smallest = min(_length(embedded.reference), *map(_length, files))
    return smallest // PARTS[0] > settings.k


def _orders(files: Sequence[Embeddings], orders: int) -> int:
    return len(files) * -(-orders // len(files))


def _steps(files: Sequence[Embeddings], orders: int) -> int:
    return _orders(files, orders) * sum(PARTS[:-1]) + len(files)


def _length(embeddings: Embeddings) -> int:
    return len(next(iter(embeddings.views.values())))
