"""What must be true of a feed's source, whatever was read of it, and who says how much is too much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from expectations.rule import Rule
from transforms.source_health import Concern

SOURCE_KEEPS_WHAT_IS_UNREAD = Rule(
    "source_keeps_what_is_unread",
    "failing",
    "The source still has every change that was not read.",
    "What is gone comes no more: let the connector take a new snapshot (docs/source_health.md). Give Postgres a larger"
    " `max_slot_wal_keep_size`, MySQL and MariaDB a longer `binlog_expire_logs_seconds`, the topic a longer retention.",
)
SOURCE_KEEPS_IT_A_WHILE = Rule(
    "source_keeps_it_a_while",
    "warning",
    "What was not read is in no danger of being removed by the source at once.",
    "Start the connector, if it stands still, before Postgres's next checkpoint; raise `max_slot_wal_keep_size`.",
)
SOURCE_IS_WITHIN_LIMITS = Rule(
    "source_is_within_limits",
    "warning",
    "The source is within the limits that the feed file declares under `health`.",
    "See whether the connector runs, and whether runs of the feed keep up with it. A limit that a healthy source passes"
    " is too strict: raise it, or name tables that are seldom changed under `quiet_tables`.",
)
SOURCE_CAN_BE_ASKED = Rule(
    "source_can_be_asked",
    "warning",
    "The broker and the database answer when they are asked how they stand.",
    "What is said above tells whom to ask. Nothing of what was read is wrong.",
)

CONCERNS: Final[Mapping[Concern, Rule]] = {
    "lost": SOURCE_KEEPS_WHAT_IS_UNREAD,
    "ending": SOURCE_KEEPS_IT_A_WHILE,
    "limit": SOURCE_IS_WITHIN_LIMITS,
    "unasked": SOURCE_CAN_BE_ASKED,
}
"""The rule that a finding breaks, by what the finding is about."""

RULES = tuple(CONCERNS.values())
"""The rules of sources, of feeds that say how their source is to be watched."""

GOLD_IS_WHAT_THE_SOURCE_HOLDS = Rule(
    "gold_is_what_the_source_holds",
    "failing",
    "Every row of gold that was compared is what the live source holds.",
    "`weir reconcile <feed>` names the keys with both rows, and the line that tells a key's story (docs/reconcile.md)."
    " What never reached Weir has to be sent again: by a new snapshot of the table, say.",
)
ALL_OF_GOLD_WAS_COMPARED = Rule(
    "all_of_gold_was_compared",
    "warning",
    "Each gold table could be compared with the source, and nothing was left open.",
    "What is behind may only be under way: compare again later. docs/reconcile.md says what cannot be compared.",
)

RULES_OF_COMPARISON = (GOLD_IS_WHAT_THE_SOURCE_HOLDS, ALL_OF_GOLD_WAS_COMPARED)
"""The rules of comparing gold with the source."""
