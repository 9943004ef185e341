"""The tables in which Weir keeps account: what was read, decided, finished, and what is still open.

Put a table here when it is Weir's own and not the user's data.
"""
