"""What an option is, and the groups of options that several commands share."""
