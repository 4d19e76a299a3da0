"""How results are put into words: names of metrics, numbers, marks, and sentences with names."""
