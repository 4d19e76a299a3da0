"""Studies in which people judge samples: the study file, the assignment of items, the server."""
