"""``embed``: read samples and turn them into vectors, without comparing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calipers.commands.embed.options import EmbedOptions
from calipers.embedders import Embeddings
from calipers.embedders.automatic import Automatic
from calipers.embedders.pipeline import embed as embed_read
from calipers.errors import InputError, unknown_name
from calipers.evaluate.embedding import (
    cache_of,
    embedder_cautions,
    open_unfitted,
    with_embedder,
)
from calipers.evaluate.engines import embedding_where
from calipers.evaluate.inputs import Reader, read_of
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import keywords_of
from calipers.progress import Silent
from calipers.results.caution import sentences
from calipers.results.reading import SetReading
from calipers.samples import SampleSet
from calipers.samples.readers.vectors import MADE, Made


@dataclass(frozen=True, eq=False)
class EmbeddedSet:
    """A sample set and its vectors.

    Attributes
    ----------
    samples
        What was embedded.
    embeddings
        Its vectors, view by view.
    warnings
        What the user must know.
    chosen
        How the embedder was chosen by the texts; None where it was named.
    """

    samples: SampleSet
    embeddings: Embeddings
    warnings: tuple[str, ...]
    chosen: Automatic | None = None

    @property
    def reading(self) -> SetReading | None:
        """How much of the texts the embedder could read; None for images."""
        return None if self.samples.kind == "images" else read_of([self.embeddings])

    def signature(self, view: str) -> str:
        """Everything that determines the vectors of a view, on one line."""
        fields = {
            **self.embeddings.signature,
            "view": view,
            "pooling": self.embeddings.view_signature.get(view, "own"),
            "n": str(len(self.samples)),
            "samples": self.samples.content_hash[:16],
        }
        return "|".join(f"{key}:{value}" for key, value in fields.items())

    def about(self, views: Sequence[str]) -> dict[str, str]:
        """Return the metadata of a file of views, by which a comparison knows their embedder."""
        pooled = {view: self.embeddings.view_signature.get(view, "own") for view in views}
        reading, cut = self.embeddings.reading, self.embeddings.truncated
        counts: dict[str, Any] = {}
        if reading is not None:
            counts = {"words": tuple(reading.words.tolist()), "left_out": reading.left_out}
            counts["unread"] = tuple(reading.unread.tolist())
        if cut is not None and self.samples.kind != "images":
            counts["truncated"] = tuple(np.flatnonzero(cut).tolist())
        made = Made(tuple(views), self.embeddings.signature, pooled, **counts)
        return {MADE: made.line(), **{view: self.signature(view) for view in views}}


@keywords_of(EmbedOptions)
def embed(samples: Any, options: EmbedOptions) -> EmbeddedSet:
    """Turn samples into vectors, as :func:`calipers.compare` does.

    Parameters
    ----------
    samples
        Texts, token ids or images, in any form that :func:`calipers.compare` takes.

    Raises
    ------
    InputError
        If samples cannot be read, hold vectors already, or the embedder does not read them, does
        not give that view, or is not fitted to any samples.
    """
    reading = Reader(options.field, skip_bad=options.skip_bad)
    sample_set, view = reading.read(samples), options.view
    if sample_set.kind == "vectors":
        raise InputError(f"{sample_set.name}: holds vectors already; there is nothing to embed")
    base = sample_set if options.fit_on is None else reading.read(options.fit_on)
    options, chosen = with_embedder(options, [base, sample_set])
    model = open_unfitted(options, base)
    if view is not None and view not in model.views:
        raise unknown_name("view", view, model.views)
    if model.needs_fitting:
        model = model.fitted(base)
    elif options.fit_on is not None:
        raise InputError(
            f"the embedder {model.name!r} is not fitted to any samples; leave `fit_on` out"
        )
    progress = options.progress or Silent()
    with limit_threads(options.threads), embedding_where(options):
        embeddings = embed_read(sample_set, model, cache=cache_of(options), progress=progress)
    cautions = embedder_cautions(options, model, [sample_set], chosen)
    warnings = (*sample_set.notes, *sentences(cautions), *embeddings.notes)
    return EmbeddedSet(sample_set, embeddings, warnings, chosen)
