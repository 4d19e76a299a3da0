"""Studies in which people judge samples: the file, who is shown what, and the local server."""
