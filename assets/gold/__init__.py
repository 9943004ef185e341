"""From silver to gold: current rows, their tombstones, and their versions where a table asks for them.

Three packages follow the flow: ``changes`` reads what silver has of a table, ``fold`` works out in Spark what the keys
of a large table are, and ``apply`` brings it all to gold. Put beside them what says which gold tables there are, and
what shows them in Dagster. Not here: what a change means (``transforms/gold``), and keeping the tables small
(``assets/upkeep``).
"""
