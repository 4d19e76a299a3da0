"""Readers of files and of tables in memory, one module per format."""
