"""Embeddings from a network service: requests, retries, and a store of paid vectors."""
