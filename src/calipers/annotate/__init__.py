"""The annotation page: a local web server that shows items to people and keeps what they answer."""
