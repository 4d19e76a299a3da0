"""Embedders that know words and no order: word vectors, TF-IDF."""
