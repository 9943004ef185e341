"""Bringing new changes to gold: which rows meet, who folds them, and the commits that come of it.

``apply_feed`` does all tables of a feed, ``apply_table`` one of them: in this process where that is less work
(``local_apply``), else in Spark's tasks (``spark_apply``). Not here: what a change means (``transforms/gold``), and
reading silver (``changes``).
"""
