"""Comparison of sets that answer the same prompts, conditionally on the prompt.

An answer lies where its prompt puts it, whoever wrote it, so that the reference's answer to the
same prompt lies next to it, and neighbours find every system as good as the reference. Two things
mend that:

- **other prompts**: answers to one prompt are no neighbours of each other, within a set and across
  (:mod:`calipers.estimate.knn.strata`);
- **residuals**: from the vector of every answer is taken what its prompt leads to expect of it, a
  ridge regression of the reference's answers on the vectors of their prompts, in which no answer to
  the prompt itself takes part (:mod:`calipers.estimate.conditional_mean`). One string for all
  prompts then lies where no answer does; where the prompt explains much, so do answers to other
  prompts than one's own.

Both sides of a prompt lose the same, so what differs between two answers to it stays as it is. The
regression knows the reference alone: to add a system changes no score of another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.settings import Settings
from calipers.embedders import Cache, Embedder, Embeddings, RunVectors, embed
from calipers.estimate.axes import unit_rows
from calipers.estimate.conditional_mean import ConditionalMean
from calipers.estimate.knn.strata import largest_stratum
from calipers.evaluate.labels import PairClusters
from calipers.evaluate.shared_prompts import SharedPrompts
from calipers.numeric.blocks import cluster_sets
from calipers.numeric.distances import Points, Sides
from calipers.numeric.kept import content
from calipers.progress import Progress
from calipers.results.caution import Caution
from calipers.samples import SampleSet

Numbers = NDArray[np.int64]
Texts = Mapping[int, str]

FEWEST = 20
"""Shared prompts below which all answers are compared, and prompts of known text below which
nothing is predicted from them."""

NOT_HELD = "similarity due to the prompts counts as closeness here"
"""Of scores that compare answers as they are, whatever they answer."""

LOOKED_AT = 2_000
"""Answers of either side that are looked at for whether they belong to their prompts."""


@dataclass(frozen=True, eq=False)
class GivenPrompts:
    """The prompts of a pair of sets, and the expected answers given the prompts.

    Attributes
    ----------
    reference, generated
        The number of the prompt of each row; those of one number answer one prompt.
    expected
        By view, what the prompt of each row leads to expect of it, both sides; empty where answers
        to other prompts are neighbours as they were embedded.
    explained
        By view, the share of the variance of the reference that its prompts explain.
    addressed
        By the main view, the share of reference answers to other prompts that lie further from an
        answer than one to its own prompt does, on average; 0.5 where answers belong to other
        prompts than their rows name. NaN where few prompts are shared.
    """

    reference: Numbers
    generated: Numbers
    expected: Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]] = field(
        default_factory=dict
    )
    explained: Mapping[str, float] = field(default_factory=dict)
    addressed: float = np.nan

    @property
    def strata(self) -> tuple[Numbers, Numbers]:
        """The prompts in the form of the neighbour engine."""
        return self.reference, self.generated

    @property
    def signature(self) -> str:
        """How prompts are conditioned on: ``residual``, or ``others`` alone."""
        return "residual" if self.expected else "others"

    def settings(self, settings: Settings) -> Settings:
        """The settings for residuals, which are not scaled since their lengths matter."""
        return replace(settings, normalise="none") if self.expected else settings

    @cached_property
    def clusters(self) -> PairClusters:
        """The rows of one prompt, which stay in one block on both sides."""
        first, second = cluster_sets([self.reference.tolist(), self.generated.tolist()])
        return first, second

    @cached_property
    def key(self) -> Hashable:
        """What the reference side depends on; pairs with one key share the reference's halves."""
        expected = [content(sides[0]) for sides in self.expected.values()]
        return content(self.reference), tuple(expected)

    def sides(self, view: str, sides: Sides, settings: Settings) -> Sides:
        """Return the rows of both sets by a view, minus their expectation given the prompts."""
        if not self.expected:
            return sides
        first, second = (
            _scaled(rows, settings) - expected
            for rows, expected in zip(sides, self.expected[view], strict=True)
        )
        return first, second

    def embeddings(
        self, reference: Embeddings, generated: Embeddings, settings: Settings
    ) -> tuple[Embeddings, Embeddings]:
        """Return both sets in every view, minus their expectation given the prompts."""
        views = {
            view: self.sides(view, (rows, generated.views[view]), settings)
            for view, rows in reference.views.items()
        }
        first, second = (
            replace(side, views={view: rows[place] for view, rows in views.items()})
            for place, side in enumerate((reference, generated))
        )
        return first, second


def _scaled(rows: NDArray[np.floating], settings: Settings) -> NDArray[np.float32]:
    """Rows as they are compared, before anything is taken off them."""
    wide = np.asarray(rows, np.float64)
    scaled = unit_rows(wide) if settings.normalise == "l2" else wide
    return scaled.astype(np.float32)


@dataclass(frozen=True, eq=False)
class PromptVectors:
    """Embeds the prompts of all pairs of a run, and fits the reference on them."""

    model: Embedder
    cache: Cache | RunVectors | None
    progress: Progress | None
    known: dict[tuple[str, ...], Embeddings] = field(default_factory=dict)
    fitted: dict[Hashable, ConditionalMean] = field(default_factory=dict)

    @property
    def readable(self) -> bool:
        """Whether the embedder reads prompts, and does so on this machine."""
        return "texts" in self.model.reads and not self.model.sends

    def of(self, prompts: Sequence[str]) -> Embeddings:
        """Return the vectors of prompts, one row for each."""
        key = tuple(prompts)
        if key not in self.known:
            samples = SampleSet.from_texts(prompts, name="prompts")
            self.known[key] = embed(samples, self.model, cache=self.cache, progress=self.progress)
        return self.known[key]

    def regression(self, key: Hashable, fit: Callable[[], ConditionalMean]) -> ConditionalMean:
        """Fit the reference on its prompts; `key` holds everything that the fit depends on."""
        if key not in self.fitted:
            self.fitted[key] = fit()
        return self.fitted[key]


def given_prompts(
    reference: Embeddings,
    generated: Embeddings,
    shared: SharedPrompts | None,
    texts: Texts,
    vectors: PromptVectors | None,
    settings: Settings,
) -> GivenPrompts | None:
    """Prepare a pair whose sets share prompts; None for one that shares too few.

    Parameters
    ----------
    reference, generated
        Both sets, as they were embedded.
    shared
        Which prompt each row answers.
    texts
        The text of every prompt that is known, by its number.
    vectors
        Embeds prompts; None where answers to other prompts are to be compared as they are.
    settings
        Whether rows are scaled to length one.
    """
    if shared is None or not answers_alike(shared):
        return None
    most = max(map(largest_stratum, (shared.reference, shared.generated)))
    if min(len(shared.reference), len(shared.generated)) - most <= settings.k:
        return None  # hardly an answer to another prompt
    main = next(iter(reference.views))
    plain = GivenPrompts(
        shared.reference,
        shared.generated,
        addressed=addressed(reference.views[main], generated.views[main], shared),
    )
    answered = np.unique(shared.reference).tolist()
    fitted = sorted((texts[number], number) for number in answered if number in texts)
    if vectors is None or not vectors.readable or len(fitted) < FEWEST:
        return plain
    others = set(np.unique(shared.generated).tolist()) - set(answered)
    rest = sorted((texts[number], number) for number in others if number in texts)
    ordered = [number for _, number in (*fitted, *rest)]
    given = vectors.of([text for text, _ in (*fitted, *rest)])
    expected, explained = {}, {}
    same = content(shared.reference), tuple(text for text, _ in fitted), settings.normalise
    for view, rows in reference.views.items():
        prompts = given.views[view]

        def fit(rows: Points = rows, prompts: Points = prompts) -> ConditionalMean:
            answers = _means(_scaled(rows, settings), shared.reference, ordered[: len(fitted)])
            return ConditionalMean.of(_unit(prompts[: len(fitted)]), answers)

        made = vectors.regression((view, content(rows), *same), fit)
        predicted = np.concatenate(
            [made.left_out, made.of_others(_unit(prompts[len(fitted) :])), [made.mean]]
        ).astype(np.float32)
        place = {number: row for row, number in enumerate(ordered)}
        sides = [
            predicted[[place.get(number, len(ordered)) for number in numbers.tolist()]]
            for numbers in (shared.reference, shared.generated)
        ]
        expected[view] = sides[0], sides[1]
        explained[view] = made.explained
    return replace(plain, expected=expected, explained=explained)


def answers_alike(shared: SharedPrompts | None) -> bool:
    """Whether two sets share so many prompts that their answers are close for that reason."""
    return shared is not None and shared.count >= FEWEST


def addressed(reference: Points, generated: Points, shared: SharedPrompts) -> float:
    """Measure how much closer answers are to the reference's for their own prompt than for others.

    Parameters
    ----------
    reference, generated
        Rows of both sets by one view.
    shared
        Which prompt each row answers.

    Returns
    -------
    float
        The mean share of reference answers to other prompts that lie further off than the
        first one to their own prompt, ties counted half, over at most :data:`LOOKED_AT`
        answers and as many of the reference; 0.5 by chance.
    """
    firsts = np.unique(shared.reference, return_index=True)[1]
    rows = np.sort(firsts[np.isin(shared.reference[firsts], shared.prompts)])[:LOOKED_AT]
    numbers = shared.reference[rows]
    asked = np.flatnonzero(np.isin(shared.generated, numbers))[:LOOKED_AT]
    ours, theirs = _unit(reference[rows]), _unit(generated[asked])
    cosines = np.round(theirs @ ours.T, 9)
    order = np.argsort(numbers)
    place = order[np.searchsorted(numbers, shared.generated[asked], sorter=order)]
    to_own_prompt = cosines[np.arange(len(asked)), place][:, None]
    further = (cosines < to_own_prompt) + 0.5 * (cosines == to_own_prompt)
    return float(((further.sum(axis=1) - 0.5) / (len(rows) - 1)).mean())


UNRELATED = 0.6
"""Answers this close to those of their own prompt, or less, hardly belong to it."""

EXPLAINS = 0.05
"""Prompts that explain less of the reference's answers than this show nothing of that."""


def unaddressed(given: Sequence[GivenPrompts | None]) -> Iterator[Caution]:
    """Warn where answers seem to belong to other prompts than their rows name."""
    known = [one for one in given if one is not None and one.explained]
    close = [one for one in known if next(iter(one.explained.values())) >= EXPLAINS]
    lowest = min((one.addressed for one in close), default=1.0)
    if lowest < UNRELATED:
        yield Caution(
            "prompts",
            "hardly answers the prompts of its rows",
            "its answers are hardly closer to the reference's answers to the same prompts than to "
            f"those to other prompts (closer than {100 * lowest:.0f} % of them; 50 % is chance): "
            "either it does not answer its prompts, or its rows are in a different order from its "
            "prompts",
        )


def _unit(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = unit_rows(np.asarray(rows, np.float64)).astype(np.float64)
    return scaled


def _means(
    rows: NDArray[np.float32], numbers: Numbers, ordered: Sequence[int]
) -> NDArray[np.float64]:
    """The mean of the answers to each prompt, in the order given."""
    place = {number: row for row, number in enumerate(ordered)}
    at = np.array([place.get(number, -1) for number in numbers.tolist()])
    known = at >= 0
    sums = np.zeros((len(ordered), rows.shape[1]))
    np.add.at(sums, at[known], rows[known].astype(np.float64))
    means: NDArray[np.float64] = sums / np.bincount(at[known], minlength=len(ordered))[:, None]
    return means
