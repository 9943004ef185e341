"""How people and programs learn of what Weir does: reports, metrics, messages, lineage."""
