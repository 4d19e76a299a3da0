"""A pytest fixture that fails a test when generated samples are worse than a baseline."""
