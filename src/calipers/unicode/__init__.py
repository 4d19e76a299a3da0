"""What Unicode says of any text: scripts, words, visible characters and the composed form."""
