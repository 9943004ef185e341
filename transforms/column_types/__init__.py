"""The types of columns: whether a text fits one, how it is written once, and what Arrow has of it."""
