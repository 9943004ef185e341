"""Delta tables, whatever is in them: those that this process reads and writes itself, and those that Spark does.

``in_process_table`` and ``spark_table`` are the two classes; what else is here serves both: leases on tables of an
object store, and what its failures mean in words.
"""
