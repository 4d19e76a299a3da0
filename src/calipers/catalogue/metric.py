"""An entry of the catalogue: a metric as data, with the name of the function that measures it."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol

from calipers.catalogue.estimation import COUNTING, DEFAULTS, UNSEEN, UNSEEN_FROM, EstimationOptions
from calipers.catalogue.keys import Option, Value, canonical
from calipers.catalogue.needs import NOTHING, Needs
from calipers.errors import CalipersError
from calipers.score import Better, Score, signature

MetricKind = Literal["embeddings", "texts", "likelihoods"]

Side = Literal["both", "own", "against", "aligned", "models"]
"""What a metric looks at: both sets of embeddings alike; the texts of one set alone, against a
whole other set, row by row against references, or both sets under two language models."""

UNIT = (0.0, 1.0)
FROM_ZERO = (0.0, math.inf)
FROM_ONE = (1.0, math.inf)
ANY = (-math.inf, math.inf)

SHARED = ("support", "copying")
"""Families read from the one pass over the distances: what that lacks is an error of the run."""

UNBOUNDED = "where it is infinite, everything beyond that"
"""What a metric without bound does not detect, where a sample may have no part in the other set."""


class Measured(Protocol):
    """The input of a metric: a pair of embedded sets, or texts and what they are compared with."""

    @property
    def sizes(self) -> dict[str, int]:
        """The number of samples of each set, by its name in signatures."""
        ...


@dataclass(frozen=True, kw_only=True)
class Family:
    """Metrics that are listed together.

    Attributes
    ----------
    name
        What stands for all of them in a key.
    question
        What they answer.
    members
        Which they are, as the help of a command lists them.
    heading
        What stands over their rows in a table of texts.
    """

    name: str
    question: str
    members: str
    heading: str = ""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric of the catalogue, on embeddings, on texts or on language-model likelihoods.

    Attributes
    ----------
    name
        The key under which its score stands, without options.
    family
        What it is listed with.
    label
        What it is called at the head of a column or in a row.
    meaning
        What the legend of a table says of it; ``{option}`` stands for what an option chooses.
    meanings
        What it says instead where the key has one of these words.
    tells
        What a person learns from it, in one line.
    read
        ``module:function`` that measures it, from a pair or from texts and the options.
    source
        The paper, and its equation or section.
    parity
        Whose numbers it equals, or whose definition it is measured by.
    blind
        What it does not detect by the default options.
    unseen
        What it does not detect by estimators that count no cells, before and after what these do
        not see themselves; None where the estimator is not chosen.
    side
        What it looks at.
    scored
        Whether it is measured on what language models say of the texts.
    options
        The options that its key may carry.
    range, better
        As of its scores, by the default options.
    ranged
        ``module:function`` that gives the range by the name and other options.
    equal
        What a set scores against itself by the default options; None where that depends on the set.
    chance
        What sets score that cannot be distinguished: a value beyond it is chance, or an artefact,
        and ranks as this does; None where there is no such value.
    ranked
        Whether an end of the range is good, so that a column has a best value.
    headline
        Whether the table of a comparison shows it unless others were asked for.
    scaled
        Whether it depends on the scaling constant c.
    alias_of, smoothing
        The metric that it is another name for, with this smoothing of counts.
    needs
        What the pass over the distances must measure for it, beyond the balls of the shared k.
    replicates
        How it is read without a block of rows: ``"counts"`` that the estimates keep, a
        ``module:function`` that knows sums of its own, or how much it moves, ``"parts"`` of the
        sets where nothing is kept, or ``"none"`` where not even these tell how much it moves.
    on_request
        Whether it is left out unless it, its family or all was asked for.
    slow
        Whether its family and all leave it out too, so that it must be asked for by its own name.
    shown
        The keys that the default table has of it; its name, where empty.
    sized
        Whether the number of texts alone moves it; or the words by which it does.
    ordered
        Whether the order of the texts moves it.
    extra, package
        The extra of Calipers without which it has no value, and the package that this brings.
    extra_if_unequal
        Whether it can do without for sets of one size.
    option_extras
        By a word of its key, the extra and the package that this choice alone needs.
    """

    name: str
    family: str
    label: str
    meaning: str
    meanings: Mapping[str, str] = field(default_factory=dict, hash=False)
    tells: str
    read: str
    source: str
    blind: str
    parity: str = ""
    unseen: tuple[str, str] | None = None
    side: Side = "both"
    scored: bool = False
    options: tuple[Option, ...] = ()
    range: tuple[float, float] = UNIT
    better: Better = "higher"
    ranged: str | None = None
    equal: float | None = None
    chance: float | None = None
    ranked: bool = True
    headline: bool = False
    scaled: bool = False
    alias_of: str | None = None
    smoothing: str = "none"
    needs: Needs = NOTHING
    replicates: str = "parts"
    on_request: bool = False
    slow: bool = False
    shown: tuple[str, ...] = ()
    sized: bool | tuple[str, ...] = False
    ordered: bool = False
    extra: str | None = None
    package: str | None = None
    extra_if_unequal: bool = False
    option_extras: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)

    @property
    def kind(self) -> MetricKind:
        """The kind of input that it is measured on."""
        if self.scored:
            return "likelihoods"
        return "embeddings" if self.side == "both" else "texts"

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that stand for it in lists."""
        return self.shown or (self.name,)

    def takes(self, option: str) -> bool:
        """Whether its key accepts an option."""
        return any(own_option.name == option for own_option in self.options)

    def key(self, options: EstimationOptions | Mapping[str, Value]) -> str:
        """Return the canonical key with these options."""
        if isinstance(options, EstimationOptions):
            return options.key(self.name)
        return canonical(self.name, self.options, options)

    def label_of(self, words: Sequence[str]) -> str:
        """Return the label of a row, for options as written in its key."""
        labels = {word: label for option in self.options for word, label in option.labels.items()}
        sizes = [f"-{word.removeprefix('n=')}" for word in words if word.startswith("n=")][:1]
        unsaid = [option.unsaid(words) for option in self.options]
        others = [labels.get(word, word) for word in words if word and not word.startswith("n=")]
        return " ".join(["".join([self.label, *sizes, *unsaid]), *others]).replace(" -", "-")

    def meaning_of(self, words: Sequence[str]) -> str:
        """Return the line in the legend of a table, for options as written in its key."""
        meanings = (self.meanings[word] for word in words if word in self.meanings)
        chosen = {option.name: option.sentence(words) for option in self.options}
        return next(meanings, self.meaning).format_map(chosen)

    def range_of(self, options: EstimationOptions | Mapping[str, Value]) -> tuple[float, float]:
        """Return the smallest and largest value, for some options."""
        if self.ranged is None or options == DEFAULTS:
            return self.range
        bounds: tuple[float, float] = resolve(self.ranged)(self.alias_of or self.name, options)
        return bounds

    def blind_of(self, options: EstimationOptions | Mapping[str, Value]) -> str:
        """Return what it does not detect, for some options."""
        if self.unseen is None or not isinstance(options, EstimationOptions):
            return self.blind
        counted = options.estimator == COUNTING
        before, after = self.unseen
        seen_from = UNSEEN_FROM.get(options.points, "")
        parts = (before, UNSEEN.get(options.estimator, ""), seen_from, after)
        plain = self.blind.removesuffix(f"; {UNBOUNDED}")
        blind_to = plain if counted else "; ".join(filter(None, parts))
        bare = self.smoothing == options.smoothing == "none"
        if self.range[1] < math.inf or not bare or options.estimator not in (COUNTING, "knn"):
            return blind_to
        endless = math.isinf(self.range_of(options)[1])
        return f"{blind_to}; {UNBOUNDED}" if endless else blind_to

    def score(
        self, sets: Measured, options: EstimationOptions | Mapping[str, Value] = DEFAULTS
    ) -> Score:
        """Compute the score.

        A score that its own estimate, its texts or a missing package do not allow is NaN with the
        reason, and leaves the others alone. Where the pass that many metrics share lacks what was
        asked of it, that is an error.
        """
        chosen = options
        if self.alias_of is not None and isinstance(options, EstimationOptions):
            chosen = options.smoothed(self.smoothing)
        try:
            score: Score = resolve(self.read)(sets, chosen)
        except CalipersError as error:
            if self.family in SHARED:
                raise
            return Score(
                math.nan,
                range=self.range_of(options),
                better=self.better,
                signature=signature({"metric": self.key(options), **sets.sizes}),
                reason=str(error),
            )
        return score


@cache
def resolve(name: str) -> Any:
    """Import the object that ``module:name`` names.

    Examples
    --------
    >>> resolve("math:sqrt")(4.0)
    2.0
    """
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
