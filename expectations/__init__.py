"""What must be true of the tables: rules, what counts as breaking them, and results."""
