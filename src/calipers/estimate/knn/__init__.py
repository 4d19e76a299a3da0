"""Exact nearest neighbours, the balls that they span, and which rows lie in which balls."""
