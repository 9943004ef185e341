"""What must be true of the tables: rules, what counts as breaking them, and verdicts.

No Dagster here: ``assets`` turns verdicts into asset checks.
"""
