"""A reference that is read, embedded and measured once, for repeated comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from calipers.embedders import Cache, Embedder, Embeddings, RunVectors, embed
from calipers.embedders.automatic import Automatic, check_kept, is_automatic
from calipers.errors import InputError
from calipers.evaluate.embedding import (
    check_made_alike,
    open_embedder,
    open_unfitted,
    with_embedder,
)
from calipers.evaluate.inputs import Reader
from calipers.numeric.kept import Kept
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import constructor_of
from calipers.options.option import Group
from calipers.options.reference import ReferenceOptions
from calipers.progress import Progress
from calipers.samples import SampleSet

if TYPE_CHECKING:
    from calipers.results import Comparison

FREE = ("cache", "cache_dir", "threads", "progress", "skip_bad")
"""Options that change no number: a comparison may choose others than the reference."""
OF_REFERENCE = ("field", "name")
"""Options that are about the reference alone."""

Options = TypeVar("Options", bound=Group)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Reference:
    """A reference read and embedded once for many comparisons, such as during training.

    ``reference.compare(generated)`` gives the same numbers, to the last bit, as
    ``calipers.compare`` with the same samples and options. Vectors are made when they are first
    needed, once; a comparison that cuts the reference (``max_samples``, ``match_length`` ...) has
    them made for that cut, of which the last is kept. Whatever depends on the reference alone is
    kept as well: the nearest neighbours within it, properties of its texts, and the scores of its
    halves against each other.

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
        The samples of the reference.
    options
        The options in force in every comparison.
    chosen
        How the embedder was chosen from these samples; None where it was named.

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
    chosen: Automatic | None
    _embedder: Embedder
    _made: dict[str, _Cut]

    @constructor_of(ReferenceOptions)
    def __init__(self, samples: Any, options: ReferenceOptions) -> None:
        """Read the samples and find the embedder.

        Parameters
        ----------
        samples
            In any form that :func:`calipers.compare` takes.
        """
        reader = Reader(options.field, options.group, options.cluster, options.skip_bad)
        read = reader.one(samples, "reference", group_needed=options.group is not None)
        named = read if options.name is None else read.renamed(options.name)
        options, chosen = with_embedder(options, [named])
        with limit_threads(options.threads):
            embedder = open_unfitted(options, named)
        vars(self).update(
            samples=named, options=options, chosen=chosen, _embedder=embedder, _made={}
        )

    def compare(self, *generated: Any, **options: Any) -> Comparison:
        """Compare generated sets with this reference, as :func:`calipers.compare` does.

        Parameters
        ----------
        generated
            The samples to judge, in any form that :func:`calipers.compare` takes.
        options
            Those of :func:`calipers.compare`, except those of the reference.
        """
        from calipers import compare

        return compare(self, *generated, **options)

    def __repr__(self) -> str:
        noun, n = self.samples.data.noun, len(self.samples)
        name = f"{self.samples.name!r} of {n:,} {noun}{'' if n == 1 else 's'}"
        return f"<Reference {name} by {self._embedder.name!r}>"

    def completed(self, options: Options) -> Options:
        """Return the options of a comparison with those of the reference in force.

        Raises
        ------
        InputError
            If an option on which the vectors or the labels depend has another value.
        """
        values = {}
        for option in fields(options):
            name = option.name
            if name in OF_REFERENCE or not hasattr(self.options, name):
                continue
            made, asked = getattr(self.options, name), getattr(options, name)
            automatic = name == "embedder" and is_automatic(asked)
            if automatic or asked is option.default or asked == option.default:
                values[name] = made
            elif name not in FREE and asked is not made and asked != made:
                raise InputError(
                    f"the reference {self.samples.name!r} was made with {name}={made!r}, so "
                    f"{name}={asked!r} cannot hold beside it; leave it out, or make another "
                    "reference with it"
                )
        return options.changed(**values)

    def open(self, sets: Sequence[SampleSet]) -> Embedder:
        """Return the embedder for these sets, the first of which is the reference.

        Raises
        ------
        InputError
            If it was chosen for the reference, and does not read another set.
        """
        if self.chosen is not None:
            check_kept(self.chosen, sets[1:])
        cut = self._cut(sets[0])
        if cut.embedder is None:
            cut.embedder = open_embedder(self.options, sets, opened=self._embedder)
        check_made_alike(sets)
        return cut.embedder

    def embed(
        self, samples: SampleSet, cache: Cache | RunVectors | None, progress: Progress
    ) -> Embeddings:
        """Return the vectors of the reference as compared, computed once."""
        cut = self._cut(samples)
        if cut.embeddings is None:
            embedder = cut.embedder or self._embedder
            cut.embeddings = embed(samples, embedder, cache=cache, progress=progress)
        return cut.embeddings

    def measured(self, samples: SampleSet) -> Kept:
        """Return measurements of the reference as compared, computed once."""
        return self._cut(samples).measured

    def _cut(self, samples: SampleSet) -> _Cut:
        """What was made of the reference as it is compared; the last cut is kept."""
        key = samples.content_hash
        if key not in self._made:
            self._made.clear()
            self._made[key] = _Cut()
        return self._made[key]


@dataclass(eq=False)
class _Cut:
    """What was made of the reference, or of some of its samples."""

    embedder: Embedder | None = None
    embeddings: Embeddings | None = None
    measured: Kept = field(default_factory=Kept)
