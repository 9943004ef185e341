"""The layers of the warehouse: every kind of Delta table that Weir writes, by name.

Put a new kind of table here first. A feed has one table of each layer at ``<warehouse>/<layer>/<feed>``; in gold one
for each of its tables, at ``<warehouse>/gold/<feed>/<table>``. Every list of tables is derived from this one. Not here:
their columns (``columns``, and the modules of ``bookkeeping``).
"""

from __future__ import annotations

from enum import StrEnum


class Layer(StrEnum):
    """A kind of table; its value is its folder, and its name in SQL."""

    BRONZE = "bronze"
    """Every record that landed, verbatim; it only grows."""
    SILVER = "silver"
    """Every change that an event of a window makes, typed and with its key."""
    QUARANTINE = "quarantine"
    """Every event that could not be taken, with the reason."""
    GOLD = "gold"
    """The current rows of each table, its tombstones, and its history where it keeps one."""
    ACCOUNTING = "accounting"
    """What became of the events of each window and table, in numbers."""
    PROGRESS = "progress"
    """Which windows are finished, and what had been read of them then."""
    TRANSACTIONS = "transactions"
    """Transactions that no single window holds whole."""
    OFFSETS = "offsets"
    """How far a consumer has come in every tablet of a YugabyteDB stream."""
    DECISIONS = "decisions"
    """What people decided about the feed."""
    REPAIRED = "repaired"
    """Records that were in quarantine, and whose window then took them."""
    BASE = "base"
    """What keys were where compaction has cut their history."""
    COMPACTED = "compacted"
    """The identities of the events that compaction has folded into base rows."""
    LEDGER = "ledger"
    """What each commit of bronze brought."""
    LANDED = "landed"
    """Which object generations a run found in the landing before bronze had them, of feeds with transactions."""
    RUNS = "runs"
    """How many rows gold had after each run."""
    DRIFT = "drift"
    """What a stream had that the feed file did not declare, when a run first met it."""
