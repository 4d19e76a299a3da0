"""From the name of a model to its files, checked, and to the embedder that it makes."""
