"""Universal Sentence Encoder, multilingual: vocabulary, kernels and the embedder."""
