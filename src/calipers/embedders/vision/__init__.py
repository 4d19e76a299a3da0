"""Embedders of images."""
