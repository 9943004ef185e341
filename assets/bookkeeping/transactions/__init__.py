"""Transactions that no single window holds whole: their events, how far each has come, and what waits for what.

Put here what is kept or asked of such transactions; only feeds whose format has transactions have any. Not here: when a
transaction is complete (``transforms/silver/open_transactions.py``), and the changes that wait (``gold/changes``).
"""
