"""Language models: likelihoods of texts, and generation."""
