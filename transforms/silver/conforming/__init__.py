"""An event against what the feed declares: its table, its key, whether its values fit; and the rows that it becomes.

Put here what declarations say about one event. Not here: which of several deliveries counts, transactions, and accounts
(``transforms/silver``).
"""
