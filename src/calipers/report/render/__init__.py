"""One module a format: each writes a document in its own form, and none reads another's output."""
