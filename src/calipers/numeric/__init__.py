"""What all numeric code stands on: compiled kernels, threads, tiles, checks of arrays, blocks."""
