"""Bringing new changes to gold tables and committing them.

In the order of an apply: ``apply_feed`` takes all tables of a feed at once, and ``read_once`` reads their accounts
once; ``apply_table`` takes one declared table; ``full_rebuilds`` says whether a gold table is made from all of silver.
What a table has, and what a fold makes of it, is read and committed in this process (``stored_in_process``), or by
Spark (``stored_by_spark``, with ``spark_commits`` and ``spark_versions``).

Put a step of an apply here. Not here: what a change means (``transforms/gold``), and the fold (``assets/gold/folding``)
over what silver has (``assets/gold/silver_in_process``, ``silver_by_spark``).
"""
