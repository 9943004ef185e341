"""The tables that the bench makes: drops, rows, and warehouses that each run starts from.

Not here: what is timed (``lines``, ``everyday``, ``late_events``).
"""
