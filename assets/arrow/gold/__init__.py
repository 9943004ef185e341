"""The fold of a gold table over Arrow batches: what is known of a key, its changes in their order, and what comes out.

Put here a stage between silver and gold. Not here: what becomes of a key (``transforms/gold``), and which rows are
brought together (``assets/gold/fold``).
"""
