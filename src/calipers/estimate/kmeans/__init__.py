"""K-means by exact Lloyd iterations that compute few distances."""
