"""One text metric that was asked for, and its score with the reference's own value beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal
from weakref import ReferenceType, WeakKeyDictionary, ref

from calipers.errors import InputError, require
from calipers.score import Score
from calipers.text.entries.metric import Held, TextMetric
from calipers.text.keys import Value, canonical

if TYPE_CHECKING:
    from calipers.text.corpus import Corpus

TRAIN = "train"
"""The option that holds texts against the training set instead of the reference."""

ITSELF = "itself"
"""The option that holds texts against the others of their own set."""

NEEDS = {"own": None, "against": "reference", "aligned": "aligned"}
"""What the sides of metrics need, where no option says otherwise."""

_Place = tuple[int, int, "ReferenceType[Corpus] | None"]
"""What T(P) depends on besides the reference: the size, the seed, the training set."""


@dataclass(frozen=True)
class TextChoice:
    """A text metric that was asked for, with its options.

    Attributes
    ----------
    metric, options
        What is measured.
    named
        Whether it was asked for by its own name, and not as one of many.
    """

    metric: TextMetric
    options: Mapping[str, Value]
    named: bool = True
    _kept: WeakKeyDictionary[Corpus, dict[_Place, Score]] = field(
        init=False, default_factory=WeakKeyDictionary, repr=False, compare=False
    )

    @property
    def key(self) -> str:
        """The canonical key, as a person would write it."""
        return canonical(self.metric.name, self.metric.takes, self.options)

    @property
    def needs(self) -> Literal["reference", "train", "aligned"] | None:
        """What must be there besides the texts; None for statistics of one set."""
        found = self.options.get("against", NEEDS[self.metric.side])
        return None if found == ITSELF else found  # type: ignore[return-value]

    @property
    def sized(self) -> bool:
        """Whether the number of texts alone moves it, with these options."""
        sized = self.metric.sized
        return sized if isinstance(sized, bool) else sized(self.options)

    @property
    def has_gap(self) -> bool:
        """Whether the reference has a value of its own, so that a gap can be told."""
        return self.needs in (None, TRAIN)

    def score(
        self,
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
        against = self._against(reference, train)

        def read(texts: Corpus) -> Score:
            return self._read(Held(texts, against, seed=seed, threads=threads))

        if reference is None or not self.has_gap:
            return read(generated)
        free = keep_sizes or not self.sized
        size = len(reference) if free else min(len(generated), len(reference))
        found = read(generated if free else _cut(generated, size, seed=seed))
        if not free and size < len(generated):
            found = replace(found, per_sample=None)
        if not free and len(generated) != len(reference):
            found = found.signed(cut=size, cut_seed=seed)
        own = self._own(Held(reference, against, seed, threads), size)
        return replace(found, reference=own.value, better="closest")

    def of_reference(
        self,
        reference: Corpus,
        *,
        train: Corpus | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Score:
        """Measure the whole reference itself, T(P); kept for as long as the corpus is there."""
        held = Held(reference, self._against(None, train), seed=seed, threads=threads)
        return self._own(held, len(reference))

    def _own(self, held: Held, size: int) -> Score:
        """T(P) of so many texts of the reference."""
        kept = self._kept.setdefault(held.texts, {})
        place = (size, held.seed, None if held.against is None else ref(held.against))
        if place not in kept:
            part = replace(held, texts=_cut(held.texts, size, seed=held.seed))
            kept[place] = self._read(part)
        return kept[place]

    def _read(self, held: Held) -> Score:
        found = self.metric.score(held, self.options, self.key)
        if self.options.get("against", ITSELF) == ITSELF:
            return found
        return found.signed(against=self.needs)

    def _against(self, reference: Corpus | None, train: Corpus | None) -> Corpus | None:
        if self.needs is None:
            return None
        held = train if self.needs == TRAIN else reference
        if held is None:
            raise missing(self)
        return held


def _cut(corpus: Corpus, size: int, *, seed: int) -> Corpus:
    from calipers.text.sizing import cut  # loads numba, which listing the metrics does not need

    return cut(corpus, size, seed=seed)


def missing(choice: TextChoice) -> InputError:
    """Say what a metric needs that is not there."""
    if choice.needs == TRAIN:
        needed = "a training set (--train FILE, train=...)"
    elif choice.needs == "aligned":
        needed = (
            "a reference for each row (--reference FILE --aligned, reference=..., aligned=True)"
        )
    else:
        needed = "a reference (--reference FILE, reference=...)"
    return InputError(f"the metric {choice.key!r} needs {needed}")


def check_text_extras(choices: Iterable[TextChoice]) -> None:
    """Say before the long work that a metric asked for by name lacks its package.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    for choice in choices:
        metric = choice.metric
        if choice.named and metric.extra is not None and metric.package is not None:
            require(metric.package, extra=metric.extra, purpose=f"the metric {choice.key!r}")
