"""The warehouse: its Delta tables, read and written in this process or by Spark, their locks, and its failures."""
