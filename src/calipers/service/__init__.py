"""Network services: addresses, keys, requests and retries."""
