"""Content hashes of samples: the same samples give the same hash, however they were stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def hash_texts(texts: pa.Array) -> str:
    """Hash an Arrow array of large strings: how many, where each ends, and the UTF-8 bytes.

    The ends are counted from the array's own start, so neither a slice's place in a larger array
    nor the division into rows can be mistaken.
    """
    # Both are counted in rows of the buffer, not of the slice.
    window = slice(texts.offset, texts.offset + len(texts) + 1)
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype="<i8")[window]
    digest = hashlib.sha256(b"texts %d " % len(texts))
    digest.update((ends - ends[0]).astype("<i8").tobytes())
    if data is not None:
        digest.update(memoryview(data)[ends[0] : ends[-1]])
    return digest.hexdigest()


def hash_vectors(vectors: NDArray[Any]) -> str:
    """Hash the rows of an array: dtype, shape and bytes."""
    little = np.ascontiguousarray(vectors, dtype=vectors.dtype.newbyteorder("<"))
    digest = hashlib.sha256(f"vectors {little.dtype.str} {little.shape} ".encode())
    digest.update(little.data)
    return digest.hexdigest()


def hash_tokens(ids: NDArray[np.int32], ends: NDArray[np.int64]) -> str:
    """Hash lists of token ids: how many, where each ends, counted from the first, and the ids."""
    digest = hashlib.sha256(b"tokens %d " % (len(ends) - 1))
    digest.update(ends.astype("<i8").tobytes())
    digest.update(np.ascontiguousarray(ids, "<i4").data)
    return digest.hexdigest()


def hash_images(digests: bytes, kind: str) -> str:
    """Hash the SHA-256 digests of consecutive images, of files or of pixels as `kind` says."""
    start = f"{kind} {len(digests) // 32} ".encode()
    return hashlib.sha256(start + digests).hexdigest()


def digest_pixels(image: NDArray[np.uint8]) -> bytes:
    """Hash the shape and the values of one image."""
    digest = hashlib.sha256(f"{image.shape} ".encode())
    digest.update(np.ascontiguousarray(image).data)
    return digest.digest()


def hash_hashes(hashes: Iterable[str]) -> str:
    """Hash the hashes of consecutive chunks into one."""
    digest = hashlib.sha256(b"chunks ")
    for each in hashes:
        digest.update(bytes.fromhex(each))
    return digest.hexdigest()
