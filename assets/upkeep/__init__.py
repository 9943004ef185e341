"""Keeping a feed's tables small and right: compaction, compaction watermarks, tombstones that may go, and rebuilding.

Put here what rewrites tables without any new change. Not here: how new changes come to gold (``gold``), and asking how
things stand (``audit``).
"""
