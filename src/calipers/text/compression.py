"""Compression ratio: redundancy within and between the texts of a set.

    bytes of the texts in UTF-8, joined by line feeds / bytes after compression

as Shaib et al., "Standardizing the Measurement of Text Diversity", 2024, propose; larger values
mean more repetition. Their package ``diversity`` joins with spaces and packs what is packed already
a second time, so its values differ in the third figure.

gzip looks back over 32 KiB only, some 5,000 words of English, so a phrase that comes again after
that is new to it; zstd looks back over half a megabyte or more, and sees more of what texts far
apart share. So the order of the texts moves the value a little. The ratio grows slowly with the
amount of text, and differs between languages and scripts: hold sets of equal size against each
other.

The value belongs to the codec, its level, and the version of the library that packs; the signature
holds all three. Lone surrogates, which UTF-8 has no bytes for, take three bytes each.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from calipers.errors import InputError, checks_keywords, require
from calipers.numeric.arrays import Flags, Floats
from calipers.numeric.validation import check_choice, check_whole
from calipers.score import Score
from calipers.text.replicates import BLOCKS, MeasuredTexts, TextReplicates, ratio
from calipers.text.scoring import Chosen, TextPair, raw_texts, text_score
from calipers.text.tokens import Texts

Codec = Literal["gzip", "zstd"]

LEVELS = {"gzip": 9, "zstd": 3}
"""How hard each packs where no level is given: as ``gzip.compress``, and zstd's command line."""

HIGHEST = {"gzip": 9, "zstd": 22}

GZIP_FRAME = 18
"""Bytes of a gzip file about the packed data, with neither a name nor a comment."""

EMPTY = "every text is empty"

WINDOW = 32_768
"""Bytes that gzip looks back over."""

LITTLE = {"gzip": 100_000, "zstd": 250_000}
"""Characters up to which texts are packed anew without each block; short blocks pay too much for
tables of codes."""


@checks_keywords
def compression_ratio(texts: Texts, *, codec: Codec = "gzip", level: int | None = None) -> Score:
    """Tell how repetitive the set is, by how many times smaller compression makes it.

    Parameters
    ----------
    texts
        The texts, or a corpus; compressed as one stream, in order.
    codec
        ``"gzip"`` or ``"zstd"``.
    level
        Compression level: 1 to 9 for gzip (9 by default), 1 to 22 for zstd (3 by default).

    Returns
    -------
    Score
        At least 0, closest to the reference's own value is best; below 1 where a few short texts do
        not outweigh the frame. NaN where all texts are empty.

    Raises
    ------
    InputError
        If `codec` is unknown, or `level` is not one of its levels.
    MissingExtraError
        If `codec` is ``"zstd"`` and pyarrow, whose zstd is used, is not installed.

    Examples
    --------
    >>> compression_ratio(["the same again"] * 50).value > compression_ratio(["new"]).value
    True
    """
    check_choice("codec", codec, tuple(LEVELS))
    level = _checked(codec, level)
    rows = raw_texts(texts)
    value, reason = (_ratio(rows, codec, level), None) if any(rows) else (np.nan, EMPTY)
    return text_score(
        "compression",
        value,
        rows,
        metric="compression_ratio",
        reason=reason,
        codec=codec,
        level=level,
        library=_library(codec),
    )


def _ratio(rows: Sequence[str], codec: Codec, level: int) -> float:
    data = "\n".join(rows).encode("utf-8", "surrogatepass")
    return len(data) / packed_size(data, codec, level)


def packed_size(data: bytes, codec: Codec, level: int) -> int:
    """Return the size in bytes after compression."""
    if codec == "gzip":
        # Raw deflate and the fixed frame: what gzip.compress gives, without a second copy
        return len(zlib.compress(data, level, -zlib.MAX_WBITS)) + GZIP_FRAME
    return len(_arrow().Codec("zstd", compression_level=level).compress(data))


def _library(codec: Codec) -> str:
    if codec == "gzip":
        return f"zlib-{zlib.ZLIB_RUNTIME_VERSION}"
    return f"pyarrow-{_arrow().__version__}"


def _arrow() -> Any:
    """The library whose zstd is used, on all systems and by all versions of Python."""
    return require("pyarrow", extra="parquet", purpose="compression with the codec 'zstd'")


def _checked(codec: Codec, level: int | None) -> int:
    level = LEVELS[codec] if level is None else check_whole("level", level, 1)
    if level > HIGHEST[codec]:
        raise InputError(
            f"level must be at most {HIGHEST[codec]} for the codec {codec!r}; found {level}"
        )
    return level


def compression_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the compression ratio without each block of texts.

    Little text is packed anew without each block. Of more, what each block adds to the bytes behind
    another one is written down, and what the others add makes the replicate: cheaper, and nearer to
    how much fresh texts differ, since packing anew also moves where the packer happens to cut its
    stream. The first block stands behind the last, for a cold start would make it look less
    repetitive than the rest.
    """
    codec: Codec = measured.options["codec"]
    if sum(map(len, measured.texts.texts)) <= LITTLE[codec]:
        return TextReplicates(texts=_packed_anew(measured, codec))
    blocks = [_bytes(measured, measured.labels == block) for block in BLOCKS]
    added = _added(blocks) if codec == "gzip" else _added_to_one(blocks, codec)
    before, after = np.array([list(map(len, blocks)), added], float)
    values = ratio(before.sum() - before, after.sum() - after)
    return TextReplicates(texts=values * measured.value / values.mean())


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


def _packed_anew(measured: MeasuredTexts, codec: Codec) -> Floats:
    # Without the last feed
    remaining = (_bytes(measured, measured.labels != block)[:-1] for block in BLOCKS)
    return np.array([len(data) / packed_size(data, codec, LEVELS[codec]) for data in remaining])


def _bytes(measured: MeasuredTexts, keep: Flags) -> bytes:
    """Texts as they are packed, in their order."""
    rows, texts = np.flatnonzero(keep).tolist(), measured.texts.texts
    return "".join(f"{texts[row]}\n" for row in rows).encode("utf-8", "surrogatepass")


def read_compression(pair: TextPair, options: Chosen) -> Score:
    return compression_ratio(pair.texts, codec=options["codec"])
