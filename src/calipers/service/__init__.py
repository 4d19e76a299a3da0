"""Services over the network: addresses, keys, and questions that are asked with patience."""
