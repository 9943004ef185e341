"""From bronze to silver and quarantine: what became of every event of a window, and the accounts of it.

Put here what reads a window's bronze or writes its silver. Not here: what an event means (``transforms``), and reading
silver for gold (``gold/changes``).
"""
