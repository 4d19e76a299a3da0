"""The first two stages alone: samples to vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.embed import Cache, Embeddings, embed_samples
from calipers.errors import InputError, unknown_name
from calipers.evaluate.embedder import AnyEmbedder, open_unfitted, usual_warnings
from calipers.numeric.threads import limit_threads
from calipers.progress import Progress, Silent
from calipers.samples import SampleSet, as_sample_set


@dataclass(frozen=True, eq=False)
class Embedded:
    """A sample set and its vectors.

    Attributes
    ----------
    samples
        What was embedded.
    embeddings
        Its vectors, view by view.
    warnings
        What a person must be told.
    """

    samples: SampleSet
    embeddings: Embeddings
    warnings: tuple[str, ...]

    def signature(self, view: str) -> str:
        """Everything that pins the vectors of a view, as one line."""
        pins = {
            **self.embeddings.signature,
            "view": view,
            "pooling": self.embeddings.view_signature.get(view, "own"),
            "n": str(len(self.samples)),
            "samples": self.samples.content_hash[:16],
        }
        return "|".join(f"{key}:{value}" for key, value in pins.items())


def embed(
    samples: Any,
    *,
    embedder: AnyEmbedder = None,
    fit_on: Any = None,
    view: str | None = None,
    field: str | None = None,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Embedded:
    """Turn samples into vectors, as a comparison would.

    Parameters
    ----------
    samples
        Texts, token ids or images, in any form that :func:`calipers.compare` takes.
    embedder
        As for :func:`calipers.compare`.
    fit_on
        For an embedder that must be fitted, the samples to fit it to (the reference of the
        comparison to come); by default `samples`.
    view
        The view that is wanted: one that the embedder does not give is refused before the work.
    field, cache_dir, cache, processes, threads, progress
        As for :func:`calipers.compare`.

    Raises
    ------
    InputError
        If samples cannot be read, hold vectors already, or the embedder does not read them, does
        not give that view, or is not fitted to any samples.
    """
    held = as_sample_set(samples, field=field)
    if held.kind == "vectors":
        raise InputError(f"{held.name}: holds vectors already; there is nothing to embed")
    base = held if fit_on is None else as_sample_set(fit_on, field=field)
    model = open_unfitted(embedder, base, processes=processes)
    if view is not None and view not in model.views:
        raise unknown_name("view", view, model.views)
    if model.needs_fitting:
        model = model.fitted(base)
    elif fit_on is not None:
        raise InputError(
            f"the embedder {model.name!r} is not fitted to any samples; leave --fit-on (fit_on= in "
            "Python) out"
        )
    store = Cache(None if cache_dir is None else Path(cache_dir)) if cache else None
    with limit_threads(threads):
        found = embed_samples(held, model, cache=store, progress=progress or Silent())
    warnings = (*held.notes, *usual_warnings(embedder, held), *found.notes)
    return Embedded(held, found, warnings)
