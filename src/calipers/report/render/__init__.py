"""Renderers of documents, one module per format."""
