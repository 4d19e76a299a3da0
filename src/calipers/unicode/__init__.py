"""What Unicode says of any text: its scripts, its words, the characters a reader sees, and its composed form."""
