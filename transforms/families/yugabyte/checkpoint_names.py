"""The names and numbers with which notes of checkpoints stand in silver.

A source that is read by checkpoints leaves one note per response in silver (operation ``CHECKPOINT``). Put here what
such a note is called and made of. Not here: what a checkpoint is, and how two compare (``checkpoints``), and the table
of the newest ones (``assets/bookkeeping/yugabyte_checkpoints.py``).
"""

from __future__ import annotations

from typing import Final

CHECKPOINT: Final = "checkpoint"
"""The operation of such a note, and why the row exists. Its ``after`` holds the checkpoint; its position orders it."""

REACHED: Final = ("reached_term", "reached_index")
"""In a note's ``after``: where the consumer stands behind what is committed in its response; null for nothing."""

BEHIND: Final = 9_223_372_036_854_775_807
"""What stands in the place of a write_id behind all of a transaction."""
