"""The tables in which Weir keeps account: what was read, decided, finished, and what is still open."""
