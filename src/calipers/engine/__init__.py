"""Engines for passes over all pairs: a GPU, a graph search, a Ray cluster."""
