"""What silver has for one gold table: its changes, those of many keys, and those that wait.

Put here what reads silver for gold. Not here: what is done with the changes (``apply``), and what they mean
(``transforms/gold``).
"""
