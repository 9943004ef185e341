"""From bronze to silver and quarantine: what became of every event of a window, and the accounts of it."""
