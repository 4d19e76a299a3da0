"""Readers of files and of what a person holds, one module a format."""
