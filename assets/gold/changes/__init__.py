"""What silver has for one gold table: changes of single keys, range deletes, and changes that wait for a description.

Put here what reads silver for gold. Not here: what is done with the changes (``assets/gold/apply``), and what they mean
(``transforms/gold``).
"""
