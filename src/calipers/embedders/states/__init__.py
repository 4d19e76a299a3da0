"""The states of a transformer: its layers cut, its texts packed, its products fast."""
