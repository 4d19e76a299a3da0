"""The commands, one folder each: its record, options, run, result, document and arguments."""
