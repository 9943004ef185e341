"""The warehouse: its Delta tables, their leases and locks, and what its failures mean.

``in_process_table`` and ``spark_table`` are the two classes; what else is here serves both: leases on tables of an
object store, and what its failures mean in words.
"""
