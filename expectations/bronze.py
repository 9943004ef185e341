"""What must be true of what was read of topics. Violations are counted from what the read itself says.

Put here each rule of bronze. Not here: rules of what the records mean (``silver``), and counting
(``assets/bronze/offset_gaps``).
"""

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

RULES = (OFFSETS_HAVE_NO_GAP,)
