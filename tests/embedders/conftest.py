import hashlib

import numpy as np
import pytest

from calipers.embedders import EncodedBatch
from calipers.samples import SampleSet


class Stub:
    """Embeds by hash, counts what it is asked, and stops at the call that it is told."""

    name = "stub"
    views = ("zeta", "alpha")
    view_signature = {"zeta": "hashed", "alpha": "length"}  # noqa: RUF012

    def __init__(self, identity="stub-1", stop_at=None):
        self.identity = identity
        self.signature = {"embedder": "stub", "max_length": "9"}
        self.calls = []
        self.stop_at = stop_at

    def embed(self, texts):
        self.calls.append(list(texts))
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        digests = [hashlib.sha256((self.identity + text).encode()).digest() for text in texts]
        zeta = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(texts), 32)
        alpha = np.array([[len(text), 1] for text in texts], dtype=np.float32)
        cut = np.array([len(text) > 9 for text in texts], dtype=np.bool_)
        return EncodedBatch({"zeta": zeta.astype(np.float32), "alpha": alpha}, cut)

    @property
    def texts_seen(self):
        return sum(map(len, self.calls))


@pytest.fixture
def stub():
    return Stub


@pytest.fixture
def texts():
    """Three chunks: two full ones and a rest."""
    return [f"text {i}" for i in range(2 * 1024 + 300)]


@pytest.fixture
def samples(texts):
    return SampleSet.from_texts(texts, name="human")
