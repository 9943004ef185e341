"""What a person decides about a feed and Weir records for good: epochs and releases.

Put here a command that lists what waits for a decision and records the decision. Not here: its arguments
(``arguments/deciding``), what a decision is (``transforms/feed/decisions``), and the table in which decisions are kept
(``assets/bookkeeping/decisions``).
"""
