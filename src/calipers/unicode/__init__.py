"""What Unicode says of any text: its scripts, the words in it, and the characters a reader sees."""
