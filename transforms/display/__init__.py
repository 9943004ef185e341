"""Text of sources where people read it: names, keys, payloads and values that nobody here has chosen.

Put here how such text is made inert for one kind of reader. Not here: what is said with it, and how Dagster or a
terminal is given it (``assets/shown_markdown``, ``orchestration/console``).
"""
