"""Results in words: names of metrics, numbers, marks, and sentences with names."""
