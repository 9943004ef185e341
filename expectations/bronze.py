"""What must be true of what was read of topics and of files, before anybody asks what the records mean."""

from __future__ import annotations

from expectations.rule import Rule

OFFSETS_HAVE_NO_GAP = Rule(
    "offsets_have_no_gap",
    "warning",
    "Every offset that a run reads of a topic's partition holds a record.",
    "Records are missing, or these offsets never had one that counts: the end of a producer's transaction takes an"
    " offset, and so do the records of one that was aborted. A topic that Kafka compacts is not asked. Where producers"
    " use transactions, say how many such offsets are usual (`at_most`), or leave the check off.",
    is_asked=False,
)

OPERATION_COUNTS_HAVE_NO_GAP = Rule(
    "operation_counts_have_no_gap",
    "warning",
    "Between two records of a file no operation is missing that its source says it has written.",
    "Part of the file was lost, or its source numbers operations in another way than one by one: compare the two"
    " records. Where it writes tables side by side into several files, leave the check off.",
    is_asked=False,
)

NO_DROP_IS_OUT_OF_TIME = Rule(
    "no_drop_is_out_of_time",
    "warning",
    "No drop of the landing is dated in the future, or before the first window.",
    "No run reads these drops now. Where the date is not when they landed, say with `window_path` in the feed file"
    " which part of the path is, or move them; where they are older than all others, say `start`. Those of the future"
    " are read once their window has begun.",
)

RULES = (OFFSETS_HAVE_NO_GAP,)
"""The rules of topics, whatever the format."""

RULES_OF_LANDINGS = (NO_DROP_IS_OUT_OF_TIME,)
"""Those of all files."""

RULES_OF_FILES = (OPERATION_COUNTS_HAVE_NO_GAP,)
"""Those of files, of formats whose records say how many operations there were (``operations_so_far``)."""
