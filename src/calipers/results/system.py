"""What is known of one set, and how one system fares: frozen, and readable without computing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from calipers.errors import unknown_name
from calipers.results.plain import all_scores, plain, values
from calipers.results.samples import Samples
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.explain import Explanation
    from calipers.results.explaining import Against

    Rows = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class SetSummary:
    """What a person should know of a set of samples before reading scores.

    Attributes
    ----------
    name, source
        What it is called, and where it came from.
    n, n_given
        Samples that were compared, and samples that were there.
    words
        ``{"mean", "median"}`` of the whitespace-separated words of a text; None for embeddings.
    content_hash
        SHA-256 of the samples that were compared, hexadecimal.
    warnings
        What reading the set brought up.
    groups
        Samples of each group that were compared, by label, over all files of a system; None where
        no groups were asked for, or the set has none.
    clusters
        Of how many clusters the samples of a file are, where those were asked for; else None.
    """

    name: str
    source: str
    n: int
    n_given: int
    words: Mapping[str, float] | None
    content_hash: str
    warnings: tuple[str, ...] = ()
    groups: Mapping[str, int] | None = None
    clusters: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        words = None if self.words is None else dict(self.words)
        groups = None if self.groups is None else dict(self.groups)
        return {
            "name": self.name,
            "source": self.source,
            "n": self.n,
            "n_given": self.n_given,
            "words": words,
            "content_hash": self.content_hash,
            "groups": groups,
            "clusters": self.clusters,
        }


@dataclass(frozen=True, eq=False)
class SystemResult:
    """How one system fares.

    Attributes
    ----------
    summary
        Its set; with several seed files, sizes are those of one and lengths the mean.
    scores
        By key ``[view.]metric[:option…]``, the first view without its name: ``mauve``,
        ``form.mauve_star:chi2``, ``frontier_integral:knn``. With groups also
        ``recall:group=LABEL``, ``coverage:group=LABEL``, ``precision:group=LABEL`` (by the group of
        the nearest reference sample) and, where the generated samples have groups,
        ``precision:own=LABEL``; with a training set, ``near_copies:train`` and
        ``authenticity:train``.
    curves
        Points of the curves behind the scores, by key ``[view.]curve[:option…]``: ``prd``
        (columns precision, recall) and ``frontier``, ``frontier_star`` (λ, D(Q‖R), D(P‖R), by KL
        unless the key names another divergence, as in ``frontier:chi2:knn``).
    seeds
        The sources of its files, when it has several.
    samples
        One entry for each file.
    warnings
        What is to be known of this system.
    neighbours
        Where single samples lie, by key ``[view.]name``; the files of a system one after another.
        One entry for each generated sample, shape ``(m,)``: ``nearest_reference`` (row of the
        nearest reference sample, from 0), ``reference_distance`` (to it) and
        ``reference_first_k`` (the smallest k at which a reference ball holds it; one more than
        the largest k that was measured where none does). For each reference sample, shape
        ``(n,)``, the same of the generated ones: ``nearest_generated``, ``generated_distance``,
        ``generated_first_k``; ``covered``, whether its ball of k neighbours holds a generated one.
        ``copied``: which generated samples are near copies. ``reference_cells`` and
        ``generated_cells``: the cell of each sample in the quantisation behind MAUVE;
        ``cell_count``: how many cells it has, for each file. With a training set
        ``nearest_train`` and ``train_distance``, for each generated sample.
    confounders
        What besides the model may have moved its scores, as plain data: lengths, duplicates,
        shared prompts, cut texts, scripts; None where nothing was looked at.
    curve_errors
        By key of a curve the standard error of each of its numbers, at one λ, of the same shape;
        curves that were not read from counts have none.
    correlations
        How the errors of two scores go together, by both keys: ``precision|recall``.
    against
        What it was held against, which explanations need.
    explained
        The explanations that were kept with it, by view.
    compared
        Gives, by a view, both sets as they were compared, where that does not follow from the two
        alone; None where nothing is known of it.
    """

    summary: SetSummary
    scores: Mapping[str, Score]
    curves: Mapping[str, NDArray[Any]] = field(repr=False)
    seeds: tuple[str, ...] = ()
    samples: tuple[Samples, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    neighbours: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    confounders: Mapping[str, Any] | None = None
    curve_errors: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    correlations: Mapping[str, float] = field(default_factory=dict, repr=False)
    against: Against | None = field(default=None, repr=False)
    explained: Mapping[str, Explanation] = field(default_factory=dict, repr=False)
    compared: Callable[[str], Rows | None] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the system is called."""
        return self.summary.name

    def __getitem__(self, key: str) -> Score:
        if key not in self.scores:
            raise unknown_name(f"score of {self.name!r}", key, self.scores)
        return self.scores[key]

    def explain(self, view: str | None = None) -> Explanation:
        """Tell which samples and topics cause its gap to the reference.

        Parameters
        ----------
        view
            By which view of the samples; the first one if None.

        Returns
        -------
        Explanation
            Missed and invented topics, the cells behind the divergence, samples outside the
            reference's support, near copies. Of a system of several files, the first.

        Raises
        ------
        InputError
            If there is no such view, or the samples were not kept.
        """
        from calipers.results.explaining import explain, view_of

        name = view_of(self, view)
        if name not in self._explanations:
            self._explanations[name] = explain(self, name)
        return self._explanations[name]

    @cached_property
    def _explanations(self) -> dict[str, Explanation]:
        """Those that were kept, and those that were made since."""
        return dict(self.explained)

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return the result as plain data."""
        warnings = [*self.summary.warnings, *self.warnings]
        data = self.summary.to_dict() | {"seeds": list(self.seeds)}
        data |= {"scores": all_scores(self.scores, per_sample), "warnings": warnings}
        data["confounders"] = plain(self.confounders)
        data["correlations"] = dict(self.correlations)
        if per_sample:
            data["neighbours"] = {name: values(each) for name, each in self.neighbours.items()}
        return data
