"""Uncertainty of scores: intervals, tests, noise floors, advice on sizes, rankings."""
