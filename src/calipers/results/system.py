"""The result of one system: scores, curves, samples, and explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from calipers.catalogue.settings import Settings
from calipers.errors import InputError, unknown_name
from calipers.explain import Evidence, Explanation, explain_pair
from calipers.explain.evidence import OF_GENERATED, OF_REFERENCE, Trained
from calipers.explain.pair import LEVEL
from calipers.results.by_name import ByKey
from calipers.results.card import card
from calipers.results.caution import Caution
from calipers.results.pictures import Pictures
from calipers.results.prompts import PromptOverlap
from calipers.results.result import of_system, system_from
from calipers.results.sets import Samples, SetSummary
from calipers.score import Score
from calipers.serialise import Plain, plain
from calipers.uncertainty.spread import Spread

Rows = tuple[NDArray[Any], NDArray[Any]]
Data = Mapping[str, Any]

NUMBERS: Mapping[str, Sequence[str]] = {
    "truncation": ("reference", "generated"),
    "duplicates": ("reference", "generated"),
    "copies": ("generated", "expected"),
    "prompts": ("reference", "generated"),
    "beginnings": ("generated", "expected", "words"),
    "language": ("generated_foreign", "expected"),
}
"""The numbers that every check has; others beside them may be missing."""

UNITS = ("words", "characters", "tokens")
OF_LENGTHS = ("reference", "generated", "distance", "chance")
SIDES = ("reference", "generated")


@dataclass(frozen=True, eq=False)
class Against:
    """The reference of a system, and the settings of the comparison.

    Attributes
    ----------
    samples
        The reference.
    settings
        How neighbours are found, and where.
    level
        Of confidence, at which topics are tested.
    trained_on
        The pictures of the training set, where there is one of images; else None.
    """

    samples: Samples
    settings: Settings
    level: float = LEVEL
    trained_on: Pictures | None = None

    @classmethod
    def of(cls, samples: Samples, settings: Mapping[str, Any]) -> Against:
        """Take the settings of a run."""
        return cls(samples, Settings.of(settings), float(settings.get("level") or LEVEL))


@dataclass(frozen=True, eq=False)
class SystemResult(ByKey[Score], Plain):
    """The result of one system.

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
        Warnings on this system.
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
        Confounders that may have moved its scores, as plain data: lengths, duplicates,
        shared prompts, cut texts, scripts; None where nothing was looked at.
    curve_errors
        By key of a curve the standard error of each of its numbers, at one λ, of the same shape;
        curves that were not read from counts have none.
    correlations
        Correlations of the errors of two scores, by both keys: ``precision|recall``.
    against
        The reference it was compared with, needed by explanations.
    explained
        The explanations that were kept with it, by view.
    compared
        Gives, by a view, both sets as they were compared, where that does not follow from the two
        alone; None where nothing is known of it.
    prompts
        How many prompts it shares with the reference, of several files the first; None where none.
    cautions
        The warnings that could change a verdict, the worst first.
    withheld
        Why nothing was measured of its embeddings, and no verdict is given: the embedder knows too
        few of its words or the reference's. None where it reads enough.
    is_reference
        Whether all its samples are the reference's. It is measured and shown, but is no system to
        be ranked or tested against others.
    spreads
        By key of a score how much it moves, source by source; kept in the zip, so that two runs of
        one reference can be compared with what they share.
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
    cautions: tuple[Caution, ...] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict, repr=False)
    withheld: str | None = None
    prompts: PromptOverlap | None = None
    is_reference: bool = False

    _optional = (
        *("seeds", "curves", "neighbours", "confounders", "correlations", "cautions"),
        *("withheld", "prompts", "is_reference"),
    )
    _apart = ("samples", "curve_errors", "against", "explained", "compared", "spreads")

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.summary.name

    @property
    def _parts(self) -> Mapping[str, Score]:
        return self.scores

    @property
    def _what(self) -> str:
        return f"score of {self.name!r}"

    def __str__(self) -> str:
        return card(
            self.summary,
            self.scores,
            cautions=self.cautions,
            warnings=self.warnings,
            withheld=self.withheld,
        )

    @property
    def explainable(self) -> tuple[str, ...]:
        """The views in which it can be explained; none where its samples were not kept."""
        if self.against is None or not self.samples or self.withheld is not None:
            return ()
        return tuple(self.samples[0].vectors)

    def explain(self, view: str | None = None) -> Explanation:
        """Find the samples and topics that cause its gap to the reference.

        Parameters
        ----------
        view
            The view of the samples; the first one if None.

        Returns
        -------
        Explanation
            Topics that are significantly under- or over-represented, the cells behind the
            divergence, samples outside the reference's support, near copies. Of a system of several
            files, the first.

        Raises
        ------
        InputError
            If there is no such view, or the samples were not kept.
        """
        name = _view_of(self, view)
        if name not in self._explanations:
            level = LEVEL if self.against is None else self.against.level
            explanation = explain_pair(evidence_of(self, name), view=name, level=level)
            self._explanations[name] = explanation
        return self._explanations[name]

    @cached_property
    def _explanations(self) -> dict[str, Explanation]:
        """Those that were kept, and those that were made since."""
        return dict(self.explained)

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return the result as plain data; `per_sample` as of :meth:`Comparison.to_dict`."""
        return plain(self, per_sample=per_sample)  # type: ignore[no-any-return]

    def _outline(self) -> Mapping[str, Any]:
        data = of_system(self.summary, seeds=self.seeds, scores=self.scores, warnings=self.warnings)
        return {
            **data,
            "cautions": self.cautions,
            "confounders": self.confounders,
            "correlations": self.correlations,
            "withheld": self.withheld,
            "is_reference": self.is_reference,
            "prompts": self.prompts,
        }

    def _of_samples(self) -> Mapping[str, Any]:
        return {"neighbours": self.neighbours}

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        fields = {**system_from(data), "curves": {}}
        empty = [
            name for name in ("confounders", "correlations", "prompts") if fields.get(name) is None
        ]
        for name in empty:
            fields.pop(name, None)
        check_confounders(fields.get("confounders"))
        return fields


def _view_of(system: SystemResult, view: str | None) -> str:
    """Name the view that is meant: the first one unless another is named.

    Raises
    ------
    InputError
        If there is no such view, or the samples were not kept.
    """
    if system.withheld is not None:
        raise InputError(f"{system.name}: cannot be explained: {system.withheld}")
    if system.against is None or not system.samples:
        raise InputError(
            f"{system.name}: cannot be explained without its samples and the reference; take the "
            "result from a comparison"
        )
    views = list(system.samples[0].vectors)
    if view is not None and view not in views:
        raise unknown_name(f"view of {system.name!r}", view, views)
    return views[0] if view is None else view


def evidence_of(system: SystemResult, view: str) -> Evidence:
    """Collect the evidence for an explanation of a system's first file in one view.

    Raises
    ------
    InputError
        If its samples or the reference are not known.
    """
    against, view = system.against, _view_of(system, view)
    if against is None:
        raise InputError(f"{system.name}: nothing is known of the reference")
    main = next(iter(system.samples[0].vectors)) == view
    samples = system.samples[0]
    rows = against.samples.vectors[view], samples.vectors[view]
    n, m = map(len, rows)
    lie = _of_view(system.neighbours, "" if main else f"{view}.")
    near = {name: lie[name][:n] for name in OF_REFERENCE if name in lie}
    near |= {name: lie[name][:m] for name in OF_GENERATED if name in lie}
    realism = system.scores.get("realism" if main else f"{view}.realism")
    by_sample = None if realism is None else realism.per_sample
    clusters = against.samples.clusters, samples.clusters
    known = all(numbers is not None for numbers in clusters)
    return Evidence(
        *rows,
        reference_texts=against.samples.listed,
        generated_texts=samples.listed,
        reference_files=against.samples.files,
        generated_files=samples.files,
        pictured=None not in (against.samples.pictures, samples.pictures),
        trained=_trained(system, "" if main else f"{view}.", m),
        reference_words=against.samples.words,
        generated_words=samples.words,
        neighbours=near,
        realism=None if by_sample is None else by_sample[:m],
        reference_cells=lie["reference_cells"][:n] if "reference_cells" in lie else None,
        generated_cells=lie["generated_cells"][:m] if "generated_cells" in lie else None,
        cells=int(lie["cell_count"][0]) if "cell_count" in lie else None,
        k=against.settings.k,
        distance=against.settings.distance,
        projection=against.settings.projection,
        normalise=against.settings.normalise,
        rows=None if system.compared is None else system.compared(view),
        reference_clusters=clusters[0] if known else None,
        generated_clusters=clusters[1] if known else None,
    )


def _trained(system: SystemResult, before: str, m: int) -> Trained | None:
    """What of the first file of images lies near the training set; None where nobody knows."""
    score = system.scores.get(f"{before}near_copies:train")
    pictures = None if system.against is None else system.against.trained_on
    names = f"{before}nearest_train", f"{before}train_distance"
    nearest, distance = (system.neighbours.get(name) for name in names)
    if score is None or pictures is None or nearest is None or distance is None:
        return None
    share = score.seeds[0] if score.seeds else score.value
    if not share >= 0:
        return None
    return Trained(nearest[:m], distance[:m], round(share * m), pictures.files)


def _of_view(neighbours: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """What is known by one view, without its name; other views have a dot in theirs."""
    of_view = {}
    for key, values in neighbours.items():
        name = key.removeprefix(prefix)
        if key == prefix + name and "." not in name:
            of_view[name] = values
    return of_view


def check_confounders(data: Any) -> None:
    """Refuse invalid data on confounders.

    Raises
    ------
    LookupError, TypeError
        If a field is missing or of another kind; the message names it.
    """
    if data is None:
        return
    checks = _object("confounders", data)
    for check, names in NUMBERS.items():
        if checks.get(check) is not None:
            _numbers(check, checks[check], names)
    lengths = _object("lengths", checks.get("lengths") or {})
    for unit in UNITS:
        if lengths.get(unit) is not None:
            _numbers(f"lengths in {unit}", lengths[unit], OF_LENGTHS, defined=True)
    for check in ("scripts", "languages"):
        found = _object(check, checks.get(check) or {side: {} for side in SIDES})
        for side in SIDES:
            shares = _object(f"{check} of the {side} set", found[side])
            _numbers(f"{check} of the {side} set", shares, list(shares))
    example = _object("language", checks.get("language") or {}).get("example")
    if not isinstance(example, str | None):
        raise TypeError(f"the example of another language is {example!r:.100}, not a text")


def _object(name: str, data: Any) -> Data:
    if not isinstance(data, Mapping):
        raise TypeError(f"{name} are {data!r:.100}, not an object")
    return data


def _numbers(where: str, data: Any, names: Sequence[str], *, defined: bool = False) -> None:
    """Refuse what is no number; null, for one that JSON lacks, passes unless it must be defined."""
    for name, value in ((name, _object(where, data)[name]) for name in names):
        if value is None and not defined:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} of {where} is {value!r:.100}, not a number")
