"""K-means by exact Lloyd steps that measure few distances."""
