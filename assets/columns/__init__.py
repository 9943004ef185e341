"""The schemas of tables for Spark and Arrow, and expressions over their columns.

Put a schema here, or a function from columns to columns. Not here: functions over rows in Python (``arrow``), and
reading or writing a table.
"""
