"""What a comparison found: frozen, complete, and readable without computing anything again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers import __version__
from calipers.errors import unknown_name
from calipers.results.plain import all_scores
from calipers.results.samples import Samples
from calipers.results.significance import Advice, SignificanceTest
from calipers.results.system import SetSummary, SystemResult
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.explain import SampleMap
    from calipers.explain.map import Method
    from calipers.report.plots import Axes

Data = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several systems against one reference: print it, look scores up, save it.

    Attributes
    ----------
    reference
        The reference set.
    systems
        One result for each system, in the order given.
    settings
        The choices of the run, as plain data.
    warnings
        What is to be known of the comparison as a whole.
    reference_samples
        The samples behind `reference`.
    version
        Of Calipers, that made it.
    reference_scores
        What the reference itself scores, where that tells what is normal: with a training set
        ``near_copies:train`` and ``authenticity:train``, by key ``[view.]metric[:option]``.
    train
        The training set, or None.
    tests
        For every pair of systems whether they differ, score by score, and for every system
        whether it can be told from the reference.
    advice
        What more samples would change, where that was asked for.
    maps
        The maps of all samples that were kept with it, by view.
    """

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

    def __getitem__(self, name: str) -> SystemResult:
        for system in self.systems:
            if system.name == name:
                return system
        raise unknown_name("system", name, [system.name for system in self.systems])

    def __contains__(self, name: object) -> bool:
        return any(system.name == name for system in self.systems)

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        return f"<Comparison of {names} with {self.reference.name!r}>"

    def __iter__(self) -> Iterator[SystemResult]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def __str__(self) -> str:
        from calipers.report.documents import compare
        from calipers.report.render.text import plain

        return plain(compare.document(self.to_dict()))

    def _repr_html_(self) -> str:
        from calipers.report.documents import summary
        from calipers.report.render.html import html

        return html(summary(self.to_dict()))

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return all results as plain data, fit for strict JSON.

        Parameters
        ----------
        per_sample
            Whether to include one value for each sample, where a metric has them, and where each
            sample lies (``neighbours``).
        """
        scores = all_scores(self.reference_scores, per_sample)
        return {
            "calipers": self.version,
            "settings": dict(self.settings),
            "reference": _with_warnings(self.reference) | {"scores": scores},
            "train": None if self.train is None else _with_warnings(self.train),
            "systems": [system.to_dict(per_sample=per_sample) for system in self.systems],
            "tests": [test.to_dict() for test in self.tests],
            "advice": [each.to_dict() for each in self.advice],
            "warnings": list(self.warnings),
        }

    def report_data(self, *, redact: bool = False, map_method: Method | None = None) -> Data:
        """Return all that a report or a plot shows, as plain data; see docs/report.md.

        Parameters
        ----------
        redact
            Leave the texts out; telling words of topics stay.
        map_method
            How the map lays out the samples: ``"pca"`` or ``"umap"``; None for the map that was
            kept, else PCA.
        """
        from calipers.results.report_data import report_data

        return report_data(self, redact=redact, method=map_method)

    def html(self, *, redact: bool = False, map_method: Method | None = None) -> str:
        """Return the report as one HTML page that stands by itself and asks no host for anything.

        Parameters are those of :meth:`report_data`.

        Raises
        ------
        MissingExtraError
            If the extra ``report`` is not installed.
        """
        from calipers.report.html import html_page

        return html_page(self.report_data(redact=redact, map_method=map_method))

    def plot(self, kind: str, *, axes: Axes | None = None, **options: Any) -> Axes:
        """Draw one panel of a kind of plot, in a notebook or for a paper.

        Parameters
        ----------
        kind
            ``"plane"``, ``"curves"``, ``"frontiers"``, ``"map"``, …: a key of
            ``calipers.report.plot_kinds.KINDS``.
        axes
            Where to draw; axes of a figure of their own by default, which is their ``.figure``.
        options
            As :func:`calipers.report.plot_kinds.draw_axes` has them: ``view="form"``.

        Raises
        ------
        InputError
            If there is no such kind or option, or the comparison lacks what it shows.
        """
        from calipers.report.plot_kinds import draw_axes
        from calipers.results.report_data import picture_data

        return draw_axes(kind, picture_data(self, kind), axes, **options)

    def save(self, path: str | Path) -> None:
        """Keep scores, curves, explanations, texts and vectors in one zip of JSON and npy files."""
        from calipers.results.archive import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a comparison that :meth:`save` kept; nothing is computed."""
        from calipers.results.archive import load

        return load(Path(path))


def _with_warnings(summary: SetSummary) -> dict[str, Any]:
    return summary.to_dict() | {"warnings": list(summary.warnings)}
