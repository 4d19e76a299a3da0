"""The engine of comparisons: from samples through all stages to a result."""
