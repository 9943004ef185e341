"""Range deletes that reach beyond their own stream, and the clocks of streams that say where they stand there.

Put here what compares positions of different streams. Not here: the order of changes within one stream
(``transforms/gold/ordering.py``), and which keys a scope has (``transforms/gold/range_deletes.py``).
"""
