"""Gold compared with the live source: what is read of either, and what the comparison finds."""
