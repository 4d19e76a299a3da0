"""The sampling variation of statistics of texts.

Both T(Q) and T(P) are read without each of twenty blocks of texts (the jackknife over blocks), by
the function that stands beside the statistic; where there is none, the statistic is measured on
disjoint smaller sets, which is approximate. No text is ever drawn twice: copies would raise
Self-BLEU and whatever counts repeats.

Texts are taken to be drawn independently, or in the clusters that are known of them, and for pairs
of rows the pairs: which rows there are draws texts and references at once, so that rows of two
systems with the same references share one source, ``"both"``. A given training set is no sample:
scores against it move with the texts alone. Sets of fewer than twenty texts, or of clusters too few
for twenty blocks, have no spread, nor has the longest passage of all, which the one text with it
decides.

The gap |T(Q) - T(P)| moves with both sets. Its spread here is that of T(Q) - T(P), with the sign of
the gap: right where the gap is large beside it; near 0 a distance moves less than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from calipers.catalogue.choosing import TRAIN, Choice
from calipers.catalogue.metric import resolve
from calipers.numeric.arrays import Floats
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.measuring import cut, score_of_reference
from calipers.text.replicates import MeasuredTexts, TextReplicates, block_labels
from calipers.text.scoring import TextPair
from calipers.uncertainty.spread import Component, Source, Spread

ROUNDING = 1e-12
"""Share of a value below which a standard error is no more than rounding."""

PARTS = 10

FEW_PARTS = 5
"""Of neighbour scores, which smaller parts would change beyond recognition."""

SMALLEST_PART = 20


@dataclass(frozen=True, eq=False)
class TextSpreads:
    """Spreads of statistics of texts, beside one reference.

    Attributes
    ----------
    reference, train
        As for :func:`calipers.text.measuring.score_of`.
    keep_sizes, seed, threads
        As for the scores; the seed picks the blocks too.
    """

    reference: Corpus | None = None
    train: Corpus | None = None
    keep_sizes: bool = False
    seed: int = 0
    threads: int | None = None
    _kept: dict[tuple[str, int], Spread | None] = field(default_factory=dict, repr=False)

    def of(self, choice: Choice, generated: Corpus, score: Score) -> Spread | None:
        """Estimate the spread of the score of a generated set.

        Parameters
        ----------
        choice, generated, score
            The metric, what it was measured on, and what it gave.

        Returns
        -------
        Spread or None
            Of the value T(Q). None where it is not known: sets of fewer than 20 texts, a value or
            a replicate that is not defined, the longest passage of all, pairwise Self-BLEU of a
            drawn sample.
        """
        if not self._free(choice):
            generated = cut(generated, self._size(generated), seed=self.seed)
        pair = self._pair(choice, generated)
        if score.per_sample is None or len(score.per_sample) != len(generated):
            score = replace(score, per_sample=_measure(choice, pair).per_sample)
        return _spread(choice, pair, score, "generated")

    def of_reference(self, choice: Choice, size: int | None = None) -> Spread | None:
        """Estimate the spread of T(P), for a number of reference texts or all; results are kept."""
        if self.reference is None or not choice.has_gap:
            return None
        place = (choice.key, len(self.reference) if size is None else size)
        if place not in self._kept:
            pair = self._pair(choice, cut(self.reference, place[1], seed=self.seed))
            self._kept[place] = _spread(choice, pair, self._known(choice, pair), "reference")
        return self._kept[place]

    def of_gap(
        self, choice: Choice, generated: Corpus, score: Score, spread: Spread
    ) -> Spread | None:
        """Estimate the spread of |T(Q) - T(P)|, given that of T(Q)."""
        size = None if self._free(choice) else self._size(generated)
        theirs = self.of_reference(choice, size)
        if theirs is None or score.reference is None:
            return None
        sign = -1.0 if score.value < score.reference else 1.0
        moved = [component.times(sign) for component in spread.components]
        moved += [component.times(-sign) for component in theirs.components]
        return Spread(tuple(moved), spread.approximate or theirs.approximate)

    def _known(self, choice: Choice, pair: TextPair) -> Score:
        """T(P); that of the whole reference was kept beside the scores."""
        if pair.texts is not self.reference:
            return _measure(choice, pair)
        return score_of_reference(
            choice, pair.texts, train=self.train, seed=self.seed, threads=self.threads
        )

    def _free(self, choice: Choice) -> bool:
        """Whether sets are measured as large as they are."""
        return self.reference is None or self.keep_sizes or not (choice.has_gap and choice.sized)

    def _size(self, generated: Corpus) -> int:
        return (
            len(generated) if self.reference is None else min(len(generated), len(self.reference))
        )

    def _pair(self, choice: Choice, texts: Corpus) -> TextPair:
        sides = {None: None, TRAIN: self.train}
        return TextPair(texts, sides.get(choice.needs, self.reference), self.seed, self.threads)


def _spread(choice: Choice, pair: TextPair, score: Score, source: Source) -> Spread | None:
    """Tell how much one statistic of texts moves; None where that is not known.

    Parameters
    ----------
    choice, pair, score
        The metric, what it was measured on, and what it gave.
    source
        What draws the texts: ``"generated"``, or ``"reference"`` for T(P).
    """
    drawn = choice.needs in ("reference", "aligned", "generator")
    sets = [pair.texts, *([pair.references] if drawn else [])]
    clusters = [texts.clusters for texts in sets if texts.clusters is not None]
    few = min(map(len, sets)) < DEFAULT_BLOCKS or any(c.blocks < DEFAULT_BLOCKS for c in clusters)
    if few or not np.isfinite(score.value) or choice.metric.replicates == "none":
        return None
    replicates = None
    if choice.metric.replicates != "parts":
        measured = MeasuredTexts(
            **vars(pair),
            options={option.name: choice.option(option.name) for option in choice.metric.options},
            value=score.value,
            per_sample=score.per_sample,
            drawn=drawn,
        )
        replicates = resolve(choice.metric.replicates)(measured)
    if replicates is None:
        components = _by_parts(choice, pair, score.value, source, drawn)
    else:
        components = _jackknifed(replicates, source)
    components = tuple(_settled(component, score.value) for component in components)
    spread = Spread(components, approximate=replicates is None or replicates.approximate)
    return spread if components and spread.finite else None


def _jackknifed(replicates: TextReplicates, source: Source) -> tuple[Component, ...]:
    """The sources of variation, from the values without each block of each set."""
    drawn: tuple[tuple[Source, Floats | None], ...] = (
        (source, replicates.texts),
        ("reference", replicates.references),
        ("both", replicates.rows),
    )
    return tuple(Component.jackknife(name, v) for name, v in drawn if v is not None)


def _by_parts(
    choice: Choice, pair: TextPair, value: float, source: Source, drawn: bool
) -> tuple[Component, ...]:
    """Measure disjoint parts of the texts, with parts of the other set where that was drawn too.

    The variance of the values of K parts, over K, is that of the whole where variance falls as one
    over the size. Statistics that change with the size are scaled by what they are worth at it:
    what the parts tell is by how many per cent the value moves. All of this is approximate.
    """
    smallest = min(map(len, [pair.texts, *([pair.references] if drawn else [])]))
    count = min(FEW_PARTS if drawn else PARTS, smallest // SMALLEST_PART)
    if count < FEW_PARTS:
        return ()
    mine = _parts(pair.texts, count, pair.seed)
    theirs = _parts(pair.references, count, pair.seed) if drawn else [pair.against] * count
    parts = zip(mine, theirs, strict=True)
    values = np.array(
        [_measure(choice, replace(pair, texts=t, against=against)).value for t, against in parts]
    )
    level = values.mean()
    scaled = values * value / level if level > 0 and choice.sized else values
    return (Component.of_mean("both" if drawn else source, scaled),)


def _parts(texts: Corpus, count: int, seed: int) -> list[Corpus]:
    labels = block_labels(texts, seed, count)
    return [texts.take(np.flatnonzero(labels == part)) for part in range(count)]


def _measure(choice: Choice, pair: TextPair) -> Score:
    return choice.metric.score(pair, choice.options)


def _settled(component: Component, value: float) -> Component:
    """Nothing moves where only rounding does."""
    return component.times(0.0) if component.variance <= (ROUNDING * value) ** 2 else component
