"""What a sample of a landing says: its format, its tables, and the rows that gold would have of it."""
