"""Models by name: their files, checks of these, and the embedder of each kind of model."""
