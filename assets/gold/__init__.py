"""From silver to gold: current rows, their tombstones, and their versions where a table asks for them.

``plan`` is what is known of a table before its fold begins, ``silver_in_process`` and ``silver_by_spark`` read its
changes, ``folding`` runs the stages over them, and the package ``apply`` brings the result to gold. Put beside them
what says which gold tables there are, and what shows them in Dagster. Not here: what a change means
(``transforms/gold``), who runs a stage (``assets/executors``), and keeping the tables small (``assets/upkeep``).
"""
