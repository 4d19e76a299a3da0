"""Unicode properties of texts: scripts, words, grapheme clusters, and the composed form."""
