"""From silver to gold: current rows, their tombstones, and their versions where a table asks for them.

The room ``changes`` reads what silver has of a table, ``apply`` brings it to gold, and the files beside them say which
gold tables there are and show them in Dagster. Not here: what a change means (``transforms/gold``), and keeping the
tables small (``upkeep``).
"""
