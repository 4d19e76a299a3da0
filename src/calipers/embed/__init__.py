"""Turn samples into vectors: one array for each view that an embedder gives of them."""

from calipers.embed.cache import Cache
from calipers.embed.catalogue import EmbedderChoice, load_embedder
from calipers.embed.embedder import (
    Embedder,
    Embeddings,
    EncodedBatch,
    as_embedder,
    is_embedder,
)
from calipers.embed.options import Options
from calipers.embed.pipeline import check_reads, embed_samples

__all__ = [
    "Cache",
    "Embedder",
    "EmbedderChoice",
    "Embeddings",
    "EncodedBatch",
    "Options",
    "as_embedder",
    "check_reads",
    "embed_samples",
    "is_embedder",
    "load_embedder",
]
