"""Attribute operations: what a column's value becomes where a change does not simply overwrite it.

Put here what an operation computes, by declared type. Not here: which operations a type can take
(``transforms/feed/attribute_operations.py``), and the row around the column (``transforms/gold/fold.py``).
"""
