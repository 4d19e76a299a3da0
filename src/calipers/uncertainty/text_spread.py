"""How much each statistic of texts moves from one draw of the texts to another.

Both T(Q) and T(P) are read without each of twenty blocks of texts (the jackknife over blocks), from
counts that tell what a block alone contributes; where none can be kept, from disjoint smaller sets,
which is approximate. No text is ever drawn twice: copies would raise Self-BLEU and whatever counts
repeats.

Texts are taken to be drawn independently, or in the clusters that are known of them, and for pairs
of rows the pairs. A given training set is no sample: scores against it move with the texts alone.
Sets of fewer than twenty texts, or of clusters too few for twenty blocks, have no spread, nor has
the longest passage of all, which the one text with it decides.

The gap |T(Q) - T(P)| moves with both sets. Its spread here is that of T(Q) - T(P), with the sign of
the gap: right where the gap is large beside it; near 0 a distance moves less than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from calipers.catalogue.choosing import TRAIN, TextChoice
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.measuring import Held, cut
from calipers.uncertainty.spread import Spread
from calipers.uncertainty.text_spread_ways import spread_of


@dataclass(frozen=True, eq=False)
class TextSpreads:
    """How much statistics of texts move, beside one reference.

    Attributes
    ----------
    reference, train
        As for :meth:`calipers.text.measuring.score_of`.
    keep_sizes, seed, threads
        As for the scores; the seed picks the blocks too.
    """

    reference: Corpus | None = None
    train: Corpus | None = None
    keep_sizes: bool = False
    seed: int = 0
    threads: int | None = None
    _kept: dict[tuple[str, int], Spread | None] = field(default_factory=dict, repr=False)

    def of(self, choice: TextChoice, generated: Corpus, score: Score) -> Spread | None:
        """Tell how much the score of a generated set moves.

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
        held = self._held(choice, generated)
        if score.per_sample is None or len(score.per_sample) != len(generated):
            score = replace(score, per_sample=_measure(choice, held).per_sample)
        return spread_of(choice, held, score, "generated")

    def of_reference(self, choice: TextChoice, size: int | None = None) -> Spread | None:
        """Tell how much T(P) moves: of so many texts of the reference, or of all; kept."""
        if self.reference is None or not choice.has_gap:
            return None
        place = (choice.key, len(self.reference) if size is None else size)
        if place not in self._kept:
            held = self._held(choice, cut(self.reference, place[1], seed=self.seed))
            self._kept[place] = spread_of(choice, held, self._known(choice, held), "reference")
        return self._kept[place]

    def of_gap(
        self, choice: TextChoice, generated: Corpus, score: Score, own: Spread
    ) -> Spread | None:
        """Tell how much |T(Q) - T(P)| moves, where T(Q) moves as `own` says."""
        size = None if self._free(choice) else self._size(generated)
        theirs = self.of_reference(choice, size)
        if theirs is None or score.reference is None:
            return None
        sign = -1.0 if score.value < score.reference else 1.0
        moved = [part.times(sign) for part in own.components]
        moved += [part.times(-sign) for part in theirs.components]
        return Spread(tuple(moved), own.approximate or theirs.approximate)

    def _known(self, choice: TextChoice, held: Held) -> Score:
        """T(P); that of the whole reference was kept beside the scores."""
        if held.texts is not self.reference:
            return _measure(choice, held)
        return choice.of_reference(
            held.texts, train=self.train, seed=self.seed, threads=self.threads
        )

    def _free(self, choice: TextChoice) -> bool:
        """Whether sets are measured as large as they are."""
        return self.reference is None or self.keep_sizes or not (choice.has_gap and choice.sized)

    def _size(self, generated: Corpus) -> int:
        return (
            len(generated) if self.reference is None else min(len(generated), len(self.reference))
        )

    def _held(self, choice: TextChoice, texts: Corpus) -> Held:
        sides = {None: None, TRAIN: self.train}
        return Held(texts, sides.get(choice.needs, self.reference), self.seed, self.threads)


def _measure(choice: TextChoice, held: Held) -> Score:
    return choice.metric.score(held, choice.options)
