"""The result of ``prompts``: scores over prompts, tests, and how alike systems answer.

How alike two systems answer is the mean cosine of an answer of one and an answer of the other to
the same prompt, beside how alike each answers itself. With s_ij that mean over prompts,

    apart_ij = (s_ii + s_jj) / 2 − s_ij

is 0 where both draw their answers from one distribution, and above 0 on average elsewhere (half the
squared distance of their mean directions): how much less alike they are than each is to itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.commands.prompts.families import Families, families_of
from calipers.results.by_name import ByKey, ByName
from calipers.results.result import Drawn
from calipers.results.rows import of_score
from calipers.results.sets import SetSummary
from calipers.score import Score
from calipers.serialise import Plain, plain

if TYPE_CHECKING:
    from calipers.results.rows import Row, Wide

Matrix = NDArray[np.float64]
TestedBy = Literal["classifier", "gaussian", "hamming"]


@dataclass(frozen=True, eq=False)
class PromptSet(ByKey[Score], Plain):
    """One set of answers: what is known of it, and its scores.

    Attributes
    ----------
    summary
        Name, source and sizes; ``n`` are the samples of prompts that all sets share.
    per_prompt
        The fewest and the most samples of a prompt.
    scores
        By their key, in the order in which tables show them; ``per_sample`` of a score holds the
        value of each prompt, in the order of `ByPrompt.prompts`.
    """

    summary: SetSummary
    per_prompt: tuple[int, ...]
    scores: Mapping[str, Score]

    @property
    def name(self) -> str:
        """Name of the set."""
        return self.summary.name

    _noun = "score"

    @property
    def _parts(self) -> Mapping[str, Score]:
        return self.scores

    def _outline(self) -> Mapping[str, Any]:
        data = {**self.summary._outline(), "per_prompt": self.per_prompt, "scores": self.scores}
        return {**data, "warnings": self.summary.warnings}

    @classmethod
    def _restored(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**data, "summary": data}


@dataclass(frozen=True)
class PromptTest(Plain):
    """One test of whether two sets answer the same prompts differently.

    Attributes
    ----------
    first, second
        Names of the sets.
    test
        ``"classifier"`` of embeddings, which sees what differs alike from prompt to prompt; MMD
        within prompts, ``"gaussian"`` on embeddings or ``"hamming"`` on the characters of texts.
    view
        What the embeddings see, ``"meaning"`` or ``"form"``; empty of characters.
    statistic
        What is set among the permutations; NaN where the pair is not testable.
    estimate
        How large the difference is: of the classifier the area under the ROC curve within prompts,
        0.5 by chance; of kernels the mean over prompts of MMD².
    p_value, adjusted
        By itself, and by Holm's correction over all pairs of this test.
    level
        Confidence level of the test.
    signature
        One line that pins every choice.
    reason
        Why the pair is not testable; None where it was tested.
    """

    first: str
    second: str
    test: TestedBy
    view: str
    statistic: float
    estimate: float
    p_value: float
    adjusted: float
    level: float
    signature: str = field(repr=False)
    reason: str | None = None

    _written = (
        *("first", "second", "test", "view", "statistic", "estimate", "p_value", "adjusted"),
        *("distinguishable", "level", "signature", "reason"),
    )

    @property
    def distinguishable(self) -> bool | None:
        """Whether the sets differ at the corrected level; None where they could not be tested."""
        return None if self.reason else self.adjusted <= round(1 - self.level, 12)


@dataclass(frozen=True, eq=False)
class Homogeneity(Plain):
    """Similarity of the answers of every two sets to the same prompts, and within each set.

    Attributes
    ----------
    names
        Of the sets, in the order of rows and columns; the reference first where there is one.
    values, low, high
        Mean cosine over prompts, shape ``(s, s)``, and its interval over prompts; on the diagonal
        of pairs of different samples. NaN where a set has one sample for each prompt.
    other_prompts
        The same of samples of different prompts: what all answers have in common, ``(s, s)``.
    apart, apart_low, apart_high
        Mean of the two own similarities less that of both, ``(s, s)``, and its interval; NaN on
        the diagonal.
    """

    _written = (
        *("names", "values", "low", "high", "other_prompts"),
        *("apart", "apart_low", "apart_high", "families"),
    )

    names: tuple[str, ...]
    values: Matrix
    low: Matrix
    high: Matrix
    other_prompts: Matrix
    apart: Matrix
    apart_low: Matrix
    apart_high: Matrix

    @cached_property
    def families(self) -> Families:
        """The hierarchical clustering of the sets."""
        return families_of(self.names, self.values)

    @property
    def order(self) -> list[int]:
        """The order of the sets in which similar ones are adjacent."""
        places = {name: place for place, name in enumerate(self.names)}
        return [places[name] for name in self.families.order]

    def most_alike(self) -> list[tuple[str, str, float]]:
        """Pairs of sets with their similarity, the most similar first."""
        pairs = [
            (self.names[i], self.names[j], float(self.values[i, j]))
            for i, j in combinations(range(len(self.names)), 2)
            if np.isfinite(self.values[i, j])
        ]
        return sorted(pairs, key=lambda pair: -pair[2])

    def alike(self) -> tuple[tuple[str, str], ...]:
        """Pairs of sets that are not shown to be less similar to each other than within themselves.

        A pair of which one set has a single sample of each prompt is not among them: how alike that
        set answers itself is not known.
        """
        pairs = combinations(range(len(self.names)), 2)
        return tuple((self.names[i], self.names[j]) for i, j in pairs if self.apart_low[i, j] <= 0)


@dataclass(frozen=True, eq=False, repr=False)
class ByPrompt(ByName[PromptSet], Drawn):
    """Answers to the same prompts: print the result, or read its scores, tests and matrix.

    Attributes
    ----------
    prompts
        The prompts that all sets share, in the order of the values of single prompts.
    reference
        The reference and its scores, or None.
    systems
        The systems and their scores, in the order given.
    homogeneity
        Similarity of the answers of the sets, as a matrix.
    tests
        Tests against the reference; without one, of every pair of systems.
    settings
        The settings of the run, as plain data.
    warnings
        Warnings on the result as a whole.
    version
        Version of Calipers that made it.
    """

    kind = "prompts"
    _needed = ("level", "view")

    prompts: tuple[str, ...]
    reference: PromptSet | None
    systems: tuple[PromptSet, ...]
    homogeneity: Homogeneity
    tests: tuple[PromptTest, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    version: str = __version__

    @property
    def sets(self) -> tuple[PromptSet, ...]:
        """The reference, if there is one, and the systems."""
        return (*(() if self.reference is None else (self.reference,)), *self.systems)

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        """Return everything as plain data, fit for strict JSON.

        Parameters
        ----------
        per_sample
            Whether to include the value of each prompt, where a score has them.
        """
        return plain(self, per_sample=per_sample)  # type: ignore[no-any-return]

    _noun = "system"

    @property
    def _parts(self) -> Mapping[str, PromptSet]:
        return {system.name: system for system in self.systems}

    def __repr__(self) -> str:
        names = ", ".join(repr(system.name) for system in self.systems)
        return f"<ByPrompt of {names}, {len(self.prompts)} prompts>"

    def _rows(self) -> Iterator[Row]:
        """A row for each score of each set."""
        for prompt_set in self.sets:
            role = "reference" if prompt_set is self.reference else "generated"
            for key, score in prompt_set.scores.items():
                about = {"system": prompt_set.name, "role": role, "key": key}
                more = {"reason": score.reason, "signature": score.signature}
                yield {**about, **of_score(score), **more}

    def _wide(self) -> Wide:
        return ("system", "role"), "key", "value"

    def _sample_rows(self) -> Iterator[Row]:
        """A row for each score of each set and each prompt."""
        for prompt_set in self.sets:
            for key, score in prompt_set.scores.items():
                values = [] if score.per_sample is None else score.per_sample.tolist()
                for prompt, value in zip(self.prompts, values, strict=False):
                    yield {"system": prompt_set.name, "key": key, "prompt": prompt, "value": value}

    def _outline(self) -> Mapping[str, Any]:
        return {
            **self._stamp(),
            "settings": self.settings,
            "prompts": self.prompts,
            "reference": self.reference,
            "systems": self.systems,
            "homogeneity": self.homogeneity,
            "tests": self.tests,
            "warnings": self.warnings,
        }

    def _check(self) -> None:
        super()._check()
        names = self.homogeneity.names
        if not self.systems or names != tuple(prompt_set.name for prompt_set in self.sets):
            raise ValueError("the names of homogeneity are not those of the sets")
        for name in ("k", "threshold"):  # which may be null
            if name not in self.settings:
                raise ValueError(f"settings lack {name!r}")
        pairs = {(test.first, test.second) for test in self.tests}
        kinds = {(test.test, test.view) for test in self.tests}
        tested = {(test.first, test.second, test.test, test.view) for test in self.tests}
        if len(tested) < len(pairs) * len(kinds):
            raise ValueError("not every pair that was tested was tested in every way")
        for name in ("values", "low", "high", "other_prompts", "apart", "apart_low", "apart_high"):
            if getattr(self.homogeneity, name).shape != (len(names),) * 2:
                raise ValueError(f"{name} of homogeneity is not of {len(names)} sets")
