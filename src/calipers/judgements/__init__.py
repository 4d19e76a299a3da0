"""Judgements of samples: questions to raters, items shown to them, and their answers."""
