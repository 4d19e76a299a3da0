"""Nearest neighbours, the balls they span, and who lies in whose, exact."""
