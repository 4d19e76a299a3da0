"""Multilingual Universal Sentence Encoder: vocabulary, kernels and the embedder."""
