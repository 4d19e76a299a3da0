"""The compression ratio without each block of texts.

Little text is packed anew without each block. Of more, what each block adds to the bytes behind
another one is written down, and what the others add makes the replicate: cheaper, and nearer to
how much fresh texts differ, since packing anew also moves where the packer happens to cut its
stream. The first block stands behind the last, for a cold start would make it look less repetitive
than the rest.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from calipers.text.compression import LEVELS, Codec, packed_size
from calipers.uncertainty.spread import Component, Doubles
from calipers.uncertainty.text_spread_blocks import BLOCKS, Measured, ratio

WINDOW = 32_768
"""Bytes that gzip looks back over."""

LITTLE = {"gzip": 100_000, "zstd": 250_000}
"""Characters up to which texts are packed anew; short blocks pay too much for tables of codes."""


def of_compression(found: Measured) -> tuple[Component, ...]:
    """Bytes before over bytes after."""
    codec: Codec = found.options["codec"]
    if sum(map(len, found.texts.texts)) <= LITTLE[codec]:
        return (found.own(_packed_anew(found, codec)),)
    blocks = [_bytes(found, found.labels == block) for block in BLOCKS]
    added = _added(blocks) if codec == "gzip" else _added_to_one(blocks, codec)
    before, after = np.array([list(map(len, blocks)), added], float)
    values = ratio(before.sum() - before, after.sum() - after)
    return (found.own(values * found.value / values.mean()),)


def _added(blocks: list[bytes]) -> list[int]:
    """Bytes that each block adds to a gzip stream of all of them."""
    behind = b"".join(blocks)[-WINDOW:]
    packer = zlib.compressobj(
        LEVELS["gzip"],
        zlib.DEFLATED,
        -zlib.MAX_WBITS,
        zlib.DEF_MEM_LEVEL,
        zlib.Z_DEFAULT_STRATEGY,
        behind,
    )
    return [len(packer.compress(block) + packer.flush(zlib.Z_SYNC_FLUSH)) for block in blocks]


def _added_to_one(blocks: list[bytes], codec: Codec) -> list[int]:
    """Bytes that each block adds behind the block before it."""
    level = LEVELS[codec]
    return [
        packed_size(before + block, codec, level) - packed_size(before, codec, level)
        for before, block in zip([blocks[-1], *blocks], blocks, strict=False)
    ]


def _packed_anew(found: Measured, codec: Codec) -> Doubles:
    kept = (_bytes(found, found.labels != block)[:-1] for block in BLOCKS)  # no line feed behind
    return np.array([len(data) / packed_size(data, codec, LEVELS[codec]) for data in kept])


def _bytes(found: Measured, keep: NDArray[np.bool_]) -> bytes:
    """Texts as they are packed, in their order."""
    rows, texts = np.flatnonzero(keep).tolist(), found.texts.texts
    return "".join(f"{texts[row]}\n" for row in rows).encode("utf-8", "surrogatepass")
