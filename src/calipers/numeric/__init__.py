"""Basis of all numeric code: compiled kernels, threads, tiles, checks of arrays, blocks."""
