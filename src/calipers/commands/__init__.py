"""The commands, one folder each: record, options, computation, result, document and arguments."""
