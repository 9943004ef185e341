"""What compaction keeps of the history that it has folded: base rows with their watermark, and the events' identities.

Put here what reads or writes these two tables. Not here: how far history is compacted and when (``upkeep``).
"""
