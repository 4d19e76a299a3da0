"""Options as fields of groups, and the groups that several commands share."""
