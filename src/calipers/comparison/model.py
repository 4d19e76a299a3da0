"""What a comparison found: frozen, complete, and readable without computing anything again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from calipers import __version__
from calipers.comparison.plain import all_scores, plain, values
from calipers.comparison.significance import Advice, SignificanceTest
from calipers.errors import unknown_name
from calipers.score import Score


class Texts(Protocol):
    """Texts in order: a list of strings, or a set that makes them when asked."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...


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
    """

    name: str
    source: str
    n: int
    n_given: int
    words: Mapping[str, float] | None
    content_hash: str
    warnings: tuple[str, ...] = ()
    groups: Mapping[str, int] | None = None

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
        }


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples behind a summary.

    Attributes
    ----------
    texts
        The texts in order, or None where only embeddings were given.
    vectors
        Embeddings as compared before preprocessing, by view, each of shape ``(n, d)``.
    """

    texts: Texts | None
    vectors: Mapping[str, NDArray[Any]]


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
        ``generated_first_k``. With a training set ``nearest_train`` and ``train_distance``, for
        each generated sample.
    confounders
        What besides the model may have moved its scores, as plain data: lengths, duplicates,
        shared prompts, cut texts, scripts; None where nothing was looked at.
    """

    summary: SetSummary
    scores: Mapping[str, Score]
    curves: Mapping[str, NDArray[Any]] = field(repr=False)
    seeds: tuple[str, ...] = ()
    samples: tuple[Samples, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    neighbours: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    confounders: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What the system is called."""
        return self.summary.name

    def __getitem__(self, key: str) -> Score:
        if key not in self.scores:
            raise unknown_name(f"score of {self.name!r}", key, self.scores)
        return self.scores[key]

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return the result as plain data."""
        warnings = [*self.summary.warnings, *self.warnings]
        data = self.summary.to_dict() | {"seeds": list(self.seeds)}
        data |= {"scores": all_scores(self.scores, per_sample), "warnings": warnings}
        data["confounders"] = plain(self.confounders)
        if per_sample:
            data["neighbours"] = {name: values(each) for name, each in self.neighbours.items()}
        return data


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
        from calipers.report import plain_text

        return plain_text(self.to_dict())

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

    def save(self, path: str | Path) -> None:
        """Keep scores, curves, texts and vectors in one zip of JSON and npy files."""
        from calipers.comparison.archive import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a comparison that :meth:`save` kept; nothing is computed."""
        from calipers.comparison.archive import load

        return load(Path(path))


def _with_warnings(summary: SetSummary) -> dict[str, Any]:
    return summary.to_dict() | {"warnings": list(summary.warnings)}
