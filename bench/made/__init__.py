"""The tables that the bench makes: drops, rows, and warehouses that each run starts from.

Put here what is made before anything is timed. Not here: what is timed (``bench/lines``).
"""
