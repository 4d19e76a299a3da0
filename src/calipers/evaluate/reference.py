"""A reference that is read, embedded and measured once, for many comparisons with it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from calipers.embedders import Cache, Embedder, Embeddings, embed
from calipers.errors import InputError
from calipers.evaluate.embedding import check_made_alike, open_embedder, open_unfitted
from calipers.evaluate.inputs import Reader
from calipers.numeric.kept import Kept
from calipers.numeric.threads import limit_threads
from calipers.options.option import Group, one_side
from calipers.options.reference import ReferenceOptions
from calipers.progress import Progress
from calipers.samples import SampleSet

if TYPE_CHECKING:
    from calipers.results import Comparison

FREE = ("cache", "cache_dir", "threads", "progress", "skip_bad")
"""Options that change no number: a comparison may choose others than the reference."""
OWN = ("field", "name")
"""Options that are about the reference alone."""

Options = TypeVar("Options", bound=Group)


@one_side(ReferenceOptions)
def reference(samples: Any, options: ReferenceOptions) -> tuple[SampleSet, ReferenceOptions]:
    """Read the samples of a reference.

    Parameters
    ----------
    samples
        In any form that :func:`calipers.compare` takes.

    Returns
    -------
    tuple
        The samples, and the options.
    """
    reading = Reader(options.field, options.group, options.cluster, options.skip_bad)
    held = reading.one(samples, "reference", group_needed=options.group is not None)
    return held if options.name is None else held.renamed(options.name), options


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Reference:
    """A reference that is read and embedded once, for many comparisons: of a model as it trains.

    ``reference.compare(generated)`` gives the same numbers, to the last bit, as
    ``calipers.compare`` with the same samples and options. Vectors are made when they are first
    needed, once; a comparison that cuts the reference (``max_samples``, ``match_length`` ...) has
    them made for that cut, of which the last is kept. So is what depends on the reference alone:
    the nearest neighbours within it, what its texts are like, and what its halves score against
    each other.

    Parameters
    ----------
    samples
        In any form that :func:`calipers.compare` takes.
    options
        ``embedder`` and all other options of :func:`calipers.compare` about embedding, ``field``,
        ``group``, ``cluster`` and ``skip_bad``, and ``name``, what tables call the reference.

    Attributes
    ----------
    samples
        What was read.
    options
        The options, which hold in every comparison.

    Raises
    ------
    InputError
        If samples cannot be read, there is no such embedder, or it does not read them.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.arange(12.0).reshape(-1, 2)
    >>> human = Reference(rows, name="human")
    >>> human
    <Reference 'human' of 6 vectors by 'precomputed'>
    >>> human.compare(rows + 0.5, k=2, metrics="recall")["generated"]["recall"].value
    1.0
    """

    samples: SampleSet
    options: ReferenceOptions
    _embedder: Embedder
    _made: dict[str, _Cut] = field(default_factory=dict)

    def __init__(self, samples: Any, **options: Any) -> None:
        held, chosen = reference(samples, **options)
        with limit_threads(chosen.threads):
            embedder = open_unfitted(chosen, held)
        parts = {"samples": held, "options": chosen, "_embedder": embedder, "_made": {}}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def compare(self, *generated: Any, **options: Any) -> Comparison:
        """Compare generated sets with this reference, as :func:`calipers.compare` does.

        Parameters
        ----------
        generated
            The samples to judge, in any form that :func:`calipers.compare` takes.
        options
            Those of :func:`calipers.compare`; those of the reference hold already.
        """
        from calipers import compare

        return compare(self, *generated, **options)

    def __repr__(self) -> str:
        noun, n = self.samples.data.noun, len(self.samples)
        name = f"{self.samples.name!r} of {n:,} {noun}{'' if n == 1 else 's'}"
        return f"<Reference {name} by {self._embedder.name!r}>"

    def completed(self, options: Options) -> Options:
        """Give the options of a comparison with those of the reference, which hold in it.

        Raises
        ------
        InputError
            If it asks for another value of one that the vectors or the labels depend on.
        """
        changed = {}
        for each in fields(options):
            if each.name in OWN or not hasattr(self.options, each.name):
                continue
            own, asked = getattr(self.options, each.name), getattr(options, each.name)
            if asked is each.default or asked == each.default:
                changed[each.name] = own
            elif each.name not in FREE and asked is not own and asked != own:
                raise InputError(
                    f"the reference {self.samples.name!r} was made with {each.name}={own!r}, so "
                    f"{each.name}={asked!r} cannot hold beside it; leave it out, or make another "
                    "reference with it"
                )
        return replace(options, **changed)

    def open(self, sets: Sequence[SampleSet]) -> Embedder:
        """Give the embedder, ready for these sets, of which the reference is the first."""
        cut = self._cut(sets[0])
        if cut.embedder is None:
            cut.embedder = open_embedder(self.options, sets, opened=self._embedder)
        check_made_alike(sets)
        return cut.embedder

    def embed(self, samples: SampleSet, cache: Cache | None, progress: Progress) -> Embeddings:
        """Give the vectors of the reference as it is compared, made once."""
        cut = self._cut(samples)
        if cut.embeddings is None:
            embedder = cut.embedder or self._embedder
            cut.embeddings = embed(samples, embedder, cache=cache, progress=progress)
        return cut.embeddings

    def measured(self, samples: SampleSet) -> Kept:
        """Give what was computed of the reference as it is compared."""
        return self._cut(samples).measured

    def _cut(self, samples: SampleSet) -> _Cut:
        """What was made of the reference as it is compared; the last cut is kept."""
        key = samples.content_hash
        if key not in self._made:
            self._made.clear()
            self._made[key] = _Cut()
        return self._made[key]


Reference.__signature__ = inspect.signature(reference)  # type: ignore[attr-defined]


@dataclass(eq=False)
class _Cut:
    """What was made of the reference, or of some of its samples."""

    embedder: Embedder | None = None
    embeddings: Embeddings | None = None
    measured: Kept = field(default_factory=Kept)
