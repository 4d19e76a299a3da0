"""The score of a set of texts, beside the reference's own value."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from calipers.catalogue.choosing import ITSELF, TRAIN, Choice, missing
from calipers.numeric.subsample import subsample_rows
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.scoring import TextPair

Result = TypeVar("Result")


class Memo:
    """A cache with one result for each pair of sets and choice of options; errors are not kept.

    For several keys that are read from one result; it is kept for as long as the texts are.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Corpus, dict[Hashable, Any]] = WeakKeyDictionary()

    def get(self, pair: TextPair, options: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result for these sets and options, computing it if necessary."""
        mine = self._kept.setdefault(pair.texts, {})
        against = None if pair.against is None else ref(pair.against)
        place = (against, pair.seed, options)
        if place not in mine:
            mine[place] = make()
        result: Result = mine[place]
        return result


_OF_REFERENCE = Memo()


def score_of(
    choice: Choice,
    generated: Corpus,
    reference: Corpus | None = None,
    *,
    train: Corpus | None = None,
    keep_sizes: bool = False,
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Measure a generated set.

    Parameters
    ----------
    choice
        What is measured.
    generated, reference, train
        Tokenised together. A statistic of one set needs no `reference`; where there is one,
        ``Score.reference`` holds T(P), measured once for all generated sets.
    keep_sizes
        Whether sets of different size stay so. By default the larger one is cut to the other's
        size where the number of texts alone moves the metric; the signature then says so, and
        a set that was cut has no values per text.
    seed, threads
        For cutting, and for metrics that draw or spread work.

    Returns
    -------
    Score
        NaN with a reason where the texts, or a missing package, do not allow a value.

    Raises
    ------
    InputError
        If the metric needs a reference or a training set, and there is none.
    """
    against = _against(choice, reference, train)

    def read(texts: Corpus) -> Score:
        return _read(choice, TextPair(texts, against, seed, threads))

    if reference is None or not choice.has_gap:
        return read(generated)
    free = keep_sizes or not choice.sized
    size = len(reference) if free else min(len(generated), len(reference))
    score = read(generated if free else cut(generated, size, seed=seed))
    if not free and size < len(generated):
        score = replace(score, per_sample=None)
    if not free and len(generated) != len(reference):
        score = score.signed(cut=size, cut_seed=seed)
    reference_score = _of_reference(choice, TextPair(reference, against, seed, threads), size)
    return replace(score, reference=reference_score.value, better="closest")


def score_of_reference(
    choice: Choice,
    reference: Corpus,
    *,
    train: Corpus | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Measure the whole reference itself, T(P), once for each corpus."""
    pair = TextPair(reference, _against(choice, None, train), seed=seed, threads=threads)
    return _of_reference(choice, pair, len(reference))


def cut(corpus: Corpus, size: int, *, seed: int = 0) -> Corpus:
    """Keep `size` random texts in order, or the whole corpus if it has no more.

    The rows are those that :meth:`calipers.samples.SampleSet.subsample` keeps by the same seed.

    Examples
    --------
    >>> from calipers.text.tokens import tokenise
    >>> (corpus,) = tokenise(["a b", "c", "d e f"], tokenizer="whitespace")
    >>> cut(corpus, 2).texts, cut(corpus, 2).starts
    (['a b', 'd e f'], array([0, 2, 5]))
    """
    if size >= len(corpus):
        return corpus
    return corpus.take(subsample_rows(len(corpus), size, seed=seed))


def _of_reference(choice: Choice, pair: TextPair, size: int) -> Score:
    """T(P) of so many texts of the reference, by the seed and the training set."""

    def make() -> Score:
        return _read(choice, replace(pair, texts=cut(pair.texts, size, seed=pair.seed)))

    return _OF_REFERENCE.get(pair, (choice.metric.read, choice.key, size), make)


def _read(choice: Choice, pair: TextPair) -> Score:
    score = choice.score(pair)
    if choice.option("against") in (None, ITSELF):
        return score
    return score.signed(against=choice.needs)


def _against(choice: Choice, reference: Corpus | None, train: Corpus | None) -> Corpus | None:
    if choice.needs is None:
        return None
    against = train if choice.needs == TRAIN else reference
    if against is None:
        raise missing(choice)
    return against
