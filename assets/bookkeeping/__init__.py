"""The tables in which Weir keeps account: what was read, decided, finished, and what is still open.

Put a table here when it is Weir's own and not the user's data. Not here: bronze, silver, quarantine and gold, and the
plain facts that such tables are made of (``transforms``).
"""
