"""How people and programs learn of what Weir does: reports, metrics, messages, lineage.

Put here what tells of runs and tables, and changes neither. Not here: the lines of ``weir run`` (``runs/summary``), and
checks (``expectations``).
"""
