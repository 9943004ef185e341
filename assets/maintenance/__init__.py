"""Keeping a feed's tables small and right: compaction, rebuilding, and repairs of records in quarantine."""
