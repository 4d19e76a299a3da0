"""The result of a comparison: several systems against one reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from calipers._version import __version__
from calipers.errors import InputError
from calipers.progress import Progress, Silent
from calipers.results.by_name import ByName
from calipers.results.caution import Caution, sentences, worst_first
from calipers.results.result import Result, with_warnings
from calipers.results.run_signature import RunSignature, signature_of
from calipers.results.sets import Samples, SetSummary
from calipers.results.shared_signatures import with_own_signatures, with_shared_signatures
from calipers.results.shown import ShownScore
from calipers.results.system import SystemResult
from calipers.results.tests import IndexedTests, SignificanceTest, columns_of, read_columns
from calipers.results.verdict import Verdict
from calipers.score import Score
from calipers.serialise import Plain, plain

if TYPE_CHECKING:
    from calipers.catalogue.settings import Norm
    from calipers.explain import SampleMap
    from calipers.explain.map import Method
    from calipers.results.archive import Archive, Draft
    from calipers.results.inspect_scores import Record
    from calipers.results.rows import Row, Wide


@dataclass(frozen=True)
class Advice(Plain):
    """Advice on sample size: how one score of one system would change with more samples.

    Attributes
    ----------
    system, score
        Whose score, and its key.
    sizes, values
        Numbers of samples, the last that of the run, and the mean score at each, with settings
        held at those of the full run.
    limit
        The value that these lead to with infinitely many samples; NaN where they do not settle.
    bias
        The last value less the limit.
    spread
        Standard error of the score at the full size.
    plateau
        Whether the score still moves less, from half of the samples to all, than the tolerance.
    """

    system: str
    score: str
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    limit: float
    bias: float
    spread: float
    plateau: bool


@dataclass(frozen=True)
class Varied:
    """The design of a comparison: what its systems differ in, such as a parameter of decoding.

    Attributes
    ----------
    names
        All that varies.
    values
        Of the last of these, by system.
    lines
        What systems that differ in nothing but that have in common, by system.
    """

    names: tuple[str, ...]
    values: Mapping[str, float]
    lines: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ByName[SystemResult], Result):
    """Comparison of several systems with one reference: print it, look scores up, save it.

    Attributes
    ----------
    reference
        The reference set.
    systems
        One result for each system, in the order given.
    settings
        The settings of the run, as plain data.
    warnings
        Warnings on the comparison as a whole.
    reference_samples
        The samples behind `reference`.
    version
        Version of Calipers that made it.
    reference_scores
        Scores of the reference itself, where they show what is normal: with a training set
        ``near_copies:train`` and ``authenticity:train``, by key ``[view.]metric[:option]``.
    train
        The training set, or None.
    tests
        For every pair of systems whether they differ, score by score, and for every system
        whether it can be told from the reference.
    advice
        How scores would change with more samples, if requested.
    maps
        The maps of all samples that were kept with it, by view.
    cautions
        The warnings that could change a verdict, the worst first; systems have their own.
    shown
        The scores of the table, which are also those that are tested.
    verdict
        The verdict, in the few sentences that a person reads first.
    """

    kind = "comparison"
    _noun = "system"
    _plot: ClassVar[str] = "plane"
    _needed = ("views",)
    _optional = ("train", "tests", "advice", "reference_scores", "cautions")
    _apart = ("reference_samples", "maps")

    reference: SetSummary
    systems: tuple[SystemResult, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    reference_samples: Samples | None = field(default=None, repr=False)
    version: str = __version__
    reference_scores: Mapping[str, Score] = field(default_factory=dict, repr=False)
    train: SetSummary | None = None
    tests: tuple[SignificanceTest, ...] = ()
    advice: tuple[Advice, ...] = ()
    maps: Mapping[str, SampleMap] = field(default_factory=dict, repr=False)
    cautions: tuple[Caution, ...] = ()
    shown: tuple[ShownScore, ...] = ()
    verdict: Verdict = field(default_factory=Verdict)

    @property
    def _parts(self) -> Mapping[str, SystemResult]:
        return {system.name: system for system in self.systems}

    @cached_property
    def indexed(self) -> IndexedTests:
        """The tests, by score and systems."""
        return IndexedTests(self.tests, [system.name for system in self.systems])

    @property
    def signature(self) -> RunSignature:
        """How the comparison was measured: a short line to quote, and every setting in full."""
        return signature_of(self)

    @property
    def varied(self) -> Varied | None:
        """What the systems differ in by design; None where that is unknown."""
        return None

    def chosen(self, name: str | None = None) -> SystemResult:
        """Return a system by its name, or the only one.

        Raises
        ------
        InputError
            If there is no such system, or no name is given and there are several.
        """
        if name is not None:
            return self[name]
        if len(self.systems) > 1:
            names = ", ".join(repr(system.name) for system in self.systems)
            raise InputError(f"system must name one of the {len(self.systems)} systems: {names}")
        return self.systems[0]

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        return f"<Comparison of {names} with {self.reference.name!r}>"

    def _repr_html_(self) -> str:
        page: str = self._report("page")(self, brief=True)
        return self.summary().in_notebook(page)

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON.

        A signature that several systems share is written once, in ``signatures``.

        Parameters
        ----------
        per_sample
            Whether to include one value for each sample, where a metric has them, and where each
            sample lies (``neighbours``).
        """
        return with_shared_signatures(plain(self, per_sample=per_sample))

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "signature": self.signature,
            "verdict": self.verdict,
            "findings": self.verdict.findings,
            "shown": self.shown,
            **self._measured(),
        }

    def _measured(self) -> Mapping[str, Any]:
        return {
            "settings": self.settings,
            "reference": {**with_warnings(self.reference), "scores": self.reference_scores},
            "train": None if self.train is None else with_warnings(self.train),
            "systems": self.systems,
            "tests": {
                "between_systems": columns_of(self.indexed.between),
                "against_reference": columns_of(self.indexed.against),
            },
            "advice": self.advice,
            "warnings": self.warnings,
            "cautions": self.cautions,
        }

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        scores = data["reference"].get("scores", {})
        verdict = {"findings": data["findings"], "cautions": data["verdict"]["cautions"]}
        tests = data.get("tests") or {}
        return {
            **super()._restored(with_own_signatures(data)),
            "reference_scores": scores,
            "verdict": verdict,
            "tests": [test for columns in tests.values() for test in read_columns(columns)],
        }

    def _check(self) -> None:
        super()._check()
        names = [system.name for system in self.systems]
        if len(set(names)) < len(names):
            raise ValueError(f"systems share a name: {names!r:.100}")
        for system in self.systems:
            for pair, value in system.correlations.items():
                if not -1 <= value <= 1:
                    raise ValueError(f"correlation {pair} is {value}, not between -1 and 1")

    def _rows(self) -> list[Row]:
        from calipers.results.rows import score_rows

        return score_rows(self)

    def _sample_rows(self) -> list[Row]:
        from calipers.results.rows import sample_rows

        return sample_rows(self)

    def _wide(self) -> Wide:
        return ("system", "role"), "key", "value"

    def report_data(
        self, *, redact: bool = False, map_method: Method | None = None
    ) -> dict[str, Any]:
        """Return the content of reports and plots as plain data; see docs/report.md.

        Parameters
        ----------
        redact
            Leave the texts out; keywords of topics stay.
        map_method
            How the map lays out the samples: ``"pca"`` or ``"umap"``; None for the map that was
            kept, else PCA.
        """
        explained = self.explained(map_method=map_method)
        data: dict[str, Any] = self._report("page_data")(explained, redact=redact)
        return data

    def html(
        self,
        *,
        redact: bool = False,
        map_method: Method | None = None,
        sort: str | None = None,
    ) -> str:
        """Return the report as one self-contained HTML page that loads nothing from the network.

        Parameters
        ----------
        redact, map_method
            As for :meth:`report_data`.
        sort
            The order of systems in its tables: ``"closeness"`` (the default), ``"name"``,
            ``"given"``, or the key of a score, the best first.
        """
        explained = self.explained(map_method=map_method)
        page: str = self._report("page")(explained, redact=redact, sort=sort)
        return page

    def plot(self, kind: str | None = None, *, axes: Any = None, **options: Any) -> Any:
        """Draw one panel of a kind of plot, for a notebook or a paper.

        Parameters
        ----------
        kind
            ``"plane"`` (precision against recall, the default), ``"curves"``, ``"frontiers"``,
            ``"map"``, …, as ``calipers plot --help`` lists them. Of a tuning ``"parameter"`` is the
            default.
        axes
            The ``Axes`` of matplotlib to draw into; of a figure of their own by default, which is
            their ``.figure``.
        options
            As :func:`calipers.report.plot_kinds.draw_axes` has them: ``view="form"``.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.

        Raises
        ------
        InputError
            If there is no such kind or option, or the comparison lacks what it shows.
        """
        return self._report("axes")(kind or self._plot, self, axes, **options)

    def explained(
        self, *, map_method: Method | None = None, progress: Progress | None = None
    ) -> Self:
        """Return the comparison with explanations of every system in every view, and maps.

        Existing explanations are kept. Systems without their samples have none.

        Parameters
        ----------
        map_method
            How the maps lay out the samples, as for :meth:`report_data`.
        progress
            Display of the progress; none by default.
        """
        steps = sum(len(system.explainable) for system in self.systems) + 1
        with (progress or Silent()).task("Explaining", steps) as advance:
            explained = self.with_explanations(advance)
            mapped = explained.with_maps(map_method)
            advance(1)
        return mapped

    def with_explanations(self, advance: Callable[[int], None] | None = None) -> Self:
        """Return the comparison with explanations of every system in every view.

        Parameters
        ----------
        advance
            Called with 1 after each of them.
        """
        made = []
        for system in self.systems:
            explained = dict(system.explained)
            for view in system.explainable:
                explained[view] = system.explain(view)
                if advance is not None:
                    advance(1)
            made.append(replace(system, explained=explained))
        return replace(self, systems=tuple(made))

    def with_maps(self, method: Method | None = None) -> Self:
        """Return the comparison with a map of all samples in every view.

        For a system with several files, the map shows the samples of the first.

        Parameters
        ----------
        method
            As for :meth:`report_data`; existing maps of this method are kept.
        """
        from calipers.explain import sample_map

        if self.maps and method in (None, next(iter(self.maps.values())).method):
            return self
        reference = self.reference_samples
        if reference is None or any(not system.samples for system in self.systems):
            return replace(self, maps={})
        sets = [reference, *(system.samples[0] for system in self.systems)]
        # Runs that were kept before there was a choice scaled every row
        norm: Norm = "none" if self.settings.get("normalise") == "none" else "l2"
        seed = int(self.settings.get("seed") or 0)
        maps = {
            view: sample_map(
                [samples.vectors[view] for samples in sets],
                method=method or "pca",
                normalise=norm,
                seed=seed,
            )
            for view in reference.vectors
        }
        return replace(self, maps=maps)

    def inspect_records(
        self,
        system: str | None = None,
        *,
        file: int = 0,
        value: str | None = None,
        redact: bool = False,
    ) -> list[Record]:
        """Return per-sample values for ``precomputed_scores()`` of inspect.

        Parameters
        ----------
        system, file
            Whose samples, which must be read from a log of inspect; the only system if None. Of
            several files which one, from 0.
        value
            The one number that every record has, such as ``"in_support"``; an object of all of
            them if None.
        redact
            Whether the nearest samples are named by their rows alone.

        Returns
        -------
        list of dict
            ``id``, ``epoch``, ``value``, ``explanation`` and ``metadata``; write them with
            :func:`calipers.results.inspect_scores.write_records`, or as JSON.

        Raises
        ------
        InputError
            If there is no such system or value, or the samples are of no log of inspect.
        """
        from calipers.results.inspect_scores import inspect_records

        return inspect_records(self, system, file=file, value=value, redact=redact)

    def _pack(self, draft: Draft) -> None:
        from calipers.results.comparison_archive import pack

        pack(self, draft)

    @classmethod
    def _unpacked(cls, archive: Archive) -> Comparison:
        from calipers.results.comparison_archive import check_fits, parts_of

        data = archive.json("comparison.json")
        archive.check_arrays(data)
        comparison = cls.from_dict(data)
        comparison = replace(comparison, **parts_of(comparison, archive))
        check_fits(comparison)
        return comparison


def with_cautions(comparison: Comparison, cautions: Iterable[Caution]) -> Comparison:
    """Add cautions on the whole comparison, and their sentences to the warnings."""
    added = tuple(cautions)
    return replace(
        comparison,
        warnings=(*comparison.warnings, *sentences(added)),
        cautions=worst_first((*comparison.cautions, *added)),
    )
