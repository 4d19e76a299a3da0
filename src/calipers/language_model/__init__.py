"""Language models: how likely texts are, and texts that they write."""
