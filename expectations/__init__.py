"""What must be true of the tables: rules, what counts as breaking them, and results.

Put here each truth about a table, as a rule with a name. Not here: counting what breaks a rule (``assets``), and asset
checks of Dagster, which ``assets`` makes of results.
"""
