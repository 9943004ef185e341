"""How far a consumer has come in every tablet: the checkpoint from which it could go on without losing anything.

A source that is read by checkpoints leaves a note of each in silver (``CHECKPOINT``). Put here the names that notes of
checkpoints have in silver. Not here: what a checkpoint is, and how two compare (the format, which gives the note its
position).
"""

from __future__ import annotations

from typing import Final

CHECKPOINT: Final = "checkpoint"
"""The operation of such a note, and why the row exists. Its ``after`` holds the checkpoint; its position orders it."""

REACHED: Final = ("reached_term", "reached_index")
"""In a note's ``after``: where the consumer stands behind what is committed in its response; null for nothing."""

BEHIND: Final = 9_223_372_036_854_775_807
"""What stands in the place of a write_id behind all of a transaction."""
