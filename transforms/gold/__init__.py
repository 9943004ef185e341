"""From changes to rows: what a key is after all that happened to it.

Put here what the fold of changes means, in plain Python. Not here: how changes and rows are read, brought together and
written (``assets``).
"""
