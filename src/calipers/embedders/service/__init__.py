"""Embeddings from a service over the network, asked for with patience and paid for once."""
