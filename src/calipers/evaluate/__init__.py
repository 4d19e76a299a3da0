"""The only place that wires the stages together: from samples to a result."""
