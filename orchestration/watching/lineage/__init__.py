"""OpenLineage: what each step of a run reads and writes, told to a receiver that the environment names.

Put here what is told of a step, and how. Not here: the columns' lineage that Dagster shows
(``assets/gold/gold_specs``).
"""
