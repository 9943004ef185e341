"""The fold of a large gold table: what Spark brings together by key, and what its tasks make of it.

Put here what a fold reads and returns, before anything is written. Not here: what a change means (``transforms/gold``),
the functions that run in the tasks (``assets/arrow/gold``), and the commits (``apply``).
"""
