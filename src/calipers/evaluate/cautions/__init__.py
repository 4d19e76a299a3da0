"""Cautions: what else differs between two sets, and how far that could move a score."""
