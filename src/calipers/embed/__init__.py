"""Turn samples into vectors: one array for each view that an embedder gives of them."""

from calipers.embed.cache import Cache
from calipers.embed.catalogue import load_embedder
from calipers.embed.pipeline import embed_samples
from calipers.embed.protocol import Embedder, Embeddings, EncodedBatch

__all__ = ["Cache", "Embedder", "Embeddings", "EncodedBatch", "embed_samples", "load_embedder"]
