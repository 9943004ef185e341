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

RULES = (OFFSETS_HAVE_NO_GAP,)
"""The rules of topics, whatever the format."""

RULES_OF_FILES = (OPERATION_COUNTS_HAVE_NO_GAP,)
"""Those of files, of formats whose records say how many operations there were (``operations_so_far``)."""
