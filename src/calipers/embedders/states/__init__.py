"""Hidden states of transformers: packed batches, truncated layers, fast products."""
