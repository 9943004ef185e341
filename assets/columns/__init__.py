"""What is said in Spark's and Arrow's columns: the schemas of tables, and expressions over them.

Put a schema here, or a function from columns to columns. Not here: functions over rows in Python (``arrow``), and
reading or writing a table.
"""
