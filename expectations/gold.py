"""What must be true of a current-state table; violations are counted over the keys that a run touches."""

from __future__ import annotations

from expectations.rule import Rule

ONE_ROW_PER_KEY = Rule(
    "one_row_per_key",
    "blocking",
    "No key that the run touched has two rows.",
    "Something else wrote to the table: `weir rebuild <feed>` makes it again from bronze.",
    is_fixed=True,
)
NO_LATE_EVENT = Rule(
    "no_late_event",
    "warning",
    "No event that came late, older than what its key already held, changed a row or one of its versions.",
    "The keys were folded again from their history in silver and are right; many late events cost time. Repeats and"
    " ties are not late events. What stands below a key's reset position changes nothing: it counts as superseded.",
)
POSITIONS_RISE_WITHIN_KEY = Rule(
    "positions_rise_within_key",
    "warning",
    "No two different events of one key stand at one position.",
    "They were applied in an order made from their content; the source cannot say which came first. Where they are rows"
    " of snapshots, each of which is the whole table, say `snapshots: replace` for it in the feed file.",
)

ROWS_WERE_INSERTED = Rule(
    "rows_were_inserted",
    "warning",
    "Every row that the run touched has an insert or a snapshot behind it, and all of its columns are known.",
    "What made the row is in quarantine, was lost, or is from before the stream began; then gold lacks rows that were"
    " not touched since, too. Repair it, or let the source send a snapshot. Where updates do not send all columns, gold"
    " has nothing in the others: all such rows have no `_weir_reset_position`. A compacted topic has but the last"
    " change of each row, so that it always breaks this rule: switch it off there.",
)

EVERY_TABLE_IS_MADE = Rule(
    "every_table_is_made",
    "failing",
    "Every table of which changes came has a gold table of its own, with one key.",
    "Such a gold table stays as it was until the feed file says which of its changes count; all others go on, and"
    " `weir status --details` names it.",
)

NO_LOSS_IS_HELD = Rule(
    "no_loss_is_held",
    "warning",
    "No delete that would remove rows of the table waits for a person.",
    "Look at the source. Where the rows are gone there, let the delete act with the command that the line names, and"
    " run again; the feed file's `loss_guard` says how much a truncate or snapshot may remove at once.",
)

SNAPSHOTS_NAME_EVERY_ROW = Rule(
    "snapshots_name_every_row",
    "warning",
    "No row is older than an incremental snapshot and not in it.",
    "Such a snapshot heals the rows that it names, and cannot say which are gone: nothing marks its end. While it goes"
    " on, or where it is of a part of the table, there are such rows; once it is over, look in the source whether they"
    " are gone. A blocking snapshot, or a new initial one, removes them.",
)

TRUNCATES_REACH_EVERY_ROW = Rule(
    "truncates_reach_every_row",
    "warning",
    "No row is older than a truncate of its table that only other tablets have sent.",
    "A truncate is read for the rows of the tablet that sent it, and each tablet sends its own. A tablet that was split"
    " before sends none: then such rows are gone in the source, and no record says which tablets took them over. Look"
    " there. If they are gone, let the source send a snapshot, and say with"
    " `weir epoch open <feed> --table <table> --window <its window> --snapshot complete` that it names every row. Where"
    " the tablet's own truncate is only late, nothing is wrong.",
)

RULES = (
    ONE_ROW_PER_KEY,
    NO_LATE_EVENT,
    POSITIONS_RISE_WITHIN_KEY,
    ROWS_WERE_INSERTED,
    EVERY_TABLE_IS_MADE,
    NO_LOSS_IS_HELD,
    SNAPSHOTS_NAME_EVERY_ROW,
    TRUNCATES_REACH_EVERY_ROW,
)
