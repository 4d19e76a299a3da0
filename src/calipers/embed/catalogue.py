"""Embedders by name; each one's module is imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module

from calipers.embed.device import DTYPES, check_device
from calipers.embed.protocol import Embedder
from calipers.errors import InputError, unknown_name

CATALOGUE = {
    "minilm": "calipers.embed.minilm:MiniLM",
    "precomputed": "calipers.embed.precomputed:Precomputed",
}
"""Name of an embedder to the place of its class."""


def load_embedder(
    name: str,
    *,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
) -> Embedder:
    """Make an embedder ready to use.

    Parameters
    ----------
    name
        ``"minilm"`` for texts, ``"precomputed"`` for vectors that are there already.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"``, or ``"auto"`` for the best one at hand.
    dtype
        ``"float32"``, which gives the same scores everywhere, or ``"auto"`` for bfloat16 where
        the hardware computes in it.
    batch_size
        Most texts in one forward pass; None leaves it to the embedder. Never changes a vector.

    Raises
    ------
    InputError
        If a name is unknown, the device is not there, or `batch_size` is no positive number.
    MissingExtraError
        If packages that the embedder needs are not installed.
    CalipersError
        If the embedder's files are damaged.
    """
    if name not in CATALOGUE:
        raise unknown_name("embedder", name, CATALOGUE)
    check_device(device)
    if dtype not in DTYPES:
        raise unknown_name("dtype", dtype, DTYPES)
    check_batch_size(batch_size)
    module, _, attribute = CATALOGUE[name].partition(":")
    embedder: Embedder = getattr(import_module(module), attribute)(
        device=device, dtype=dtype, batch_size=batch_size
    )
    return embedder


def check_batch_size(batch_size: object) -> None:
    """Refuse what is neither None nor a whole number of at least 1."""
    if batch_size is None:
        return
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InputError(f"batch_size must be a whole number of at least 1; found {batch_size!r}")
