"""Bringing new changes to gold tables and committing them.

In the order of an apply: ``apply_feed`` takes all tables of a feed at once, and ``read_once`` reads their accounts
once; ``apply_table`` takes one declared table; ``full_rebuilds`` says whether a gold table is made from all of silver.
Small ones are folded in this process: ``local_apply`` with ``local_changes``, ``local_history``, and the files that are
rewritten (``gold_files``, ``gold_file_rows``, ``history_files``). Larger ones are folded in Spark's tasks:
``spark_apply``, with the commits in ``history`` and ``spark_commits``.

Put a step of an apply here. Not here: what a change means (``transforms/gold``), reading silver
(``assets/gold/changes``), and the fold in Spark (``assets/gold/fold``).
"""
