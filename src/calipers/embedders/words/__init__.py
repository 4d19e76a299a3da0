"""Embedders that know words or characters and no model: word vectors, TF-IDF, characters."""
