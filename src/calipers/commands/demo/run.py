"""``demo``: compare three example systems of known faults with bundled human texts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from calipers.progress import Progress
    from calipers.results import Comparison

READING = (
    "held_out is other human text of the same kind: it shows how close to 1 these scores can be. "
    "markov_chain has the right words in a meaningless order: by meaning it is fairly close to "
    "human texts, by form it is far from them, since its texts are all written alike. near_copies "
    "repeats five paragraphs: each is good, so precision is high, but almost all variety is "
    "missing, so recall is close to 0."
)
"""How to read the table of the demo, in three sentences."""


def demo(
    *,
    seed: int = 0,
    cache_dir: str | Path | None = None,
    cache: bool = True,
    device: str = "auto",
    dtype: str = "float32",
    progress: Progress | None = None,
) -> Comparison:
    """Compare held-out human texts, a Markov chain and near copies with human texts.

    Parameters
    ----------
    seed
        Decides the split of the human texts, the systems and every random step of the comparison.
    cache
        Whether vectors are looked up: those of the demo's texts, which come with Calipers, and
        others that were kept. False to compute all of them.
    cache_dir, device, dtype, progress
        As in `calipers.compare`. On a GPU, or in another precision, all vectors are computed.

    Returns
    -------
    Comparison
        The systems ``held_out``, ``markov_chain`` and ``near_copies``, all of the reference's size.

    Raises
    ------
    MissingExtraError
        If the packages of the default text embedder are not installed.
    """
    from calipers.commands.compare.run import compare
    from calipers.demo.carried import embedder_of, listed
    from calipers.demo.corpora import paragraphs
    from calipers.demo.systems import systems
    from calipers.samples import SampleSet

    texts, generated = systems(seed, listed(paragraphs()))
    every = [*texts, *chain.from_iterable(generated.values())]
    embedder = embedder_of(every, device=device, dtype=dtype) if cache else None
    return compare(
        SampleSet.from_texts(texts, name="human", source="Python's documentation"),
        generated,
        embedder=embedder,
        seed=seed,
        cache_dir=cache_dir,
        cache=cache,
        device=device,
        dtype=dtype,
        progress=progress,
    )
