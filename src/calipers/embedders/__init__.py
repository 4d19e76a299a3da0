"""Turn samples into vectors: one array for each view of an embedder."""

from calipers.embedders.cache import Cache
from calipers.embedders.catalogue import EmbedderChoice, load_embedder
from calipers.embedders.embedder import (
    Embedder,
    Embeddings,
    EncodedBatch,
    as_embedder,
    is_embedder,
)
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.pipeline import check_reads, embed
from calipers.embedders.run_vectors import RunVectors

__all__ = [
    "Cache",
    "Embedder",
    "EmbedderChoice",
    "EmbedderOptions",
    "Embeddings",
    "EncodedBatch",
    "RunVectors",
    "as_embedder",
    "check_reads",
    "embed",
    "is_embedder",
    "load_embedder",
]
