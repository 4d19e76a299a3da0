"""Which embedder reads the samples of a run: the one that was asked for, or the usual one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from calipers.embed import Embedder, EmbedderChoice, Options, as_embedder, check_reads
from calipers.embed.processes import in_processes
from calipers.errors import InputError
from calipers.samples import SampleSet

AnyEmbedder = str | Embedder | EmbedderChoice | Options | None
"""An embedder's name, the embedder, a choice, options for the usual one, or None."""

USUAL = {"texts": "minilm", "images": "pixels", "vectors": "precomputed"}
PIXELS = (
    "images are compared pixel by pixel, which sees brightness and place, not what is shown; name "
    "a vision model with --embedder for that"
)


def open_embedder(
    wanted: AnyEmbedder,
    sets: Sequence[SampleSet],
    *,
    fit_on_all: bool = False,
    processes: int | None = None,
    **options: Any,
) -> Embedder:
    """Load the embedder of a run and see that it reads these samples.

    Parameters
    ----------
    wanted
        Its name, the embedder itself, a choice of one, or None for the usual one of the kind of
        samples: ``minilm`` for texts, ``pixels`` for images.
    sets
        The sample sets of the run, of one kind, the reference first.
    fit_on_all
        Whether an embedder that must be fitted sees all sets; by default the reference alone.
    processes
        How many processes embed; None for this one.
    options
        Of :class:`~calipers.embed.options.Options`, where `wanted` is a name or None.

    Raises
    ------
    InputError
        If there is no such embedder, or it does not read samples of this kind.
    """
    first = sets[0]
    model = open_unfitted(wanted, first, processes=processes, **options)
    if not model.needs_fitting:
        return model
    together = fit_on_all and first.kind != "images"
    return model.fitted(chain.from_iterable(sets) if together else first)


def open_unfitted(
    wanted: AnyEmbedder, samples: SampleSet, *, processes: int | None = None, **options: Any
) -> Embedder:
    """Load an embedder as :func:`open_embedder` does; one that must be fitted is not, yet.

    Raises
    ------
    InputError
        If there is no such embedder, or it does not read samples of this kind.
    """
    model = as_embedder(_loaded(wanted, samples, processes, options))
    check_reads(samples, model)
    return model


def usual_warnings(wanted: AnyEmbedder, samples: SampleSet) -> tuple[str, ...]:
    """Warn where nobody chose an embedder and the usual one sees little."""
    unnamed = wanted is None or isinstance(wanted, Options)
    return (PIXELS,) if unnamed and samples.kind == "images" else ()


def _loaded(
    wanted: AnyEmbedder, samples: SampleSet, processes: int | None, options: dict[str, Any]
) -> Embedder:
    if samples.kind == "vectors":
        return EmbedderChoice("precomputed").load()
    if wanted is None or isinstance(wanted, Options):
        settings = Options(**options) if wanted is None else wanted
        wanted = EmbedderChoice(_usual(samples), settings)
    elif isinstance(wanted, str):
        wanted = EmbedderChoice(wanted, Options(**options))
    if not isinstance(wanted, EmbedderChoice):
        return wanted
    return wanted.load() if processes in (None, 1) else in_processes(wanted, processes)


def _usual(samples: SampleSet) -> str:
    if samples.kind not in USUAL:
        raise InputError(
            f"{samples.name}: holds token ids, whose meaning only their own model knows; name it "
            "with --embedder (embedder= in Python)"
        )
    return USUAL[samples.kind]
