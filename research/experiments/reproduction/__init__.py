"""The tables and figures of the papers and posts, and what reproduces each."""
