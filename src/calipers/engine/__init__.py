"""Where the passes over all pairs run: a GPU, a Ray cluster; no number depends on it."""
