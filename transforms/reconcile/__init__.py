"""What it means that gold is what its source has: rows as texts, ranges of keys, and what a difference is."""
