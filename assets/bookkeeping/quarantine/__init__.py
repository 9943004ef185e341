"""Quarantine as a person works with it: its records, what state each is in, and which ones have left it.

Put here what is known of a record in quarantine. Not here: how a record comes there (``assets/silver``), and repairing
one (``assets/upkeep/repairing``).
"""
