"""Embedders without a language model: word vectors, TF-IDF, and character n-grams."""
